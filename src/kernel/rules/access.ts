import { memoized } from "../../lib/memoized.ts";
import { byCodeUnit } from "../../lib/text.ts";
import type { DesiredState } from "../../model/desired.ts";
import type { RoleRef } from "../../model/field-values.ts";
import type { LiveMember, LiveRole, MemberStatus } from "../../model/live.ts";
import type { Change, MemberChange, RoleChange } from "../../model/plan.ts";
import { addressOf, isServiceAccount, type Scope } from "../diff/scope.ts";
import { roleKey } from "../fields/set.ts";

/** A role and what it grants. */
export interface RoleAccess {
  readonly id: string | null;
  readonly name: string;
  /**
   * `null` if the service does not report them: it reports none for a predefined role, or the role no longer exists.
   */
  readonly permissions: readonly string[] | null;
  readonly custom: boolean;
  /** Set if it is ignored or has a temporary name: its name then means another role with that name, if there is one. */
  readonly hidden?: true;
}

/** A member with its roles. */
export interface PersonAccess {
  readonly id: string | null;
  /** The address, else the id. */
  readonly name: string;
  readonly email: string | null;
  /** `invited` for a member whom the plan invites. */
  readonly status: MemberStatus | "invited";
  /** Keys in `Access.roles`. */
  readonly roles: readonly string[];
  /** True for a service or system account; `null` for an unknown type of user. */
  readonly serviceAccount: boolean | null;
  /** `null` if unknown: there is no user yet, or the service does not report it. */
  readonly mfa: boolean | null;
}

/** The roles and members at one time; a replaced role keeps its key. */
export interface Access {
  readonly roles: ReadonlyMap<string, RoleAccess>;
  /** Keys of removed roles, which grant nothing. */
  readonly removed: ReadonlySet<string>;
  /** The distinct members: live ones in their order, then those that the plan adds. */
  readonly people: readonly PersonAccess[];
}

/** Returns a function that returns the name of a role, with its id if several of the roles have that name. */
export function titlesOf(roles: Iterable<RoleAccess>): (role: RoleAccess) => string {
  const ids = new Map<string, string | null>();
  const shared = new Set<string>();
  for (const { id, name } of roles) {
    if (ids.has(name) && ids.get(name) !== id) shared.add(name);
    ids.set(name, id);
  }
  return ({ id, name }) => (id !== null && shared.has(name) ? withId(name, id) : name);
}

/** Returns a role's name with its id. */
export function withId(name: string, id: string): string {
  return `${name} (${id})`;
}

/** The changes that access depends on, by resource. */
export interface AccessChanges {
  readonly roles: readonly RoleChange[];
  readonly members: readonly MemberChange[];
}

/** Splits changes into those of roles and those of members. */
export function splitByResource(changes: readonly Change[]): AccessChanges {
  return {
    roles: changes.flatMap((change) => (change.resource === "role" ? [change] : [])),
    members: changes.flatMap((change) => (change.resource === "member" ? [change] : [])),
  };
}

/** Options of access before and after changes. */
interface AccessOptions {
  /** Counts a replaced role and the successor that an interrupted run has created as one role. */
  readonly mergeReplacedRoles: boolean;
}

/**
 * Returns the live access. After an interrupted replacement, there are two roles instead of one: merge them to count
 * holders, keep them apart to see what each grants.
 */
export function accessBefore(
  { roles, temporarilyNamed, ignoredLiveRoles, members, ignoredMembers }: Scope,
  changes: AccessChanges,
  { mergeReplacedRoles }: AccessOptions,
): Access {
  const successors = mergeReplacedRoles ? successorsOf(changes.roles) : NO_SUCCESSORS;
  const people = members.map((member) => personAccess(member, successors));
  // Changes to roles also affect ignored members who hold them.
  for (const member of ignoredMembers) people.push(personAccess(member, successors));
  const ignored = new Set(ignoredLiveRoles);
  const entries = [...ignoredLiveRoles, ...roles].map((role) => {
    const isHidden = ignored.has(role) || temporarilyNamed.has(role.id);
    return [successors.get(role.id) ?? role.id, roleAccess(role, isHidden)] as const;
  });
  return {
    roles: new Map(entries),
    removed: new Set(),
    people,
  };
}

/** Returns whether a replacement was interrupted: merging replaced roles makes a difference only then. */
export function hasSuccessors({ roles }: AccessChanges): boolean {
  return successorsOf(roles).size > 0;
}

/** Returns the access after changes. */
export function accessAfter(before: Access, changes: AccessChanges, options: AccessOptions): Access {
  const keyOf = roleKeys(changes.roles, options);
  const roles = rolesAfter(before.roles, changes.roles, options);
  const removed = new Set([...before.removed, ...before.roles.keys()].filter((key) => !roles.has(key)));
  // Without changes to members, there is nobody to compare.
  if (changes.members.length === 0) return { roles, removed, people: before.people };
  // A new role that is not created grants nothing, and has no holders.
  const keysOf = (refs: readonly RoleRef[]): readonly string[] => [
    ...new Set(
      refs.flatMap((ref) => {
        const key = keyOf(ref);
        return ref.id === null && !roles.has(key) ? [] : key;
      }),
    ),
  ];
  const changeOf = new Map(changes.members.map((change) => [change.id, change]));
  const people: PersonAccess[] = [];
  for (const former of before.people) {
    const change = changeOf.get(former.id);
    const current = change === undefined ? former : personAfter(change, former, keysOf);
    if (current !== null) people.push(current);
  }
  // An address can have only one invitation.
  const added = new Map<string, PersonAccess>();
  for (const change of changes.members) {
    const is = change.kind === "create" ? personAfter(change, null, keysOf) : null;
    if (is !== null) added.set(is.name.toLowerCase(), is);
  }
  return { roles, removed, people: [...people, ...added.values()] };
}

/** Returns a member after a change; `null` if it is removed. */
function personAfter(
  { kind, id, name, after }: MemberChange,
  former: PersonAccess | null,
  keysOf: (refs: readonly RoleRef[]) => readonly string[],
): PersonAccess | null {
  if (after === null) return null;
  // A managed user exists at once, without MFA.
  const isMade = kind !== "update" && after.managed !== null;
  return {
    id,
    name,
    email: after.email,
    status: kind === "update" ? (former?.status ?? "unknown") : isMade ? "accepted" : "invited",
    roles: keysOf(after.roles),
    serviceAccount: former === null ? false : former.serviceAccount,
    mfa: isMade ? false : (former?.mfa ?? null),
  };
}

/** A member before and after changes; `undefined` if absent. */
export interface BeforeAndAfter {
  readonly was: PersonAccess | undefined;
  readonly is: PersonAccess | undefined;
}

/** Yields the members of an access and of the result of `accessAfter`, which has the same order. */
export function* beforeAndAfter(before: Access, after: Access): Generator<BeforeAndAfter> {
  let index = 0;
  for (const was of before.people) {
    const is = after.people[index];
    if (is?.id !== was.id) {
      yield { was, is: undefined };
      continue;
    }
    yield { was, is };
    index += 1;
  }
  for (; index < after.people.length; index += 1) yield { was: undefined, is: after.people[index] };
}

function rolesAfter(
  before: Access["roles"],
  changes: readonly RoleChange[],
  { mergeReplacedRoles }: AccessOptions,
): Access["roles"] {
  const roles = new Map(before);
  for (const change of changes) {
    const { id, name, after } = change;
    if (after === null) {
      roles.delete(change.id);
      continue;
    }
    const successor = !mergeReplacedRoles && change.kind === "replace" ? change.resumed : null;
    if (successor !== null && id !== null) roles.delete(id);
    const role = { id, name: after.name, permissions: after.permissions, custom: true };
    roles.set(successor ?? roleKey({ id, name }), role);
  }
  return roles;
}

/** Returns whether a member can use its roles, now or once it has accepted. */
export function isActive({ status }: PersonAccess): boolean {
  return status !== "expired" && status !== "disabled";
}

/** The permissions of a set of roles, and the names of roles whose permissions are unknown. */
export interface Granted {
  readonly permissions: ReadonlySet<string>;
  readonly unknown: readonly string[];
}

const NOTHING: Granted = { permissions: new Set(), unknown: [] };

/** Returns a function that returns a member's permissions; members with the same roles share one result. */
export function granting(
  { roles, removed }: Access,
  counts: (person: PersonAccess) => boolean = isActive,
): (person: PersonAccess | undefined) => Granted {
  const grantedByRoles = memoized(
    (keys: readonly string[]) => grantedBy(keys, roles, removed),
    (keys) => JSON.stringify(keys),
  );
  const grantedByList = memoized(grantedByRoles);
  return (person) => (person === undefined || !counts(person) ? NOTHING : grantedByList(person.roles));
}

function grantedBy(keys: readonly string[], roles: Access["roles"], removed: Access["removed"]): Granted {
  const held = keys
    .filter((key) => !removed.has(key))
    .map((key) => roles.get(key) ?? { name: key, permissions: null });
  return {
    permissions: new Set(held.flatMap(({ permissions }) => permissions ?? [])),
    unknown: held.filter(({ permissions }) => permissions === null).map(({ name }) => name),
  };
}

function roleKeys(
  changes: readonly RoleChange[],
  { mergeReplacedRoles }: AccessOptions,
): (ref: RoleRef) => string {
  const replaced = changes.flatMap((change) => (change.kind === "replace" ? [change] : []));
  const byName = new Map(replaced.map(({ name, id }) => [name, id]));
  const successors = mergeReplacedRoles ? successorsOf(changes) : NO_SUCCESSORS;
  return (ref) => (ref.id === null ? byName.get(ref.name) : successors.get(ref.id)) ?? roleKey(ref);
}

/** Ids of successors → ids of the roles that they replace. */
type Successors = ReadonlyMap<string, string>;

const NO_SUCCESSORS: Successors = new Map();

function successorsOf(changes: readonly RoleChange[]): Successors {
  return new Map(
    changes.flatMap((change) =>
      change.kind === "replace" && change.resumed !== null ? [[change.resumed, change.id]] : [],
    ),
  );
}

function roleAccess({ id, name, permissions, predefined }: LiveRole, isHidden: boolean): RoleAccess {
  return {
    id,
    name,
    permissions: predefined && permissions.length === 0 ? null : permissions,
    custom: !predefined,
    ...(isHidden && { hidden: true }),
  };
}

function personAccess(member: LiveMember, successors: Successors): PersonAccess {
  const { id, user, status, roles } = member;
  const email = addressOf(member);
  return {
    id,
    name: email ?? id,
    email,
    status,
    roles: roleKeysOf(roles, successors),
    serviceAccount: isServiceAccount(member),
    mfa: user ? user.mfaOnLogin : null,
  };
}

function roleKeysOf(roles: readonly string[], successors: Successors): readonly string[] {
  if (successors.size === 0 && !hasRepeats(roles)) return roles;
  return [...new Set(roles.map((role) => successors.get(role) ?? role))];
}

function hasRepeats(roles: readonly string[]): boolean {
  for (let index = 1; index < roles.length; index += 1)
    if (roles.indexOf(roles[index] ?? "") < index) return true;
  return false;
}

/** The names of the roles that the file declares, by key. */
export type DeclaredRoles = ReadonlyMap<string, string>;

/** The roles that names and ids in the files mean. */
export interface RoleNames {
  /** Returns the key of a role by its name or id; `undefined` if no role or several have the name. */
  readonly find: (nameOrId: string) => string | undefined;
  /** Returns the sorted keys of the roles that share a name; empty if it means one role or none. */
  readonly sharing: (name: string) => readonly string[];
}

/**
 * Indexes roles by their names and ids. An id takes precedence over a name. If several roles share a name, the name
 * refers to the declared one, else the one that is not hidden, else a custom one, whatever the order of the roles. A
 * declared role is also known by its name in the file, which an apply may still have to set.
 */
export function roleNames({ roles }: Access, declared: DeclaredRoles): RoleNames {
  const rank = (key: string, { custom, hidden }: RoleAccess): number =>
    declared.has(key) ? 3 : custom ? (hidden ? 1 : 2) : 0;
  const ids = new Map<string, string>();
  const keysByName = new Map<string, { readonly rank: number; readonly keys: string[] }>();
  for (const [key, role] of roles) {
    if (role.id !== null) ids.set(role.id, key);
    const roleRank = rank(key, role);
    for (const name of new Set([role.name, declared.get(key) ?? role.name])) {
      const best = keysByName.get(name);
      if (best?.rank === roleRank) best.keys.push(key);
      else if (best === undefined || best.rank < roleRank)
        keysByName.set(name, { rank: roleRank, keys: [key] });
    }
  }
  const meant = (name: string): readonly string[] => keysByName.get(name)?.keys ?? [];
  return {
    find: (nameOrId) => {
      const [only, ...otherKeys] = meant(nameOrId);
      return ids.get(nameOrId) ?? (otherKeys.length === 0 ? only : undefined);
    },
    sharing: (name) => (ids.has(name) || meant(name).length < 2 ? [] : [...meant(name)].sort(byCodeUnit)),
  };
}

/**
 * Returns a function that finds a role's key by the name or id in a file; `undefined` if no role or several have the
 * name.
 */
export function roleFinder(access: Access, declared: DeclaredRoles): RoleNames["find"] {
  return roleNames(access, declared).find;
}

/**
 * Returns a function that finds a role's key in a live access by its name after the files' changes, else by its live
 * name: rules use the names in the files even before a role is renamed.
 */
export function liveRoleFinder(
  before: Access,
  after: Access,
  desired: Pick<DesiredState, "roles">,
): RoleNames["find"] {
  const pinned = pinnedIds(desired);
  const [findBefore, findAfter] = [roleFinder(before, pinned), roleFinder(after, pinned)];
  return (role) => findAfter(role) ?? findBefore(role);
}

/** Returns the roles of the files that are pinned to an id. */
export function pinnedIds({ roles = [] }: Pick<DesiredState, "roles">): DeclaredRoles {
  return new Map(roles.flatMap(({ id, name }) => (id === undefined ? [] : [[id, name] as const])));
}
