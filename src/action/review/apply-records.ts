import { remaining } from "../../kernel/approval/compare-reviewed.ts";
import { type Seal, sealed } from "../../kernel/approval/seal.ts";
import type { MerchantOutcome } from "../../model/apply.ts";
import type { JudgedMerchant } from "../../review/judge-merchant.ts";
import {
  type MerchantState,
  mergedState,
  type RecordedFailure,
  recordOf,
  settledRecords,
  unsettled,
} from "../../review/merchant-state.ts";
import type { ActionContext } from "../context/action-context.ts";
import { type Github, GithubError } from "../context/github-api.ts";
import type { OpenStore } from "../context/open-repository.ts";
import { type ApplyRecords, environmentNumber, waitingName } from "./apply-coverage.ts";

/** A merchant that a run has looked at. */
export interface LookedMerchant extends JudgedMerchant {
  /** The merchant's recorded state before this run. */
  readonly state: MerchantState | null | undefined;
  /** Pull requests whose changes were lost, or that made others lose theirs. */
  readonly blamed: readonly number[];
}

/** Adds what is known of judged merchants, and which pull request made a reviewed change get lost. */
export async function lookedAt(
  { event, github, inputs }: ActionContext,
  { records }: ApplyRecords,
  judged: readonly JudgedMerchant[],
): Promise<readonly LookedMerchant[]> {
  const looked: LookedMerchant[] = [];
  for (const one of judged) {
    const state = records.states.get(one.merchant);
    if (inputs.command === "due") {
      // Changes that are not due are left to applies and to the check for drift.
      looked.push({ ...one, state, blamed: [], refusals: [], lost: [], objections: [] });
      continue;
    }
    const { lost, blamed } = await lostChanges(one, event.sha, github);
    // Nothing is left to make of these, so that only the record of their run can repeat them.
    const again = state?.failure?.commit === event.sha ? state.failure.dropped : [];
    const all = [...new Set([...lost, ...again])];
    looked.push({ ...one, state, blamed, lost: all, objections: [...one.refusals, ...all] });
  }
  return looked;
}

async function lostChanges(
  { dropped }: JudgedMerchant,
  sha: string,
  github: Github,
): Promise<Pick<LookedMerchant, "lost" | "blamed">> {
  const lost: string[] = [];
  const blamed = new Set<number>();
  for (const { review, sentence, file } of dropped) {
    const own = Number(review.slice(1));
    const other = file === null ? null : await pullOfFile(file, sha, github);
    if (Number.isInteger(own)) blamed.add(own);
    if (other !== null) blamed.add(other);
    const isOther = other !== null && other !== own;
    lost.push(isOther ? sentence.replace(/\.$/, `; #${other} changed that file last.`) : sentence);
  }
  return { lost, blamed: [...blamed] };
}

async function pullOfFile(file: string, sha: string, github: Github): Promise<number | null> {
  try {
    const commit = await github.lastCommitOf(file, sha);
    const pulls = commit === null ? [] : await github.pullsWith(commit);
    return pulls.find(({ mergedAs }) => mergedAs === commit)?.number ?? pulls[0]?.number ?? null;
  } catch (error) {
    if (!(error instanceof GithubError)) throw error;
    return null;
  }
}

/** A merchant with what a run has to report of it. */
export interface ReportedMerchant extends LookedMerchant {
  /** Keyed hash of why the merchant is not as its files say; empty if it is. */
  readonly digest: string;
  /** True if an earlier run for another commit has reported the same. */
  readonly isQuiet: boolean;
}

/** Adds whether an earlier run has reported the same objections and refusals: a later merge has nothing to do with them. */
export function withReports(
  { event }: ActionContext,
  { declared, merged }: ApplyRecords,
  looked: readonly LookedMerchant[],
  refused: readonly MerchantOutcome[],
  seal: Seal,
): readonly ReportedMerchant[] {
  return looked.map((one) => {
    const { merchant, objections, state } = one;
    const guarded = refused.find((outcome) => outcome.merchant === merchant && outcome.status === "refused");
    const reasons = [...objections, ...(guarded?.reasons ?? [])];
    const digest = reasons.length === 0 ? "" : seal(reasons.join("\n"));
    const isKnown =
      state?.failure?.digest === digest &&
      state.failure.commit !== event.sha &&
      state.declared === declared.get(merchant) &&
      unsettled(merchant, state, merged).length === 0;
    return { ...one, digest, isQuiet: digest !== "" && isKnown && event.name === "push" };
  });
}

/** How a run ended, as far as its records need it. */
export interface RecordedEnd {
  /** In ms since the epoch, by the forge's clock. */
  readonly plannedAt: number;
  readonly looked: readonly ReportedMerchant[];
  /** Fingerprints of the changes that were made, by merchant. */
  readonly done: ReadonlyMap<string, ReadonlySet<string>>;
  /** True if every file was read. */
  readonly isComplete: boolean;
}

/** Records what a run has applied and what is left, and removes the reviews that nothing is left of. */
export async function recordApply(
  context: ActionContext,
  { store }: OpenStore,
  records: ApplyRecords,
  end: RecordedEnd,
): Promise<void> {
  const { inputs } = context;
  const { merged, abandoned, declared, waiting } = records;
  const before = records.records.states;
  const next = new Map(
    end.looked.map((one) => [one.merchant, nextState(context, records, end, one)] as const),
  );
  const isWhole = end.isComplete && inputs.shard === null && inputs.merchants.length === 0;
  let states: ReadonlyMap<string, MerchantState | null> = new Map();
  await store.updateStates((current) => {
    const edits = new Map<string, MerchantState | null>();
    for (const { merchant, reviews } of end.looked) {
      const [own, now] = [next.get(merchant), current.get(merchant)];
      if (own === undefined) continue;
      const isMoved = JSON.stringify(now ?? null) !== JSON.stringify(before.get(merchant) ?? null);
      const names = reviews.map(({ name }) => name);
      edits.set(merchant, isMoved ? mergedState(own, names, now) : own);
    }
    // A merchant that no file declares any more starts without a state when it comes back.
    const gone = isWhole ? [...current.keys()].filter((merchant) => !declared.has(merchant)) : [];
    for (const merchant of gone) edits.set(merchant, null);
    states = new Map([...current, ...edits]);
    return edits;
  });
  const settled = settledRecords(merged, states, isWhole ? new Set(declared.keys()) : null);
  await store.remove([...settled, ...abandoned, ...(waiting === null ? [] : [waiting])]);
}

function nextState(
  { event, inputs }: ActionContext,
  { records, merged, declared, waiting }: ApplyRecords,
  { plannedAt, done }: RecordedEnd,
  one: ReportedMerchant,
): MerchantState {
  const { merchant, comparison, state } = one;
  const isDue = inputs.command === "due";
  const isOfMerge = !isDue && waiting === null;
  const own = isOfMerge ? unsettled(merchant, state, merged).map(({ pull }) => recordOf(pull.number)) : [];
  const known = new Set(records.names);
  return {
    commit: event.sha,
    at: plannedAt,
    nightly: isDue ? plannedAt : (state?.nightly ?? null),
    declared: declared.get(merchant) ?? "",
    settled: [...new Set([...(state?.settled ?? []), ...own])].filter((name) => known.has(name)),
    open: remaining(comparison, done.get(merchant) ?? new Set()),
    failure: isDue ? (state?.failure ?? null) : failureOf(one, event.sha),
  };
}

function failureOf({ digest, isQuiet, lost, state }: ReportedMerchant, sha: string): RecordedFailure | null {
  if (digest === "") return null;
  return { commit: isQuiet && state?.failure ? state.failure.commit : sha, digest, dropped: lost };
}

/**
 * Records what nobody has reviewed, so that a job whose environment has reviewers can apply it; returns the output that
 * starts that job, or `null` if nothing waits.
 */
export async function recordWaiting(
  { event, inputs, github, log }: ActionContext,
  { store, seal }: OpenStore,
  branch: string,
  looked: readonly ReportedMerchant[],
): Promise<string | null> {
  if (inputs.command === "due" || inputs.environment !== "") return null;
  const open = looked.filter(({ isQuiet, comparison }) => !isQuiet && comparison.refused.length > 0);
  if (open.length === 0) return null;
  const approvals = await github.approvals().catch((error: unknown) => {
    if (!(error instanceof GithubError)) throw error;
    log.notice(`Nothing can wait for approval: ${error.because("actions: read")}.`);
    return null;
  });
  if (approvals === null) return null;
  const merchants = new Map(
    open.map(({ merchant, whole }) => [merchant, sealed(whole.reviewed, seal)] as const),
  );
  const run = { head: event.sha, base: branch, earlier: approvals.map(environmentNumber), comment: null };
  const name = waitingName(event);
  await store.editRuns(name, { ...run, merchants }, () => false);
  return name.slice(name.indexOf("/") + 1);
}
