import { type GlobMatch, matchesAny } from "../../kernel/diff/scope.ts";
import type { Access, PersonAccess, RoleAccess } from "../../kernel/rules/access.ts";
import type { Judged } from "../../kernel/rules/checks.ts";
import { ADMINISTRATORS } from "../../kernel/rules/gains.ts";
import { openDeclared } from "../../kernel/rules/judge-rules.ts";
import { entriesByAddress, openAddresses } from "../../kernel/values/person.ts";
import { groupByKey } from "../../lib/text.ts";
import type { DesiredMember, DesiredState } from "../../model/desired.ts";
import type { CoverageRule } from "./coverage-rules.ts";

/** The access that is judged, and the functions that judge it. */
export interface CoverageOptions {
  /** True if there are no roles and members beside those of the access. */
  readonly complete: boolean;
  /** The keys of roles that a plan reads only once they are granted; absent: none. */
  readonly unread?: ReadonlySet<string>;
  readonly matches: GlobMatch;
}

/** A role by its index; holders and permissions are indexes, too. */
export interface WorldRole {
  readonly key: string;
  readonly name: string;
  readonly id: string | null;
  /** False for a role of unknown permissions. */
  readonly known: boolean;
  /** True if a plan can change its permissions. */
  readonly editable: boolean;
  readonly custom: boolean;
  /** True if a plan reads it only once it is granted. */
  readonly unread: boolean;
  readonly grants: ReadonlySet<number>;
  readonly holders: readonly number[];
  readonly access: RoleAccess | undefined;
}

/** A member by its index; the last one stands for somebody who is no member yet. */
export interface WorldPerson {
  readonly access: PersonAccess;
  readonly held: ReadonlySet<number>;
  /** The first member to whom all rules apply alike; the stranger for itself. */
  readonly like: PersonAccess;
}

/** A member that stands for so many who are alike. */
export interface Crowd {
  readonly person: PersonAccess;
  readonly size: number;
}

/** An access whose single changes are judged, by indexes. */
export interface CoverageWorld {
  readonly roles: readonly WorldRole[];
  /** The members, then a stranger without any role. */
  readonly people: readonly WorldPerson[];
  /** The permissions that files and roles name. */
  readonly permissions: readonly string[];
  /** The roles that a plan reads, and the members. */
  readonly access: Access;
  /** The members, of those who are alike two by themselves and the others by a third one. */
  readonly crowd: readonly Crowd[];
  /** Finds the key of a role by its name or id in a rule. */
  readonly find: (nameOrId: string) => string | undefined;
  /** False if there may be roles and members that the access does not list. */
  readonly complete: boolean;
}

/**
 * Returns the access that changes of files are made to: what is suspended, or has not begun, counts as well, since a change
 * lasts until then.
 */
export function openLasting(state: DesiredState, now: number): Judged {
  const members = state.members?.map(({ suspended: _, from: _begin, roles, ...member }) => ({
    ...member,
    ...(roles && { roles: roles.map(({ from: _from, ...grant }) => grant) }),
  }));
  return openDeclared({ ...state, ...(members && { members }) }, now);
}

/** A person who is no member yet, at an address that the files allow. */
export const STRANGER: PersonAccess = {
  id: null,
  name: "somebody new",
  email: null,
  status: "invited",
  roles: [],
  serviceAccount: false,
  ignored: false,
  mfa: null,
};

/** Indexes an access with the permissions that the rules name. */
export function coverageWorld(
  { access, find }: Judged,
  { members = [] }: Pick<DesiredState, "members">,
  rules: readonly CoverageRule[],
  { complete, unread = new Set(), matches }: CoverageOptions,
): CoverageWorld {
  const { people: knownPeople, roles, removed } = access;
  const people = [...knownPeople, STRANGER];
  const keys = new Set([...roles.keys()].filter((key) => !removed.has(key)));
  for (const { roles: held } of people) for (const key of held) if (!removed.has(key)) keys.add(key);
  const ids = new Set([...roles.values()].map(({ id }) => id));
  for (const id of ADMINISTRATORS) if (!ids.has(id)) keys.add(id);
  const index = new Map([...keys].map((key, position) => [key, position]));
  const permissions = [
    ...new Set([
      ...[...roles.values()].flatMap((role) => role.permissions ?? []),
      ...rules.flatMap(({ names }) => names.flatMap(({ what, text }) => (what === "permission" ? text : []))),
    ]),
  ];
  const permissionIndex = new Map(permissions.map((permission, position) => [permission, position]));
  const holders = new Map<number, number[]>([...index.values()].map((position) => [position, []]));
  const held = people.map((person) => new Set(person.roles.flatMap((key) => index.get(key) ?? [])));
  held.forEach((heldRoles, person) => {
    for (const role of heldRoles) holders.get(role)?.push(person);
  });
  const likeness = openLikeness(members, rules, matches);
  const alike = [...groupByKey(knownPeople, likeness)];
  const firstAlike = new Map(alike.flatMap((group) => group.map((person) => [person, group[0]] as const)));
  return {
    roles: [...index].map(([key, position]): WorldRole => {
      const role = roles.get(key);
      const isKnown = role !== undefined && role.permissions !== null;
      return {
        key,
        name: role?.name ?? key,
        id: role?.id ?? (key.startsWith("role_") ? key : null),
        known: isKnown,
        editable: isKnown && role.custom,
        custom: role?.custom ?? false,
        unread: unread.has(key),
        grants: new Set(
          (role?.permissions ?? []).flatMap((permission) => permissionIndex.get(permission) ?? []),
        ),
        holders: holders.get(position) ?? [],
        access: role,
      };
    }),
    people: people.map((person, position) => ({
      access: person,
      held: held[position] ?? new Set(),
      like: firstAlike.get(person) ?? person,
    })),
    permissions,
    access: { ...access, roles: new Map([...roles].filter(([key]) => !unread.has(key))) },
    crowd: alike.flatMap(([first, second, ...others]) => [
      { person: first, size: 1 },
      ...(second === undefined ? [] : [{ person: second, size: 1 }]),
      ...(others[0] === undefined ? [] : [{ person: others[0], size: others.length }]),
    ]),
    find: (nameOrId) => find(nameOrId) ?? (keys.has(nameOrId) ? nameOrId : undefined),
    complete,
  };
}

/** Returns a function that gives the same text for members to whom all rules apply alike. */
function openLikeness(
  members: readonly DesiredMember[],
  rules: readonly CoverageRule[],
  matches: GlobMatch,
): (person: PersonAccess) => string {
  const entries = new Map(
    members.flatMap((member) => (member.id === undefined ? [] : [[member.id, member] as const])),
  );
  const byAddress = entriesByAddress(members);
  const addressesOf = openAddresses(members);
  const named = [
    ...new Set(
      rules.flatMap(({ names }) =>
        names.flatMap(({ what, text }) => (what === "member-pattern" ? [text, ...addressesOf(text)] : [])),
      ),
    ),
  ];
  return ({ id, name, email, status, roles, serviceAccount, ignored, mfa }) => {
    const { until, roles: grants = [] } =
      entries.get(id ?? "") ?? byAddress.get((email ?? name).toLowerCase()) ?? {};
    const ends = grants.flatMap((grant) =>
      grant.until === undefined ? [] : [[grant.role, grant.until.text]],
    );
    const names = [id ?? name, name];
    return JSON.stringify([
      [...roles].sort(),
      status,
      serviceAccount,
      ignored,
      mfa,
      until?.text,
      ends.sort(),
      named.filter((text) => matchesAny([text], names, matches)),
    ]);
  };
}
