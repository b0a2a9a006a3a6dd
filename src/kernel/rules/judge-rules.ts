import type { Breach, DeclaredAccess } from "../../model/diagnostic.ts";
import type { Refusal } from "../../model/plan.ts";
import { activeAt, isMention, leftAt } from "../diff/active-member.ts";
import { list } from "../findings/refusals.ts";
import { type Access, type PersonAccess, type RoleAccess, roleFinder } from "./access.ts";
import { checkViolations } from "./checks.ts";
import { declaredOf, hasNoPolicies, policyViolations } from "./judge-policies.ts";

import { type Budget, type Judged, type Rules, TooMuchWork, type Violation } from "./judged.ts";

/** Returns all violations of the rules in an access. */
export function violationsIn(rules: Rules, judged: Judged): readonly Violation[] {
  return [...policyViolations(rules, judged), ...checkViolations(rules, judged)];
}

/** Returns the violations of live access, as refusals in the present tense. */
export function judgeLive(rules: Rules, judged: Judged): readonly Refusal[] {
  return violationsIn(rules, judged).map((violation) => violation.refusal("live"));
}

/** Returns whether a violation is no worse than it was. */
export function isNoWorse({ extent }: Violation, old: Violation): boolean {
  if (extent.length < old.extent.length) return true;
  const items = new Set(old.extent);
  return extent.every((item) => items.has(item));
}

/** Indexes violations by key; those of several memberships of one address are joined. */
export function byKey(violations: readonly Violation[]): ReadonlyMap<string, Violation> {
  const byKey = new Map<string, Violation>();
  for (const violation of violations) {
    for (const key of keysOf(violation)) {
      const other = byKey.get(key);
      byKey.set(
        key,
        other ? { ...violation, extent: [...new Set([...other.extent, ...violation.extent])] } : violation,
      );
    }
  }
  return byKey;
}

/** Returns the key of a violation by its subject's id, else by its name: entries that are not live have no id. */
export function keyOf(violation: Violation): string {
  return keysOf(violation)[0] ?? "";
}

/** Returns the keys of a violation, by its subject's id and its name. */
export function keysOf({ rule, subject }: Violation): readonly string[] {
  if (subject === null) return [rule];
  const keys = [subject.id, subject.name?.toLowerCase() ?? null].filter((key) => key !== null);
  return keys.map((key) => `${rule}\n${key}`);
}

// This many steps take a few seconds.
const MAX_STEPS = 20_000_000;

/** Returns the violations in the files themselves at a time, regardless of the live state. */
export function declaredViolations(declared: DeclaredAccess, now: number): readonly Violation[] {
  return violationsIn(declared, openDeclared(declared, now));
}

/**
 * Judges the files by themselves at a time, with the rules and messages of a plan. Returns `null` if that takes too
 * much work.
 */
export function judgeDeclared(declared: DeclaredAccess, now: number): readonly Breach[] | null {
  // Without rules, this avoids a table of all holders, which is as large as the file.
  if (hasNoPolicies(declared) && declared.checks.length === 0) return [];
  const judged = openDeclared(declared, now, { steps: MAX_STEPS });
  try {
    const violations = violationsIn(declared, judged);
    const long = declaredOf(declared, { desired: declared, find: judged.find, now });
    return [...joinedBreaches(violations), ...long.map(({ breach }) => breach)];
  } catch (error) {
    if (error instanceof TooMuchWork) return null;
    throw error;
  }
}

/** Returns the access that the files declare at a time, to be judged. */
export function openDeclared(declared: DeclaredAccess, now: number, budget?: Budget): Judged {
  const access = declaredAccess(declared, now);
  const finder = roleFinder(access, new Map());
  const find = (role: string): string => finder(role) ?? role;
  return { access, settled: access, find, ...(budget && { budget }) };
}

/** Returns the access in the files alone; a role that they only name has unknown permissions. */
function declaredAccess({ roles = [], members = [], leavers, origin }: DeclaredAccess, now: number): Access {
  const gone = leftAt(leavers, now);
  const keys = new Map<string, string>();
  const access = new Map<string, RoleAccess>();
  for (const { name, id = null, permissions = [] } of roles) {
    access.set(name, { id, name, permissions, custom: true });
    if (id !== null) keys.set(id, name);
  }
  const people = members.flatMap((entry): readonly PersonAccess[] => {
    const { member, absent } = activeAt(entry, now);
    const { email, id = null, roles: grants = [] } = member;
    if (absent !== null || gone.has(email.toLowerCase()) || isMention(entry, origin.file)) return [];
    const held = grants.map(({ role }) => keys.get(role) ?? role);
    return [
      {
        id,
        name: email,
        email,
        status: "invited",
        roles: [...new Set(held)],
        serviceAccount: false,
        mfa: null,
      },
    ];
  });
  return { roles: access, removed: new Set(), people };
}

/** The violations of a check that share their steps. */
interface Joined {
  readonly first: Violation;
  readonly names: string[];
  readonly through: Set<string>;
}

/** Combines the violations of a check that share its location in the file, and their steps. */
function joinedBreaches(violations: readonly Violation[]): readonly Breach[] {
  const joined = new Map<unknown, Map<string, Joined>>();
  for (const violation of violations) {
    const { shared, check } = violation;
    if (shared === undefined) {
      joined.set(violation, new Map([["", { first: violation, names: [], through: new Set() }]]));
      continue;
    }
    // One sentence names the holders of the permission, others, those who can reach it in the same steps.
    const ofCheck = joined.get(check) ?? new Map<string, Joined>();
    joined.set(check, ofCheck);
    const key = JSON.stringify(shared.way.steps ?? null);
    const group = ofCheck.get(key) ?? { first: violation, names: [], through: new Set() };
    ofCheck.set(key, group);
    group.names.push(shared.way.name);
    for (const role of shared.way.through) group.through.add(role);
  }
  const groups = [...joined.values()].flatMap((ofCheck) => [...ofCheck.values()]);
  return groups.flatMap(({ first, names, through }): readonly Breach[] => {
    const { shared } = first;
    if (shared === undefined) return first.breaches();
    return [shared.breach({ ...shared.way, name: list(names), through: [...through].sort() })];
  });
}
