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

/** A role that a member is to hold; the path leads to its name, and `end` is null where it has none. */
export interface DraftGrant {
  readonly role: string;
  readonly path: Path;
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
  const grants = listOf(fields["roles"]).flatMap((value, index) =>
    draftGrant(value, [...path, "roles", index]),
  );
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

function draftGrant(value: unknown, path: Path): readonly DraftGrant[] {
  const bare = textOf(value);
  if (bare !== null) {
    return [{ role: bare, path, end: null }];
  }
  const fields = fieldsOf(value);
  const role = textOf(fields["role"]);
  return role === null ? [] : [{ role, path: [...path, "role"], end: draftEnd(fields, path) }];
}

function draftEnd(fields: Readonly<Record<string, unknown>>, path: Path): DraftEnd | null {
  if (!Object.hasOwn(fields, "until")) {
    return null;
  }
  const { until } = fields;
  return { until: typeof until === "string" ? parseUntil(until) : null, path: [...path, "until"] };
}
