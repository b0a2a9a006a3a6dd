import type { Judged } from "../../kernel/rules/judged.ts";
import { sensitiveIn } from "../../kernel/rules/settings/sensitive.ts";
import { byCodeUnit } from "../../lib/text.ts";
import type { RuleCoverage, SuggestedRule, UnnoticedGroup } from "../../model/coverage.ts";
import type { DesiredState } from "../../model/desired.ts";
import { ruleSets } from "./coverage-rules.ts";
import { type CoverageOptions, type CoverageWorld, coverageWorld, type WorldRole } from "./coverage-world.ts";
import { guardJudge } from "./judge-guards.ts";
import { type ChangeJudge, type ChangeVerdict, ruleJudge } from "./judge-rule.ts";

/**
 * Returns which single changes to access no rule of a merchant notices: every role given to or taken from every member
 * and one stranger, every permission added to or removed from every custom role. Changes that leave everybody's
 * permissions as they were are left out, and so are those that only remove a violation. The owner of a later run's key
 * is unknown, so `self-lockout` does not count. Throws `TooMuchWork` for access that would take minutes to judge.
 */
export function accessCoverage(
  judged: Judged,
  desired: DesiredState,
  options: CoverageOptions,
): RuleCoverage {
  const sets = ruleSets(desired);
  const rules = sets.flatMap(({ each }) => each);
  const world = coverageWorld(judged, desired, rules, options);
  const { people, roles, permissions, ways, work } = world;
  const ofAccess = rules
    .filter(({ isOfAccess }) => isOfAccess)
    .map((rule) => ({ rule, judge: ruleJudge(rule, world) }));
  const judges: readonly ChangeJudge[] = [
    ...ofAccess.map(({ judge }) => judge),
    ...sets.map((set) => guardJudge(set, world, desired, options.matches)),
  ];
  const refusing = new Set<ChangeJudge>();
  const isUnnoticed = (
    isTaken: boolean,
    verdictOf: (judge: ChangeJudge) => ChangeVerdict,
  ): boolean | null => {
    work(judges.length / 4);
    let [isRefused, mends] = [false, false];
    for (const judge of judges) {
      const verdict = verdictOf(judge);
      if (verdict.isRefused) {
        refusing.add(judge);
        isRefused = true;
      }
      mends ||= verdict.mends;
    }
    return isRefused ? false : isTaken && mends ? null : true;
  };
  const isUnnoticedGrant = (person: number, roleIndex: number): boolean | null => {
    const role = roles[roleIndex];
    const isTaken = people[person]?.held.has(roleIndex) === true;
    if (role?.known && !isDecisive(person, role.grants, Number(isTaken))) return null;
    return isUnnoticed(isTaken, (judge) => judge.grant(person, roleIndex));
  };
  const isDecisive = (person: number, granted: Iterable<number>, by: number): boolean => {
    for (const permission of granted) if (ways(person, permission) === by) return true;
    return false;
  };
  const isUnnoticedEdit = (roleIndex: number, permission: number): boolean | null => {
    const { grants, holders = [] } = roles[roleIndex] ?? {};
    const isTaken = grants?.has(permission) === true;
    if (!holders.some((person) => ways(person, permission) === Number(isTaken))) return null;
    return isUnnoticed(isTaken, (judge) => judge.edit(roleIndex, permission));
  };
  const groups = [
    ...roles.flatMap((_, role) =>
      [true, false].map((isHeld) =>
        grantGroup(role, isHeld, world, (person) => isUnnoticedGrant(person, role)),
      ),
    ),
    ...permissions.map((_, permission) =>
      givenGroup(permission, world, (role) => isUnnoticedEdit(role, permission)),
    ),
    ...roles.map((_, role) => takenGroup(role, world, (permission) => isUnnoticedEdit(role, permission))),
  ];
  const isSensitive = sensitiveIn(desired.projects);
  const unnoticed = groups
    .filter(({ subjects, toAnybody }) => subjects.length > 0 || toAnybody)
    .map((group) => ({ ...group, sensitive: permissionsOf(group).some(isSensitive) }));
  const sizeOf = ({ subjects, toAnybody }: Group): number => subjects.length + (toAnybody ? 1 : 0);
  const isIdle = ({ rule, judge }: (typeof ofAccess)[number]): boolean =>
    !(rule.isDefault || judge.isBroken || refusing.has(judge) || judge.refusesNewPerson());
  return {
    groups: unnoticed,
    changes: groups.reduce((sum, group) => sum + group.of, 0),
    unnoticed: unnoticed.reduce((sum, group) => sum + sizeOf(group), 0),
    idle: ofAccess.filter(isIdle).map(({ rule, judge }) => ({ rule: rule.listed, count: judge.count })),
    rules: rules.filter(({ isDefault }) => !isDefault).length,
  };
}

type Group = Omit<UnnoticedGroup, "sensitive">;

function permissionsOf({ change, permission, grants, subjects }: Group): readonly string[] {
  if (permission !== null) return [permission];
  return change === "permission-taken" ? subjects : (grants ?? []);
}

/** Returns whether a change goes unnoticed; `null` if it changes nothing for anybody, or only removes a violation. */
type Judge = (index: number) => boolean | null;

function grantGroup(roleIndex: number, isHeld: boolean, world: CoverageWorld, judge: Judge): Group {
  const { people, roles } = world;
  const role = roles[roleIndex];
  const judged = people.flatMap(({ held }, person) => {
    const verdict = held.has(roleIndex) === isHeld ? judge(person) : null;
    return verdict === null ? [] : [{ person, isUnnoticed: verdict }];
  });
  const stranger = people.length - 1;
  const unnoticed = judged.filter(({ isUnnoticed }) => isUnnoticed).map(({ person }) => person);
  const holders = role?.holders.length ?? 0;
  return {
    change: isHeld ? "role-taken" : "role-given",
    role: { name: role?.name ?? "", id: role?.custom ? null : (role?.id ?? null) },
    permission: null,
    grants: role?.known ? [...role.grants].map((permission) => world.permissions[permission] ?? "") : null,
    subjects: unnoticed
      .filter((person) => person !== stranger)
      .map((person) => people[person]?.access.name ?? ""),
    toAnybody: unnoticed.includes(stranger),
    of: judged.length,
    suggestion: isHeld
      ? { kind: "min-holders", role: nameInRules(role), min: holders }
      : { kind: "max-holders", role: nameInRules(role), max: holders },
  };
}

function givenGroup(permission: number, world: CoverageWorld, judge: Judge): Group {
  const { roles } = world;
  const judged = roles.flatMap(({ editable, grants, name }, role) => {
    const verdict = editable && !grants.has(permission) ? judge(role) : null;
    return verdict === null ? [] : [{ role, name, isUnnoticed: verdict }];
  });
  const unnoticed = judged.filter(({ isUnnoticed }) => isUnnoticed);
  return {
    change: "permission-given",
    role: null,
    permission: world.permissions[permission] ?? "",
    grants: null,
    subjects: unnoticed.map(({ name }) => name),
    toAnybody: false,
    of: judged.length,
    suggestion: onlyToday(
      permission,
      unnoticed.map(({ role }) => role),
      world,
    ),
  };
}

function takenGroup(roleIndex: number, { roles, permissions }: CoverageWorld, judge: Judge): Group {
  const role = roles[roleIndex];
  const judged = [...(role?.editable ? role.grants : [])].flatMap((permission) => {
    const verdict = judge(permission);
    return verdict === null ? [] : [{ permission, isUnnoticed: verdict }];
  });
  return {
    change: "permission-taken",
    role: { name: role?.name ?? "", id: role?.custom ? null : (role?.id ?? null) },
    permission: null,
    grants: null,
    subjects: judged.flatMap(({ permission, isUnnoticed }) =>
      isUnnoticed ? (permissions[permission] ?? []) : [],
    ),
    toAnybody: false,
    of: judged.length,
    suggestion: { kind: "protect", role: role?.name ?? "" },
  };
}

/** Returns the name of a role in rules: the id of a predefined one. */
function nameInRules(role: WorldRole | undefined): string {
  return (role?.custom ? null : role?.id) ?? role?.name ?? "";
}

/** Maximum number of addresses in a suggested check; with more, it names roles. */
const MOST_ADDRESSES = 3;

/**
 * Returns a check that allows a permission to its current holders: a few by address, more by role. Holders of roles
 * with unknown permissions are allowed by these roles, unless the check would then not notice that one of some roles
 * gets the permission.
 */
function onlyToday(
  permission: number,
  subjects: readonly number[],
  { roles, people, permissions }: CoverageWorld,
): SuggestedRule {
  const granting = roles.filter(({ grants, holders }) => grants.has(permission) && holders.length > 0);
  const uncertain = roles.filter(({ known, holders }) => !known && holders.length > 0);
  const has = new Set(granting.flatMap((role) => role.holders));
  const exempt = new Set(uncertain.flatMap((role) => role.holders));
  const missed = new Set(
    subjects.flatMap((roleIndex) => {
      const gaining = (roles[roleIndex]?.holders ?? []).filter((person) => !has.has(person));
      return gaining.every((person) => exempt.has(person)) ? gaining : [];
    }),
  );
  const unclear = uncertain.filter((role) => !role.holders.some((person) => missed.has(person)));
  const holders = firstHolders(granting, MOST_ADDRESSES + 1);
  const addresses = holders.map((person) => people[person]?.access.email ?? null);
  const entry = (role: WorldRole): string => `role:${nameInRules(role)}`;
  const knownAddresses = addresses.filter((address) => address !== null).sort(byCodeUnit);
  const isFew = holders.length <= MOST_ADDRESSES && knownAddresses.length === holders.length;
  return {
    kind: "only",
    can: permissions[permission] ?? "",
    only: [...(isFew ? knownAddresses : granting.map(entry)), ...unclear.map(entry)],
  };
}

/** Returns the holders of roles, up to a maximum. */
function firstHolders(roles: readonly WorldRole[], most: number): readonly number[] {
  const firstPeople = new Set<number>();
  for (const { holders } of roles) {
    for (const person of holders) {
      firstPeople.add(person);
      if (firstPeople.size === most) return [...firstPeople];
    }
  }
  return [...firstPeople];
}
