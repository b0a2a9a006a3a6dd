import type { Change, Counts, Plan } from "../../model/plan.ts";
import type { ReviewedState } from "../../model/reviewed.ts";
import { leftAt } from "../diff/active-member.ts";
import { planFingerprint } from "../diff/fingerprint.ts";
import { type GlobMatch, scopeOf } from "../diff/scope.ts";
import { type Access, accessAfter, accessBefore, splitByResource } from "../rules/access.ts";
import { impactOf } from "../rules/impact.ts";
import type { Comparison } from "./compare-reviewed.ts";
import type { FreshPlan } from "./fresh-context.ts";
import { dateTexts } from "./reviewed-dates.ts";
import { type Seal, sealed } from "./seal.ts";

/**
 * Returns the plan of the changes of a fresh plan with the fingerprints in `rest`, and what they grant and remove once
 * the others are made.
 */
export function restPlan(
  { plan, live, desired }: FreshPlan,
  made: readonly Change[],
  rest: ReadonlySet<string>,
  matches: GlobMatch,
): Plan {
  const scope = scopeOf(live, desired.ignore, matches, leftAt(desired.leavers, plan.reviewed.at));
  const madeChanges = splitByResource(made);
  const before = withIds(accessAfter(accessBefore(scope, madeChanges, APART), madeChanges, APART));
  const changes = plan.changes.filter(({ fingerprint }) => rest.has(fingerprint));
  const deferred = plan.deferred.filter(({ change }) => rest.has(change.fingerprint));
  const after = accessAfter(before, splitByResource(changes), APART);
  const names = new Set([...changes, ...deferred.map(({ change }) => change)].map(({ name }) => name));
  return {
    ...plan,
    fingerprint: planFingerprint(plan, changes),
    summary: {
      roles: restCounts(plan.summary.roles, plan.changes, changes, "role"),
      members: restCounts(plan.summary.members, plan.changes, changes, "member"),
    },
    impact: impactOf(before, after, desired),
    changes,
    deferred,
    findings: plan.findings.filter(({ name }) => name === null || names.has(name)),
  };
}

/**
 * Returns what an approval of the rest of a fresh plan covers: everything that the plan shows. Its base has the dates
 * of the reviews, so that the approval drops those that the files have lost.
 */
export function restReviewed(
  { plan }: FreshPlan,
  { reviews, lostDates }: Pick<Comparison, "reviews" | "lostDates">,
  seal: Seal,
): ReviewedState {
  const state = sealed(plan.reviewed, seal);
  const shown = new Set(reviews.flatMap((review) => [...dateTexts(review.state.dates)]));
  const kept = state.dates.filter((date) => [...dateTexts([date])].every((text) => shown.has(text)));
  const lost = lostDates.map(({ date }) => date);
  return { ...state, baseDates: [...kept, ...lost].map((date) => ({ ...date, brings: 0, reach: 0 })) };
}

const APART = { mergeReplacedRoles: false } as const;

/** Assigns ids to people who were added, since they are no longer additions. */
function withIds(access: Access): Access {
  return { ...access, people: access.people.map((one) => ({ ...one, id: one.id ?? `new ${one.name}` })) };
}

function restCounts(
  counts: Counts,
  all: readonly Change[],
  rest: readonly Change[],
  resource: Change["resource"],
): Counts {
  const ofResource = rest.filter((change) => change.resource === resource);
  const countOf = (kind: Change["kind"]): number =>
    ofResource.filter((change) => change.kind === kind).length;
  const others = all.filter((change) => change.resource === resource && change.kind !== "delete");
  const kept = ofResource.filter(({ kind }) => kind !== "delete").length;
  return {
    ...counts,
    create: countOf("create"),
    update: countOf("update"),
    replace: countOf("replace"),
    delete: countOf("delete"),
    unchanged: counts.unchanged + others.length - kept,
  };
}
