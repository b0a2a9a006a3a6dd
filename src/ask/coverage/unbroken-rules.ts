import { type GlobMatch, matchesAny } from "../../kernel/diff/scope.ts";
import type { Unbreakable, UnbrokenRule } from "../../model/coverage.ts";
import type { Check } from "../../model/desired.ts";
import { allowedRoles, holdersOfPermission } from "./check-marks.ts";
import type { CoverageRule } from "./coverage-rules.ts";
import type { CoverageWorld, WorldRole } from "./coverage-world.ts";
import { acceptedHolders, matchedNames, minimumRole } from "./notice-changes.ts";

/** The number of changes that a rule has to notice. */
const CHANGES = 2;

/**
 * Returns the rules that no one or two changes of the access break; strangers may get roles, too. Rules about addresses
 * and MFA depend on more than that, and count only if they name nothing that exists.
 */
export function unbrokenRules(
  rules: readonly CoverageRule[],
  world: CoverageWorld,
  matches: GlobMatch,
): readonly UnbrokenRule[] {
  return rules.flatMap((rule) => {
    const reason = unbreakable(rule, rules, world, matches);
    return reason === null ? [] : [{ rule: rule.listed, reason }];
  });
}

function unbreakable(
  rule: CoverageRule,
  rules: readonly CoverageRule[],
  world: CoverageWorld,
  matches: GlobMatch,
): Unbreakable | null {
  const { roles, people, find } = world;
  switch (rule.kind) {
    case "check":
      return unbreakableCheck(rule.check, world);
    case "email-domains":
      return null;
    case "separate": {
      const separated = new Set(rule.roles.flatMap((role) => find(role) ?? []));
      return separated.size >= 2 ? null : unknownRoles(rule.roles, world);
    }
    case "max-holders": {
      const role = find(rule.role);
      if (role === undefined) return unknownRoles([rule.role], world);
      const now = roles[role]?.holders.length ?? 0;
      return far(now, now + CHANGES, rule.max);
    }
    case "require-until":
    case "require-mfa":
      return find(rule.role) === undefined ? unknownRoles([rule.role], world) : null;
    case "forbid":
      return roles.some(({ editable }) => editable) ? null : { why: "ungranted" };
    case "protect-role":
    case "protect-member":
      return unmatched(rule, world, matches);
    case "min-holders":
      return rule.written ? unbreakableMinimum(rule, rules, world) : null;
    case "max-removals": {
      const most = Math.max(people.length - 1, roles.filter(({ custom }) => custom).length);
      const isIdle = "count" in rule.limit ? rule.limit.count >= most : rule.limit.percent >= 100;
      return isIdle ? { why: "no-limit" } : null;
    }
    default:
      // A limit of changes of many people at once.
      return null;
  }
}

function unmatched(
  { kind, glob }: Extract<CoverageRule, { readonly glob: string }>,
  { roles, people, complete }: CoverageWorld,
  matches: GlobMatch,
): Unbreakable | null {
  const nameLists =
    kind === "protect-role"
      ? roles.map(matchedNames)
      : people.slice(0, -1).map(({ access }) => matchedNames(access));
  // A pattern protects what no file lists, too.
  const isIdle = complete && !nameLists.some((names) => matchesAny([glob], names, matches));
  return isIdle ? { why: "unmatched" } : null;
}

function unknownRoles(roles: readonly string[], { find }: CoverageWorld): Unbreakable {
  return { why: "role-unknown", roles: roles.filter((role) => find(role) === undefined) };
}

function far(now: number, reached: number, limit: number): Unbreakable | null {
  return reached > limit ? null : { why: "far", now, reached, limit };
}

function unbreakableMinimum(
  rule: Extract<CoverageRule, { readonly kind: "min-holders" }>,
  rules: readonly CoverageRule[],
  world: CoverageWorld,
): Unbreakable | null {
  if (rule.min === 0) return { why: "no-limit" };
  const role = minimumRole(rule, rules, world);
  if (role === undefined) return unknownRoles([rule.role], world);
  const counts = acceptedHolders(role, world).map((holders) => holders.length);
  const breaks = counts.some((now) => now > 0 && Math.max(now - CHANGES, 0) < Math.min(rule.min, now));
  const now = counts[1] ?? 0;
  return breaks ? null : { why: "far", now, reached: Math.max(now - CHANGES, 0), limit: rule.min };
}

function unbreakableCheck(check: Check, world: CoverageWorld): Unbreakable | null {
  const { roles, permissionIndex } = world;
  switch (check.kind) {
    case "only": {
      const permission = permissionIndex.get(check.can) ?? -1;
      const allowed = allowedRoles(check, world);
      const otherRoles = roles.filter((_, index) => !allowed.has(index));
      // With reach, a role that grants something else may lead there.
      const leads = ({ editable, known, grants }: WorldRole): boolean =>
        editable || grants.has(permission) || (check.reach === true && known);
      if (otherRoles.some(leads)) return null;
      return roles.some(leads) ? { why: "all-allowed" } : { why: "ungranted" };
    }
    case "cannot": {
      const permissionIndexes = check.cannot.map((name) => permissionIndex.get(name) ?? -1);
      const leads = ({ editable, known, grants }: WorldRole): boolean =>
        editable || permissionIndexes.some((index) => grants.has(index)) || (check.reach === true && known);
      return roles.some(leads) ? null : { why: "ungranted" };
    }
    case "at-most":
      return farLimit(check, permissionIndex.get(check.can) ?? -1, world);
    default:
      return check satisfies never;
  }
}

function farLimit(
  { atMost, reach }: Extract<Check, { readonly kind: "at-most" }>,
  permission: number,
  world: CoverageWorld,
): Unbreakable | null {
  const { roles, people } = world;
  const most = people.length - 1 + CHANGES;
  if (reach) return atMost >= most ? { why: "no-limit" } : null;
  const now = holdersOfPermission(permission, roles);
  return far(now.size, now.size + mostAdded(permission, now, world), atMost);
}

/** Returns how many members at most get a permission by two changes. */
function mostAdded(permission: number, now: ReadonlySet<number>, { roles }: CoverageWorld): number {
  const gains = roles
    .filter(({ editable, grants }) => editable && !grants.has(permission))
    .map(({ holders }) => holders.filter((person) => !now.has(person)))
    .sort((a, b) => b.length - a.length);
  let most = roles.some(({ grants }) => grants.has(permission)) ? CHANGES : 0;
  // A role gets the permission, and a stranger the role.
  if (gains[0]) most = Math.max(most, gains[0].length + 1);
  for (const [index, first] of gains.entries()) {
    if (first.length * 2 <= most) break;
    const firstPeople = new Set(first);
    for (const second of gains.slice(index + 1)) {
      if (first.length + second.length <= most) break;
      const added = second.reduce((sum, person) => sum + (firstPeople.has(person) ? 0 : 1), 0);
      most = Math.max(most, first.length + added);
    }
  }
  return most;
}
