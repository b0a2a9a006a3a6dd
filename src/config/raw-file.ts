import type { Until } from "../model/desired.ts";
import type { Path, Site } from "./diagnostics/problem.ts";
import { parseUntil } from "./until.ts";
import { fieldsOf, listOf, textOf } from "./values.ts";

/** An end as far as it can be read; null where nobody can say when it is. */
export interface DraftEnd {
  readonly until: Until | null;
  readonly path: Path;
}

/** A role as far as it can be read; null where a field is absent or not text. */
export interface DraftRole {
  readonly file: string;
  readonly path: Path;
  readonly name: string | null;
  readonly id: string | null;
  readonly previously: string | null;
  readonly permissions: readonly unknown[];
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A role that a member is to hold; `end` is null where it has none. `grantPath` leads to it. */
export interface DraftGrant {
  readonly role: string;
  /** Its number among the member's roles. */
  readonly index: number;
  /** Whether it stands there as its name alone. */
  readonly bare: boolean;
  readonly end: DraftEnd | null;
}

/** A member as far as it can be read; null where a field is absent or not text. `memberSite` leads to it. */
export interface DraftMember {
  readonly file: string;
  /** Its number among the file's members. */
  readonly index: number;
  readonly email: string | null;
  /** Its address as it is compared: in lower case. */
  readonly address: string | null;
  readonly id: string | null;
  readonly end: DraftEnd | null;
  /** Whether every role that it is to hold can be read. */
  readonly rolesComplete: boolean;
  readonly grants: readonly DraftGrant[];
  /** Whether some role stands among the grants more than once. */
  readonly repeated: boolean;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** What can be read of one file, also where the schema found it wrong, so that one mistake does not hide the others. */
export interface Draft {
  readonly file: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly roles: readonly DraftRole[];
  readonly members: readonly DraftMember[];
}

/** Takes from a plain value what can be taken. */
export function draft(file: string, value: unknown): Draft {
  const fields = fieldsOf(value);
  return {
    file,
    fields,
    roles: listOf(fields["roles"]).map((entry, index) => draftRole(file, index, fieldsOf(entry))),
    members: listOf(fields["members"]).map((entry, index) => draftMember(file, index, fieldsOf(entry))),
  };
}

/** The place of a value in a file. */
export function siteOf(file: string, path: Path): Site {
  return { at: "value", file, path };
}

/** The place of one of a member's fields. */
export function memberSite(member: DraftMember, field: string): Site {
  return siteOf(member.file, memberPath(member, field));
}

/** The path to one of a member's fields. */
export function memberPath({ index }: DraftMember, field: string): Path {
  return ["members", index, field];
}

/** The path to the name of a role that a member is to hold. */
export function grantPath(member: DraftMember, { index, bare }: DraftGrant): Path {
  const path = ["members", member.index, "roles", index];
  return bare ? path : [...path, "role"];
}

function draftRole(file: string, index: number, fields: Readonly<Record<string, unknown>>): DraftRole {
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

function draftMember(file: string, index: number, fields: Readonly<Record<string, unknown>>): DraftMember {
  const email = textOf(fields["email"]);
  const roles = fields["roles"];
  const grants: DraftGrant[] = [];
  for (const [number, value] of listOf(roles).entries()) {
    const grant = draftGrant(value, number, index);
    if (grant !== null) grants.push(grant);
  }
  return {
    file,
    index,
    email,
    address: email === null ? null : email.toLowerCase(),
    id: textOf(fields["id"]),
    end: draftEnd(fields, () => ["members", index]),
    rolesComplete: Array.isArray(roles) && grants.length === roles.length,
    grants,
    repeated: isAnyTwice(grants),
    fields,
  };
}

// So few are compared with one another faster than they are collected.
const FEW = 8;

function isAnyTwice(grants: readonly DraftGrant[]): boolean {
  return grants.length > FEW
    ? new Set(grants.map(({ role }) => role)).size < grants.length
    : grants.some(({ role }, index) => grants.findIndex((other) => other.role === role) < index);
}

function draftGrant(value: unknown, index: number, member: number): DraftGrant | null {
  const name = textOf(value);
  if (name !== null) {
    return { role: name, index, bare: true, end: null };
  }
  const fields = fieldsOf(value);
  const role = textOf(fields["role"]);
  return role === null
    ? null
    : { role, index, bare: false, end: draftEnd(fields, () => ["members", member, "roles", index]) };
}

function draftEnd(fields: Readonly<Record<string, unknown>>, path: () => Path): DraftEnd | null {
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
