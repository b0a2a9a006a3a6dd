import { canonicalJson } from "../../lib/json-text.ts";
import { memoized } from "../../lib/memoized.ts";
import { sortedSet } from "../../lib/text.ts";
import type { DesiredMember, DesiredState, Grant } from "../../model/desired.ts";
import type { MemberValues, RoleImage, RoleRef } from "../../model/field-values.ts";
import type { JsonValue } from "../../model/json.ts";
import type { Change, Deferred, MemberImage, Plan } from "../../model/plan.ts";
import type {
  FieldValues,
  ReviewedDate,
  ReviewedPerson,
  ReviewedResource,
  ReviewedState,
} from "../../model/reviewed.ts";
import { eachField, type FieldTable, filledFields, pickFields } from "../fields/field.ts";
import { declaredValues, MEMBER_FIELDS, memberValues, newMemberValues } from "../fields/member.ts";
import { ROLE_FIELDS } from "../fields/role.ts";
import { roleKey } from "../fields/set.ts";
import {
  type Access,
  accessAfter,
  beforeAndAfter,
  type Granted,
  granting,
  isActive,
  type PersonAccess,
  pinnedIds,
  roleFinder,
  splitByResource,
} from "../rules/access.ts";
import { type Reach, reaching } from "../rules/reach.ts";
import { hiddenDates, type UpcomingDate, upcomingDates } from "./upcoming-dates.ts";

/** The inputs of a plan's reviewed state. */
export interface ReviewedInput extends Pick<Plan, "merchant" | "environment" | "service"> {
  readonly now: number;
  readonly desired: DesiredState;
  readonly changes: readonly Change[];
  readonly deferred: readonly Deferred[];
  readonly before: Access;
  readonly after: Access;
}

/** Returns the reviewed state of a plan: what a reviewer of the plan sees. */
export function reviewedStateOf(input: ReviewedInput): ReviewedState {
  const { merchant, environment, service, now, desired, changes, deferred, after } = input;
  const rows = resourceRows({ changes, deferred });
  const sets = createPermissionSets();
  const people = reviewedPeople(input, rows.members, sets);
  const dates = reviewedDates(desired, now, after, sets);
  return {
    merchant,
    environment,
    service,
    at: now,
    hasBase: false,
    permissionSets: sets.all(),
    ...rows,
    people,
    dates,
  };
}

/** Returns the rows of the roles and members that a plan changes. */
export function resourceRows({
  changes,
  deferred,
}: Pick<Plan, "changes" | "deferred">): Pick<ReviewedState, "roles" | "members"> {
  const later = deferred.map(({ change }) => change);
  const rowsOf = (resource: Change["resource"]): readonly ReviewedResource[] => [
    ...changes.flatMap((change) => (change.resource === resource ? rowsOfChange(change) : [])),
    ...later.flatMap((change) =>
      change.resource === resource
        ? rowsOfChange(change).map((row) => ({ ...row, deferred: true }) as const)
        : [],
    ),
  ];
  return { roles: rowsOf("role"), members: rowsOf("member") };
}

/** Returns the rows of a change: two for an invitation that is renewed for another address. */
export function rowsOfChange(change: Change): readonly ReviewedResource[] {
  const { id, kind } = change;
  const replaced = kind === "replace" && ({ replaced: true } as const);
  if (change.resource === "role") {
    const { before, after, name } = change;
    return [
      {
        id,
        name,
        ...replaced,
        before: before && roleRowValues(before),
        after: after && roleRowValues(after),
      },
    ];
  }
  const before = change.before && memberRowValues(change.before);
  const after = change.after && memberRowValues(change.after);
  const [nameBefore, nameAfter] = [change.before, change.after].map((image) =>
    nameOfPerson(image?.email ?? null, change),
  );
  if (nameBefore === nameAfter || before === null || after === null) {
    const leftover =
      kind === "delete" && change.reason === "invitation-expired" && ({ leftover: true } as const);
    return [
      { id, name: (before === null ? nameAfter : nameBefore) ?? "", ...replaced, ...leftover, before, after },
    ];
  }
  return [
    { id, name: nameBefore ?? "", before, after: null },
    { id: null, name: nameAfter ?? "", before: null, after },
  ];
}

function nameOfPerson(email: string | null, { id, name }: { id: string | null; name: string }): string {
  return (email ?? id ?? name).toLowerCase();
}

/** Returns the name of a person in rows: the address in lower case, or else the id. */
function personName({ email, id, name }: Pick<PersonAccess, "email" | "id" | "name">): string {
  return nameOfPerson(email, { id, name });
}

/** Returns the values of a role's fields. */
export function roleRowValues(image: RoleImage): FieldValues {
  return rowValues<RoleImage>(ROLE_FIELDS, image);
}

/** Returns the values of a member's fields, and the other data of a managed user. */
export function memberRowValues(image: MemberImage): FieldValues {
  const { managed } = image;
  const passwordEnv = managed?.passwordEnv;
  return {
    ...rowValues<MemberValues>(MEMBER_FIELDS, memberValues(image)),
    managed: managed !== null,
    ...(passwordEnv && { passwordEnv }),
  };
}

function rowValues<Values>(table: FieldTable<Values>, values: Values): FieldValues {
  return eachField<FieldTable<Values>, Record<keyof Values, JsonValue>>(table, (name, { kind }) =>
    kind.name === "roles" ? (values[name] as readonly RoleRef[]).map(roleKey) : kind.content(values[name]),
  );
}

const NEW = "new ";

/** Returns the name of a role that a plan creates, by the text that stands for it; `null` for a live one. */
export function nameOfNewRole(element: string): string | null {
  return element.startsWith(NEW) ? element.slice(NEW.length) : null;
}

/** Stands for every permission among those that somebody can reach. */
export const EVERYTHING = "*";

/** Returns the text that stands for the permissions of a role that the service does not report. */
export function unknownPermissions(role: string): string {
  return `all of ${role}`;
}

/** Distinct sets of permissions. */
interface PermissionSets {
  indexOf(permissions: readonly string[]): number;
  all(): readonly (readonly string[])[];
}

function createPermissionSets(): PermissionSets {
  const sets: (readonly string[])[] = [[]];
  const indexes = new Map<string, number>([["", 0]]);
  return {
    // People with the same roles share one list.
    indexOf: memoized((permissions) => {
      const set = sortedSet(permissions);
      const key = set.join("\n");
      const index = indexes.get(key);
      if (index !== undefined) return index;
      indexes.set(key, sets.length);
      return sets.push(set) - 1;
    }),
    all: () => sets,
  };
}

/** The permissions of people in a state of access. */
export interface PersonPermissions {
  /** Returns the permissions of a person who can use their roles. */
  held(name: string): readonly string[];
  reach(name: string): readonly string[];
  /** Returns what roles grant, by their keys. */
  granted(roles: readonly string[]): readonly string[];
  /** Returns what somebody with additional roles could reach. */
  reachWith(name: string, roles: readonly string[]): readonly string[];
}

/** Returns the permissions of people by name; several memberships of a person count together. */
export function personPermissions(
  access: Access,
  escalation: DesiredState["policies"]["escalation"],
  isNamed: (name: string) => boolean = () => true,
): PersonPermissions {
  const memberships = new Map<string, PersonAccess[]>();
  for (const person of access.people) {
    const name = personName(person);
    if (!isNamed(name)) continue;
    const membership = memberships.get(name);
    if (membership === undefined) memberships.set(name, [person]);
    else membership.push(person);
  }
  const grantedTo = granting(access);
  const reachOf = reaching(access, escalation);
  const reached = memoized((reach: Reach): readonly string[] =>
    reach.anything === null ? reach.permissions : [EVERYTHING],
  );
  const texts = memoized(({ permissions, unknown }: Granted): readonly string[] => [
    ...permissions,
    ...unknown.map(unknownPermissions),
  ]);
  const usable = (name: string): readonly PersonAccess[] => (memberships.get(name) ?? []).filter(isActive);
  return {
    held: (name) => joined(usable(name).map((person) => texts(grantedTo(person)))),
    reach: (name) => joined(usable(name).map((person) => reached(reachOf(person)))),
    granted: (roles) =>
      roles.flatMap((key) => {
        const role = access.roles.get(key);
        return role?.permissions ?? [unknownPermissions(role?.name ?? key)];
      }),
    reachWith: (name, roles) => {
      const held = usable(name).flatMap((person) => person.roles);
      return reached(reachOf({ roles: [...held, ...roles] }));
    },
  };
}

/** Joins lists; a single one stays the same list. */
function joined(lists: readonly (readonly string[])[]): readonly string[] {
  const [first = [], ...others] = lists;
  return others.length === 0 ? first : lists.flat();
}

function reviewedPeople(
  { before, after, changes, deferred, desired }: ReviewedInput,
  members: readonly ReviewedResource[],
  sets: PermissionSets,
): readonly ReviewedPerson[] {
  const waiting = new Set(members.flatMap((row) => (row.deferred ? [row.name] : [])));
  const changed = new Set(members.map(({ name }) => name));
  const touched = new Set([...changed, ...namesOfAffected(before, after)]);
  if (touched.size === 0) return [];
  const { escalation } = desired.policies;
  const of = (access: Access): PersonPermissions =>
    personPermissions(access, escalation, (name) => touched.has(name));
  const valueBefore = of(before);
  const rowOf = (name: string, end: PersonPermissions): ReviewedPerson => ({
    name,
    held: { before: sets.indexOf(valueBefore.held(name)), after: sets.indexOf(end.held(name)) },
    reach: { before: sets.indexOf(valueBefore.reach(name)), after: sets.indexOf(end.reach(name)) },
  });
  const valueAfter = of(after);
  const rows = sortedSet(touched)
    .map((name) => rowOf(name, valueAfter))
    .filter(({ name, held }) => (changed.has(name) && !waiting.has(name)) || held.before !== held.after);
  if (waiting.size === 0) return rows;
  const byResource = splitByResource([...changes, ...deferred.map(({ change }) => change)]);
  const settled = of(accessAfter(before, byResource, { mergeReplacedRoles: false }));
  const later = sortedSet(waiting).map((name) => ({ ...rowOf(name, settled), deferred: true }) as const);
  return [...rows, ...later];
}

/** Yields the names of people whose permissions may differ because their roles differ. */
function* namesOfAffected(before: Access, after: Access): Generator<string> {
  if (before.people === after.people && before.roles === after.roles) return;
  const roles = new Set(
    [...before.roles.keys(), ...after.roles.keys()].filter(
      (key) => before.roles.get(key)?.permissions !== after.roles.get(key)?.permissions,
    ),
  );
  for (const { was, is } of beforeAndAfter(before, after)) {
    const person = is ?? was;
    if (person && (was !== is || (roles.size > 0 && person.roles.some((role) => roles.has(role))))) {
      yield personName(person);
    }
  }
}

function reviewedDates(
  desired: DesiredState,
  now: number,
  access: Access,
  sets: PermissionSets,
): readonly ReviewedDate[] {
  const dates = upcomingDates(desired, now);
  const hidden = hiddenDates(desired, now);
  if (dates.length + hidden.length === 0) return [];
  const find = roleFinder(access, pinnedIds(desired));
  const entries = new Map(desired.members?.map((member) => [member.email.toLowerCase(), member]));
  const begins = dates.filter((date) => ["begins", "back"].includes(resourceKindOf(date)));
  const beginners = new Set(begins.map(({ email }) => email.toLowerCase()));
  const people = personPermissions(access, desired.policies.escalation, (name) => beginners.has(name));
  const reviewed = (date: UpcomingDate): ReviewedDate => {
    const { at, roles } = date;
    const [name, what] = [date.email.toLowerCase(), resourceKindOf(date)];
    if (what !== "begins" && what !== "back") return { at, name, what, roles, brings: 0, reach: 0 };
    const entry = entries.get(name);
    const fields = fieldsOfDate(date, entry);
    const begun = what === "back" ? (entry?.roles ?? []).map(({ role }) => role) : roles;
    const keys = begun.map((role) => find(role) ?? role);
    const brings = sets.indexOf(people.granted(keys));
    const reach = sets.indexOf(people.reachWith(name, keys));
    return { at, name, what, roles, ...(fields !== undefined && { fields }), brings, reach };
  };
  return [...dates.map(reviewed), ...hidden.map((date) => ({ ...reviewed(date), hidden: true as const }))];
}

/**
 * Returns the fields of an entry's membership from a date on, besides the roles that begin, as JSON; `undefined` if
 * there are none.
 */
export function fieldsOfDate(
  { what, at }: Pick<UpcomingDate, "what" | "at">,
  entry: DesiredMember | undefined,
): string | undefined {
  if (entry === undefined || (what !== "joins" && what !== "back")) return undefined;
  const values = newMemberValues(declaredValues(entry));
  const filled = pickFields<MemberValues>(
    MEMBER_FIELDS,
    values,
    new Set(filledFields(MEMBER_FIELDS, values)),
  );
  const isHeld = ({ from, until }: Grant): boolean =>
    (from?.starts ?? at) <= at && (until?.ends ?? Number.POSITIVE_INFINITY) > at;
  const held = what === "back" ? sortedSet((entry.roles ?? []).filter(isHeld).map(({ role }) => role)) : [];
  const passwordEnv = entry.managed?.passwordEnv;
  const fields = { ...filled, ...(passwordEnv && { passwordEnv }), ...(held.length > 0 && { roles: held }) };
  return Object.keys(fields).length === 0 ? undefined : canonicalJson(fields as JsonValue);
}

/** Returns the kind of a date, which does not depend on other entries. */
export function resourceKindOf({ what }: Pick<UpcomingDate, "what">): ReviewedDate["what"] {
  switch (what) {
    case "leaves":
    case "leaves-unlisted":
      return "leaves";
    case "joins":
    case "begins":
      return "begins";
    case "ends":
    case "suspended":
    case "back":
      return what;
    default:
      return what satisfies never;
  }
}
