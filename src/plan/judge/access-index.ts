import { by } from "../../lib/order.ts";
import type { Access, PersonAccess } from "./access.ts";

/** The people of an access by what they hold; every list is in the order of their names. */
export interface AccessIndex {
  readonly people: readonly PersonAccess[];
  /** Role key → holders. */
  readonly holders: ReadonlyMap<string, readonly PersonAccess[]>;
  /** Address in lower case → people. */
  readonly byAddress: ReadonlyMap<string, readonly PersonAccess[]>;
  /** Permission → keys of the roles that grant it. */
  readonly granting: ReadonlyMap<string, readonly string[]>;
  /** Permission → those who have it, as far as asked for. */
  readonly answers: Map<string, readonly PersonAccess[]>;
}

/** Indexes an access, so that a rule looks only at those whom it concerns. */
export function indexAccess({ roles, people: unsorted }: Access): AccessIndex {
  const people = [...unsorted].sort(by(({ name }) => name));
  const holders = new Map<string, PersonAccess[]>();
  const byAddress = new Map<string, PersonAccess[]>();
  for (const person of people) {
    if (person.email !== null) add(byAddress, person.email.toLowerCase(), person);
    for (const role of person.roles) add(holders, role, person);
  }
  const granting = new Map<string, string[]>();
  for (const [key, { permissions }] of roles) {
    for (const permission of new Set(permissions)) add(granting, permission, key);
  }
  return { people, holders, byAddress, granting, answers: new Map() };
}

/** Returns the people who have a permission through some role; several checks of one permission share the answer. */
export function peopleWith(
  { holders, granting, answers }: AccessIndex,
  permission: string,
): readonly PersonAccess[] {
  const known = answers.get(permission);
  if (known !== undefined) return known;
  const [first = [], ...others] = (granting.get(permission) ?? []).map((role) => holders.get(role) ?? []);
  const people =
    others.length === 0 ? first : [...new Set([first, ...others].flat())].sort(by(({ name }) => name));
  answers.set(permission, people);
  return people;
}

function add<T>(lists: Map<string, T[]>, key: string, item: T): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else list.push(item);
}
