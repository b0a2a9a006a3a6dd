import { type GlobMatch, matchesAny } from "../../kernel/diff/scope.ts";
import { allowedRemovals } from "../../kernel/rules/max-removals.ts";
import { markCheck } from "./check-marks.ts";
import type { CoverageRule } from "./coverage-rules.ts";
import type { CoverageWorld } from "./coverage-world.ts";
import {
  type Marks,
  markEdit,
  markGrant,
  markMendingEdit,
  markMendingGrant,
  noMarks,
} from "./single-changes.ts";

/**
 * Returns which single changes of an access the rules notice: those that break one, or break it more. Each rule looks
 * only at the changes of what it names.
 */
export function noticedChanges(
  rules: readonly CoverageRule[],
  world: CoverageWorld,
  matches: GlobMatch,
): Marks {
  const marks = noMarks(world.people.length, world.roles.length, world.permissions.length);
  for (const rule of rules) {
    if (rule.kind === "check") markCheck(rule.check, rule.escalation, world, marks);
    else if (rule.listed.section === "policies") markPolicy(rule, world, marks);
    else markGuard(rule, rules, world, marks, matches);
  }
  return marks;
}

function markPolicy(rule: CoverageRule, world: CoverageWorld, marks: Marks): void {
  const { roles, people, find, permissionIndex } = world;
  switch (rule.kind) {
    case "separate": {
      const set = new Set(rule.roles.flatMap((role) => find(role) ?? []));
      people.forEach(({ held }, person) => {
        const heldRoles = [...set].filter((role) => held.has(role));
        if (heldRoles.length === 0) return;
        for (const role of set) if (!held.has(role)) markGrant(marks, person, role);
        if (heldRoles.length > 1) for (const role of heldRoles) markMendingGrant(marks, person, role);
      });
      return;
    }
    case "max-holders": {
      const role = find(rule.role);
      const holders = role === undefined ? [] : (roles[role]?.holders ?? []);
      if (role === undefined || holders.length < rule.max) return;
      markGiven(role, world, marks, ({ held }) => holders.length > rule.max || !held.has(role));
      return;
    }
    case "require-until": {
      const role = find(rule.role);
      if (role !== undefined) markGiven(role, world, marks, ({ ends, ending }) => !ends && !ending.has(role));
      return;
    }
    case "require-mfa": {
      const role = find(rule.role);
      if (role === undefined) return;
      markGiven(role, world, marks, ({ access }) => access.mfa === false && !access.serviceAccount);
      return;
    }
    case "forbid":
      for (const name of rule.permissions) {
        const permission = permissionIndex.get(name) ?? 0;
        roles.forEach(({ editable, grants }, role) => {
          if (!editable) return;
          if (grants.has(permission)) markMendingEdit(marks, role, permission);
          else markEdit(marks, role, permission);
        });
      }
      return;
    default:
      // No grant changes an address; checks and guards are judged elsewhere.
      return;
  }
}

/** Marks a role given to the members whom a test selects; those of them who hold it break the rule. */
function markGiven(
  role: number,
  { people }: CoverageWorld,
  marks: Marks,
  test: (person: CoverageWorld["people"][number]) => boolean,
): void {
  people.forEach((person, personIndex) => {
    if (!test(person)) return;
    if (!person.held.has(role)) markGrant(marks, personIndex, role);
    else markMendingGrant(marks, personIndex, role);
  });
}

function markGuard(
  rule: CoverageRule,
  rules: readonly CoverageRule[],
  world: CoverageWorld,
  marks: Marks,
  matches: GlobMatch,
): void {
  const { roles, people } = world;
  switch (rule.kind) {
    case "protect-member":
      people.slice(0, -1).forEach(({ access }, person) => {
        if (!matchesAny([rule.glob], matchedNames(access), matches)) return;
        roles.forEach((_, role) => {
          markGrant(marks, person, role);
        });
      });
      return;
    case "protect-role":
      roles.forEach(({ editable, id, name }, role) => {
        if (!editable || !matchesAny([rule.glob], matchedNames({ id, name }), matches)) return;
        world.permissions.forEach((_, permission) => {
          markEdit(marks, role, permission);
        });
      });
      return;
    case "min-holders":
      markTaken(rule, rules, world, marks);
      return;
    case "max-removals": {
      if (allowedRemovals(rule.limit, people.length - 1) < 1) {
        people.forEach(({ held }, person) => {
          for (const role of held) markGrant(marks, person, role);
        });
      }
      if (allowedRemovals(rule.limit, roles.filter(({ custom }) => custom).length) < 1) {
        roles.forEach(({ editable, grants }, role) => {
          if (editable) for (const permission of grants) markEdit(marks, role, permission);
        });
      }
      return;
    }
    default:
      return;
  }
}

/** Returns the names by which a pattern means a role or a member. */
export function matchedNames({
  id,
  name,
}: {
  readonly id: string | null;
  readonly name: string;
}): readonly string[] {
  return [id ?? name, name];
}

/** Marks the loss of a role that leaves too few accepted holders, of people or of all accounts. */
function markTaken(
  rule: Extract<CoverageRule, { readonly kind: "min-holders" }>,
  rules: readonly CoverageRule[],
  world: CoverageWorld,
  marks: Marks,
): void {
  const role = minimumRole(rule, rules, world);
  for (const counted of role === undefined ? [] : acceptedHolders(role, world)) {
    if (counted.length - 1 >= Math.min(rule.min, counted.length)) continue;
    for (const person of counted) markGrant(marks, person, role ?? 0);
  }
}

/** Returns the index of a minimum's role; `undefined` if it is not judged, or another rule replaces the default. */
export function minimumRole(
  rule: Extract<CoverageRule, { readonly kind: "min-holders" }>,
  rules: readonly CoverageRule[],
  { find }: Pick<CoverageWorld, "find">,
): number | undefined {
  const role = find(rule.role);
  if (rule.written) return role;
  const isReplaced = rules.some(
    (other) =>
      other.kind === "min-holders" &&
      other.written &&
      other.listed.enforcedBy === rule.listed.enforcedBy &&
      find(other.role) === role,
  );
  return isReplaced ? undefined : role;
}

/** Returns the accepted holders of a role: the people, then all accounts. */
export function acceptedHolders(
  role: number,
  { roles, people }: CoverageWorld,
): readonly (readonly number[])[] {
  const accepted = (roles[role]?.holders ?? []).filter((person) => {
    const status = people[person]?.access.status;
    // Declared members count as accepted.
    return status === "accepted" || status === "invited";
  });
  return [accepted.filter((person) => people[person]?.access.serviceAccount === false), accepted];
}
