import { by } from "../../lib/order.ts";
import type { Check, DesiredState } from "../../model/desired.ts";
import type { Access, PersonAccess } from "./access.ts";
import type { RefusalData } from "./refusals.ts";

/** The rules of a file on access, and what it says of members, for their end dates. */
export type Rules = Pick<DesiredState, "policies" | "checks" | "members">;

/** An access that rules are judged on. */
export interface Judged {
  readonly access: Access;
  /** The access that the numbers of holders are taken from: without removals that are deferred. */
  readonly settled: Access;
  /** Finds the key of a role by the name or id that a rule uses for it; undefined where there is no such role. */
  readonly find: (nameOrId: string) => string | undefined;
  /** Absent: judging may take as long as it takes. */
  readonly budget?: Budget;
}

/** The steps that judging may still take. */
export interface Budget {
  steps: number;
}

/** An error that says that judging takes more steps than any real access needs. */
export class TooMuchWork extends Error {}

/** Takes steps from the budget; throws `TooMuchWork` when there are too few. */
export function spend({ budget }: Judged, steps: number): void {
  if (budget === undefined) return;
  budget.steps -= steps;
  if (budget.steps < 0) throw new TooMuchWork();
}

/** One thing in an access that a policy or a check does not allow. */
export interface Violation {
  readonly data: RefusalData;
  /** Tells the rule apart from all others of the file. */
  readonly rule: string;
  /** The member or role that breaks it; null where it is all together. */
  readonly subject: Subject | null;
  /** The items that break the rule: it gets worse with any new item, unless they become fewer. */
  readonly extent: readonly string[];
  /** The check that is not met; null for a policy. */
  readonly check: Check | null;
}

/** A member or role; its id is null where it is not there yet, and the name is an address or that of the role. */
export interface Subject {
  readonly id: string | null;
  readonly name: string | null;
}

/** Returns a member as the subject of a violation. */
export function subjectOf({ id, email }: PersonAccess): Subject {
  return { id, name: email };
}

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
