import { sealed } from "../kernel/approval/seal.ts";
import { canonicalJson } from "../lib/json-text.ts";
import type { Plan } from "../model/plan.ts";
import type { ReviewedDate, ReviewedResource, ReviewedState } from "../model/reviewed.ts";
import type { RecordedStates } from "../store/open-records.ts";
import { countedRun, standingApprovals } from "./counted-run.ts";
import { reviewedDateText } from "./date-text.ts";
import type { Forge, ForgePull } from "./forge.ts";
import { type MergedReview, type OpenStore, type ReviewRecords, recordOf } from "./merchant-state.ts";

/** The commit of a pull request that was planned. */
export interface PlannedCommit extends Pick<ForgePull, "number" | "headSha" | "baseRef"> {
  /** Id of the comment that shows the plan; `null` if there is none. */
  readonly comment: number | null;
}

export interface RecordedPlan {
  /**
   * "recorded", or why not: it is the recorded one ("same"), the pull request has a newer commit ("overtaken") or
   * another base branch, is closed, or was merged in the meantime.
   */
  readonly outcome: "recorded" | "same" | "overtaken" | "other-base" | "closed" | "merged";
  /** Ids of the approvals that came before the record. */
  readonly approvals: readonly number[];
}

/** Records a plan of an open pull request for the apply after its merge, unless it is the recorded one. */
export async function recordPlan(
  planned: PlannedCommit,
  plans: readonly Plan[],
  { store, seal }: OpenStore,
  records: ReviewRecords,
  forge: Forge,
): Promise<RecordedPlan> {
  const not = (outcome: RecordedPlan["outcome"]): RecordedPlan => ({ outcome, approvals: [] });
  const [pull] = await forge.pulls([planned.number]);
  if (pull === undefined || pull.status !== "open") return not("closed");
  if (pull.baseRef !== planned.baseRef) return not("other-base");
  // The run for the newest commit records its plan.
  if (pull.headSha !== planned.headSha) return not("overtaken");
  const name = recordOf(pull.number);
  const runs = await records.runsOf(name);
  const merchants = new Map(plans.map((plan) => [plan.merchant, sealed(recordable(plan), seal)] as const));
  const refused = plans.filter(isRefusedByBase).map(({ merchant }) => merchant);
  const head = pull.headSha;
  const last = runs.findLast((run) => run.head === head && run.base === pull.baseRef);
  const earlier = pull.reviews.map(({ id }) => id);
  if (last !== undefined && isSame(last, merchants)) return not("same");
  const approvals = standingApprovals(pull.reviews, forge.now());
  const kept = new Set(
    approvals.flatMap(
      (approval) => countedRun({ ...pull, reviews: [approval] }, runs, forge.now()).run?.number ?? [],
    ),
  );
  // A person who merges it now has seen this plan.
  if (last !== undefined) kept.add(last.number);
  const knownRuns = new Set(runs.map(({ number }) => number));
  const added = { head, base: pull.baseRef, earlier, comment: planned.comment, refused, merchants };
  await store.editRuns(name, added, ({ number }) => kept.has(number) || !knownRuns.has(number));
  const [after] = await forge.pulls([pull.number]);
  if (after?.status === "merged") {
    // A person who merged it in the meantime has not seen this plan.
    await store.editRuns(name, null, ({ number }) => knownRuns.has(number));
    return not("merged");
  }
  return { outcome: "recorded", approvals: approvals.map(({ id }) => id) };
}

/** Returns what of a plan may be approved: nothing that a rule refuses, unless an override given to the apply may allow it. */
function recordable(plan: Plan): ReviewedState {
  const isRefused = isRefusedByBase(plan) || plan.refusals.some(({ override }) => override === null);
  if (!isRefused) return plan.reviewed;
  return { ...plan.reviewed, roles: [], members: [], people: [], dates: [] };
}

function isRefusedByBase({ refusals }: Plan): boolean {
  return refusals.some(({ by }) => by === "base");
}

function isSame(run: RecordedStates<ReviewedState>, merchants: ReadonlyMap<string, ReviewedState>): boolean {
  if (run.merchants.size !== merchants.size) return false;
  return [...merchants].every(([merchant, state]) => {
    const before = run.merchants.get(merchant);
    return before !== undefined && canonicalJson({ ...before, at: 0 }) === canonicalJson({ ...state, at: 0 });
  });
}

/**
 * Returns lines about changes of a pull request that are only in the files: those that are already live, which a pending
 * apply may take away, and dates on which somebody would have got access.
 */
export function onlyInFiles(
  plans: readonly Plan[],
  merged: readonly MergedReview[],
  { seal }: Pick<OpenStore, "seal">,
): readonly string[] {
  return plans.flatMap(({ merchant, reviewed }) => [
    ...(["roles", "members"] as const).flatMap((list) =>
      reviewed[list].filter(isFileOnly).map((row) => {
        const name = list === "roles" ? row.name : seal(row.name);
        const state = row.after === null ? "already gone" : "already live";
        const later = laterChange(merged, (states) => states.get(merchant)?.[list], name);
        return `${merchant}: ${list === "roles" ? "role" : "member"} ${row.name}: ${state}${later}`;
      }),
    ),
    ...removedBeginnings(reviewed).map(
      (date) => `${merchant}: no longer in the files: ${reviewedDateText(date, date.name)}`,
    ),
  ]);
}

/** Returns the dates that would have given somebody access, and that have neither moved nor come. */
function removedBeginnings({ members, dates, baseDates = [] }: ReviewedState): readonly ReviewedDate[] {
  return baseDates.filter(({ name, what, at, roles, hidden }) => {
    if ((what !== "begins" && what !== "back") || hidden) return false;
    // At the same time, a role may have a new name.
    const isKept = dates.some(
      (date) =>
        date.name === name &&
        date.what === what &&
        (`${date.roles}` === `${roles}` || (date.at === at && date.roles.length === roles.length)),
    );
    return !isKept && members.every((row) => row.name !== name);
  });
}

/** Names the merged review that changes a row and is not applied yet; empty if there is none. */
function laterChange(
  merged: readonly MergedReview[],
  rowsIn: (states: RecordedStates<ReviewedState>["merchants"]) => readonly ReviewedResource[] | undefined,
  name: string,
): string {
  for (const { name: review, run } of merged.toReversed()) {
    const rows = (run && rowsIn(run.merchants)) ?? [];
    const row = rows.find((candidate) => candidate.name === name && !isUnchanged(candidate));
    if (row === undefined) continue;
    return `; ${review}, merged and not applied yet, ${row.after === null ? "removes" : "changes"} it`;
  }
  return "";
}

function isFileOnly(row: ReviewedResource): boolean {
  return row.base !== undefined && isUnchanged(row);
}

function isUnchanged({ before, after }: ReviewedResource): boolean {
  return canonicalJson(before) === canonicalJson(after);
}
