import { memoized } from "../../lib/memoized.ts";
import type { From, Until } from "../../model/desired.ts";
import { isLikeRoleId } from "../../model/live.ts";
import type { FileLocation, Path } from "../problems/problem.ts";
import { parseFrom, parseUntil } from "../values/dates.ts";
import { fieldsOf, listOf, textOf } from "../values/values.ts";

/** An end date as far as it is readable; `until` is `null` if it is invalid. */
export interface RawEnd {
  readonly until: Until | null;
  readonly path: Path;
}

/** A beginning as far as it is readable; `from` is `null` if it is invalid. */
export interface RawBegin {
  readonly from: From | null;
  readonly path: Path;
}

/** The beginning and the end of something, `null` if it has none. */
export interface RawDates {
  readonly begin: RawBegin | null;
  readonly end: RawEnd | null;
}

/** A role as far as it is readable; a field is `null` if absent or not text. */
export interface RawRole {
  readonly file: string;
  readonly path: Path;
  readonly name: string | null;
  readonly id: string | null;
  /** The previous names, of one or of a list. */
  readonly previously: readonly string[];
  readonly permissions: readonly unknown[];
  readonly fields: Readonly<Record<string, unknown>>;
}

/** An adjustment of an included role as far as it is readable; `name` is `null` if absent or not text. */
export interface RawAdjustment {
  readonly file: string;
  readonly path: Path;
  readonly name: string | null;
  readonly add: readonly unknown[];
  readonly remove: readonly unknown[];
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A grant of a role to a member, at `grantPath`. */
export interface RawGrant extends RawDates {
  readonly role: string;
  /** Index in the member's `roles`. */
  readonly index: number;
  /** True if it is written as a name alone. */
  readonly bare: boolean;
}

/**
 * A member as far as it is readable; a field is `null` if absent or not text. `memberLocation` locates it.
 */
export interface RawMember extends RawDates {
  readonly file: string;
  /** Index in the file's `members`. */
  readonly index: number;
  readonly email: string | null;
  /** The address in lower case, for comparison. */
  readonly address: string | null;
  readonly id: string | null;
  /** The previous addresses, in lower case. */
  readonly previously: readonly string[];
  /** The dates of the suspension; `null` if there is none. */
  readonly suspended: RawDates | null;
  /** True if all of its roles are readable. */
  readonly rolesComplete: boolean;
  readonly grants: readonly RawGrant[];
  /** True if a role is granted more than once. */
  readonly repeated: boolean;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Somebody who leaves, as far as readable; a field is `null` if absent or unreadable. */
export interface RawLeaver {
  readonly file: string;
  readonly path: Path;
  readonly email: string | null;
  /** The address in lower case, for comparison. */
  readonly address: string | null;
  readonly from: From | null;
}

/**
 * The readable content of one file, even if the schema rejects it, so that one mistake does not hide the others.
 */
export interface RawFile {
  readonly file: string;
  readonly fields: Readonly<Record<string, unknown>>;
  /** The declared roles, without adjustments. */
  readonly roles: readonly RawRole[];
  readonly adjustments: readonly RawAdjustment[];
  readonly members: readonly RawMember[];
  readonly leavers: readonly RawLeaver[];
}

/** Converts a plain value, skipping what is unreadable. */
export function toRawFile(file: string, value: unknown): RawFile {
  const fields = fieldsOf(value);
  const roles = listOf(fields["roles"]).map((entry, index) => ({ index, role: fieldsOf(entry) }));
  const members = listOf(fields["members"]).map(fieldsOf);
  const grantsOf = grantReader();
  const isAdjustment = ({ role }: { readonly role: Readonly<Record<string, unknown>> }) =>
    Object.hasOwn(role, "adjust");
  return {
    file,
    fields,
    roles: roles.filter((entry) => !isAdjustment(entry)).map(({ index, role }) => rawRole(file, index, role)),
    adjustments: roles.filter(isAdjustment).map(({ index, role }) => rawAdjustment(file, index, role)),
    members: members.map((member, index) => rawMember(file, index, member, grantsOf)),
    leavers: listOf(fields["leavers"]).map((entry, index) => rawLeaver(file, index, fieldsOf(entry))),
  };
}

/** Returns the location of a value in a file. */
export function locationOf(file: string, path: Path): FileLocation {
  return { at: "value", file, path };
}

/** Returns the location of a key in a file. */
export function keyLocation(file: string, path: Path): FileLocation {
  return { at: "key", file, path };
}

/** Returns the location of a member's field. */
export function memberLocation(member: RawMember, field: string): FileLocation {
  return locationOf(member.file, memberPath(member, field));
}

/** Returns the path of a member's field. */
function memberPath({ index }: RawMember, field: string): Path {
  return ["members", index, field];
}

/** Returns the path of the role's name in a grant. */
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
    previously: [fields["previously"]].flat().flatMap((name) => textOf(name) ?? []),
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

function rawMember(
  file: string,
  index: number,
  fields: Readonly<Record<string, unknown>>,
  grantsOf: GrantReader,
): RawMember {
  const email = textOf(fields["email"]);
  return {
    file,
    index,
    email,
    address: email === null ? null : email.toLowerCase(),
    id: textOf(fields["id"]),
    previously: [fields["previously"]].flat().flatMap((address) => textOf(address)?.toLowerCase() ?? []),
    ...rawDates(fields, ["members", index]),
    suspended: rawSuspension(fields["suspended"], index),
    ...grantsOf(fields["roles"], index),
    fields,
  };
}

function rawLeaver(file: string, index: number, fields: Readonly<Record<string, unknown>>): RawLeaver {
  const email = textOf(fields["email"]);
  const from = textOf(fields["from"]);
  return {
    file,
    path: ["leavers", index],
    email,
    address: email === null ? null : email.toLowerCase(),
    from: from === null ? null : parseFrom(from),
  };
}

type GrantReader = (
  roles: unknown,
  member: number,
) => Pick<RawMember, "rolesComplete" | "grants" | "repeated">;

/**
 * Returns a function that reads the grants of a member, as far as readable. Members whose roles are the same names share
 * one list: of 100,000 members nearly all do.
 */
function grantReader(): GrantReader {
  const read = (roles: unknown, member: number): ReturnType<GrantReader> => {
    const list = listOf(roles);
    const grants = list.flatMap((value, index) => rawGrant(value, index, member) ?? []);
    return {
      rolesComplete: Array.isArray(roles) && grants.length === list.length,
      grants,
      repeated: new Set(grants.map(({ role }) => role)).size < grants.length,
    };
  };
  const readNames = memoized((names: unknown) => read(names, 0), JSON.stringify);
  return (roles, member) =>
    listOf(roles).every((value) => typeof value === "string") ? readNames(roles) : read(roles, member);
}

function rawGrant(value: unknown, index: number, member: number): RawGrant | null {
  const name = textOf(value);
  if (name !== null) {
    return { role: name, index, bare: true, begin: null, end: null };
  }
  const fields = fieldsOf(value);
  const role = textOf(fields["role"]);
  return role === null
    ? null
    : {
        role,
        index,
        bare: false,
        ...rawDates(fields, ["members", member, "roles", index]),
      };
}

function rawSuspension(value: unknown, member: number): RawDates | null {
  if (value === undefined || value === false) return null;
  return rawDates(fieldsOf(value), ["members", member, "suspended"]);
}

function rawDates({ from, until }: Readonly<Record<string, unknown>>, path: Path): RawDates {
  return {
    begin:
      from === undefined
        ? null
        : { from: typeof from === "string" ? parseFrom(from) : null, path: [...path, "from"] },
    end:
      until === undefined
        ? null
        : { until: typeof until === "string" ? parseUntil(until) : null, path: [...path, "until"] },
  };
}

/** A role with its current and previous names, as far as readable. */
interface NamedRole {
  readonly name: string | null;
  readonly previously?: readonly string[] | undefined;
}

/** Returns the names of roles by their previous names and pinned ids. */
export function rolesByOtherNames(
  roles: readonly (NamedRole & { readonly id: string | null })[],
): ReadonlyMap<string, string> {
  const pinned = roles.flatMap(({ id, name }) => (id === null || name === null ? [] : [[id, name] as const]));
  return new Map([...renamedRoles(roles), ...pinned]);
}

/**
 * Returns the current names of roles by their previous names. A previous name that a declared role has now is left out, and
 * so is one that looks like an id: such a reference means the role with that id, a predefined one above all.
 */
export function renamedRoles(roles: readonly NamedRole[]): ReadonlyMap<string, string> {
  const renamed = roles.filter(({ previously = [] }) => previously.length > 0);
  if (renamed.length === 0) return new Map();
  const names = new Set(roles.map(({ name }) => name));
  return new Map(
    renamed.flatMap(({ name, previously = [] }) =>
      name === null
        ? []
        : previously
            .filter((former) => !names.has(former) && !isLikeRoleId(former))
            .map((former) => [former, name] as const),
    ),
  );
}

/** A member's entry in one of several files; its addresses are in lower case. */
interface AddressedEntry {
  readonly file: string;
  readonly address: string | null;
  readonly previously: readonly string[];
}

/**
 * Returns the current addresses of members by their previous ones: what another file says of a previous address is about
 * the same person. An address is left out if a file lists a person twice, or if the current one is a previous one as well.
 */
export function currentAddresses(entries: readonly AddressedEntry[]): ReadonlyMap<string, string> {
  const renamed = new Map(
    entries.flatMap(({ address, previously }) =>
      address === null ? [] : previously.map((former) => [former, address] as const),
    ),
  );
  if (renamed.size === 0) return renamed;
  const current = new Set(renamed.values());
  const [listed, twice] = [new Set<string>(), new Set<string>()];
  for (const { file, address } of entries) {
    const person = renamed.get(address ?? "") ?? address;
    if (person === null || !current.has(person)) continue;
    const place = JSON.stringify([person, file]);
    if (listed.has(place)) twice.add(person);
    listed.add(place);
  }
  return new Map([...renamed].filter(([, person]) => !renamed.has(person) && !twice.has(person)));
}
