import { by } from "../../lib/text.ts";
import type { Check, DesiredState, EnforcedBy } from "../../model/desired.ts";
import type { Breach } from "../../model/diagnostic.ts";
import type { ReachStep, Refusal } from "../../model/plan.ts";
import type { Tense } from "../findings/refusals.ts";
import type { Access, PersonAccess } from "./access.ts";

/** The policies and checks of a file, with its members for their end dates. */
export type Rules = Pick<DesiredState, "policies" | "checks" | "members"> & EnforcedBy;

/** The input of policies and checks. */
export interface Judged {
  readonly access: Access;
  /** The access in which holders are counted: after everything, including deferred removals. */
  readonly settled: Access;
  /** Finds a role's key by the name or id in a rule; `undefined` if there is none. */
  readonly find: (nameOrId: string) => string | undefined;
  /** Absent: unlimited. */
  readonly budget?: Budget;
}

/** Cost of reporting a holder above the limit, in steps of work. */
export const STEPS_OF_HOLDER = 5;
/** Cost of reporting one violation, in steps of work. */
export const STEPS_OF_VIOLATION = 50;

/** The remaining steps of work. */
export interface Budget {
  steps: number;
}

/** Thrown when judging takes more steps than any realistic access needs. */
export class TooMuchWork extends Error {}

/** Subtracts steps of work from the budget; throws `TooMuchWork` if it is used up. */
export function countWork({ budget }: Pick<Judged, "budget">, steps: number): void {
  if (budget === undefined) return;
  budget.steps -= steps;
  if (budget.steps < 0) throw new TooMuchWork();
}

/** A violation of a policy or a check. */
export interface Violation {
  /** Unique key of the rule within the file. */
  readonly rule: string;
  /** The member or role that breaks it; `null` if it is about all holders together. */
  readonly subject: Subject | null;
  /** The items that break the rule: a new item makes the violation worse, unless the total decreases. */
  readonly extent: readonly string[];
  /** The failed check; `null` for a policy. */
  readonly check: Check | null;
  /** Set if the violations of several people are reported as one problem. */
  readonly shared?: {
    readonly way: WayOfPerson;
    /** Returns the problem; `way` may name several people. */
    breach(way: WayOfPerson): Breach;
  };
  refusal(tense: Tense): Refusal;
  /** Returns the violation as one problem for each of its locations in the files. */
  breaches(): readonly Breach[];
}

/** How a person has a permission that a check does not allow. */
export interface WayOfPerson {
  readonly name: string;
  readonly permission: string;
  /** The roles that grant it, by name. */
  readonly through: readonly string[];
  /** The steps to the permission; absent if it is held. */
  readonly steps?: readonly ReachStep[];
}

/** Returns the holders of a role, by its name or id. */
export function holdersBy(role: string, { holders }: AccessIndex, judged: Judged): readonly PersonAccess[] {
  const key = judged.find(role);
  const people = (key === undefined ? undefined : holders.get(key)) ?? [];
  countWork(judged, 1 + people.length);
  return people;
}

/** A member or role; `id` is `null` before it exists, `name` is the address or the role's name. */
export interface Subject {
  readonly id: string | null;
  readonly name: string | null;
}

/** Returns a member as the subject of a violation. */
export function subjectOf({ id, email }: PersonAccess): Subject {
  return { id, name: email };
}

/** An index of the members of an access; every list is sorted by name. */
export interface AccessIndex {
  readonly people: readonly PersonAccess[];
  /** Role key → holders. */
  readonly holders: ReadonlyMap<string, readonly PersonAccess[]>;
  /** Address in lower case → people. */
  readonly byAddress: ReadonlyMap<string, readonly PersonAccess[]>;
  /** Permission → keys of the roles that grant it. */
  readonly granting: ReadonlyMap<string, ReadonlySet<string>>;
  /** Permission → members who have it, filled on demand. */
  readonly answers: Map<string, readonly PersonAccess[]>;
}

/** Indexes an access, so that a rule visits only the members that it concerns. */
export function indexAccess({ roles, people: unsorted }: Access): AccessIndex {
  const people = [...unsorted].sort(by(({ name }) => name));
  const holders = new Map<string, PersonAccess[]>();
  const byAddress = new Map<string, PersonAccess[]>();
  for (const person of people) {
    if (person.email !== null) add(byAddress, person.email.toLowerCase(), person);
    for (const role of person.roles) add(holders, role, person);
  }
  const granting = new Map<string, Set<string>>();
  for (const [key, { permissions }] of roles) {
    for (const permission of permissions ?? []) {
      const cached = granting.get(permission);
      if (cached === undefined) granting.set(permission, new Set([key]));
      else cached.add(key);
    }
  }
  return { people, holders, byAddress, granting, answers: new Map() };
}

/** Returns the members with a permission through any role; cached for several checks of one permission. */
export function peopleWith(
  { holders, granting, answers }: AccessIndex,
  permission: string,
): readonly PersonAccess[] {
  const cached = answers.get(permission);
  if (cached !== undefined) return cached;
  const [first = [], ...otherHolders] = [...(granting.get(permission) ?? [])].map(
    (role) => holders.get(role) ?? [],
  );
  const people =
    otherHolders.length === 0
      ? first
      : [...new Set([first, ...otherHolders].flat())].sort(by(({ name }) => name));
  answers.set(permission, people);
  return people;
}

function add<T>(lists: Map<string, T[]>, key: string, item: T): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else list.push(item);
}
