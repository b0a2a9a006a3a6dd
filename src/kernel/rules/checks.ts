import { by, sortedSet } from "../../lib/text.ts";
import type { Check, DesiredState, EnforcedBy } from "../../model/desired.ts";
import type { Breach, BreachSubject } from "../../model/diagnostic.ts";
import type { Refusal } from "../../model/plan.ts";
import { type RefusalData, type Tense, toRefusal } from "../findings/refusals.ts";
import { openAddresses } from "../values/person.ts";
import { type Access, type Granted, granting, type PersonAccess } from "./access.ts";
import { type Reach, reaching } from "./reach.ts";

/** Returns the violations of the file's checks in an access; members count whatever their status. */
export function checkViolations(rules: Rules, judged: Judged): readonly Violation[] {
  const { checks, enforcedBy } = rules;
  if (checks.length === 0) return [];
  const context = contextOf(judged, rules);
  return checks.flatMap((check) => {
    const text = checkText(check);
    return violationsOf(check, context).map(
      ({ data, subject, extent }): Violation => ({
        rule: `check ${text} ${subject === null ? "" : extent.join()}`,
        subject,
        extent,
        check,
        ...(data.code === "check-only" && { only: data }),
        refusal: (tense) => ({ ...toRefusal(data, tense, enforcedBy), check: text }),
        breaches: () => [breachOfCheck(check, data, enforcedBy)],
      }),
    );
  });
}

/** Counts the people whom checks limit. */
export function countsOfChecks(rules: Rules, judged: Judged): readonly HolderCount[] {
  const limits = rules.checks.filter((check) => check.kind === "at-most");
  if (limits.length === 0) return [];
  const context = contextOf(judged, rules);
  return limits.map((check) => ({
    holders: holdersOfLimit(check, context),
    limit: check.atMost,
    bound: "most",
  }));
}

type CheckData = Extract<RefusalData, { readonly code: `check-${string}` }>;

/** Returns a violated check as a problem of the files. */
export function breachOfCheck({ origin }: Check, data: CheckData, enforcedBy?: string): Breach {
  const { message, hint } = toRefusal(data, "plan", enforcedBy);
  const subject: BreachSubject =
    data.code === "check-cannot"
      ? { kind: "cannot", origin, permission: data.permission }
      : { kind: "check", origin, key: data.code === "check-only" ? "only" : "at_most" };
  return { code: data.code, subject, message, hint };
}

/** A role of unknown permissions, because of which a check may be wrong. */
export interface UnknownToCheck {
  readonly name: string;
  readonly permission: string;
}

/** Returns the distinct roles of unknown permissions, because of which checks may be wrong. */
export function unknownToChecks(rules: Rules, judged: Judged): readonly UnknownToCheck[] {
  return [...unknownToEach(rules, judged).values()].flat();
}

/** Returns the distinct roles of unknown permissions, because of which each check may be wrong. */
export function unknownToEach(rules: Rules, judged: Judged): ReadonlyMap<Check, readonly UnknownToCheck[]> {
  const { checks } = rules;
  if (checks.length === 0) return new Map();
  const context = contextOf(judged, rules);
  const { granted, index } = context;
  const unknownTo = (check: Check): readonly UnknownToCheck[] =>
    permissionsOf(check).flatMap((permission) => {
      const roles = new Set(
        subjectsOf(check, index.people, context).flatMap((person) =>
          granted(person).permissions.has(permission) ? [] : granted(person).unknown,
        ),
      );
      return [...roles].sort().map((name) => ({ name, permission }));
    });
  return new Map(checks.map((check) => [check, unknownTo(check)]));
}

type Found = Pick<Violation, "subject" | "extent"> & { readonly data: CheckData };

interface Context extends Judged {
  readonly granted: (person: PersonAccess) => Granted;
  readonly reach: (person: PersonAccess) => Reach;
  readonly reachSettled: (person: PersonAccess) => Reach;
  readonly index: AccessIndex;
  /** The index of `settled`, for counting. */
  readonly counted: AccessIndex;
  /** Returns the addresses of a person, in lower case, by a current or previous one. */
  readonly addressesOf: (address: string) => readonly string[];
}

function contextOf(judged: Judged, { policies: { escalation }, members }: Rules): Context {
  const { access, settled } = judged;
  const reach = reaching(access, escalation);
  const reachSettled = settled === access ? reach : reaching(settled, escalation);
  const index = indexAccess(access);
  const counted = settled === access ? index : indexAccess(settled);
  const granted = granting(access, () => true);
  return { ...judged, granted, reach, reachSettled, index, counted, addressesOf: openAddresses(members) };
}

function permissionsOf(check: Check): readonly string[] {
  return check.kind === "cannot" ? check.cannot : [check.can];
}

/** Returns the people who break a check, of those with its permission. */
function subjectsOf(
  check: Check,
  people: readonly PersonAccess[],
  { index, find, addressesOf }: Context,
): readonly PersonAccess[] {
  switch (check.kind) {
    case "only": {
      const roles = new Set(
        check.only.flatMap((entry) => (entry.startsWith("role:") ? (find(entry.slice(5)) ?? []) : [])),
      );
      const allowed = new Set(check.only.flatMap(addressesOf));
      return people.filter(
        ({ email, roles: held }) =>
          !allowed.has(email?.toLowerCase() ?? "") && !held.some((role) => roles.has(role)),
      );
    }
    case "at-most":
      return people;
    case "cannot":
      return addressesOf(check.member).flatMap((address) => index.byAddress.get(address) ?? []);
    default:
      return check satisfies never;
  }
}

function violationsOf(check: Check, context: Context): readonly Found[] {
  const { granted, reach, index } = context;
  if (check.kind === "at-most") {
    const { can, atMost } = check;
    const holders = holdersOfLimit(check, context);
    if (holders.length <= atMost) return [];
    countWork(context, holders.length * STEPS_OF_HOLDER);
    const data: CheckData = {
      code: "check-at-most",
      permission: can,
      most: atMost,
      holders: holders.map(({ name }) => name),
      ...(check.reach && { reach: true }),
    };
    return [{ data, subject: null, extent: holders.map(({ id, name }) => id ?? name.toLowerCase()) }];
  }
  const code = check.kind === "only" ? "check-only" : "check-cannot";
  const people = check.kind !== "only" ? [] : check.reach ? index.people : peopleWith(index, check.can);
  countWork(context, people.length);
  return subjectsOf(check, people, context).flatMap((person) => {
    const reachable = check.reach ? reach(person) : null;
    const held = granted(person).permissions;
    const has = permissionsOf(check).filter((permission) =>
      reachable === null ? held.has(permission) : reachable.includes(permission),
    );
    countWork(context, has.length * (STEPS_OF_VIOLATION + person.roles.length));
    return has.map((permission): Found => {
      const through = rolesGranting(permission, person, context);
      const steps = reachable?.stepsTo(permission) ?? [];
      return {
        data: { code, name: person.name, permission, through, ...(steps.length > 0 && { steps }) },
        subject: subjectOf(person),
        extent: [permission],
      };
    });
  });
}

/** Returns the people who have the permission of a limit, or with `reach` can reach it. */
function holdersOfLimit(
  { can, reach }: Extract<Check, { readonly kind: "at-most" }>,
  context: Context,
): readonly PersonAccess[] {
  const { counted, reachSettled } = context;
  if (!reach) return peopleWith(counted, can);
  countWork(context, counted.people.length);
  return counted.people.filter((person) => reachSettled(person).includes(can));
}

/** Returns the names of a member's roles that grant a permission. */
function rolesGranting(
  permission: string,
  person: PersonAccess,
  { access: { roles }, index }: Context,
): readonly string[] {
  const granting = index.granting.get(permission);
  return person.roles.flatMap((key) => (granting?.has(key) ? (roles.get(key)?.name ?? []) : [])).sort();
}

/** Returns a check in one line, in a fixed order of keys, to serve as its name. */
export function checkText(check: Check): string {
  const reach = check.reach ? " reach" : "";
  switch (check.kind) {
    case "only":
      return `can${reach} ${check.can}: only ${sortedSet(check.only).join(", ") || "nobody"}`;
    case "at-most":
      return `can${reach} ${check.can}: at most ${check.atMost}`;
    case "cannot":
      return `${check.member} cannot${reach} ${sortedSet(check.cannot).join(", ")}`;
    default:
      return check satisfies never;
  }
}

/** The policies and checks of a file, with its members for their end dates. */
export type Rules = Pick<DesiredState, "policies" | "checks" | "members"> & EnforcedBy;

/** The input of policies and checks. */
export interface Judged {
  readonly access: Access;
  /** The access that the numbers of holders are taken from: without removals that are deferred. */
  readonly settled: Access;
  /** Finds a role's key by the name or id in a rule; `undefined` if there is none. */
  readonly find: (nameOrId: string) => string | undefined;
  /** Absent: unlimited. */
  readonly budget?: Budget;
}

/** Cost of reporting one of too many holders, in steps of work. */
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

/** The people whom a rule limits together. */
export interface HolderCount {
  readonly holders: readonly PersonAccess[];
  readonly limit: number;
  readonly bound: "most" | "fewest";
}

/** A violation of a policy or a check. */
export interface Violation {
  /** Unique key of the rule within the file. */
  readonly rule: string;
  /** The member or role that breaks it; `null` if it is about all holders together. */
  readonly subject: Subject | null;
  /** The items that break the rule: a new item makes the violation worse, unless there are fewer in total. */
  readonly extent: readonly string[];
  /** The failed check; `null` for a policy. */
  readonly check: Check | null;
  /** Data of a broken check of `only`; absent for other rules. */
  readonly only?: Extract<CheckData, { readonly code: "check-only" }>;
  refusal(tense: Tense): Refusal;
  /** Returns the violation as one problem for each of its locations in the files. */
  breaches(): readonly Breach[];
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
function peopleWith(
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
