import type { Review } from "../../kernel/approval/merged-reviews.ts";
import { declaredText } from "../../kernel/read/changed-merchants.ts";
import type { DesiredState } from "../../model/desired.ts";
import type { ReviewedState } from "../../model/reviewed.ts";
import {
  lookReason,
  type MerchantState,
  type MergedReview,
  type ReviewRecords,
  recordedReviews,
  recordOf,
  reviewsOf,
} from "../../review/merchant-state.ts";
import type { ActionContext } from "../context/action-context.ts";
import { ActionError } from "../context/action-error.ts";
import type { OpenStore } from "../context/open-repository.ts";
import { pullsMergedAs } from "../github/merged-pulls.ts";

/** State and records of the merchants that a run covers. */
export interface ApplyRecords {
  readonly records: ReviewRecords;
  readonly merged: readonly MergedReview[];
  /** Names of the records of pull requests that were closed without a merge. */
  readonly abandoned: readonly string[];
  /** Merchants with their declared access, as keyed hashes. */
  readonly declared: ReadonlyMap<string, string>;
  /** The merchants that the run looks at. */
  readonly covered: readonly DesiredState[];
  /** Changes that an environment's reviewers approved in an earlier job of this run, by merchant. */
  readonly approved: ReadonlyMap<string, Review>;
  /** Name of the record of that; `null` if the run is for what was merged. */
  readonly waiting: string | null;
  /** The pull requests to report on. */
  readonly told: readonly TellablePull[];
}

/** A pull request that a run reports on. */
export interface TellablePull {
  readonly number: number;
  /** Id of its comment; `null` if unknown. */
  readonly comment: number | null;
  readonly merchants: readonly string[];
}

/** Reads what was merged and not applied yet, and which merchants a run has to look at, however long ago the last apply was. */
export async function readApplyRecords(
  context: ActionContext,
  branch: string,
  open: OpenStore,
  states: readonly DesiredState[],
): Promise<ApplyRecords> {
  const { inputs, event, github } = context;
  const records = await open.store.read();
  const declared = new Map(states.map((state) => [state.merchant, open.seal(declaredText(state))]));
  const common = { records, declared };
  if (inputs.environment !== "") {
    const { waiting, approved } = await approvedRest(context, records);
    const covered = states.filter(({ merchant }) => approved.has(merchant));
    return { ...common, waiting, approved, covered, merged: [], abandoned: [], told: [] };
  }
  let reviews = await recordedReviews(records, github, branch);
  let own = reviews.merged.filter(({ pull }) => pull.mergedAs === event.sha).map(({ pull }) => pull.number);
  if (own.length === 0 && event.name === "push") {
    own = (await pullsMergedAs(event, branch, context, reviews.isAnyOpen)).map(({ number }) => number);
    // GitHub may say that they are merged only by now.
    if (own.some((number) => records.names.includes(recordOf(number))))
      reviews = await recordedReviews(records, github, branch);
  }
  const { merged, abandoned } = reviews;
  const reasonOf = ({ merchant }: DesiredState) =>
    lookReason(merchant, declared.get(merchant) ?? "", records.states.get(merchant), merged);
  const isCovered = (state: DesiredState): boolean => {
    const reason = reasonOf(state);
    if (inputs.command === "due") return reason === null || reason === "open" || reason === "failed";
    return reason !== null || inputs.scope === "all";
  };
  const covered = states.filter(isCovered);
  const codes = new Set(covered.map(({ merchant }) => merchant));
  const fresh = merged.filter((review) =>
    [...review.merchants].some((one) => codes.has(one) && isNew(review, records.states.get(one))),
  );
  // A run by hand is not about the commit that happens to be the tip.
  const ofCommit = event.name === "push" ? own : [];
  const told =
    inputs.command === "due" ? [] : [...new Set([...ofCommit, ...fresh.map(({ pull }) => pull.number)])];
  return {
    ...common,
    merged,
    abandoned,
    covered,
    approved: new Map(),
    waiting: null,
    told: told.map((number) => {
      const review = merged.find(({ pull }) => pull.number === number);
      return { number, comment: review?.run?.comment ?? null, merchants: [...(review?.merchants ?? [])] };
    }),
  };
}

function isNew({ pull }: MergedReview, state: MerchantState | null | undefined): boolean {
  return !state?.settled.includes(recordOf(pull.number));
}

/** Returns the reviews that a run compares a merchant's plan with. */
export function openReviews(
  { records, merged, approved, waiting }: ApplyRecords,
  merchant: string,
  isDue = false,
): readonly Review[] {
  const state = records.states.get(merchant);
  const rest = approved.get(merchant);
  if (waiting !== null) return [...(state?.open ?? []), ...(rest === undefined ? [] : [rest])];
  return reviewsOf(merchant, state, isDue ? [] : merged);
}

const WAITING = "waiting/";

/** Returns the name of the record of what waits for approval after a job. */
export function waitingName({ run, attempt }: ActionContext["event"]): string {
  return `${WAITING}${run}-${attempt}`;
}

const MAX_WAITING = 30;

/** Returns the names of the oldest records of what waits: nobody has approved them while many later runs ended. */
export function staleWaiting(names: readonly string[]): readonly string[] {
  const runOf = (name: string): number => Number.parseInt(name.slice(WAITING.length), 10);
  return names
    .filter((name) => name.startsWith(WAITING))
    .toSorted((a, b) => runOf(b) - runOf(a))
    .slice(MAX_WAITING);
}

/**
 * Returns what an earlier job of this run has left, if somebody has approved it. GitHub creates an environment that does
 * not exist, without reviewers: then nobody has.
 */
async function approvedRest(
  { inputs, event, github }: ActionContext,
  records: ReviewRecords,
): Promise<{ readonly waiting: string; readonly approved: ReadonlyMap<string, Review> }> {
  const names = records.names.filter((name) => name.startsWith(`${WAITING}${event.run}-`));
  const attemptOf = (name: string): number => Number(name.split("-").at(-1));
  const waiting = names.toSorted((a, b) => attemptOf(a) - attemptOf(b)).at(-1);
  const run = waiting === undefined ? undefined : (await records.runsOf(waiting)).at(-1);
  if (waiting === undefined || run === undefined) {
    throw new ActionError("not-approved", "No job of this run has left anything to approve.");
  }
  const { environment } = inputs;
  const approvals = (await github.approvals()).filter((one) => one === environment);
  const before = run.earlier.filter((one) => one === environmentNumber(environment));
  if (approvals.length <= before.length) {
    throw new ActionError(
      "not-approved",
      `Nobody has approved this run for the environment ${environment}.`,
      "Add required reviewers to the environment, and run all jobs again.",
    );
  }
  const name = `the approval of run ${event.run}`;
  const approved = new Map(
    [...run.merchants].map(([merchant, state]: readonly [string, ReviewedState]) => [
      merchant,
      { name, state },
    ]),
  );
  return { waiting, approved };
}

/** Returns a number for the name of an environment, as records of runs hold it. */
export function environmentNumber(name: string): number {
  return [...name].reduce((sum, letter) => (sum * 31 + (letter.codePointAt(0) ?? 0)) % 0xffff_fffb, 7);
}
