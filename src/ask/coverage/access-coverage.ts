import type { PersonAccess } from "../../kernel/rules/access.ts";
import type { Judged } from "../../kernel/rules/checks.ts";
import { sensitiveIn } from "../../kernel/rules/settings/sensitive.ts";
import { memoized } from "../../lib/memoized.ts";
import { byCodeUnit } from "../../lib/text.ts";
import type { RuleCoverage, SuggestedRule, UnnoticedGroup } from "../../model/coverage.ts";
import type { DesiredState } from "../../model/desired.ts";
import { changeEffects } from "./change-effects.ts";
import { ruleSets } from "./coverage-rules.ts";
import { type CoverageOptions, type CoverageWorld, coverageWorld, type WorldRole } from "./coverage-world.ts";
import { changeJudge, type SingleChange } from "./judge-changes.ts";
import { judgeSet } from "./judge-each.ts";
import { unbrokenRules } from "./unbroken-rules.ts";

/**
 * Returns which single changes of an access no rule of a merchant notices: every role given to or taken from every member
 * and one stranger, every permission given to or taken from every custom role. Changes after which everybody can do what
 * he could before are left out, and those that only take away what breaks a rule. Nobody knows whose key a later run has, so that no `self-lockout` counts.
 */
export function accessCoverage(
  judged: Judged,
  desired: DesiredState,
  options: CoverageOptions,
): RuleCoverage {
  const sets = ruleSets(desired);
  const rules = sets.flatMap(({ each }) => each);
  const world = coverageWorld(judged, desired, rules, options);
  const { matches } = options;
  const judges = sets.map((set) => ({ set, judge: changeJudge(world, set, desired, matches) }));
  const isUnnoticed = (change: SingleChange, isTaken: boolean): boolean | null => {
    const verdicts = judges.map(({ judge }) => judge([change]));
    if (verdicts.some(({ isRefused }) => isRefused())) return false;
    return isTaken && verdicts.some(({ mends }) => mends) ? null : true;
  };
  // Members who are alike are one case.
  const verdictOf = memoized((person: PersonAccess) =>
    memoized((role: WorldRole) => ({
      isUnnoticed: isUnnoticed({ person, role }, person.roles.includes(role.key)),
    })),
  );
  const isUnnoticedGrant = (person: number, role: WorldRole): boolean | null => {
    const like = world.people[person]?.like;
    return like === undefined ? null : verdictOf(like)(role).isUnnoticed;
  };
  const isUnnoticedEdit = (index: number, permission: string): boolean | null => {
    const role = world.roles[index];
    if (role === undefined) return null;
    return isUnnoticed({ role, permission }, role.access?.permissions?.includes(permission) ?? false);
  };
  const effects = changeEffects(world);
  const groups = [
    ...world.roles.flatMap((role, index) =>
      [true, false].map((isHeld) =>
        grantGroup(index, isHeld, world, (person) =>
          effects.grant(person, index) ? isUnnoticedGrant(person, role) : null,
        ),
      ),
    ),
    ...world.permissions.map((name, permission) =>
      givenGroup(permission, world, (role) =>
        effects.edit(role, permission) ? isUnnoticedEdit(role, name) : null,
      ),
    ),
    ...world.roles.map((_, role) =>
      takenGroup(role, world, (permission) =>
        effects.edit(role, permission) ? isUnnoticedEdit(role, world.permissions[permission] ?? "") : null,
      ),
    ),
  ];
  const isSensitive = sensitiveIn(desired.projects);
  const unnoticed = groups
    .filter(({ subjects, toAnybody }) => subjects.length > 0 || toAnybody)
    .map((group) => ({ ...group, sensitive: permissionsOf(group).some(isSensitive) }));
  const sizeOf = ({ subjects, toAnybody }: Group): number => subjects.length + (toAnybody ? 1 : 0);
  return {
    groups: unnoticed,
    changes: groups.reduce((sum, group) => sum + group.of, 0),
    unnoticed: unnoticed.reduce((sum, group) => sum + sizeOf(group), 0),
    unbroken: judges.flatMap(({ set, judge }) => {
      const violationsOf = judgeSet(judged, set, "live");
      const holding = set.each.filter((rule) => !rule.isDefault && (violationsOf(rule) ?? []).length === 0);
      return unbrokenRules(holding, world, judge, matches);
    }),
    rules: rules.filter(({ isDefault }) => !isDefault).length,
  };
}

type Group = Omit<UnnoticedGroup, "sensitive">;

function permissionsOf({ change, permission, grants, subjects }: Group): readonly string[] {
  if (permission !== null) return [permission];
  return change === "permission-taken" ? subjects : (grants ?? []);
}

/** Returns whether a change goes unnoticed; `null` if it changes nothing for anybody, or mends a rule. */
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

/** The most addresses in a suggested check; beyond it names roles. */
const MOST_ADDRESSES = 3;

/**
 * Returns a check that allows a permission to its holders of today: a few by their addresses, more by their roles, and
 * holders of roles of unknown permissions by these, unless the check would then not notice that one of some roles gets it.
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

/** Returns the holders of roles, at most so many. */
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
