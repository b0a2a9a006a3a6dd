import type { GlobMatch } from "../../kernel/diff/scope.ts";
import type { PersonAccess } from "../../kernel/rules/access.ts";
import type { Judged } from "../../kernel/rules/checks.ts";
import { ADMINISTRATORS } from "../../kernel/rules/gains.ts";
import { openDeclared } from "../../kernel/rules/judge-rules.ts";
import { DEFAULT_ESCALATION, type DesiredState } from "../../model/desired.ts";
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
}

/** A member by its index; the last one stands for somebody who is no member yet. */
export interface WorldPerson {
  readonly access: PersonAccess;
  readonly held: ReadonlySet<number>;
  /** True if its whole membership ends at a time. */
  readonly ends: boolean;
  /** The roles whose grants end by themselves. */
  readonly ending: ReadonlySet<number>;
}

/** An access whose single changes are judged, by indexes. */
export interface CoverageWorld {
  readonly roles: readonly WorldRole[];
  /** The members, then a stranger without any role. */
  readonly people: readonly WorldPerson[];
  /** The permissions that files and roles name. */
  readonly permissions: readonly string[];
  readonly permissionIndex: ReadonlyMap<string, number>;
  /** Finds the index of a role by its name or id in a rule. */
  readonly find: (nameOrId: string) => number | undefined;
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
  { complete, unread = new Set() }: Pick<CoverageOptions, "complete" | "unread">,
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
      ...rules.flatMap(permissionsIn),
    ]),
  ];
  const permissionIndex = new Map(permissions.map((permission, position) => [permission, position]));
  const holders = new Map<number, number[]>([...index.values()].map((position) => [position, []]));
  const held = people.map((person) => new Set(person.roles.flatMap((key) => index.get(key) ?? [])));
  held.forEach((heldRoles, person) => {
    for (const role of heldRoles) holders.get(role)?.push(person);
  });
  const declared = new Map(
    members.flatMap((member) =>
      [member.email.toLowerCase(), member.id ?? []].flat().map((key) => [key, member] as const),
    ),
  );
  const findRole = (nameOrId: string): number | undefined => index.get(find(nameOrId) ?? nameOrId);
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
      };
    }),
    people: people.map((person, position) => {
      const entry =
        declared.get(person.id ?? "") ?? declared.get((person.email ?? person.name).toLowerCase());
      return {
        access: person,
        held: held[position] ?? new Set(),
        ends: entry?.until !== undefined,
        ending: new Set((entry?.roles ?? []).flatMap(({ role, until }) => (until && findRole(role)) ?? [])),
      };
    }),
    permissions,
    permissionIndex,
    find: findRole,
    complete,
  };
}

function permissionsIn(rule: CoverageRule): readonly string[] {
  if (rule.kind === "forbid") return rule.permissions;
  if (rule.kind !== "check") return [];
  const { check, escalation } = rule;
  const { assign, edit, create } = { ...DEFAULT_ESCALATION, ...escalation };
  return [
    ...(check.kind === "cannot" ? check.cannot : [check.can]),
    ...(check.reach ? [...assign, ...edit, ...create] : []),
  ];
}
