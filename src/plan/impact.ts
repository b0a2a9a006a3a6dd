import type { Impact, MemberImpact } from "../model/plan.ts";
import { type Access, granting, isActive, type PersonAccess } from "./access.ts";
import { by, byCodeUnit } from "./order.ts";

/** What people gain and lose between two states of access, whichever change it comes from. */
export function impactOf(before: Access, after: Access): Impact {
  const members = memberImpacts(before, after).sort(
    by((impact) => `${impact.name} ${JSON.stringify(impact)}`),
  );
  return { members, permissions: permissionSums(members), roles: roleSums(before, after) };
}

function memberImpacts(before: Access, after: Access): MemberImpact[] {
  const had = granting(before);
  const has = granting(after);
  const same = rolesThatStay(before, after);
  const impacts: MemberImpact[] = [];
  for (const key of new Set([...before.people.keys(), ...after.people.keys()])) {
    const was = before.people.get(key);
    const is = after.people.get(key);
    if (was === is && was?.roles.every((role) => same.has(role))) continue;
    const [old, now] = [had(was), has(is)];
    const impact: MemberImpact = {
      name: is?.name ?? was?.name ?? key,
      gained: missing(now.permissions, old.permissions),
      lost: missing(old.permissions, now.permissions),
      unknownGained: missing(now.unknown, old.unknown),
      unknownLost: missing(old.unknown, now.unknown),
    };
    const { gained, lost, unknownGained, unknownLost } = impact;
    if (gained.length + lost.length + unknownGained.length + unknownLost.length > 0) impacts.push(impact);
  }
  return impacts;
}

/** Roles that grant the same before and after: who holds only those, and does so still, is not touched. */
function rolesThatStay(before: Access, after: Access): ReadonlySet<string> {
  return new Set(
    [...before.roles].flatMap(([key, role]) =>
      after.roles.get(key)?.permissions === role.permissions ? key : [],
    ),
  );
}

function missing(from: Iterable<string>, among: Iterable<string>): readonly string[] {
  const known = new Set(among);
  return [...from].filter((item) => !known.has(item)).sort(byCodeUnit);
}

function permissionSums(members: readonly MemberImpact[]): Impact["permissions"] {
  const sums = new Map<string, { gained: number; lost: number }>();
  const count = (permission: string, what: "gained" | "lost"): void => {
    const sum = sums.get(permission) ?? { gained: 0, lost: 0 };
    sum[what] += 1;
    sums.set(permission, sum);
  };
  for (const { gained, lost } of members) {
    for (const permission of gained) count(permission, "gained");
    for (const permission of lost) count(permission, "lost");
  }
  return [...sums]
    .map(([permission, sum]) => ({ permission, ...sum }))
    .sort(by(({ permission }) => permission));
}

function roleSums(before: Access, after: Access): Impact["roles"] {
  const [had, has] = [holderCounts(before), holderCounts(after)];
  return [...new Set([...had.keys(), ...has.keys()])]
    .map((key) => ({
      name: (after.roles.get(key) ?? before.roles.get(key))?.name ?? key,
      before: had.get(key) ?? 0,
      after: has.get(key) ?? 0,
    }))
    .filter((sum) => sum.before !== sum.after)
    .sort(by((sum) => `${sum.name} ${sum.before} ${sum.after}`));
}

function holderCounts({ people }: Access): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const person of people.values()) {
    if (isActive(person)) for (const key of person.roles) counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}

/** The people who hold a role, in the order of their names. */
export function holdersOf({ people }: Access, roleKey: string): readonly PersonAccess[] {
  return [...people.values()].filter((person) => person.roles.includes(roleKey)).sort(by(({ name }) => name));
}
