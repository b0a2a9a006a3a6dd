import type { Change, Counts, Plan } from "../../model/plan.ts";
import { leftAt } from "../diff/active-member.ts";
import { planFingerprint } from "../diff/fingerprint.ts";
import { type GlobMatch, scopeOf } from "../diff/scope.ts";
import { type Access, accessAfter, accessBefore, splitByResource } from "../rules/access.ts";
import { impactOf } from "../rules/impact.ts";
import type { FreshPlan } from "./fresh-context.ts";

/** Returns the plan of some changes of a fresh one, with what they give and take once others are made. */
export function restPlan(
  { plan, live, desired }: FreshPlan,
  made: readonly Change[],
  rest: readonly Change[],
  matches: GlobMatch,
): Plan {
  const scope = scopeOf(live, desired.ignore, matches, leftAt(desired.leavers, plan.reviewed.at));
  const changes = splitByResource(made);
  const before = withIds(accessAfter(accessBefore(scope, changes, APART), changes, APART));
  const after = accessAfter(before, splitByResource(rest), APART);
  const names = new Set(rest.map(({ name }) => name));
  return {
    ...plan,
    fingerprint: planFingerprint(plan, rest),
    summary: {
      roles: restCounts(plan.summary.roles, plan.changes, rest, "role"),
      members: restCounts(plan.summary.members, plan.changes, rest, "member"),
    },
    impact: impactOf(before, after, desired),
    changes: rest,
    deferred: [],
    findings: plan.findings.filter(({ name }) => name === null || names.has(name)),
  };
}

const APART = { mergeReplacedRoles: false } as const;

/** Gives ids to people who were added, as they are no additions any more. */
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
