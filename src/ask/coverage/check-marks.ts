import { type Check, DEFAULT_ESCALATION, type Escalation } from "../../model/desired.ts";
import type { CoverageWorld, WorldPerson, WorldRole } from "./coverage-world.ts";
import { type Marks, markEdit, markGrant, markMendingEdit, markMendingGrant } from "./single-changes.ts";

/** A check of one permission, with the members that it is about. */
interface Tested {
  readonly check: Check;
  readonly permission: number;
  /** The roles whose holders may have it. */
  readonly allowed: ReadonlySet<number>;
  readonly isSubject: (person: WorldPerson) => boolean;
  readonly powers: Powers;
}

/** Marks the changes that break a check, or break it more. */
export function markCheck(
  check: Check,
  escalation: Partial<Escalation>,
  world: CoverageWorld,
  marks: Marks,
): void {
  const names = check.kind === "cannot" ? check.cannot : [check.can];
  for (const name of names) {
    const permission = world.permissionIndex.get(name);
    if (permission === undefined) continue;
    const powers = powersOf(
      permission,
      check.reach === true ? { ...DEFAULT_ESCALATION, ...escalation } : null,
      world,
    );
    const tested: Tested = {
      check,
      permission,
      allowed: allowedRoles(check, world),
      isSubject: subjectTest(check),
      powers,
    };
    markGrants(tested, world, marks);
    markEdits(tested, world, marks);
  }
}

/** Returns the roles that an `only` check allows. */
export function allowedRoles(check: Check, { find }: Pick<CoverageWorld, "find">): ReadonlySet<number> {
  if (check.kind !== "only") return new Set();
  return new Set(
    check.only.flatMap((entry) => (entry.startsWith("role:") ? (find(entry.slice(5)) ?? []) : [])),
  );
}

function subjectTest(check: Check): (person: WorldPerson) => boolean {
  const addressOf = ({ access }: WorldPerson): string => access.email?.toLowerCase() ?? "";
  switch (check.kind) {
    case "only": {
      const addresses = new Set(check.only.map((entry) => entry.toLowerCase()));
      return (person) => !addresses.has(addressOf(person));
    }
    case "cannot":
      return (person) => addressOf(person) === check.member.toLowerCase();
    case "at-most":
      return () => true;
    default:
      return check satisfies never;
  }
}

/** The powers of a role by which its holders have a permission or can reach it. */
interface Power {
  readonly grants: boolean;
  readonly assigns: boolean;
  readonly edits: boolean;
  readonly creates: boolean;
  readonly custom: boolean;
}

/** The powers of all roles, and how many of them have each. */
interface Powers {
  readonly escalation: Escalation | null;
  readonly roles: readonly Power[];
  readonly total: Tally;
  /** The permissions that give each power. */
  readonly leading: Readonly<Record<Exclude<keyof Power, "custom">, readonly number[]>>;
  /** The permissions that matter. */
  readonly relevant: readonly number[];
}

/** Number of roles with each power. */
interface Tally {
  grants: number;
  assigns: number;
  edits: number;
  creates: number;
  custom: number;
}

function powersOf(permission: number, escalation: Escalation | null, world: CoverageWorld): Powers {
  const { assign, edit, create } = escalation ?? { assign: [], edit: [], create: [] };
  const indexes = (names: readonly string[]): readonly number[] =>
    names.flatMap((name) => world.permissionIndex.get(name) ?? []);
  const leading = {
    grants: [permission],
    assigns: indexes(assign),
    edits: indexes(edit),
    creates: indexes(create),
  };
  const roles = world.roles.map(({ grants, custom }) =>
    powerOf((permission) => grants.has(permission), custom, leading),
  );
  const total = noPowers();
  for (const [roleIndex, power] of roles.entries())
    if (!world.roles[roleIndex]?.unread) count(total, power, 1);
  return {
    escalation,
    roles,
    total,
    leading,
    relevant: [...new Set(Object.values(leading).flat())],
  };
}

function powerOf(has: (permission: number) => boolean, custom: boolean, leading: Powers["leading"]): Power {
  return {
    grants: leading.grants.some(has),
    assigns: leading.assigns.some(has),
    edits: leading.edits.some(has),
    creates: leading.creates.some(has),
    custom,
  };
}

function noPowers(): Tally {
  return { grants: 0, assigns: 0, edits: 0, creates: 0, custom: 0 };
}

function count(tally: Tally, { grants, assigns, edits, creates, custom }: Power, times: number): void {
  if (grants) tally.grants += times;
  if (assigns) tally.assigns += times;
  if (edits) tally.edits += times;
  if (creates) tally.creates += times;
  if (custom) tally.custom += times;
}

/**
 * Returns whether somebody who holds roles of these powers has the permission or, where escalation counts, can take it:
 * what a member can reach in the end is known without the steps.
 */
function hasOrReaches(held: Tally, everybody: Tally, escalation: Escalation | null): boolean {
  if (held.grants > 0) return true;
  if (escalation === null) return false;
  if (held.edits > 0 && held.custom > 0) return true;
  return (
    held.assigns > 0 &&
    (everybody.grants > 0 || everybody.creates > 0 || (everybody.edits > 0 && everybody.custom > 0))
  );
}

function tallyOf({ held }: WorldPerson, { roles }: Powers): Tally {
  const tally = noPowers();
  for (const role of held) {
    const power = roles[role];
    if (power) count(tally, power, 1);
  }
  return tally;
}

function allowedHeld({ held }: WorldPerson, allowed: ReadonlySet<number>): number {
  let number = 0;
  if (allowed.size > 0) for (const role of held) if (allowed.has(role)) number += 1;
  return number;
}

/** Returns how many holders more break the check. */
function spareOf({ check, powers }: Tested, { people }: CoverageWorld): number {
  if (check.kind !== "at-most") return 0;
  const { escalation, total } = powers;
  return (
    check.atMost - people.filter((person) => hasOrReaches(tallyOf(person, powers), total, escalation)).length
  );
}

/** Returns whether those who have the permission break the check: of a limit, if they are too many. */
function isBroken({ check }: Tested, spare: number): boolean {
  return check.kind !== "at-most" || spare < 0;
}

/** Marks the roles given to or taken from members that break a check, and those whose loss mends it. */
function markGrants(tested: Tested, world: CoverageWorld, marks: Marks): void {
  const { allowed, isSubject, powers } = tested;
  const { total, escalation, roles } = powers;
  const spare = spareOf(tested, world);
  if (spare > 0) return;
  world.people.forEach((person, personIndex) => {
    if (!isSubject(person)) return;
    const tally = tallyOf(person, powers);
    const exempt = allowedHeld(person, allowed);
    if (exempt === 0 && hasOrReaches(tally, total, escalation)) {
      if (isBroken(tested, spare)) markMending(personIndex, tally, tested, world, marks);
      return;
    }
    roles.forEach((power, role) => {
      const times = person.held.has(role) ? -1 : 1;
      if (exempt + (allowed.has(role) ? times : 0) > 0) return;
      count(tally, power, times);
      const totalWithRole = world.roles[role]?.unread ? withPower(total, power) : total;
      if (hasOrReaches(tally, totalWithRole, escalation)) markGrant(marks, personIndex, role);
      count(tally, power, -times);
    });
  });
}

/** Marks the roles without which somebody does not break a check any more. */
function markMending(
  personIndex: number,
  tally: Tally,
  { powers: { roles, total, escalation } }: Tested,
  { people }: CoverageWorld,
  marks: Marks,
): void {
  for (const role of people[personIndex]?.held ?? []) {
    const power = roles[role];
    if (power === undefined) continue;
    count(tally, power, -1);
    if (!hasOrReaches(tally, total, escalation)) markMendingGrant(marks, personIndex, role);
    count(tally, power, 1);
  }
}

function markEdits(tested: Tested, world: CoverageWorld, marks: Marks): void {
  const { allowed, isSubject, powers } = tested;
  const { escalation, total, roles: rolePowers, relevant } = powers;
  const spare = spareOf(tested, world);
  const tallies = world.people.map((person) => tallyOf(person, powers));
  const subjects = world.people.flatMap((person, personIndex) =>
    !isSubject(person) || allowedHeld(person, allowed) > 0 ? [] : [personIndex],
  );
  const having = (personIndex: number): boolean =>
    hasOrReaches(tallies[personIndex] ?? noPowers(), total, escalation);
  const clean = subjects.filter((personIndex) => !having(personIndex));
  const isClean = new Set(clean);
  const breaking = isBroken(tested, spare) ? subjects.filter(having) : [];
  world.roles.forEach((role, index) => {
    const powerBefore = rolePowers[index];
    if (!role.editable || powerBefore === undefined) return;
    const concerned =
      escalation === null ? role.holders.filter((personIndex) => isClean.has(personIndex)) : clean;
    const holders = new Set(role.holders);
    for (const permission of relevant) {
      const isTaken = role.grants.has(permission);
      const powerAfter = powerOf(
        (granted) => (granted === permission ? !isTaken : role.grants.has(granted)),
        role.custom,
        powers.leading,
      );
      const totalAfter = exchanged(total, powerBefore, powerAfter);
      const has = (personIndex: number): boolean => {
        const tally = tallies[personIndex] ?? noPowers();
        return hasOrReaches(
          holders.has(personIndex) ? exchanged(tally, powerBefore, powerAfter) : tally,
          totalAfter,
          escalation,
        );
      };
      // A removal lets nobody reach more. Of a check that is broken already, each further holder is noticed.
      if (isTaken && breaking.some((personIndex) => !has(personIndex)))
        markMendingEdit(marks, index, permission);
      else if (!isTaken && exceeds(concerned, has, Math.max(spare, 0))) markEdit(marks, index, permission);
    }
  });
}

function withPower(tally: Tally, power: Power): Tally {
  const changed = { ...tally };
  count(changed, power, 1);
  return changed;
}

function exchanged(tally: Tally, before: Power, after: Power): Tally {
  const changed = { ...tally };
  count(changed, before, -1);
  count(changed, after, 1);
  return changed;
}

/** Returns whether a test holds for more than so many. */
function exceeds(people: readonly number[], test: (at: number) => boolean, most: number): boolean {
  let number = 0;
  return people.some((person) => {
    if (test(person)) number += 1;
    return number > most;
  });
}

/** Returns the holders of a permission. */
export function holdersOfPermission(permission: number, roles: readonly WorldRole[]): ReadonlySet<number> {
  return new Set(roles.flatMap(({ grants, holders }) => (grants.has(permission) ? holders : [])));
}
