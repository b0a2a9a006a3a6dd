import type { Review } from "../kernel/approval/merged-reviews.ts";
import { restPlan, restReviewed } from "../kernel/approval/rest-plan.ts";
import { UNKNOWN_PERSON } from "../kernel/approval/words.ts";
import type { GlobMatch } from "../kernel/diff/scope.ts";
import { whenText } from "../kernel/findings/date-words.ts";
import type { Plan } from "../model/plan.ts";
import type { ReportedMerchant } from "./apply-run.ts";
import { reviewedDateText } from "./date-text.ts";
import type { OpenStore, ReviewRecords } from "./merchant-state.ts";

const WAITING = "waiting/";

/** Maximum number of records of waiting changes. */
const MAX_WAITING = 30;

/** A run of a workflow, in which changes wait for approval. */
export interface WorkflowRun {
  readonly run: number;
  /** Counts the attempts of the run from 1. */
  readonly attempt: number;
}

/** Returns the names of the oldest records of waiting changes, which nobody has approved during many later runs. */
export function staleWaiting(names: readonly string[]): readonly string[] {
  const runOf = (name: string): number => Number.parseInt(name.slice(WAITING.length), 10);
  return names
    .filter((name) => name.startsWith(WAITING))
    .toSorted((a, b) => runOf(b) - runOf(a))
    .slice(MAX_WAITING);
}

/** Returns the merchants with changes or dates that nobody has reviewed, that can be made, and that no earlier run has reported. */
export function unreviewedIn(looked: readonly ReportedMerchant[]): readonly ReportedMerchant[] {
  return looked.filter(
    ({ since, comparison, refusals, fresh }) =>
      since === null &&
      comparison.refused.length + comparison.unseenDates.length > 0 &&
      refusals.length > 0 &&
      fresh.plan.findings.every(({ severity }) => severity !== "error"),
  );
}

/** Returns the plan of the waiting changes at a merchant after the changes with these fingerprints are made. */
export function waitingPlan(
  { fresh, comparison }: ReportedMerchant,
  done: ReadonlySet<string>,
  matches: GlobMatch,
): Plan {
  const { covered, refused } = comparison;
  const made = covered.changes.filter(({ fingerprint }) => done.has(fingerprint));
  const rest = new Set(refused.map(({ change }) => change.fingerprint));
  return restPlan(fresh, made, rest, matches);
}

/** Returns lines about the reviewed dates that the files have lost, and that an approval discards. */
export function givenUpLines({ merchant, reviews, comparison }: ReportedMerchant): readonly string[] {
  return comparison.lostDates.map(({ index, date, email, other }) => {
    const shown = reviewedDateText(date, email ?? UNKNOWN_PERSON);
    const now = other === null ? "never" : whenText(other);
    return `${merchant}: ${reviews[index]?.name} showed: ${shown}; by now the files say: ${now}.`;
  });
}

/**
 * Records what nobody has reviewed, so that a job whose environment has reviewers can apply it. `approvals` are those
 * of the run so far, which do not cover what it shows. Returns the name that starts that job.
 */
export async function recordWaiting(
  { run, attempt }: WorkflowRun,
  { store, seal }: OpenStore,
  {
    head,
    base,
    approvals,
  }: { readonly head: string; readonly base: string; readonly approvals: readonly string[] },
  waiting: readonly ReportedMerchant[],
): Promise<string> {
  const merchants = new Map(
    waiting.map(
      ({ merchant, fresh, comparison }) => [merchant, restReviewed(fresh, comparison, seal)] as const,
    ),
  );
  const added = {
    head,
    base,
    earlier: approvals,
    comment: null,
    refused: [],
    merchants,
  };
  // The other jobs of a matrix have added theirs.
  await store.editRuns(`${WAITING}${run}-${attempt}`, added, () => true);
  return `${run}-${attempt}`;
}

/** Changes that an earlier job of a run left waiting, with their record. */
export interface ApprovedRest {
  readonly waiting: string;
  readonly approved: ReadonlyMap<string, Review>;
}

/**
 * Returns what an earlier job of a run has left: "none" if nothing, "unapproved" if nobody has approved it for the
 * environment since. `approvals` are those of the run so far.
 */
export async function approvedRest(
  { run }: WorkflowRun,
  records: ReviewRecords,
  environment: string,
  approvals: readonly string[],
): Promise<ApprovedRest | "none" | "unapproved"> {
  const attemptOf = (name: string): number => Number(name.split("-").at(-1));
  const [waiting] = records.names
    .filter((name) => name.startsWith(`${WAITING}${run}-`))
    .toSorted((a, b) => attemptOf(b) - attemptOf(a));
  const recorded = waiting === undefined ? [] : await records.runsOf(waiting);
  if (waiting === undefined || recorded.length === 0) return "none";
  const countOf = (names: readonly (number | string)[]): number =>
    names.filter((approval) => approval === environment).length;
  const parts = recorded.filter(({ earlier }) => countOf(approvals) > countOf(earlier));
  if (parts.length === 0) return "unapproved";
  const name = `the approval of run ${run}`;
  const states = parts.flatMap(({ merchants }) => [...merchants]);
  return { waiting, approved: new Map(states.map(([merchant, state]) => [merchant, { name, state }])) };
}
