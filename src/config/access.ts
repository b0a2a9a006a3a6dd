import type { FileLocation } from "./diagnostics/problem.ts";
import {
  grantPath,
  locationOf,
  memberLocation,
  type RawEnd,
  type RawMember,
  type RawRole,
  rolesByOtherNames,
} from "./raw-file.ts";

/** A role that somebody certainly holds, and where that is written. */
interface Held {
  readonly role: string;
  readonly location: FileLocation;
  readonly ends: boolean;
}

/** Somebody who certainly is a member at the given time; past and unreadable ends count for nothing. */
export interface Person {
  readonly email: string;
  readonly location: FileLocation;
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

/** Input that access is computed from. */
interface AccessEntries {
  readonly roles: readonly RawRole[];
  readonly members: readonly RawMember[];
  /** The merchant's own file. */
  readonly main: string;
}

/** Works out who holds what at a time. */
export function openAccess({ roles, members, main }: AccessEntries, now: number): Access {
  const names = rolesByOtherNames(roles);
  const keyOf = (role: string) => names.get(role) ?? role;
  const people = peopleOf(members, { main, keyOf, now });
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
function permissionsOf(roles: readonly RawRole[]): ReadonlyMap<string, ReadonlySet<unknown>> {
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

interface PeopleContext {
  readonly main: string;
  readonly keyOf: (role: string) => string;
  readonly now: number;
}

/**
 * Members by address, the entries of several files joined; without those whose membership or every grant has ended, and
 * those whom only shared files mention, without making them members.
 */
function peopleOf(members: readonly RawMember[], { main, keyOf, now }: PeopleContext): readonly Person[] {
  const byAddress = new Map<string, [RawMember, ...RawMember[]]>();
  for (const member of members) {
    const { email, address } = member;
    if (email === null || address === null) {
      continue;
    }
    const known = byAddress.get(address);
    if (known === undefined) {
      byAddress.set(address, [member]);
    } else {
      known.push(member);
    }
  }
  return [...byAddress.values()].flatMap((entries): readonly Person[] => {
    const isListed = entries.some(
      ({ file, fields }) =>
        file === main || Object.hasOwn(fields, "roles") || Object.hasOwn(fields, "managed"),
    );
    if (!isListed || !entries.every(({ end }) => isCertain(end, now))) {
      return [];
    }
    const membershipEnds = entries.some(({ end }) => end !== null);
    const roles = new Map<string, Held>();
    for (const member of entries) {
      for (const grant of member.grants) {
        const { role, end } = grant;
        const key = keyOf(role);
        if (isCertain(end, now) && !roles.has(key)) {
          const location = locationOf(member.file, grantPath(member, grant));
          roles.set(key, { role, location, ends: end !== null || membershipEnds });
        }
      }
    }
    const hasEnded = roles.size === 0 && entries.some(({ grants }) => grants.length > 0);
    const [first] = entries;
    return hasEnded ? [] : [{ email: first.email ?? "", location: memberLocation(first, "email"), roles }];
  });
}

/** Whether there certainly is access before this end. */
function isCertain(end: RawEnd | null, now: number): boolean {
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
