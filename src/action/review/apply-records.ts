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
import { INVALID_STATE } from "../../review/open-failures.ts";
import type { ActionContext } from "../context/action-context.ts";
import { type Github, GithubError } from "../context/github-api.ts";
import type { OpenStore } from "../context/open-repository.ts";
import { type ApplyRecords, environmentNumber, staleWaiting, waitingName } from "./apply-coverage.ts";

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
  applied: ApplyRecords,
  judged: readonly JudgedMerchant[],
  { reveal }: OpenStore,
): Promise<readonly LookedMerchant[]> {
  const { records, waiting } = applied;
  const looked: LookedMerchant[] = [];
  const pulls = new Map<string, Promise<number | null>>();
  const pullOf = (file: string): Promise<number | null> => {
    const known =
      pulls.get(file) ?? (pulls.size < MAX_FILES ? pullOfFile(file, event.sha, applied, github) : null);
    if (known !== null) pulls.set(file, known);
    return known ?? Promise.resolve(null);
  };
  for (const one of judged) {
    const state = records.states.get(one.merchant);
    if (inputs.command === "due") {
      // Changes that are not due are left to applies and to the check for drift.
      looked.push({ ...one, state, blamed: [], refusals: [], lost: [], objections: [] });
      continue;
    }
    const { lost, blamed } = await lostChanges(one, pullOf);
    // Nothing is left to make of these, so that only the record of their run can repeat them.
    const again =
      waiting === null && state?.failure?.commit === event.sha ? state.failure.dropped.map(reveal) : [];
    const all = [...new Set([...lost, ...again])];
    const invalid = state === null ? [INVALID_STATE] : [];
    looked.push({ ...one, state, blamed, lost: all, objections: [...invalid, ...one.refusals, ...all] });
  }
  return looked;
}

async function lostChanges(
  { dropped }: JudgedMerchant,
  pullOf: (file: string) => Promise<number | null>,
): Promise<Pick<LookedMerchant, "lost" | "blamed">> {
  const lost: string[] = [];
  const blamed = new Set<number>();
  for (const { review, sentence, file } of dropped) {
    const own = Number(review.slice(1));
    const other = file === null ? null : await pullOf(file);
    if (Number.isInteger(own)) blamed.add(own);
    if (other !== null) blamed.add(other);
    const isOther = other !== null && other !== own;
    lost.push(isOther ? sentence.replace(/\.$/, `; #${other} changed that file last.`) : sentence);
  }
  return { lost, blamed: [...blamed] };
}

/** Files whose last pull request a run asks for: each takes requests. */
const MAX_FILES = 3;

async function pullOfFile(
  file: string,
  sha: string,
  { merged, told }: ApplyRecords,
  github: Github,
): Promise<number | null> {
  try {
    const commit = await github.lastCommitOf(file, sha);
    const known = merged.find(({ pull }) => pull.mergedAs === commit)?.pull;
    const [first] = commit === sha ? told : [];
    if (known !== undefined || first !== undefined) return (known ?? first)?.number ?? null;
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
  open: OpenStore,
  records: ApplyRecords,
  end: RecordedEnd,
): Promise<void> {
  const { store } = open;
  const { inputs } = context;
  const { merged, abandoned, declared, waiting } = records;
  const before = records.records.states;
  const next = new Map(
    end.looked.map((one) => [one.merchant, nextState(context, open, records, end, one)] as const),
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
  const used = waiting === null ? [] : [waiting];
  await store.remove([...settled, ...abandoned, ...used, ...staleWaiting(records.records.names)]);
}

function nextState(
  { event, inputs }: ActionContext,
  { conceal }: OpenStore,
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
    failure: isDue ? (state?.failure ?? null) : failureOf(one, event.sha, own, conceal),
  };
}

function failureOf(
  { digest, isQuiet, lost, blamed, comparison, state }: ReportedMerchant,
  sha: string,
  merged: readonly string[],
  conceal: OpenStore["conceal"],
): RecordedFailure | null {
  if (digest === "") return null;
  const before = state?.failure;
  if (isQuiet && before) return { ...before, digest };
  const left = comparison.account.filter(({ verdict }) => verdict === "refused");
  const named = [...merged, ...left.map(({ review }) => review)].map((name) =>
    Number(/^(?:#|reviews\/)(\d+)$/.exec(name)?.[1]),
  );
  const pulls = [...new Set([...blamed, ...named])].filter(Number.isSafeInteger);
  return { commit: sha, digest, pulls, dropped: lost.map(conceal) };
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
