import { memoized } from "../../lib/memoized.ts";
import { by, byCodeUnit, counted, groupByKey, sortedSet } from "../../lib/text.ts";
import type { DesiredMember, DesiredState, Escalation } from "../../model/desired.ts";
import { RolecallError } from "../../model/errors.ts";
import type { Impact, MemberImpact, RoleChange } from "../../model/plan.ts";
import type { FindingData } from "../findings/findings.ts";
import {
  type Access,
  type BeforeAndAfter,
  beforeAndAfter,
  type Granted,
  granting,
  isActive,
  type PersonAccess,
  titlesOf,
} from "./access.ts";
import { reaching } from "./reach.ts";
import { sensitiveIn } from "./settings/sensitive.ts";

/**
 * Returns the permissions that members gain and lose between two states of access, and those that members who
 * gain some could give themselves from then on.
 */
export function impactOf(
  before: Access,
  after: Access,
  {
    policies: { escalation },
    projects,
    members: entries = [],
  }: Pick<DesiredState, "policies" | "projects" | "members">,
): Impact {
  const touched = touchedBy(before, after);
  const members = memberImpacts(before, after, touched).sort(
    (a, b) => byCodeUnit(a.name, b.name) || byCodeUnit(JSON.stringify(a), JSON.stringify(b)),
  );
  const reach = newReach(before, after, touched, escalation);
  const changedRoles = [...rolesThatDiffer(before, after)].flatMap((key) => [
    ...(before.roles.get(key)?.permissions ?? []),
    ...(after.roles.get(key)?.permissions ?? []),
  ]);
  const lists = new Set([
    ...members.flatMap(({ gained, lost }) => [gained, lost]),
    ...reach.map(({ permissions }) => permissions),
  ]);
  const shown = [...lists, changedRoles].flat();
  const sensitive = sortedSet(shown).filter(sensitiveIn(projects));
  const formerly = formerlyHeld(before, touched, entries);
  return {
    members,
    permissions: permissionSums(members),
    roles: roleSums(before, after, touched),
    ...(reach.length > 0 && { reach }),
    ...(formerly.length > 0 && { formerly }),
    ...(sensitive.length > 0 && { sensitive }),
  };
}

/**
 * Returns the permissions that people held under a previous address, unless disabled, or through an expired invitation
 * that is renewed.
 */
function formerlyHeld(
  before: Access,
  touched: readonly BeforeAndAfter[],
  entries: readonly DesiredMember[],
): NonNullable<Impact["formerly"]> {
  const had = granting(before, ({ status }) => status !== "disabled");
  const newAddresses = new Map(
    entries.flatMap(({ email, previously = [] }) =>
      previously.map((address) => [address.toLowerCase(), email.toLowerCase()] as const),
    ),
  );
  const movedTo = new Map<string, PersonAccess[]>();
  for (const former of newAddresses.size === 0 ? [] : before.people) {
    const address = newAddresses.get(former.email?.toLowerCase() ?? "");
    if (address === undefined) continue;
    const formers = movedTo.get(address);
    if (formers) formers.push(former);
    else movedTo.set(address, [former]);
  }
  return touched
    .flatMap(({ was, is }) => {
      if (is === undefined || !isActive(is)) return [];
      const formers = [
        ...(was?.status === "expired" ? [was] : []),
        ...(movedTo.get(is.email?.toLowerCase() ?? "") ?? []),
      ];
      const roles = sortedSet(
        formers.flatMap((former) => (former.status === "disabled" ? [] : former.roles)),
      );
      const permissions = sortedSet(formers.flatMap((former) => [...had(former).permissions]));
      return formers.length === 0 ? [] : [{ name: is.name, roles, permissions }];
    })
    .sort(by(({ name }) => name));
}

const NOTHING: readonly string[] = [];

/** Far more than members of a real account can reach in total. */
const MAX_REACH = 5_000_000;

function tooMuchReach(): RolecallError {
  return new RolecallError(
    "file-invalid",
    `Too many members could newly give themselves too many permissions to list (more than ${counted(MAX_REACH, "entry", "entries")}).`,
    {
      hint: "Give fewer members the permissions to change members and roles, or make the change in several steps.",
    },
  );
}

function newReach(
  before: Access,
  after: Access,
  touched: readonly BeforeAndAfter[],
  escalation: Partial<Escalation> | undefined,
): NonNullable<Impact["reach"]> {
  const [reached, reaches] = [reaching(before, escalation), reaching(after, escalation)];
  const [had, has] = [granting(before), granting(after)];
  const allPermissions = sortedSet([...after.roles.values()].flatMap(({ permissions }) => permissions ?? []));
  // Shares one list among those who can assign roles, since they can reach the same.
  const reachedSince = memoized((old: readonly string[]) =>
    memoized((now: readonly string[]) => missing(now, old)),
  );
  let size = 0;
  const newlyReached = (former: PersonAccess | undefined, current: PersonAccess): readonly string[] => {
    const [old, now] = [had(former).permissions, has(current).permissions];
    // A member who gains nothing has no new way to reach anything.
    if ([...now].every((permission) => old.has(permission))) return [];
    const formerReach = former !== undefined && isActive(former) ? reached(former) : null;
    if (formerReach !== null && formerReach.anything !== null) return [];
    const { anything, permissions } = reaches(current);
    const inReach = anything === null ? permissions : allPermissions;
    const since = reachedSince(formerReach?.permissions ?? NOTHING)(inReach);
    const list = since.filter((permission) => !now.has(permission));
    size += list.length;
    if (size > MAX_REACH) throw tooMuchReach();
    return list;
  };
  const cache = new Map<string, readonly string[]>();
  return touched
    .flatMap(({ was, is }) => {
      if (is === undefined) return [];
      const key = JSON.stringify([was !== undefined && isActive(was) ? was.roles : null, is.roles]);
      const permissions = cache.get(key) ?? newlyReached(was, is);
      cache.set(key, permissions);
      return permissions.length === 0 ? [] : [{ name: is.name, permissions }];
    })
    .sort(by(({ name }) => name));
}

/**
 * Returns the members whose permissions may differ: all except those with the same roles, with the same permissions.
 */
function touchedBy(before: Access, after: Access): readonly BeforeAndAfter[] {
  const other = rolesThatDiffer(before, after);
  const touched: BeforeAndAfter[] = [];
  if (before.people === after.people && other.size === 0) return touched;
  for (const person of beforeAndAfter(before, after)) {
    const { was, is } = person;
    if (was !== is || (other.size > 0 && was?.roles.some((role) => other.has(role)))) touched.push(person);
  }
  return touched;
}

function memberImpacts(before: Access, after: Access, touched: readonly BeforeAndAfter[]): MemberImpact[] {
  const had = granting(before);
  const has = granting(after);
  // People with the same roles share the lists.
  const differenceFrom = memoized((old: Granted) =>
    memoized(
      (now: Granted): Omit<MemberImpact, "name"> => ({
        gained: missing(now.permissions, old.permissions),
        lost: missing(old.permissions, now.permissions),
        unknownGained: missing(now.unknown, old.unknown),
        unknownLost: missing(old.unknown, now.unknown),
      }),
    ),
  );
  const impacts: MemberImpact[] = [];
  for (const { was, is } of touched) {
    const difference = differenceFrom(had(was))(has(is));
    if (Object.values(difference).some((list) => list.length > 0)) {
      impacts.push({ name: is?.name ?? was?.name ?? "", ...difference });
    }
  }
  return impacts;
}

/** Returns the roles whose permissions may differ, or that exist only before or after. */
function rolesThatDiffer(before: Access, after: Access): ReadonlySet<string> {
  const keys = [...before.roles.keys(), ...after.roles.keys()];
  return new Set(
    keys.filter((key) => {
      const [roleBefore, roleAfter] = [before.roles.get(key), after.roles.get(key)];
      return (
        roleBefore === undefined ||
        roleAfter === undefined ||
        roleBefore.permissions !== roleAfter.permissions
      );
    }),
  );
}

function missing(from: Iterable<string>, among: Iterable<string>): readonly string[] {
  const amongSet = among instanceof Set ? among : new Set(among);
  return [...from].filter((item) => !amongSet.has(item)).sort(byCodeUnit);
}

function permissionSums(members: readonly MemberImpact[]): Impact["permissions"] {
  const sums = new Map<string, { gained: number; lost: number }>();
  for (const what of ["gained", "lost"] as const) {
    for (const [{ [what]: list }, ...more] of groupByKey(members, (member) => member[what])) {
      for (const permission of list) {
        const sum = sums.get(permission) ?? { gained: 0, lost: 0 };
        sum[what] += 1 + more.length;
        sums.set(permission, sum);
      }
    }
  }
  return [...sums]
    .map(([permission, sum]) => ({ permission, ...sum }))
    .sort(by(({ permission }) => permission));
}

function roleSums(before: Access, after: Access, touched: readonly BeforeAndAfter[]): Impact["roles"] {
  const more = new Map<string, number>();
  for (const { was, is } of touched) {
    countRoles(was, -1, more);
    countRoles(is, 1, more, after.removed);
  }
  const other = new Map([...more].filter(([, sum]) => sum !== 0));
  if (other.size === 0) return [];
  const roles = new Map([...before.roles, ...after.roles]);
  const titleOf = titlesOf(roles.values());
  const had = new Map<string, number>();
  for (const person of before.people) countRoles(person, 1, had);
  return [...other]
    .map(([key, sum]) => {
      const role = roles.get(key);
      const count = had.get(key) ?? 0;
      return { name: role === undefined ? key : titleOf(role), before: count, after: count + sum };
    })
    .sort(by((sum) => `${sum.name} ${sum.before} ${sum.after}`));
}

const NONE: ReadonlySet<string> = new Set();

function countRoles(
  person: PersonAccess | undefined,
  by: number,
  counts: Map<string, number>,
  removed: ReadonlySet<string> = NONE,
): void {
  if (person === undefined || !isActive(person)) return;
  for (const key of person.roles) if (!removed.has(key)) counts.set(key, (counts.get(key) ?? 0) + by);
}

/** Returns the holders of a role, sorted by name. */
export function holdersOf({ people }: Access, roleKey: string): readonly PersonAccess[] {
  return people.filter(({ roles }) => roles.includes(roleKey)).sort(by(({ name }) => name));
}

/**
 * Finds pairs of a removed and a created role with the same permissions or holders, which are likely renames.
 */
export function detectRenames(
  changes: readonly RoleChange[],
  before: Access,
  after: Access,
): readonly FindingData[] {
  const gone = changes.flatMap((change) => (change.kind === "delete" ? [change] : []));
  const come = changes.flatMap((change) => (change.kind === "create" ? [change] : []));
  if (gone.length === 0) return [];
  const [hadBefore, hasAfter] = [holderNames(before), holderNames(after)];
  return come.flatMap((created): readonly FindingData[] => {
    const holders = hasAfter(`new ${created.name}`);
    const twins = gone.filter(
      (removed) =>
        same(removed.before.permissions, created.after.permissions) || same(hadBefore(removed.id), holders),
    );
    const [twin, ...otherTwins] = twins;
    if (twin === undefined || otherTwins.length > 0) return [];
    return [{ code: "role-likely-renamed", name: created.name, previously: twin.name }];
  });
}

/** Returns a lookup of the names of a role's holders, sorted. */
function holderNames({ people }: Access): (key: string) => readonly string[] {
  const holders = new Map<string, string[]>();
  for (const { name, roles } of [...people].sort(by(({ name }) => name))) {
    for (const key of roles) {
      const names = holders.get(key);
      if (names) names.push(name);
      else holders.set(key, [name]);
    }
  }
  return (key) => holders.get(key) ?? [];
}

function same(a: readonly string[], b: readonly string[]): boolean {
  return a.length > 0 && a.length === b.length && a.every((item, index) => item === b[index]);
}
