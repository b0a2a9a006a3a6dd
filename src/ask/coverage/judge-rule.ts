import type { Access, PersonAccess, RoleAccess } from "../../kernel/rules/access.ts";
import { byKey, countsIn, isNoWorse, violationsIn } from "../../kernel/rules/judge-rules.ts";
import type { HolderCount, Violation } from "../../kernel/rules/judged.ts";
import { memoized } from "../../lib/memoized.ts";
import { groupByKey } from "../../lib/text.ts";
import type { CoverageRule } from "./coverage-rules.ts";
import { type CoverageWorld, STRANGER, type WorldPerson, type WorldRole } from "./coverage-world.ts";

/** Judges single changes; people and roles are indexes. */
export interface ChangeJudge {
  /** Judges a role given to a member who does not hold it, or taken from one who does. */
  readonly grant: (person: number, role: number) => ChangeVerdict;
  /** Judges a permission given to a role that does not grant it, or taken from one that does. */
  readonly edit: (role: number, permission: number) => ChangeVerdict;
}

/** The verdict on a change. */
export interface ChangeVerdict {
  readonly isRefused: boolean;
  /** True if a rule is broken less than before. */
  readonly mends: boolean;
}

export const UNNOTICED: ChangeVerdict = { isRefused: false, mends: false };

/** Judges changes by a rule for what people hold. */
export interface RuleJudge extends ChangeJudge {
  /** Returns whether the rule refuses to give a role to somebody whom it names, or who has no MFA. */
  readonly refusesNewPerson: () => boolean;
  /**
   * The number of people whom the rule limits together, with its limit; `null` if it applies to each person separately.
   */
  readonly count: (Omit<HolderCount, "holders"> & { readonly people: number }) | null;
  readonly isBroken: boolean;
}

/** A member that stands for a number of equal ones. */
interface Crowd {
  readonly person: PersonAccess;
  readonly size: number;
}

type Roles = ReadonlyMap<string, RoleAccess>;

/**
 * Returns a judge of changes by one rule, as a plan would be judged. Members and roles that the rule cannot tell apart
 * by what it names are one case, and only those whom a change concerns are judged: the rule counts the others.
 */
export function ruleJudge(rule: CoverageRule, world: CoverageWorld): RuleJudge {
  const { access, people, roles, permissions, find, work } = world;
  work(people.length + roles.length);
  const { casesOfPeople, casesOfRoles, named } = openCases(rule, world);
  const caseOfPerson = (person: number): number => casesOfPeople[person] ?? 0;
  const seen = (role: RoleAccess): RoleAccess =>
    named === null || role.permissions === null
      ? role
      : { ...role, permissions: role.permissions.filter((permission) => named.has(permission)) };
  const seenRoles: Roles = new Map([...access.roles].map(([key, role]) => [key, seen(role)]));
  const isDated = rule.kind === "policy";
  const members = people.flatMap(({ entry }) =>
    entry && (isDated || entry.previously !== undefined) ? [entry] : [],
  );
  const rules = { ...rule.alone, members };
  const judge = (judgedRoles: Roles, crowd: readonly Crowd[]): Judged => {
    work(20 + 2 * judgedRoles.size + crowd.length + (isDated ? members.length / 10 : 0));
    const part: Access = {
      roles: judgedRoles,
      removed: access.removed,
      people: crowd.map(({ person }) => person),
    };
    const judged = { access: part, settled: part, find };
    const sizes = new Map(crowd.map(({ person, size }) => [person, size]));
    const violations = violationsIn(rules, judged).filter(({ subject }) => subject !== null);
    return {
      violations,
      byKey: byKey(violations),
      counts: countsIn(rules, judged).map(({ holders, ...limit }) => ({
        ...limit,
        people: holders.reduce((sum, holder) => sum + (sizes.get(holder) ?? 0), 0),
      })),
    };
  };
  const cases = groupByKey([...people.keys()].slice(0, -1), caseOfPerson);
  const crowdOf = (indexes: readonly number[]): readonly Crowd[] => {
    const person = people[indexes[0] ?? -1]?.access;
    return person === undefined ? [] : [{ person, size: indexes.length }];
  };
  const whole = judge(seenRoles, cases.flatMap(crowdOf));
  const judgeGrant = (person: PersonAccess, role: WorldRole, isMember: boolean): ChangeVerdict => {
    const current = isMember ? [{ person, size: 1 }] : [];
    const given = { ...person, roles: toggled(person.roles, role.key) };
    const withRole =
      role.access === undefined || seenRoles.has(role.key)
        ? seenRoles
        : new Map([...seenRoles, [role.key, seen(role.access)]]);
    return compare(judge(seenRoles, current), judge(withRole, [{ person: given, size: 1 }]), whole);
  };
  const grants = new Map<number, ChangeVerdict>();
  const stranger = people.length - 1;
  // An edit concerns the holders of the role, so among equal members they are separate.
  const crowdBeside = memoized((roleIndex: number) => {
    const holders = new Map(
      groupByKey(roles[roleIndex]?.holders ?? [], caseOfPerson).map((group) => [
        caseOfPerson(group[0]),
        group,
      ]),
    );
    const crowd = cases.flatMap((group) => {
      const holding = holders.get(caseOfPerson(group[0])) ?? [];
      const other = group.find((person) => people[person]?.held.has(roleIndex) === false);
      const rest = other === undefined ? undefined : people[other]?.access;
      return [
        ...crowdOf(holding),
        ...(rest === undefined ? [] : [{ person: rest, size: group.length - holding.length }]),
      ];
    });
    return { crowd, before: judge(seenRoles, crowd) };
  });
  return {
    grant: (personIndex, roleIndex) => {
      const roleCase = casesOfRoles[roleIndex] ?? NOT_SEEN;
      if (roleCase === NOT_SEEN) return UNNOTICED;
      const [person, role] = [people[personIndex], roles[roleIndex]];
      if (person === undefined || role === undefined) return UNNOTICED;
      const pair = roleCase * people.length + (casesOfPeople[personIndex] ?? 0);
      const key = pair * 2 + Number(person.held.has(roleIndex));
      const verdict = grants.get(key) ?? judgeGrant(person.access, role, personIndex !== stranger);
      grants.set(key, verdict);
      return verdict;
    },
    edit: (roleIndex, permissionIndex) => {
      const [role, permission] = [roles[roleIndex], permissions[permissionIndex]];
      if (role?.access === undefined || permission === undefined) return UNNOTICED;
      if (named !== null && !named.has(permission)) return UNNOTICED;
      const { crowd, before } = crowdBeside(roleIndex);
      const edited = seen({
        ...role.access,
        permissions: toggled(role.access.permissions ?? [], permission),
      });
      return compare(before, judge(new Map([...seenRoles, [role.key, edited]]), crowd), whole);
    },
    refusesNewPerson: () => {
      const known = new Set(people.map(({ access: { name } }) => name.toLowerCase()));
      const names = rule.names.flatMap(({ what, text }) => (what === "member-pattern" ? text : []));
      return ["somebody else", ...names].some((name) => {
        const email = name.includes("@") ? name : null;
        return (
          !known.has(name.toLowerCase()) &&
          roles.some((role) => judgeGrant({ ...STRANGER, name, email, mfa: false }, role, false).isRefused)
        );
      });
    },
    count: whole.counts[0] ?? null,
    isBroken:
      whole.violations.length > 0 ||
      whole.counts.some((count) => count.bound === "most" && isExceeded(count, count.people)),
  };
}

/** Result of judging an access by one rule. */
interface Judged {
  readonly violations: readonly Violation[];
  readonly byKey: ReadonlyMap<string, Violation>;
  readonly counts: readonly (Omit<HolderCount, "holders"> & { readonly people: number })[];
}

/** Compares the people whom a change concerns before and after it; `whole` counts everybody before. */
function compare(before: Judged, after: Judged, whole: Judged): ChangeVerdict {
  const isWorse = (violation: Violation): boolean => {
    const [former] = [...byKey([violation]).keys()].flatMap((key) => before.byKey.get(key) ?? []);
    return former === undefined || !isNoWorse(violation, former);
  };
  const counts = whole.counts.map((count, index) => ({
    ...count,
    now: count.people + (after.counts[index]?.people ?? 0) - (before.counts[index]?.people ?? 0),
  }));
  return {
    isRefused:
      after.violations.some(isWorse) ||
      counts.some((count) => {
        const isMore = count.bound === "most" ? count.now > count.people : count.now < count.people;
        return isMore && isExceeded(count, count.now);
      }),
    mends:
      counts.some(
        (count) => count.bound === "most" && count.now < count.people && isExceeded(count, count.people),
      ) ||
      [...before.byKey].some(
        ([key, { extent }]) => (after.byKey.get(key)?.extent.length ?? -1) < extent.length,
      ),
  };
}

function isExceeded({ bound, limit }: Pick<HolderCount, "bound" | "limit">, count: number): boolean {
  return bound === "most" ? count > limit : count < limit;
}

/** Members and roles as numbers, by what a rule distinguishes: those with the same case are judged alike. */
interface Cases {
  readonly casesOfPeople: readonly number[];
  readonly casesOfRoles: readonly number[];
  /** The permissions that the rule sees; `null` for all. */
  readonly named: ReadonlySet<string> | null;
}

/** The case of a role that a rule does not see. */
const NOT_SEEN = -1;

function openCases({ names }: CoverageRule, world: CoverageWorld): Cases {
  const { people, roles, permissions, find, ways, patternsOf } = world;
  const keys = new Set(names.flatMap(({ what, text }) => (what === "role" ? (find(text) ?? []) : [])));
  const named = new Set(names.flatMap(({ what, text }) => (what === "permission" ? text : [])));
  const seenRoles = [...roles.keys()].filter((role) => keys.has(roles[role]?.key ?? ""));
  const seen = [...permissions.keys()].filter((permission) => named.has(permissions[permission] ?? ""));
  const patterns = patternsOf(names);
  const customHeld = ({ held }: WorldPerson): number =>
    [...held].filter((role) => roles[role]?.custom).length;
  const caseOfPerson = (person: WorldPerson, index: number): string => {
    const { access, entry, held } = person;
    const { status, serviceAccount, mfa } = access;
    const dated = new Set(entry?.roles?.flatMap(({ role, until }) => (until ? (find(role) ?? []) : [])));
    const facts = [status, serviceAccount, mfa, entry === undefined, entry?.until !== undefined];
    return names.length === 0
      ? JSON.stringify([facts, [...access.roles].sort(), [...dated].sort()])
      : JSON.stringify([
          facts,
          seenRoles.map((role) => (held.has(role) ? 1 + Number(dated.has(roles[role]?.key ?? "")) : 0)),
          seen.map((permission) => Math.min(ways(index, permission), 2)),
          seen.length === 0 ? 0 : Math.min(customHeld(person), 2),
          patterns(access),
        ]);
  };
  const caseOfRole = (role: WorldRole): string | null => {
    if (names.length === 0) return role.key;
    const granted = seen.map((permission) => Number(role.grants.has(permission))).join("");
    const isSeen = keys.has(role.key) || granted.includes("1") || (role.custom && seen.length > 0);
    return isSeen ? JSON.stringify([keys.has(role.key) ? role.key : role.custom, granted]) : null;
  };
  return {
    casesOfPeople: numbered(people.map(caseOfPerson)),
    casesOfRoles: numbered(roles.map(caseOfRole)),
    named: names.length === 0 ? null : named,
  };
}

/** Numbers distinct texts. */
function numbered(texts: readonly (string | null)[]): readonly number[] {
  const numbers = new Map<string, number>();
  return texts.map((text) => {
    if (text === null) return NOT_SEEN;
    const number = numbers.get(text) ?? numbers.size;
    numbers.set(text, number);
    return number;
  });
}

/** Adds an item to a list, or removes it if the list has it. */
export function toggled(items: readonly string[], item: string): readonly string[] {
  return items.includes(item) ? items.filter((other) => other !== item) : [...items, item];
}
