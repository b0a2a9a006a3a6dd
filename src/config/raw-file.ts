import type { Until } from "../model/desired.ts";
import type { FileLocation, Path } from "./diagnostics/problem.ts";
import { parseUntil } from "./until.ts";
import { fieldsOf, listOf, textOf } from "./values.ts";

/** An end as far as it can be read; null where nobody can say when it is. */
export interface RawEnd {
  readonly until: Until | null;
  readonly path: Path;
}

/** A role as far as it can be read; null where a field is absent or not text. */
export interface RawRole {
  readonly file: string;
  readonly path: Path;
  readonly name: string | null;
  readonly id: string | null;
  readonly previously: string | null;
  readonly permissions: readonly unknown[];
  readonly fields: Readonly<Record<string, unknown>>;
}

/** An adjustment of an included role as far as it can be read; `name` is null if absent or not text. */
export interface RawAdjustment {
  readonly file: string;
  readonly path: Path;
  readonly name: string | null;
  readonly add: readonly unknown[];
  readonly remove: readonly unknown[];
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A grant of a role to a member, at `grantPath`; `end` is `null` if it has none. */
export interface RawGrant {
  readonly role: string;
  /** Its number among the member's roles. */
  readonly index: number;
  /** Whether it stands there as its name alone. */
  readonly bare: boolean;
  readonly end: RawEnd | null;
}

/** A member as far as it can be read; null where a field is absent or not text. `memberSite` leads to it. */
export interface RawMember {
  readonly file: string;
  /** Its number among the file's members. */
  readonly index: number;
  readonly email: string | null;
  /** Its address as it is compared: in lower case. */
  readonly address: string | null;
  readonly id: string | null;
  readonly end: RawEnd | null;
  /** Whether every role that it is to hold can be read. */
  readonly rolesComplete: boolean;
  readonly grants: readonly RawGrant[];
  /** Whether some role stands among the grants more than once. */
  readonly repeated: boolean;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** What can be read of one file, also where the schema found it wrong, so that one mistake does not hide the others. */
export interface RawFile {
  readonly file: string;
  readonly fields: Readonly<Record<string, unknown>>;
  /** Without the entries that only adjust a role. */
  readonly roles: readonly RawRole[];
  readonly adjustments: readonly RawAdjustment[];
  readonly members: readonly RawMember[];
}

/** Takes from a plain value what can be taken. */
export function toRawFile(file: string, value: unknown): RawFile {
  const fields = fieldsOf(value);
  const roles = listOf(fields["roles"]).map((entry, index) => ({ index, role: fieldsOf(entry) }));
  const isAdjustment = ({ role }: { readonly role: Readonly<Record<string, unknown>> }) =>
    Object.hasOwn(role, "adjust");
  return {
    file,
    fields,
    roles: roles.filter((one) => !isAdjustment(one)).map(({ index, role }) => rawRole(file, index, role)),
    adjustments: roles.filter(isAdjustment).map(({ index, role }) => rawAdjustment(file, index, role)),
    members: listOf(fields["members"]).map((entry, index) => rawMember(file, index, fieldsOf(entry))),
  };
}

/** The place of a value in a file. */
export function locationOf(file: string, path: Path): FileLocation {
  return { at: "value", file, path };
}

/** The place of one of a member's fields. */
export function memberLocation(member: RawMember, field: string): FileLocation {
  return locationOf(member.file, memberPath(member, field));
}

/** The path to one of a member's fields. */
export function memberPath({ index }: RawMember, field: string): Path {
  return ["members", index, field];
}

/** The path to the name of a role that a member is to hold. */
export function grantPath(member: RawMember, { index, bare }: RawGrant): Path {
  const path = ["members", member.index, "roles", index];
  return bare ? path : [...path, "role"];
}

function rawRole(file: string, index: number, fields: Readonly<Record<string, unknown>>): RawRole {
  return {
    file,
    path: ["roles", index],
    name: textOf(fields["name"]),
    id: textOf(fields["id"]),
    previously: textOf(fields["previously"]),
    permissions: listOf(fields["permissions"]),
    fields,
  };
}

function rawAdjustment(
  file: string,
  index: number,
  fields: Readonly<Record<string, unknown>>,
): RawAdjustment {
  const { add, remove } = fieldsOf(fields["adjust"]);
  return {
    file,
    path: ["roles", index],
    name: textOf(fields["name"]),
    add: listOf(add),
    remove: listOf(remove),
    fields,
  };
}

function rawMember(file: string, index: number, fields: Readonly<Record<string, unknown>>): RawMember {
  const email = textOf(fields["email"]);
  const roles = fields["roles"];
  const grants: RawGrant[] = [];
  for (const [number, value] of listOf(roles).entries()) {
    const grant = rawGrant(value, number, index);
    if (grant !== null) grants.push(grant);
  }
  return {
    file,
    index,
    email,
    address: email === null ? null : email.toLowerCase(),
    id: textOf(fields["id"]),
    end: rawEnd(fields, () => ["members", index]),
    rolesComplete: Array.isArray(roles) && grants.length === roles.length,
    grants,
    repeated: isAnyTwice(grants),
    fields,
  };
}

// So few are compared with one another faster than they are collected.
const LINEAR_SEARCH_LIMIT = 8;

function isAnyTwice(grants: readonly RawGrant[]): boolean {
  return grants.length > LINEAR_SEARCH_LIMIT
    ? new Set(grants.map(({ role }) => role)).size < grants.length
    : grants.some(({ role }, index) => grants.findIndex((other) => other.role === role) < index);
}

function rawGrant(value: unknown, index: number, member: number): RawGrant | null {
  const name = textOf(value);
  if (name !== null) {
    return { role: name, index, bare: true, end: null };
  }
  const fields = fieldsOf(value);
  const role = textOf(fields["role"]);
  return role === null
    ? null
    : { role, index, bare: false, end: rawEnd(fields, () => ["members", member, "roles", index]) };
}

function rawEnd(fields: Readonly<Record<string, unknown>>, path: () => Path): RawEnd | null {
  const until = fields["until"];
  if (until === undefined) {
    return null;
  }
  return { until: typeof until === "string" ? parseUntil(until) : null, path: [...path(), "until"] };
}

/** A role with its name and the one it had, as far as the files say them. */
interface NamedRole {
  readonly name: string | null;
  readonly previously?: string | null | undefined;
}

/** Returns the names of roles by the other words for them: the names that they had, and the ids that they are pinned to. */
export function rolesByOtherNames(
  roles: readonly (NamedRole & { readonly id: string | null })[],
): ReadonlyMap<string, string> {
  const pinned = roles.flatMap(({ id, name }) => (id === null || name === null ? [] : [[id, name] as const]));
  return new Map([...renamedRoles(roles), ...pinned]);
}

/** Returns the current names of roles by the names that they had; a name that a declared role has now means that role. */
export function renamedRoles(roles: readonly NamedRole[]): ReadonlyMap<string, string> {
  const names = new Set(roles.map(({ name }) => name));
  return new Map(
    roles.flatMap(({ name, previously }) =>
      name === null || !previously || names.has(previously) ? [] : [[previously, name] as const],
    ),
  );
}
