import { type GlobMatch, matchesAny } from "../../kernel/diff/scope.ts";
import type { Access, PersonAccess, RoleAccess } from "../../kernel/rules/access.ts";
import { ADMINISTRATORS } from "../../kernel/rules/gains.ts";
import { openDeclared } from "../../kernel/rules/judge-rules.ts";
import { countWork, type Judged } from "../../kernel/rules/judged.ts";
import { entriesByAddress, openAddresses } from "../../kernel/values/person.ts";
import { isLiteralGlob } from "../../lib/glob.ts";
import type { DesiredMember, DesiredState } from "../../model/desired.ts";
import type { CoverageRule, RuleName } from "./coverage-rules.ts";

/** The access that is judged, and the functions that judge it. */
export interface CoverageOptions {
  /** The keys of roles that a plan reads only if they are granted; absent: none. */
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
  readonly grants: ReadonlySet<number>;
  readonly holders: readonly number[];
  readonly access: RoleAccess | undefined;
}

/** A member by its index; the last one stands for somebody who is not a member yet. */
export interface WorldPerson {
  readonly access: PersonAccess;
  readonly held: ReadonlySet<number>;
  readonly entry: DesiredMember | undefined;
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
  /** Finds the key of a role by its name or id in a rule. */
  readonly find: (nameOrId: string) => string | undefined;
  /** Returns the indexes of the patterns that match a member. */
  readonly patternsOf: (names: readonly RuleName[]) => (person: PersonAccess) => readonly number[];
  /** Returns how many of a member's roles grant a permission. */
  readonly ways: (person: number, permission: number) => number;
  /** Subtracts steps of work from what is left; throws `TooMuchWork` if nothing is. */
  readonly work: (steps: number) => void;
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

/** The steps of work for one merchant: some seconds, and more than those of 10,000 members with 100 roles and 30 rules. */
const MAX_STEPS = 40_000_000;

/** Indexes an access with the permissions that the rules name. */
export function coverageWorld(
  { access, find }: Judged,
  { members = [] }: Pick<DesiredState, "members">,
  rules: readonly CoverageRule[],
  { unread = new Set(), matches }: CoverageOptions,
): CoverageWorld {
  const { people: knownPeople, roles, removed } = access;
  const keys = new Set([...roles.keys()].filter((key) => !removed.has(key)));
  for (const { roles: held } of knownPeople) for (const key of held) if (!removed.has(key)) keys.add(key);
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
  const entryOf = openEntries(members);
  const people = [...knownPeople, STRANGER].map((person) => ({
    access: person,
    held: new Set(person.roles.flatMap((key) => index.get(key) ?? [])),
    entry: entryOf(person),
  }));
  const budget = { steps: MAX_STEPS };
  const work = (steps: number): void => countWork({ budget }, steps);
  work(people.length * (keys.size + permissions.length) + keys.size * permissions.length);
  const holders = [...keys].map((): number[] => []);
  people.forEach(({ held }, person) => {
    for (const role of held) holders[role]?.push(person);
  });
  const worldRoles = [...index].map(([key, position]): WorldRole => {
    const role = roles.get(key);
    const isKnown = role !== undefined && role.permissions !== null;
    return {
      key,
      name: role?.name ?? key,
      id: role?.id ?? (key.startsWith("role_") ? key : null),
      known: isKnown,
      editable: isKnown && role.custom,
      custom: role?.custom ?? false,
      grants: new Set((role?.permissions ?? []).flatMap((name) => permissionIndex.get(name) ?? [])),
      holders: holders[position] ?? [],
      access: role,
    };
  });
  return {
    roles: worldRoles,
    people,
    permissions,
    access: { ...access, roles: new Map([...roles].filter(([key]) => !unread.has(key))) },
    find: (nameOrId) => find(nameOrId) ?? (keys.has(nameOrId) ? nameOrId : undefined),
    patternsOf: openPatterns(members, matches),
    ways: countWays(people, worldRoles, permissions.length),
    work,
  };
}

function openEntries(members: readonly DesiredMember[]): (person: PersonAccess) => DesiredMember | undefined {
  const pinned = new Map(members.flatMap((entry) => (entry.id === undefined ? [] : [[entry.id, entry]])));
  const byAddress = entriesByAddress(members);
  return ({ id, name, email }) => pinned.get(id ?? "") ?? byAddress.get((email ?? name).toLowerCase());
}

/** Returns a function that finds which patterns match a member, by one of the addresses of the person. */
function openPatterns(members: readonly DesiredMember[], matches: GlobMatch): CoverageWorld["patternsOf"] {
  const addressesOf = openAddresses(members);
  return (names) => {
    const literal = new Map<string, number[]>();
    const globs: (readonly [glob: string, index: number])[] = [];
    names.forEach(({ what, text }, index) => {
      if (what !== "member-pattern") return;
      if (!isLiteralGlob(text)) globs.push([text, index]);
      for (const name of [text.toLowerCase(), ...addressesOf(text)]) {
        literal.set(name, [...(literal.get(name) ?? []), index]);
      }
    });
    return ({ id, name }) => [
      ...new Set([
        ...[id ?? name, name].flatMap((text) => literal.get(text.toLowerCase()) ?? []),
        ...globs.flatMap(([glob, index]) => (matchesAny([glob], [id ?? name, name], matches) ? index : [])),
      ]),
    ];
  };
}

function countWays(
  people: readonly WorldPerson[],
  roles: readonly WorldRole[],
  width: number,
): CoverageWorld["ways"] {
  const counts = new Uint16Array(people.length * width);
  people.forEach(({ held }, person) => {
    for (const role of held) {
      for (const permission of roles[role]?.grants ?? []) {
        const cell = person * width + permission;
        counts[cell] = (counts[cell] ?? 0) + 1;
      }
    }
  });
  return (person, permission) => counts[person * width + permission] ?? 0;
}
