import { type GlobMatch, matchesAny, type Scope } from "../../kernel/diff/scope.ts";
import { memberAsDeclared, memberDiffs, memberImage, newMemberValues } from "../../kernel/fields/member.ts";
import { roleAsDeclared, roleDiffs, roleImage } from "../../kernel/fields/role.ts";
import { type Access, type PersonAccess, pinnedIds, type RoleAccess } from "../../kernel/rules/access.ts";
import { impactOf } from "../../kernel/rules/impact.ts";
import { byKey, violationsIn } from "../../kernel/rules/judge-rules.ts";
import { judgeTransition } from "../../kernel/rules/judge-transition.ts";
import type { Judged } from "../../kernel/rules/judged.ts";
import { globsOf, sensitiveIn } from "../../kernel/rules/settings/sensitive.ts";
import { entriesByAddress, openAddresses } from "../../kernel/values/person.ts";
import { isLiteralGlob } from "../../lib/glob.ts";
import { memoized } from "../../lib/memoized.ts";
import { by, groupByKey } from "../../lib/text.ts";
import { DEFAULT_ESCALATION, type DesiredMember, type DesiredState } from "../../model/desired.ts";
import type { MemberImage } from "../../model/plan.ts";
import type { RuleSet } from "./coverage-rules.ts";

/** A change of one role of one person, or of one permission of a custom role. */
export type SingleChange =
  | { readonly role: string; readonly person: PersonAccess }
  | { readonly role: string; readonly permission: string };

/** A person who is not a member yet, with an address that the files allow. */
export const STRANGER: PersonAccess = {
  id: null,
  name: "somebody new",
  email: null,
  status: "invited",
  roles: [],
  serviceAccount: false,
  mfa: null,
};

/** Adds an item to a list, or removes it if the list has it. */
function toggled(items: readonly string[], item: string): readonly string[] {
  return items.includes(item) ? items.filter((other) => other !== item) : [...items, item];
}

/** An access, with what a plan of a single change needs. */
export interface ChangedWorld {
  readonly access: Access;
  readonly find: Judged["find"];
  /** Roles that a plan reads only if they are granted. */
  readonly unread: ReadonlyMap<string, RoleAccess>;
  readonly desired: DesiredState;
  readonly sets: readonly RuleSet[];
  readonly matches: GlobMatch;
}

/** Judges changes by every set of rules, as a plan of one change alone is judged. */
export interface ChangeJudge {
  /** The steps of work to judge one change. */
  readonly steps: number;
  readonly isRefused: (change: SingleChange) => boolean;
  /** Returns whether a change leaves a rule broken less than before. */
  readonly mends: (change: SingleChange) => boolean;
}

/** Opens a judge of changes. */
export function changeJudge(world: ChangedWorld): ChangeJudge {
  const { access: before, find, desired, sets, matches } = world;
  const scope = scopeOfAccess(before, desired);
  const declared = pinnedIds(desired);
  const entryOf = openEntries(desired);
  const judgedBy = ({ rules }: RuleSet, access: Access) =>
    byKey(violationsIn(rules, { access, settled: access, find }));
  const broken = sets
    .map((set) => ({ set, violations: judgedBy(set, before) }))
    .filter(({ violations }) => violations.size > 0);
  const isRefused = (change: SingleChange): boolean => {
    const after = accessWith(change, world);
    const entry = "person" in change ? entryOf(change.person) : undefined;
    // Guards look up the dates and addresses of those whose memberships change.
    const files = { ...desired, ...(desired.members && { members: entry ? [entry] : [] }) };
    const changes = changesOf(change, before, after);
    const settled = { access: after, changes: changes.members };
    const guarded = {
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
    };
    const transition = { before, present: settled, settled, declared, find, guarded, files: null };
    return sets.some(({ rules }) => judgeTransition(rules, transition).refusals.length > 0);
  };
  const mends = (change: SingleChange): boolean => {
    const after = accessWith(change, world);
    return broken.some(({ set, violations }) => {
      const still = judgedBy(set, after);
      return [...violations].some(
        ([key, { extent }]) => (still.get(key)?.extent.length ?? -1) < extent.length,
      );
    });
  };
  const existing = broken.reduce((sum, { violations }) => sum + violations.size, 0);
  // Existing violations are worded as warnings each time.
  const steps = sets.length * (before.people.length + before.roles.size + 20) + existing * 5;
  return { steps, isRefused, mends };
}

function accessWith(change: SingleChange, { access, unread }: ChangedWorld): Access {
  if ("permission" in change) {
    const role = access.roles.get(change.role);
    if (role === undefined) return access;
    const edited = { ...role, permissions: toggled(role.permissions ?? [], change.permission) };
    return { ...access, roles: new Map([...access.roles, [change.role, edited]]) };
  }
  const { person, role } = change;
  const given = { ...person, roles: toggled(person.roles, role) };
  const granted = unread.get(role);
  return {
    roles: granted === undefined ? access.roles : new Map([...access.roles, [role, granted]]),
    removed: access.removed,
    people:
      person === STRANGER
        ? [...access.people, given]
        : access.people.map((other) => (other === person ? given : other)),
  };
}

/** Returns the live resources of a plan that is made from an access. */
function scopeOfAccess({ roles, people }: Access, { origin }: DesiredState): Scope {
  return {
    roles: [...roles].flatMap(([key, { name, custom }]) =>
      custom ? [roleAsDeclared({ name, origin }, key)] : [],
    ),
    members: people.map(({ id, name, email, roles: held }) =>
      memberAsDeclared({ email: email ?? name, origin }, id ?? name, held),
    ),
    temporarilyNamed: new Set(),
    ignoredRoles: new Set(),
    ignoredLiveRoles: [],
    ignoredMembers: [],
  };
}

const NO_REASON = { reason: "declared", fingerprint: "" } as const;

function changesOf(change: SingleChange, { roles: former }: Access, { roles }: Access) {
  if ("permission" in change) {
    const [before, after] = [former, roles].map((all) => {
      const { name = "", permissions = null } = all.get(change.role) ?? {};
      return roleImage({ name, permissions: permissions ?? [] });
    }) as [ReturnType<typeof roleImage>, ReturnType<typeof roleImage>];
    const fields = roleDiffs(before, after);
    const edit = { resource: "role", name: after.name, kind: "update", id: change.role } as const;
    return { roles: [{ ...NO_REASON, ...edit, before, after, fields }], members: [] };
  }
  const { person, role } = change;
  const after = imageOf({ ...person, roles: toggled(person.roles, role) }, roles);
  const member = { ...NO_REASON, resource: "member", name: person.name, after } as const;
  const create = { ...member, kind: "create", id: null, before: null, fields: [] } as const;
  if (person === STRANGER) return { roles: [], members: [create] };
  const before = imageOf(person, roles);
  const id = person.id ?? person.name;
  const update = { ...member, kind: "update", id, before, fields: memberDiffs(before, after) } as const;
  return { roles: [], members: [update] };
}

function imageOf({ email, roles }: PersonAccess, all: Access["roles"]): MemberImage {
  const refs = roles
    .map((key) => ({ id: key, name: all.get(key)?.name ?? key }))
    .sort(by(({ name }) => name));
  return memberImage({ email, status: null, passwordEnv: undefined }, newMemberValues({ roles: refs }));
}

/** Groups the people whom no rule can tell apart: those with the same roles and dates whom no rule names. */
export function alikePeople({
  access,
  desired,
  sets,
  matches,
}: ChangedWorld): readonly (readonly [PersonAccess, ...PersonAccess[]])[] {
  const patterns = sets.flatMap(({ each }) =>
    each.flatMap(({ names }) => names.flatMap(({ what, text }) => (what === "member-pattern" ? text : []))),
  );
  const globs = patterns.filter((text) => !isLiteralGlob(text));
  const addressesOf = openAddresses(desired.members ?? []);
  const literal = new Set(patterns.flatMap((text) => [text.toLowerCase(), ...addressesOf(text)]));
  const entryOf = openEntries(desired);
  return groupByKey(access.people, (person) => {
    const { id, name, roles, status, serviceAccount, mfa } = person;
    const entry = entryOf(person);
    const dated = entry?.roles?.flatMap(({ role, until }) => (until ? role : []));
    const names = [id ?? name, name];
    return JSON.stringify([
      [...roles].sort(),
      [status, serviceAccount, mfa, entry === undefined, entry?.until !== undefined, dated?.sort()],
      names.filter((text) => literal.has(text.toLowerCase())),
      globs.filter((glob) => matchesAny([glob], names, matches)),
    ]);
  });
}

/** Returns a key that is equal for permissions which no rule can tell apart: granted by the same roles and not named. */
export function permissionKinds({ access, desired, sets }: ChangedWorld): (permission: string) => string {
  const names = sets.flatMap(({ each }) => each.flatMap((rule) => rule.names));
  const textsOf = (kind: string) => names.flatMap(({ what, text }) => (what === kind ? text : []));
  const escalations = [desired.policies, ...sets.map(({ rules }) => rules.policies)].flatMap((policies) =>
    Object.values({ ...DEFAULT_ESCALATION, ...policies.escalation }).flat(),
  );
  const named = new Set([...textsOf("permission"), ...escalations]);
  const tests = [
    sensitiveIn(desired.projects),
    ...textsOf("permission-pattern").map((glob) => globsOf([glob])),
  ];
  const grants = [...access.roles.values()].map(({ permissions }) => new Set(permissions));
  return memoized((permission) =>
    JSON.stringify([
      named.has(permission) ? permission : null,
      tests.map((test) => test(permission)),
      grants.map((granted) => Number(granted.has(permission))).join(""),
    ]),
  );
}

function openEntries({ members = [] }: DesiredState): (person: PersonAccess) => DesiredMember | undefined {
  const pinned = new Map(members.flatMap((entry) => (entry.id === undefined ? [] : [[entry.id, entry]])));
  const byAddress = entriesByAddress(members);
  return ({ id, name, email }) => pinned.get(id ?? "") ?? byAddress.get((email ?? name).toLowerCase());
}
