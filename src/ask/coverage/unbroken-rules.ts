import { type GlobMatch, matchesAny } from "../../kernel/diff/scope.ts";
import type { PersonAccess } from "../../kernel/rules/access.ts";
import type { Unbreakable, UnbrokenRule } from "../../model/coverage.ts";
import type { CoverageRule } from "./coverage-rules.ts";
import { type CoverageWorld, STRANGER } from "./coverage-world.ts";
import type { ChangeVerdict, SingleChange } from "./judge-changes.ts";

/** The number of changes that are also judged together with another one, of those that are most likely to break a rule. */
const MOST_PAIRED = 50;

/**
 * Returns those of some rules, which hold, that neither one nor two changes break; strangers may get roles, too. Of rules that
 * limit changes, only those whose patterns match nothing.
 */
export function unbrokenRules(
  rules: readonly CoverageRule[],
  world: CoverageWorld,
  judge: (changes: readonly SingleChange[]) => ChangeVerdict,
  matches: GlobMatch,
): readonly UnbrokenRule[] {
  return rules.flatMap((rule) => {
    const reason = rule.limitsChanges
      ? unmatched(rule, world, matches)
      : unbreakable(rule, world, judge, matches);
    return reason === null ? [] : [{ rule: rule.listed, reason }];
  });
}

function unmatched(
  { names }: CoverageRule,
  { roles, people, complete }: CoverageWorld,
  matches: GlobMatch,
): Unbreakable | null {
  const textsOf = {
    "role-pattern": roles.map(({ id, name }) => [id ?? name, name]),
    "member-pattern": people.slice(0, -1).map(({ access: { id, name } }) => [id ?? name, name]),
    role: [],
    permission: [],
  };
  const patterns = names.filter(({ what }) => what.endsWith("-pattern"));
  const isIdle = patterns.every(
    ({ what, text }) => !textsOf[what].some((texts) => matchesAny([text], texts, matches)),
  );
  // A pattern protects what no file lists, too.
  return complete && patterns.length > 0 && isIdle ? { why: "unmatched" } : null;
}

function unbreakable(
  rule: CoverageRule,
  world: CoverageWorld,
  judge: (changes: readonly SingleChange[]) => ChangeVerdict,
  matches: GlobMatch,
): Unbreakable | null {
  const changes = changesFor(rule, world, matches);
  const likely = changes.slice(0, MOST_PAIRED);
  const tried = [
    ...changes.map((change) => [change]),
    ...likely.flatMap((change, index) => likely.slice(index + 1).map((other) => [change, other])),
  ];
  const now = judge([]).counts.get(rule);
  let reached = now?.people ?? 0;
  for (const some of tried) {
    const verdict = judge(some);
    if (verdict.refuses(rule)) return null;
    const people = verdict.counts.get(rule)?.people ?? 0;
    reached = now?.bound === "fewest" ? Math.min(reached, people) : Math.max(reached, people);
  }
  const named = (what: "role" | "permission"): readonly string[] =>
    rule.names.flatMap((name) => (name.what === what ? name.text : []));
  const unknown = named("role").filter((role) => world.find(role) === undefined);
  if (unknown.length > 0 && named("permission").length === 0) return { why: "role-unknown", roles: unknown };
  if (now !== undefined) {
    if (now.limit === 0 && now.bound === "fewest") return { why: "no-limit" };
    return { why: "far", now: now.people, reached, limit: now.limit };
  }
  const isGranted = world.roles.some(
    ({ editable, access }) =>
      editable || named("permission").some((name) => access?.permissions?.includes(name)),
  );
  return named("permission").length === 0
    ? { why: "no-limit" }
    : { why: isGranted ? "all-allowed" : "ungranted" };
}

/** Returns the changes of what a rule names, or of anything if it names nothing, beginning with the most likely. */
function changesFor(
  { names }: CoverageRule,
  { crowd, roles, permissions, find }: CoverageWorld,
  matches: GlobMatch,
): readonly SingleChange[] {
  const textsOf = (what: string): readonly string[] =>
    names.flatMap((name) => (name.what === what ? name.text : []));
  const [keys, named, addresses] = [
    textsOf("role").map(find),
    textsOf("permission"),
    textsOf("member-pattern"),
  ];
  const newPeople = [...addresses, ...NEW].map(
    (name): PersonAccess => ({ ...STRANGER, name, email: name.includes("@") ? name : null, mfa: false }),
  );
  const holds = ({ roles: held }: PersonAccess): boolean => held.some((key) => keys.includes(key));
  const members = crowd
    .flatMap(({ person, size }) => (size === 1 ? [person] : []))
    .sort((a, b) => Number(holds(b)) - Number(holds(a)));
  const isNamed = ({ id, name }: PersonAccess): boolean => matchesAny(addresses, [id ?? name, name], matches);
  const known = new Set(crowd.map(({ person }) => person.name.toLowerCase()));
  const people = [
    ...newPeople.filter(({ name }) => !known.has(name.toLowerCase())),
    ...members.filter((person) => named.length === 0 || isNamed(person)),
  ];
  const given = roles.filter(({ key }) => named.length > 0 || keys.length === 0 || keys.includes(key));
  const edited = named.length > 0 ? named : keys.length > 0 ? [] : permissions;
  return [
    ...roles
      .toSorted((a, b) => b.holders.length - a.holders.length)
      .flatMap((role) =>
        role.editable ? edited.map((permission): SingleChange => ({ role, permission })) : [],
      ),
    ...people.flatMap((person) => given.map((role): SingleChange => ({ person, role }))),
  ];
}

/** Two people who are no members yet, and one at an address that no file is likely to allow. */
const NEW = ["somebody new", "somebody else", "somebody@elsewhere.invalid"];
