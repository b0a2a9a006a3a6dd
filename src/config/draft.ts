import type { Until } from "../model/desired.ts";
import type { Path, Site } from "./problem.ts";
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

/** A member as far as it can be read; null where a field is absent or not text. */
export interface DraftMember {
  readonly file: string;
  readonly path: Path;
  readonly email: string | null;
  readonly id: string | null;
  readonly end: DraftEnd | null;
  /** Whether every role that it is to hold can be read. */
  readonly rolesComplete: boolean;
  readonly grants: readonly DraftGrant[];
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
    roles: entries(fields["roles"], "roles").map((entry) => draftRole(file, entry)),
    members: entries(fields["members"], "members").map((entry) => draftMember(file, entry)),
  };
}

/** The place of a value in a file. */
export function siteOf(file: string, path: Path): Site {
  return { at: "value", file, path };
}

/** The path to the name of a role that a member is to hold. */
export function grantPath({ path }: DraftMember, { index, bare }: DraftGrant): Path {
  return bare ? [...path, "roles", index] : [...path, "roles", index, "role"];
}

/** Whether some role stands there more than once. */
export function isAnyTwice(grants: readonly DraftGrant[]): boolean {
  return grants.length > 1 && new Set(grants.map(({ role }) => role)).size < grants.length;
}

interface Entry {
  readonly path: Path;
  readonly fields: Readonly<Record<string, unknown>>;
}

function entries(value: unknown, key: string): readonly Entry[] {
  return listOf(value).map((entry, index) => ({ path: [key, index], fields: fieldsOf(entry) }));
}

function draftRole(file: string, { path, fields }: Entry): DraftRole {
  return {
    file,
    path,
    name: textOf(fields["name"]),
    id: textOf(fields["id"]),
    previously: textOf(fields["previously"]),
    permissions: listOf(fields["permissions"]),
  };
}

function draftMember(file: string, { path, fields }: Entry): DraftMember {
  const grants = listOf(fields["roles"]).flatMap((value, index) => draftGrant(value, index, path) ?? []);
  return {
    file,
    path,
    email: textOf(fields["email"]),
    id: textOf(fields["id"]),
    end: draftEnd(fields, path),
    rolesComplete: Array.isArray(fields["roles"]) && grants.length === fields["roles"].length,
    grants,
    fields,
  };
}

function draftGrant(value: unknown, index: number, member: Path): DraftGrant | null {
  const name = textOf(value);
  if (name !== null) {
    return { role: name, index, bare: true, end: null };
  }
  const fields = fieldsOf(value);
  const role = textOf(fields["role"]);
  return role === null
    ? null
    : { role, index, bare: false, end: draftEnd(fields, [...member, "roles", index]) };
}

function draftEnd(fields: Readonly<Record<string, unknown>>, path: Path): DraftEnd | null {
  if (!Object.hasOwn(fields, "until")) {
    return null;
  }
  const { until } = fields;
  return { until: typeof until === "string" ? parseUntil(until) : null, path: [...path, "until"] };
}
