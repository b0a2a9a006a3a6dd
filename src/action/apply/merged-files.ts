import type { CommitStates } from "../../app/project/commit-states.ts";
import { isFileError } from "../../app/project/file-errors.ts";
import { counted } from "../../lib/text.ts";
import type { DesiredState } from "../../model/desired.ts";
import {
  type ApplyRun,
  type LeftMerchant,
  neverApplied,
  type PullOf,
  type UndeclaredMerchant,
  undeclaredMerchants,
} from "../../review/apply-run.ts";
import type { OpenStore } from "../../review/merchant-state.ts";
import type { ActionContext } from "../context/action-context.ts";
import { ActionError } from "../context/action-error.ts";
import { lastPulls } from "../github/last-pull.ts";
import { readingApprovals } from "../github/merged-pulls.ts";
import {
  keysNamedBy,
  type LoadedFiles,
  loadFiles,
  soundStates,
  withoutEarlierErrors,
} from "../review/load-and-plan.ts";
import { type CoveredRecords, readApplyRecords } from "./apply-coverage.ts";
import { type NewerCommit, newerCommit } from "./newer-commit.ts";

/** The files of a merged commit, with what was recorded of their merchants. */
export interface MergedFiles {
  readonly branch: string;
  readonly run: ApplyRun;
  readonly loaded: LoadedFiles;
  /** True if errors in files leave merchants as they are. */
  readonly isBroken: boolean;
  readonly keys: readonly string[];
  readonly records: CoveredRecords;
  /** A sentence about the merchants that the run leaves alone, or in part; `null` if there are none. */
  readonly coverage: string | null;
  readonly newer: NewerCommit;
  /** The covered merchants that no newer commit changes. */
  readonly current: readonly DesiredState[];
  /** Merchants with lost changes that no file declares any longer. */
  readonly undeclared: readonly UndeclaredMerchant[];
  /** Merchants that are not planned although changes remain there. */
  readonly gone: readonly LeftMerchant[];
  readonly pullOf: PullOf;
}

/** Reads the files of the run's commit, the records, and which merchants the run covers. */
export async function readMerged(
  context: ActionContext,
  branch: string,
  store: OpenStore,
): Promise<MergedFiles> {
  const { inputs, event, io, log } = context;
  const read = await loadFiles(inputs, io);
  const loaded = await withoutEarlierErrors(read, read.valid ? null : await filesAt(context, event.before));
  const isBroken = loaded.diagnostics.some(isFileError);
  const states = soundStates(read);
  const keys = keysNamedBy(loaded.states, io.env);
  keys.forEach(context.maskSecret);
  const run = { sha: event.sha, isDue: inputs.command === "due", isPush: event.name === "push" };
  const records = await readingApprovals(() => readApplyRecords(context, branch, store, states, isBroken));
  const { covered } = records;
  // Merchants that wait for their first apply are reported on their own.
  const leftAlone = run.isDue ? neverApplied(records, states) : [];
  const coverage = run.isDue
    ? unappliedText(records.unapplied.size, states.length)
    : coverageText(covered.length, states.length);
  if (coverage !== null && loaded.valid) log.info(coverage);
  const newer = await readingApprovals(() => newerCommit(context, branch, covered));
  const current = covered.filter(({ merchant }) => !newer.merchants.has(merchant));
  const pullOf = lastPulls(context, mergedCommits(run, records));
  const undeclared = loaded.isWhole
    ? await withRemovers(context, undeclaredMerchants(run, records, store.seal), records, pullOf)
    : [];
  const gone = run.isDue ? leftAlone : undeclared.filter(({ since }) => since === null);
  return {
    branch,
    run,
    loaded,
    isBroken,
    keys,
    records,
    coverage,
    newer,
    current,
    undeclared,
    gone,
    pullOf,
  };
}

/** Returns the merged pull requests by their merge commit. */
function mergedCommits({ sha }: ApplyRun, { merged, ofCommit }: CoveredRecords): ReadonlyMap<string, number> {
  return new Map([
    ...ofCommit.map((number) => [sha, number] as const),
    ...merged.map(({ pull }) => [pull.mergedAs ?? "", pull.number] as const),
  ]);
}

/** Adds the pull requests that removed the files of merchants, as far as they are known. */
async function withRemovers(
  context: ActionContext,
  undeclared: readonly UndeclaredMerchant[],
  { records }: CoveredRecords,
  pullOf: PullOf,
): Promise<readonly UndeclaredMerchant[]> {
  const named: UndeclaredMerchant[] = [];
  for (const one of undeclared) {
    const { merchant, sentence, pulls, since } = one;
    const before =
      since === null ? await filesAt(context, records.states.get(merchant)?.commit ?? null) : null;
    const file = before?.states.find((state) => state.merchant === merchant)?.origin.file;
    const remover = file === undefined ? null : await pullOf(file);
    const isOther = remover !== null && !pulls.includes(remover);
    const text = sentence.replace(/\.$/, `; #${remover} changed its file last.`);
    named.push(isOther ? { ...one, sentence: text, pulls: [...pulls, remover] } : one);
  }
  return named;
}

/** Returns the files of a commit; `null` if they cannot be read, or without a commit. */
export async function filesAt(
  { statesAt }: ActionContext,
  commit: string | null,
): Promise<CommitStates | null> {
  if (commit === null) return null;
  try {
    return await statesAt(commit);
  } catch (error) {
    if (error instanceof ActionError) return null;
    throw error;
  }
}

/** Returns a sentence about the merchants with merged files that are not applied yet; `null` if there are none. */
function unappliedText(unapplied: number, total: number): string | null {
  return unapplied === 0
    ? null
    : `${unapplied} of ${counted(total, "merchant")}: the apply of what was merged there has not run yet, so only access that has ended is taken.`;
}

/** Returns a sentence about the merchants that an apply leaves alone; `null` if there are none. */
function coverageText(covered: number, total: number): string | null {
  if (covered === total) return null;
  const of = `of ${counted(total, "merchant")} changed since the last apply`;
  return covered === 0
    ? `None ${of}.`
    : `${covered} ${of}, or have something left to do; the others are left alone.`;
}
