import {
  type DraftEnd,
  type DraftGrant,
  type DraftMember,
  type DraftRole,
  grantPath,
  memberSite,
  siteOf,
} from "./draft.ts";
import type { Site } from "./problem.ts";
import { renamedRoles } from "./renamed-roles.ts";

/** A role that somebody certainly holds, and where that is written. */
interface Held {
  readonly role: string;
  readonly site: Site;
  readonly ends: boolean;
}

/** Somebody who certainly is a member at the given time; past and unreadable ends count for nothing. */
export interface Person {
  readonly email: string;
  readonly site: Site;
  /** By the role's key. */
  readonly roles: ReadonlyMap<string, Held>;
}

/** Judging the files takes more steps than anybody's access needs. */
export class TooMuchWork extends Error {}

// A few seconds.
const MAX_STEPS = 20_000_000;

/** Who holds what, as far as the files alone say it. */
export interface Access {
  /** Counts steps of a search; throws `TooMuchWork` when there were too many. */
  readonly spend: (steps: number) => void;
  readonly people: readonly Person[];
  /** One key for a role's name, its previous one and its pinned id. */
  readonly keyOf: (role: string) => string;
  readonly holdersOf: (role: string) => readonly Person[];
  /** Who has a permission through a declared role, and through which. */
  readonly whoCan: (permission: string) => ReadonlyMap<Person, string>;
  /** The declared role through which somebody has a permission. */
  readonly through: (person: Person, permission: string) => string | null;
}

/** Works out who holds what at a time. */
export function openAccess(
  roles: readonly DraftRole[],
  members: readonly DraftMember[],
  now: number,
): Access {
  const names = new Map([
    ...renamedRoles(roles),
    ...roles.flatMap(({ id, name }) => (id === null || name === null ? [] : [[id, name] as const])),
  ]);
  const keyOf = (role: string) => names.get(role) ?? role;
  const people = peopleOf(members, keyOf, now);
  const holders = indexBy(people, (person) => person.roles.keys());
  const granting = indexBy(
    roles,
    ({ permissions }) => new Set(permissions.filter((permission) => typeof permission === "string")),
  );
  const permissions = permissionsOf(roles);
  const answers = new Map<string, ReadonlyMap<Person, string>>();
  let steps = 0;
  const spend = (more: number) => {
    steps += more;
    if (steps > MAX_STEPS) {
      throw new TooMuchWork();
    }
  };
  const whoCan = (permission: string) => {
    const known = answers.get(permission);
    if (known !== undefined) {
      return known;
    }
    const found = new Map<Person, string>();
    for (const { name } of granting.get(permission) ?? []) {
      const through = name === null ? [] : (holders.get(name) ?? []);
      spend(through.length + 1);
      for (const person of through) {
        found.set(person, found.get(person) ?? String(name));
      }
    }
    answers.set(permission, found);
    return found;
  };
  return {
    spend,
    people,
    keyOf,
    holdersOf: (role) => holders.get(keyOf(role)) ?? [],
    whoCan,
    through: (person, permission) => {
      spend(person.roles.size);
      return [...person.roles.keys()].find((role) => permissions.get(role)?.has(permission)) ?? null;
    },
  };
}

/** What each name's role grants; a role that stands twice is wrong, and counts as both. */
function permissionsOf(roles: readonly DraftRole[]): ReadonlyMap<string, ReadonlySet<unknown>> {
  const permissions = new Map<string, Set<unknown>>();
  for (const role of roles) {
    const known = permissions.get(role.name ?? "") ?? new Set();
    permissions.set(role.name ?? "", known);
    for (const permission of role.permissions) {
      known.add(permission);
    }
  }
  return permissions;
}

/** Members by address, the entries of several files joined; without those whose membership or every grant has ended. */
function peopleOf(
  members: readonly DraftMember[],
  keyOf: (role: string) => string,
  now: number,
): readonly Person[] {
  const people = new Map<string, Person & { readonly roles: Map<string, Held> }>();
  const gone = new Set<string>();
  const granted = new Set<string>();
  for (const member of members) {
    const { email, address: key } = member;
    if (email === null || key === null) {
      continue;
    }
    if (!isCertain(member.end, now)) {
      gone.add(key);
    }
    const person = people.get(key) ?? {
      email,
      site: memberSite(member, "email"),
      roles: new Map<string, Held>(),
    };
    people.set(key, person);
    for (const grant of member.grants) {
      granted.add(key);
      addGrant(person.roles, grant, member, keyOf(grant.role), now);
    }
  }
  return [...people].flatMap(([key, person]) =>
    gone.has(key) || (granted.has(key) && person.roles.size === 0) ? [] : [person],
  );
}

function addGrant(
  roles: Map<string, Held>,
  grant: DraftGrant,
  member: DraftMember,
  key: string,
  now: number,
): void {
  const { role, end } = grant;
  if (isCertain(end, now) && !roles.has(key)) {
    const site = siteOf(member.file, grantPath(member, grant));
    roles.set(key, { role, site, ends: end !== null || member.end !== null });
  }
}

/** Whether there certainly is access before this end. */
function isCertain(end: DraftEnd | null, now: number): boolean {
  return end === null || (end.until !== null && end.until.ends > now);
}

function indexBy<T>(
  items: readonly T[],
  keysOf: (item: T) => Iterable<string>,
): ReadonlyMap<string, readonly T[]> {
  const index = new Map<string, T[]>();
  for (const item of items) {
    for (const key of keysOf(item)) {
      const list = index.get(key);
      if (list === undefined) {
        index.set(key, [item]);
      } else {
        list.push(item);
      }
    }
  }
  return index;
}
