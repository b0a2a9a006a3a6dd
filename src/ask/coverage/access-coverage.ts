import type { GlobMatch } from "../../kernel/diff/scope.ts";
import type { PersonAccess, RoleAccess } from "../../kernel/rules/access.ts";
import { ADMINISTRATORS } from "../../kernel/rules/gains.ts";
import { openDeclared } from "../../kernel/rules/judge-rules.ts";
import type { Judged } from "../../kernel/rules/judged.ts";
import { sensitiveIn } from "../../kernel/rules/settings/sensitive.ts";
import { memoized } from "../../lib/memoized.ts";
import { by } from "../../lib/text.ts";
import type { RuleCoverage, SuggestedRule, UnnoticedGroup } from "../../model/coverage.ts";
import type { DesiredState } from "../../model/desired.ts";
import { ruleSets } from "./coverage-rules.ts";
import { onlyToday } from "./only-today.ts";
import {
  alikePeople,
  type ChangedWorld,
  changeJudge,
  permissionKinds,
  type SingleChange,
  STRANGER,
} from "./single-changes.ts";

/** How the access is judged. */
export interface CoverageOptions {
  /** The keys of roles that a plan reads only if they are granted; absent: none. */
  readonly unread?: ReadonlySet<string>;
  readonly matches: GlobMatch;
}

/**
 * Returns the access that changes are applied to: suspended grants and those that have not begun count as well, since a
 * change may last until then.
 */
export function openLasting(state: DesiredState, now: number): Judged {
  const members = state.members?.map(({ suspended: _, from: _begin, roles, ...member }) => ({
    ...member,
    ...(roles && { roles: roles.map(({ from: _from, ...grant }) => grant) }),
  }));
  return openDeclared({ ...state, ...(members && { members }) }, now);
}

/** The steps of work for one merchant, a few seconds: a judged change takes one for each member and role. */
const MAX_STEPS = 2_000_000;

/** Changes of one kind, each with the names of those for whom it is the same. */
interface Trials extends Omit<UnnoticedGroup, "subjects" | "toAnybody" | "of" | "suggestion"> {
  /** The number of changes, including those that change nobody's permissions. */
  readonly size: number;
  readonly each: () => Iterable<Trial>;
  /** Returns a rule that would notice changes for some subjects. */
  readonly suggest: (subjects: readonly string[]) => SuggestedRule;
}

interface Trial {
  /** The names of members, roles or permissions; `null` for somebody new. */
  readonly subjects: readonly (string | null)[];
  readonly change: SingleChange;
  readonly isTaken: boolean;
  /** False if it changes nobody's permissions. */
  readonly isEffective: boolean;
}

/**
 * Returns which single changes to access no rule of a merchant notices: every role given to or taken from every member
 * and one stranger, every permission added to or removed from every custom role. Changes that leave everybody's
 * permissions as they were are left out, and so are those that only remove a violation. Sensitive changes come first;
 * if all of them would take too long, the number of those that were not examined is part of the result. The owner of a
 * later run's key is unknown, so `self-lockout` does not count.
 */
export function accessCoverage(
  judged: Judged,
  desired: DesiredState,
  options: CoverageOptions,
): RuleCoverage {
  const world = openWorld(judged, desired, options);
  const judge = changeJudge(world);
  const kindOf = permissionKinds(world);
  const caseOf = (change: SingleChange): unknown =>
    "permission" in change ? `${change.role} ${kindOf(change.permission)}` : change;
  const isRefused = memoized(judge.isRefused, caseOf);
  const mends = memoized(judge.mends, caseOf);
  let steps = MAX_STEPS;
  let unexamined = 0;
  const groups = trialsOf(world).map(({ each, suggest, size, ...group }) => {
    const unnoticed: (string | null)[] = [];
    let of = 0;
    let left = size;
    for (const { subjects, change, isTaken, isEffective } of each()) {
      steps -= isEffective ? judge.steps : 1;
      if (steps < 0) break;
      left -= subjects.length;
      if (!isEffective) continue;
      const isNoticed = isRefused(change);
      if (isTaken && !isNoticed && mends(change)) continue;
      of += subjects.length;
      if (!isNoticed) unnoticed.push(...subjects);
    }
    unexamined += left;
    const subjects = unnoticed.filter((subject) => subject !== null);
    const toAnybody = subjects.length < unnoticed.length;
    return { ...group, subjects, toAnybody, of, suggestion: suggest(subjects) };
  });
  const unnoticed = groups.filter(({ subjects, toAnybody }) => subjects.length > 0 || toAnybody);
  return {
    groups: unnoticed,
    changes: groups.reduce((sum, { of }) => sum + of, 0),
    unnoticed: unnoticed.reduce(
      (sum, { subjects, toAnybody }) => sum + subjects.length + (toAnybody ? 1 : 0),
      0,
    ),
    unexamined,
  };
}

/** Opens an access with everybody accepted, as guards count only those who are. */
function openWorld(
  { access, find }: Judged,
  desired: DesiredState,
  { unread = new Set(), matches }: CoverageOptions,
): ChangedWorld {
  const split = (isUnread: boolean): ReadonlyMap<string, RoleAccess> =>
    new Map([...access.roles].filter(([key]) => !access.removed.has(key) && unread.has(key) === isUnread));
  const people = access.people.map((person) => ({
    ...person,
    id: person.id ?? person.name,
    status: person.status === "invited" ? ("accepted" as const) : person.status,
    roles: person.roles.filter((key) => !access.removed.has(key)),
  }));
  return {
    access: { roles: split(false), removed: access.removed, people: people.sort(by(({ name }) => name)) },
    find: (nameOrId) => find(nameOrId) ?? (nameOrId.startsWith("role_") ? nameOrId : undefined),
    unread: split(true),
    desired,
    sets: ruleSets(desired),
    matches,
  };
}

/** Lists all changes by kind, the most sensitive first. */
function trialsOf(world: ChangedWorld): readonly Trials[] {
  const { access, unread, sets, desired } = world;
  const isSensitive = sensitiveIn(desired.projects);
  const all = new Map([...access.roles, ...unread]);
  const ids = new Set([...all.values()].map(({ id }) => id));
  const keys = new Set([
    ...all.keys(),
    ...access.people.flatMap(({ roles }) => roles),
    ...ADMINISTRATORS.filter((id) => !ids.has(id)),
  ]);
  const named = sets.flatMap(({ each }) => each.flatMap(({ names }) => names));
  const permissions = new Set([
    ...[...all.values()].flatMap((role) => role.permissions ?? []),
    ...named.flatMap(({ what, text }) => (what === "permission" ? text : [])),
  ]);
  const alike = [...alikePeople(world), [STRANGER] as const];
  const waysOf = memoized((person: PersonAccess) => countedWays(person, all));
  const roleOf = (key: string) => {
    const {
      id = key.startsWith("role_") ? key : null,
      name = key,
      permissions = null,
      custom,
    } = all.get(key) ?? {};
    return { key, name, id: custom ? null : id, grants: permissions, custom: custom === true };
  };
  const holdersOf = new Map([...keys].map((key) => [key, [] as (typeof alike)[number][]]));
  for (const group of alike) for (const key of group[0].roles) holdersOf.get(key)?.push(group);
  const roles = [...keys].map(roleOf).map((role) => ({
    ...role,
    inRules: role.id ?? role.name,
    holders: holdersOf.get(role.key) ?? [],
  }));
  type Role = (typeof roles)[number];
  const editable = roles.filter(({ custom, grants }) => custom && grants !== null);
  const people = access.people.length + 1;
  const countOf = ({ holders }: Role): number => holders.reduce((sum, group) => sum + group.length, 0);
  const grantsOf = (role: Role, isTaken: boolean): Trials => {
    const { key, name, id, grants, inRules } = role;
    const count = countOf(role);
    return {
      change: isTaken ? "role-taken" : "role-given",
      role: { name, id },
      permission: null,
      grants,
      sensitive: grants?.some(isSensitive) ?? false,
      size: isTaken ? count : people - count,
      *each() {
        for (const group of alike) {
          const [person] = group;
          if (person.roles.includes(key) !== isTaken) continue;
          const ways = waysOf(person);
          const isEffective =
            grants === null || grants.some((one) => (ways.get(one) ?? 0) === Number(isTaken));
          const subjects = group.map((one) => (one === STRANGER ? null : one.name));
          yield { subjects, change: { role: key, person }, isTaken, isEffective };
        }
      },
      suggest: () =>
        isTaken
          ? { kind: "min-holders", role: inRules, min: count }
          : { kind: "max-holders", role: inRules, max: count },
    };
  };
  const editTrial = (
    { key, holders }: Role,
    permission: string,
    isTaken: boolean,
    subject: string,
  ): Trial => ({
    subjects: [subject],
    change: { role: key, permission },
    isTaken,
    isEffective: holders.some(([person]) => (waysOf(person).get(permission) ?? 0) === Number(isTaken)),
  });
  const givenOf = (permission: string): Trials => {
    const lacking = editable.filter(({ grants }) => !grants?.includes(permission));
    return {
      change: "permission-given",
      role: null,
      permission,
      grants: null,
      sensitive: isSensitive(permission),
      size: lacking.length,
      *each() {
        for (const role of lacking) yield editTrial(role, permission, false, role.name);
      },
      suggest: (subjects) =>
        onlyToday(
          permission,
          access,
          editable.flatMap(({ key, name }) => (subjects.includes(name) ? key : [])),
        ),
    };
  };
  const takenOf = (role: Role): Trials => {
    const { name, id, grants } = role;
    return {
      change: "permission-taken",
      role: { name, id },
      permission: null,
      grants: null,
      sensitive: grants?.some(isSensitive) ?? false,
      size: grants?.length ?? 0,
      *each() {
        for (const permission of grants ?? []) yield editTrial(role, permission, true, permission);
      },
      suggest: () => ({ kind: "protect", role: name }),
    };
  };
  const trials = [
    ...roles.flatMap((role) => [grantsOf(role, true), grantsOf(role, false)]),
    ...[...permissions].map(givenOf),
    ...editable.map(takenOf),
  ];
  const rank = ({ role, sensitive }: Trials): number =>
    ADMINISTRATORS.includes(role?.id ?? "") ? 0 : sensitive ? 1 : 2;
  return trials.toSorted((a, b) => rank(a) - rank(b));
}

/** Counts the roles of a person that grant each permission. */
function countedWays(
  { roles: held }: PersonAccess,
  roles: ReadonlyMap<string, RoleAccess>,
): ReadonlyMap<string, number> {
  const ways = new Map<string, number>();
  for (const key of held) {
    for (const permission of roles.get(key)?.permissions ?? []) {
      ways.set(permission, (ways.get(permission) ?? 0) + 1);
    }
  }
  return ways;
}
