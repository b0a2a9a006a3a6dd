import * as z from "zod/mini";
import { isInShard } from "../../app/project/shard.ts";
import { counted } from "../../lib/text.ts";
import type { MerchantOutcome } from "../../model/apply.ts";
import type { ActionContext, RunScope } from "../context/action-context.ts";
import {
  type CheckRun,
  type Commit,
  type Github,
  GithubError,
  type NewCheck,
} from "../context/github-api.ts";
import type { Inputs } from "../context/inputs.ts";
import { type RecordTrust, sign, verify } from "./approval-store.ts";

const PREFIX = "rolecall-apply/2";

/** The inputs that select the merchants of a run. */
type Selection = Pick<Inputs, "merchants" | "shard">;

/** The commit up to which everything is applied at a merchant. */
export interface Baseline {
  /** Null if no apply is known. */
  readonly commit: string | null;
  /** The time of the plan of that apply, in ms since the epoch; NaN if none is known. */
  readonly at: number;
  /** True if a later apply left changes of the merchant undone. */
  readonly pending: boolean;
  /** A commit before which nothing counts as approved, where no apply is known: an apply may have made it and undone it. */
  readonly floor?: string;
  /** Hash of what the files left to time then; absent if unknown. */
  readonly times?: string;
}

/** The baseline of a merchant without one. */
export const NO_BASELINE: Baseline = { commit: null, at: Number.NaN, pending: false };

/** A merchant whose changes are still to be made, with its baseline. */
export type PendingMerchant = readonly [merchant: string, commit: string | null];

/** The data that an apply stores on its commit, as a check run. */
export interface ApplyMark {
  readonly sha: string;
  readonly scope: RunScope;
  readonly selection: Selection;
  /** The time of its plan, in ms since the epoch: access that ends later is still due. */
  readonly at: number;
  readonly pending: readonly PendingMerchant[];
  /** Merchants that this apply left to another one: an earlier mark of them still holds. */
  readonly skipped: readonly string[];
  readonly conclusion: NewCheck["conclusion"];
  readonly title: string;
  readonly runUrl: string;
}

/** Stores that an apply has ended on a commit, and which merchants the next one must look at again. */
async function storeMark(
  { sha, scope, selection, at, pending, skipped, conclusion, title, runUrl }: ApplyMark,
  key: string,
  github: Pick<Github, "addCheck">,
): Promise<void> {
  const { merchants, shard } = selection;
  const data = { sha, family: scope.family, merchants, shard, at, pending, skipped };
  await github.addCheck({
    name: `rolecall apply${scope.title === "" ? "" : `: ${scope.title}`}`.slice(0, 200),
    sha,
    externalId: `${PREFIX}/${scope.id}`,
    conclusion,
    title,
    summary: `[Run](${runUrl})\n\nThe next apply goes on from the data below.`,
    text: `\`\`\`\n${sign(data, PREFIX, key)}\n\`\`\``,
  });
}

/** Returns whether a merchant is not as its file says after an apply. */
export function isOpen({ status }: MerchantOutcome): boolean {
  return status !== "applied" && status !== "unchanged";
}

/** The input of a mark besides the outcomes of the apply. */
interface Marking {
  /** The merchants that the run looked at; empty for all. */
  readonly merchants: readonly string[];
  /** True if files have errors, so that their merchants were left. */
  readonly isBroken: boolean;
  /** In ms since the epoch. */
  readonly plannedAt: number;
  readonly baselines: ReadonlyMap<string, Baseline>;
  readonly settled: ReadonlySet<string>;
  /** Merchants that a later run has to look at again, besides those that failed. */
  readonly unfinished: readonly string[];
  /** Merchants that the apply after a merge is to look at. */
  readonly skipped: readonly string[];
  readonly superseded: ReadonlySet<string>;
}

/** Stores on the commit which merchants are applied, so that the next run goes on from there. */
export async function markApplied(
  { event, inputs, scope, github, log }: ActionContext,
  outcomes: readonly MerchantOutcome[],
  { merchants, isBroken, plannedAt, baselines, settled, unfinished, skipped, superseded }: Marking,
): Promise<void> {
  const open = outcomes.filter(isOpen).map(({ merchant }) => merchant);
  // Without a newer mark, access that has ended stays due until it is gone.
  if (open.some((merchant) => settled.has(merchant))) return;
  const pending = [...new Set([...open, ...unfinished, ...superseded])].map(
    (merchant) => [merchant, approvedSince(baselines.get(merchant) ?? NO_BASELINE)] as const,
  );
  const some = outcomes.some(({ status }) => status === "applied");
  const title =
    open.length > 0
      ? `${open.length} of ${counted(outcomes.length, "merchant")} not applied`
      : isBroken
        ? "Files have errors"
        : superseded.size > 0
          ? `${counted(superseded.size, "merchant")} left to a newer commit`
          : some
            ? "Applied"
            : "Nothing to do";
  const conclusion = open.length > 0 || isBroken ? "failure" : superseded.size > 0 ? "neutral" : "success";
  const { sha, runUrl } = event;
  const selection = { merchants, shard: inputs.shard };
  const place = {
    sha,
    scope,
    selection,
    at: plannedAt,
    pending,
    skipped,
    conclusion,
    title,
    runUrl,
  } as const;
  try {
    await storeMark(place, inputs.approvalSecret, github);
  } catch (error) {
    if (!(error instanceof GithubError)) throw error;
    log.notice(`The result could not be recorded on the commit: ${error.because("checks: write")}.`);
  }
}

/** Maximum number of commits to search for an earlier apply. */
const MAX_COMMITS = 100;

/**
 * Returns the baselines of merchants, from the check runs on a commit and on the branch before it. Those after it, up to the
 * tip, count first: a run that is run again late must not repeat what was applied since.
 */
export async function readBaselines(
  merchants: readonly string[],
  { sha, tip = sha, family }: { readonly sha: string; readonly tip?: string } & Pick<RunScope, "family">,
  trust: RecordTrust,
  github: Pick<Github, "checks" | "commits">,
): Promise<ReadonlyMap<string, Baseline>> {
  const baselines = new Map<string, Baseline>();
  const open = new Set(merchants);
  const toTip = await branchBefore(tip, github);
  const branch = toTip.includes(sha) ? toTip : await branchBefore(sha, github);
  for (const commit of branch) {
    if (open.size === 0) break;
    const checks = await github.checks(commit);
    for (const mark of checks.flatMap((check) => readMark(check, commit, trust)).sort(byTime)) {
      // Another service or label has been applied to by itself.
      if (mark.family !== family) continue;
      const pending = new Map(mark.pending);
      for (const merchant of [...open].filter((code) => isSelected(code, mark))) {
        const since = pending.get(merchant);
        const { at = mark.completedAt } = mark;
        const baseline =
          since === undefined ? { commit, at, pending: false } : { commit: since, at, pending: true };
        baselines.set(merchant, baseline);
        open.delete(merchant);
      }
    }
  }
  const floor = branch.length < MAX_COMMITS ? undefined : branch.at(-1);
  if (floor !== undefined) for (const merchant of open) baselines.set(merchant, { ...NO_BASELINE, floor });
  return baselines;
}

/** Returns the commit since which approvals count; `null` for all of them. */
export function approvedSince({ commit, floor }: Baseline): string | null {
  return commit ?? floor ?? null;
}

/** Returns a commit and those before it on its branch: the first parent of a merge is where the branch was. */
async function branchBefore(start: string, github: Pick<Github, "commits">): Promise<readonly string[]> {
  const listed = new Map<string, Commit>();
  const branch = [start];
  for (let page = 1; branch.length < MAX_COMMITS; page++) {
    const commits = await github.commits(start, page);
    const before = listed.size;
    for (const commit of commits) listed.set(commit.sha, commit);
    if (listed.size === before) break;
    for (;;) {
      const [parent] = listed.get(branch.at(-1) ?? "")?.parents ?? [];
      if (parent === undefined || branch.length === MAX_COMMITS) break;
      branch.push(parent);
    }
    // The last one is listed unless its page is still to come.
    if (listed.has(branch.at(-1) ?? "")) break;
  }
  return branch;
}

interface StoredMark extends z.infer<typeof markSchema> {
  readonly completedAt: number;
}

function readMark(
  { app, externalId, completedAt, text }: CheckRun,
  commit: string,
  trust: RecordTrust,
): readonly StoredMark[] {
  if (app !== trust.app || !externalId.startsWith(`${PREFIX}/`)) return [];
  const opened = verify(text, PREFIX, trust.key);
  const parsed = markSchema.safeParse(typeof opened === "string" ? null : opened.value);
  if (!parsed.success || parsed.data.sha !== commit) return [];
  return [{ ...parsed.data, completedAt: Date.parse(completedAt ?? "") }];
}

function byTime(a: StoredMark, b: StoredMark): number {
  return b.completedAt - a.completedAt;
}

function isSelected(merchant: string, { merchants, shard, skipped }: StoredMark): boolean {
  return (
    (merchants.length === 0 || merchants.includes(merchant)) &&
    (shard === null || isInShard(merchant, shard)) &&
    !skipped.includes(merchant)
  );
}

const markSchema = z.object({
  sha: z.string(),
  family: z.string(),
  merchants: z.array(z.string()),
  shard: z.nullable(z.object({ index: z.number(), count: z.number() })),
  at: z.optional(z.number()),
  pending: z.array(z.tuple([z.string(), z.nullable(z.string())])),
  skipped: z.array(z.string()),
});
