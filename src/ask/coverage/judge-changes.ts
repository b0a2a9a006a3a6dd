import type { GlobMatch } from "../../kernel/diff/scope.ts";
import { memberAsDeclared, memberDiffs, memberImage, newMemberValues } from "../../kernel/fields/member.ts";
import { roleAsDeclared, roleDiffs, roleImage } from "../../kernel/fields/role.ts";
import type { AccessChanges, PersonAccess, RoleAccess } from "../../kernel/rules/access.ts";
import type { HolderCount, Violation } from "../../kernel/rules/checks.ts";
import { isCause } from "../../kernel/rules/every-rule.ts";
import { guardPlan, withheldBy } from "../../kernel/rules/guards.ts";
import { impactOf } from "../../kernel/rules/impact.ts";
import { byKey, countsIn, isNoWorse, violationsIn } from "../../kernel/rules/judge-rules.ts";
import { addressesOfPerson } from "../../kernel/values/person.ts";
import { by } from "../../lib/text.ts";
import type { DesiredState } from "../../model/desired.ts";
import type { MemberChange, MemberImage } from "../../model/plan.ts";
import type { CoverageRule, RuleSet } from "./coverage-rules.ts";
import type { CoverageWorld, Crowd, WorldRole } from "./coverage-world.ts";

/** A role given to a person or taken, or a permission given to a role or taken: whichever is possible. */
export type SingleChange =
  | { readonly person: PersonAccess; readonly role: WorldRole }
  | { readonly permission: string; readonly role: WorldRole };

/** What rules say of some changes. */
export interface ChangeVerdict {
  /** Returns whether a rule refuses them, be it a default that is not listed. */
  isRefused(): boolean;
  /** Returns whether one of the rules refuses them. */
  refuses(rule: CoverageRule): boolean;
  /** True if a rule is broken less than before. */
  readonly mends: boolean;
  /** The number of people whom a limit is about. */
  readonly counts: ReadonlyMap<CoverageRule, LimitCount>;
}

/** The number of people whom a limit is about. */
export type LimitCount = Pick<HolderCount, "limit" | "bound"> & { readonly people: number };

/** Returns a function that makes changes in a world, and judges the result by a set of rules as a plan would be. */
export function changeJudge(
  world: CoverageWorld,
  set: RuleSet,
  desired: DesiredState,
  matches: GlobMatch,
): (changes: readonly SingleChange[]) => ChangeVerdict {
  const judgeAccess = accessJudge(set, world);
  const judgeGuards = guardJudge(set, world, desired, matches);
  return (changes) => {
    const after = changed(world, changes);
    const byAccess = judgeAccess(after, changes);
    return {
      ...byAccess,
      isRefused: () => byAccess.isRefused() || judgeGuards(after).length > 0,
      refuses: (rule) => {
        if (rule.listed.section !== "guards") return byAccess.refuses(rule);
        return judgeGuards(after).some((refusal) =>
          isCause(rule.listed, rule, refusal, { matches, items: set.each }),
        );
      },
    };
  };
}

type Roles = ReadonlyMap<string, RoleAccess>;

/** A world after changes. */
interface Changed {
  readonly roles: Roles;
  /** The people whose own roles are changed. */
  readonly people: ReadonlyMap<PersonAccess, PersonAccess>;
  /** True if a role is changed, which may concern everybody. */
  readonly isEdited: boolean;
}

function changed({ access }: CoverageWorld, changes: readonly SingleChange[]): Changed {
  const roles = new Map(access.roles);
  const people = new Map<PersonAccess, PersonAccess>();
  for (const change of changes) {
    const { key, access: whole } = change.role;
    const role = roles.get(key) ?? whole;
    if ("person" in change) {
      const person = people.get(change.person) ?? change.person;
      people.set(change.person, { ...person, roles: toggled(person.roles, key) });
      if (role) roles.set(key, role);
    } else if (role) {
      roles.set(key, { ...role, permissions: toggled(role.permissions ?? [], change.permission) });
    }
  }
  return { roles, people, isEdited: changes.some((change) => "permission" in change) };
}

function toggled(items: readonly string[], item: string): readonly string[] {
  return items.includes(item) ? items.filter((other) => other !== item) : [...items, item];
}

/**
 * Judges an access by policies and checks. Of members who are alike one is judged, and only those whom a change concerns;
 * rules that limit several people together count those whom they stand for.
 */
function accessJudge({ rules, each }: RuleSet, { access, crowd, find }: CoverageWorld) {
  const ofText = new Map(each.map((rule) => [rule.listed.text, rule]));
  const judge = (roles: Roles, some: readonly Crowd[]) => {
    const part = { roles, removed: access.removed, people: some.map(({ person }) => person) };
    const judged = { access: part, settled: part, find };
    const sizes = new Map(some.map(({ person, size }) => [person, size]));
    const counts = new Map<CoverageRule, LimitCount>();
    for (const { text, holders, limit, bound } of countsIn(rules, judged)) {
      const rule = ofText.get(text);
      const people = holders.reduce((sum, holder) => sum + (sizes.get(holder) ?? 0), 0);
      if (rule !== undefined) counts.set(rule, { people, limit, bound });
    }
    const violations = violationsIn(rules, judged).filter(({ subject }) => subject !== null);
    return { violations, byKey: byKey(violations), counts };
  };
  const all = judge(access.roles, crowd);
  const memberSet = new Set(access.people);
  const isStranger = (person: PersonAccess): boolean => !memberSet.has(person);
  const judging = each.filter(({ listed: { section } }) => section !== "guards");
  const named = new Set(
    judging.flatMap(({ names }) => names.map(({ what, text }) => (what === "role" ? find(text) : text))),
  );
  const isAboutAll = judging.some(({ names }) => names.length === 0);
  const isConcerned = (change: SingleChange): boolean =>
    "person" in change || isAboutAll || named.has(change.permission) || named.has(change.role.key);
  return ({ roles, people, isEdited }: Changed, changes: readonly SingleChange[]) => {
    if (!changes.some(isConcerned))
      return { isRefused: () => false, refuses: () => false, mends: false, counts: all.counts };
    const strangers = [...people.keys()].filter(isStranger).map((person) => ({ person, size: 1 }));
    const members = isEdited
      ? crowd
      : [...people.keys()].filter((person) => !isStranger(person)).map((person) => ({ person, size: 1 }));
    const before = isEdited ? all : judge(access.roles, members);
    const after = judge(
      roles,
      [...members, ...strangers].map(({ person, size }) => ({ person: people.get(person) ?? person, size })),
    );
    const counts = new Map(
      [...all.counts].map(([rule, count]) => {
        const gained = (after.counts.get(rule)?.people ?? 0) - (before.counts.get(rule)?.people ?? 0);
        return [rule, { ...count, people: count.people + gained }] as const;
      }),
    );
    const mostOf = [...counts].flatMap(([rule, { people, limit, bound }]) =>
      bound === "most" ? [{ rule, limit, people, former: all.counts.get(rule)?.people ?? 0 }] : [],
    );
    const isWorse = (violation: Violation): boolean => {
      const former = [...byKey([violation]).keys()].flatMap((key) => before.byKey.get(key) ?? []);
      return former[0] === undefined || !isNoWorse(violation, former[0]);
    };
    const worse = after.violations.filter(isWorse);
    const exceeded = mostOf.filter(({ people, limit, former }) => people > limit && people > former);
    return {
      isRefused: () => worse.length + exceeded.length > 0,
      refuses: (rule: CoverageRule) =>
        worse.some((violation) => (violation.check ?? violation.rule) === rule.violated) ||
        exceeded.some((count) => count.rule === rule),
      mends:
        mostOf.some(({ people, limit, former }) => former > limit && people < former) ||
        [...before.byKey].some(
          ([key, { extent }]) => (after.byKey.get(key)?.extent.length ?? -1) < extent.length,
        ),
      counts,
    };
  };
}

/** Judges changes by guards, of the whole access. Declared members count as accepted. */
function guardJudge(
  { rules }: RuleSet,
  { access }: CoverageWorld,
  desired: DesiredState,
  matches: GlobMatch,
) {
  const members = new Set(access.people);
  const accepted = access.people.map((person) => ({
    ...person,
    id: person.id ?? person.name,
    status: person.status === "invited" ? ("accepted" as const) : person.status,
  }));
  const before = { ...access, people: accepted };
  const declared = new Map<string, string>();
  const scope = {
    roles: [...access.roles].flatMap(([key, { name, custom }]) =>
      custom ? [roleAsDeclared({ name, origin: desired.origin }, key)] : [],
    ),
    members: accepted.map(({ id, name, email, roles }) =>
      memberAsDeclared({ email: email ?? name, origin: desired.origin }, id, roles),
    ),
    temporarilyNamed: new Set<string>(),
    ignoredRoles: new Set<string>(),
    ignoredLiveRoles: [],
    ignoredMembers: [],
  };
  return ({ roles, people: changedPeople }: Changed) => {
    const after = {
      ...access,
      roles,
      people: [
        ...accepted.map((person, index) => {
          const now = changedPeople.get(access.people[index] ?? person);
          return now === undefined ? person : { ...person, roles: now.roles };
        }),
        ...[...changedPeople].flatMap(([person, now]) => (members.has(person) ? [] : [now])),
      ],
    };
    const changes: AccessChanges = {
      roles: [...roles].flatMap(([key, { name, permissions }]) => {
        const former = access.roles.get(key)?.permissions;
        if (former === undefined || former === null || former === permissions) return [];
        const [old, now] = [former, permissions ?? []].map((items) =>
          roleImage({ name, permissions: items }),
        );
        return old === undefined || now === undefined
          ? []
          : [
              {
                ...NO_REASON,
                resource: "role",
                name,
                kind: "update",
                id: key,
                before: old,
                after: now,
                fields: roleDiffs(old, now),
              },
            ];
      }),
      members: [...changedPeople].map(([person, now]): MemberChange => {
        const base = { ...NO_REASON, resource: "member", name: person.name } as const;
        const imageAfter = imageOf(now, roles);
        if (!members.has(person))
          return { ...base, kind: "create", id: null, before: null, after: imageAfter, fields: [] };
        const imageBefore = imageOf(person, roles);
        const fields = memberDiffs(imageBefore, imageAfter);
        return {
          ...base,
          kind: "update",
          id: person.id ?? person.name,
          before: imageBefore,
          after: imageAfter,
          fields,
        };
      }),
    };
    const { guards } = rules;
    const names = new Set(
      [...changedPeople.keys()].flatMap(({ id, name }) => [id ?? name, name.toLowerCase()]),
    );
    // A guard asks for nobody else's dates and addresses.
    const entries = desired.members?.filter((entry) =>
      [entry.id ?? "", ...addressesOfPerson(entry)].some((name) => names.has(name)),
    );
    const files = { ...desired, ...(entries && { members: entries }) };
    const withheld = withheldBy(guards, {
      before,
      after,
      changes: changes.members,
      declared,
      callerId: null,
    });
    return [
      ...guardPlan(guards, {
        files,
        now: 0,
        file: desired.origin.file,
        merchant: desired.merchant,
        scope,
        changes,
        impact: impactOf(before, after, files),
        deferred: { roles: [], members: [] },
        before,
        after,
        callerId: null,
        matches,
      }),
      ...withheld.refusals,
      ...withheld.deferred.map(({ refusal }) => refusal(false)),
    ];
  };
}

const NO_REASON = { reason: "declared", fingerprint: "" } as const;

function imageOf({ email, roles }: PersonAccess, all: Roles): MemberImage {
  const refs = roles
    .map((key) => ({ id: key, name: all.get(key)?.name ?? key }))
    .sort(by(({ name }) => name));
  return memberImage({ email, status: null, passwordEnv: undefined }, newMemberValues({ roles: refs }));
}
