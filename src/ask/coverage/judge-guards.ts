import { type GlobMatch, matchesAny, type Scope } from "../../kernel/diff/scope.ts";
import { memberAsDeclared, memberDiffs, memberImage, newMemberValues } from "../../kernel/fields/member.ts";
import { roleAsDeclared, roleDiffs, roleImage } from "../../kernel/fields/role.ts";
import type { Access, AccessChanges, PersonAccess, RoleAccess } from "../../kernel/rules/access.ts";
import { guardPlan } from "../../kernel/rules/guards.ts";
import { impactOf } from "../../kernel/rules/impact.ts";
import { globsOf, sensitiveIn } from "../../kernel/rules/settings/sensitive.ts";
import { memoized } from "../../lib/memoized.ts";
import { by } from "../../lib/text.ts";
import { DEFAULT_ESCALATION, type DesiredMember, type DesiredState } from "../../model/desired.ts";
import type { MemberChange, MemberImage, RoleChange } from "../../model/plan.ts";
import type { RuleSet } from "./coverage-rules.ts";
import { type CoverageWorld, STRANGER, type WorldPerson, type WorldRole } from "./coverage-world.ts";
import { type ChangeJudge, type ChangeVerdict, toggled, UNNOTICED } from "./judge-rule.ts";

/**
 * Returns a judge by the guards that limit changes. Changes with the same case are judged once: guards distinguish what
 * they name and how many people gain or lose something sensitive or named; everything counts if a permission leads to
 * others and a guard limits what people can reach.
 */
export function guardJudge(
  set: RuleSet,
  world: CoverageWorld,
  desired: DesiredState,
  matches: GlobMatch,
): ChangeJudge {
  const { people, roles, permissions, ways, work } = world;
  const names = set.each.flatMap((rule) => (rule.listed.section === "guards" ? rule.names : []));
  const textsOf = (wanted: string): readonly string[] =>
    names.flatMap(({ what, text }) => (what === wanted ? text : []));
  const tests = [
    sensitiveIn(desired.projects),
    ...[...textsOf("permission"), ...textsOf("permission-pattern")].map((text) => globsOf([text])),
  ];
  const kinds = tests.map((test) => permissions.map(test));
  const ofRoles = [...textsOf("role-pattern"), ...textsOf("role")];
  const patterns = world.patternsOf(names);
  const isByReach = set.each.some((rule) => "reach" in rule && rule.reach);
  const escalation = { ...DEFAULT_ESCALATION, ...desired.policies.escalation };
  const leading = new Set(isByReach ? Object.values(escalation).flat() : []);
  const leads = new Set([...permissions.keys()].filter((index) => leading.has(permissions[index] ?? "")));
  const canLead = people.map((_, person) => [...leads].some((permission) => ways(person, permission) > 0));
  const leadsHolders = roles.map(({ holders }) => holders.some((person) => canLead[person] === true));
  const casesOfPeople = people.map(({ access, entry }, person) => {
    const { status, serviceAccount, roles: held } = access;
    const exact = canLead[person] ? held : null;
    return JSON.stringify([status, serviceAccount, entry === undefined, patterns(access), exact]);
  });
  const casesOfRoles = roles.map(({ key, name, known, custom }) =>
    JSON.stringify([ofRoles.filter((text) => matchesAny([text], [key, name], matches)), known, custom]),
  );
  const judge = planJudge(set, world, desired, matches);
  const judgeOnce = memoized(
    ({ make }: GuardedChange): ChangeVerdict => ({ isRefused: judge(make()), mends: false }),
    ({ key }) => key,
  );
  return {
    grant: (person, roleIndex) => {
      const role = roles[roleIndex];
      const {
        held,
        access: { roles: ofPerson },
      } = people[person] ?? NOBODY;
      if (role === undefined) return UNNOTICED;
      work(role.grants.size / 16);
      const isHeld = held.has(roleIndex);
      const seen = kinds.map(() => false);
      let isLeading = canLead[person];
      for (const permission of role.grants) {
        if (ways(person, permission) !== Number(isHeld)) continue;
        for (let kind = 0; kind < kinds.length; kind += 1) seen[kind] ||= kinds[kind]?.[permission] === true;
        isLeading ||= leads.has(permission);
      }
      const exact = isLeading ? [roleIndex, ofPerson] : [];
      const key = `${isHeld} ${casesOfRoles[roleIndex]} ${casesOfPeople[person]} ${seen} ${exact}`;
      return judgeOnce({ key, make: () => grantIn(world, person, role) });
    },
    edit: (roleIndex, permission) => {
      const role = roles[roleIndex];
      if (role === undefined) return UNNOTICED;
      const isGranted = role.grants.has(permission);
      const changed = role.holders.filter((person) => ways(person, permission) === Number(isGranted));
      const isLeading = leadsHolders[roleIndex] || leads.has(permission);
      const exact = isLeading ? [roleIndex, permission] : [];
      const seen = kinds.map((kind) => kind[permission]);
      const key = `${isGranted} ${casesOfRoles[roleIndex]} ${changed.length} ${seen} ${exact}`;
      const name = permissions[permission] ?? "";
      return judgeOnce({
        key,
        make: () =>
          editIn(world, role, name, {
            concerned: isLeading ? role.holders : changed,
            isAlone: !isLeading,
          }),
      });
    },
  };
}

const NOBODY: WorldPerson = { access: STRANGER, held: new Set(), entry: undefined };

/** A change, with the part of the access that it concerns. */
interface Planned {
  readonly before: Access;
  readonly after: Access;
  readonly changes: AccessChanges;
  readonly entries: readonly DesiredMember[];
}

/** A change, identified by its case. */
interface GuardedChange {
  readonly key: string;
  readonly make: () => Planned;
}

/** Returns a function that tells whether the guards refuse a change. */
function planJudge(
  { rules }: RuleSet,
  { access, work }: CoverageWorld,
  desired: DesiredState,
  matches: GlobMatch,
): (planned: Planned) => boolean {
  const scope: Scope = {
    roles: [...access.roles].flatMap(([key, { name, custom }]) =>
      custom ? [roleAsDeclared({ name, origin: desired.origin }, key)] : [],
    ),
    members: access.people.map(({ id, name, email, roles }) =>
      memberAsDeclared({ email: email ?? name, origin: desired.origin }, id ?? name, roles),
    ),
    temporarilyNamed: new Set(),
    ignoredRoles: new Set(),
    ignoredLiveRoles: [],
    ignoredMembers: [],
  };
  return ({ before, after, changes, entries }) => {
    work(100 + after.roles.size * 10 + after.people.length * 5);
    const files = { ...desired, ...(desired.members && { members: entries }) };
    const refusals = guardPlan(rules.guards, {
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
    });
    return refusals.length > 0;
  };
}

function grantIn({ access, people }: CoverageWorld, index: number, role: WorldRole): Planned {
  const { access: person, entry } = people[index] ?? NOBODY;
  const isMember = person !== STRANGER;
  const former = isMember ? accepted(person) : person;
  const current = { ...former, roles: toggled(former.roles, role.key) };
  const before = { ...access, people: isMember ? [former] : [] };
  const roles =
    role.access === undefined ? access.roles : new Map([...access.roles, [role.key, role.access]]);
  const changes = { roles: [], members: [memberChange(before.people[0], current, roles)] };
  return { before, after: { ...before, roles, people: [current] }, changes, entries: entry ? [entry] : [] };
}

/** Edits a role for some of its holders, in the whole access or in one that contains nothing else. */
function editIn(
  { access, people }: CoverageWorld,
  { key, access: role }: WorldRole,
  permission: string,
  { concerned, isAlone }: { readonly concerned: readonly number[]; readonly isAlone: boolean },
): Planned {
  const { permissions, ...rest } = role ?? { id: null, name: key, custom: true, permissions: [] };
  const granted = (permissions ?? []).filter((name) => !isAlone || name === permission);
  const [former, current] = [granted, toggled(granted, permission)].map((now) => ({
    ...rest,
    permissions: now,
  }));
  const withRole = (edited: RoleAccess | undefined): Access["roles"] =>
    new Map([...(isAlone ? [] : access.roles), ...(edited === undefined ? [] : [[key, edited] as const])]);
  const before = {
    roles: withRole(former),
    removed: access.removed,
    people: concerned.flatMap((index) => {
      const person = people[index]?.access;
      return person === undefined ? [] : { ...accepted(person), ...(isAlone && { roles: [key] }) };
    }),
  };
  return {
    before,
    after: { ...before, roles: withRole(current) },
    changes: { roles: roleChange(key, former, current), members: [] },
    entries: [],
  };
}

function accepted(person: PersonAccess): PersonAccess {
  const status = person.status === "invited" ? "accepted" : person.status;
  return { ...person, id: person.id ?? person.name, status };
}

const NO_REASON = { reason: "declared", fingerprint: "" } as const;

function roleChange(id: string, ...states: readonly (RoleAccess | undefined)[]): readonly RoleChange[] {
  const [before, after] = states.map((state) =>
    roleImage({ name: state?.name ?? "", permissions: state?.permissions ?? [] }),
  );
  if (before === undefined || after === undefined) return [];
  const fields = roleDiffs(before, after);
  return [{ ...NO_REASON, resource: "role", name: after.name, kind: "update", id, before, after, fields }];
}

function memberChange(
  former: PersonAccess | undefined,
  current: PersonAccess,
  roles: Access["roles"],
): MemberChange {
  const base = { ...NO_REASON, resource: "member", name: current.name } as const;
  const after = imageOf(current, roles);
  if (former === undefined) return { ...base, kind: "create", id: null, before: null, after, fields: [] };
  const before = imageOf(former, roles);
  return {
    ...base,
    kind: "update",
    id: former.id ?? former.name,
    before,
    after,
    fields: memberDiffs(before, after),
  };
}

function imageOf({ email, roles }: PersonAccess, all: Access["roles"]): MemberImage {
  const refs = roles
    .map((key) => ({ id: key, name: all.get(key)?.name ?? key }))
    .sort(by(({ name }) => name));
  return memberImage({ email, status: null, passwordEnv: undefined }, newMemberValues({ roles: refs }));
}
