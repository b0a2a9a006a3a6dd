import type { Check, Escalation } from "../../model/desired.ts";
import { DEFAULT_ESCALATION } from "../query/reach.ts";
import type { CoverageWorld, WorldPerson, WorldRole } from "./coverage-world.ts";
import { type Marks, markEdit, markGrant } from "./single-changes.ts";

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

/** What of a role decides whether its holders have a permission or can reach it. */
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
  /** The permissions that matter. */
  readonly relevant: readonly number[];
}

/** How many roles have each power. */
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
  const [assigning, editing, creating] = [indexes(assign), indexes(edit), indexes(create)];
  const roles = world.roles.map(
    ({ grants, custom }): Power => ({
      grants: grants.has(permission),
      assigns: assigning.some((one) => grants.has(one)),
      edits: editing.some((one) => grants.has(one)),
      creates: creating.some((one) => grants.has(one)),
      custom,
    }),
  );
  const total = noPowers();
  for (const power of roles) count(total, power, 1);
  return {
    escalation,
    roles,
    total,
    relevant: [...new Set([permission, ...assigning, ...editing, ...creating])],
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
 * Returns whether somebody who holds roles of these powers has the permission or, where escalation counts, can give it to
 * himself: what a member can reach in the end is known without the steps.
 */
function hasOrReaches(held: Tally, all: Tally, escalation: Escalation | null): boolean {
  if (held.grants > 0) return true;
  if (escalation === null) return false;
  if (held.edits > 0 && held.custom > 0) return true;
  return held.assigns > 0 && (all.grants > 0 || all.creates > 0 || (all.edits > 0 && all.custom > 0));
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

function markGrants(tested: Tested, world: CoverageWorld, marks: Marks): void {
  const { allowed, isSubject, powers } = tested;
  const { total, escalation, roles } = powers;
  if (spareOf(tested, world) > 0) return;
  world.people.forEach((person, at) => {
    if (!isSubject(person)) return;
    const tally = tallyOf(person, powers);
    const exempt = allowedHeld(person, allowed);
    if (exempt === 0 && hasOrReaches(tally, total, escalation)) return;
    roles.forEach((power, role) => {
      const times = person.held.has(role) ? -1 : 1;
      if (exempt + (allowed.has(role) ? times : 0) > 0) return;
      count(tally, power, times);
      if (hasOrReaches(tally, total, escalation)) markGrant(marks, at, role);
      count(tally, power, -times);
    });
  });
}

function markEdits(tested: Tested, world: CoverageWorld, marks: Marks): void {
  const { allowed, isSubject, powers } = tested;
  const { escalation, total, roles: rolePowers, relevant } = powers;
  // Of a check that is broken already, each further holder is noticed.
  const spare = Math.max(spareOf(tested, world), 0);
  const tallies = world.people.map((person) => tallyOf(person, powers));
  const clean = world.people.flatMap((person, at) => {
    const exempt = !isSubject(person) || allowedHeld(person, allowed) > 0;
    return exempt || hasOrReaches(tallies[at] ?? noPowers(), total, escalation) ? [] : [at];
  });
  const isClean = new Set(clean);
  world.roles.forEach((role, index) => {
    const was = rolePowers[index];
    if (!role.editable || was === undefined) return;
    const concerned = escalation === null ? role.holders.filter((at) => isClean.has(at)) : clean;
    const holders = new Set(role.holders);
    for (const permission of relevant) {
      // What is taken makes nobody reach more.
      if (role.grants.has(permission)) continue;
      const is = withPermission(was, permission, tested, world);
      const all = exchanged(total, was, is);
      const isBroken = (at: number): boolean => {
        const tally = tallies[at] ?? noPowers();
        return hasOrReaches(holders.has(at) ? exchanged(tally, was, is) : tally, all, escalation);
      };
      if (exceeds(concerned, isBroken, spare)) markEdit(marks, index, permission);
    }
  });
}

function exchanged(tally: Tally, was: Power, is: Power): Tally {
  const changed = { ...tally };
  count(changed, was, -1);
  count(changed, is, 1);
  return changed;
}

/** Returns whether a test holds for more than so many. */
function exceeds(people: readonly number[], test: (at: number) => boolean, most: number): boolean {
  let number = 0;
  return people.some((at) => {
    if (test(at)) number += 1;
    return number > most;
  });
}

function withPermission(
  power: Power,
  added: number,
  { permission, powers: { escalation } }: Tested,
  { permissions }: CoverageWorld,
): Power {
  const name = permissions[added] ?? "";
  const { assign, edit, create } = escalation ?? { assign: [], edit: [], create: [] };
  return {
    ...power,
    grants: power.grants || added === permission,
    assigns: power.assigns || assign.includes(name),
    edits: power.edits || edit.includes(name),
    creates: power.creates || create.includes(name),
  };
}

/** Returns the holders of a permission. */
export function holdersOfPermission(permission: number, roles: readonly WorldRole[]): ReadonlySet<number> {
  return new Set(roles.flatMap(({ grants, holders }) => (grants.has(permission) ? holders : [])));
}
