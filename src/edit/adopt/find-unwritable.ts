import {
  COMMON_FIELDS,
  type CommonValues,
  isManaged,
  liveValues,
  MANAGED_FIELDS,
} from "../../kernel/fields/member.ts";
import { ROLE_FIELDS, roleImage } from "../../kernel/fields/role.ts";
import type { Path } from "../../kernel/problems/problem.ts";
import { findKeys } from "../../kernel/problems/secrets.ts";
import { merchantSchema } from "../../kernel/schema/merchant-schema.ts";
import { toRawFile } from "../../kernel/schema/raw-file.ts";
import { checkSource } from "../../kernel/validate/source-rules.ts";
import { MAX_DEPTH } from "../../kernel/values/limits.ts";
import { fieldsOf } from "../../kernel/values/values.ts";
import type { Unwritable } from "../../model/adoption.ts";
import type { ManagedProperties, RoleImage } from "../../model/field-values.ts";
import type { LiveMember, LiveRole, LiveState } from "../../model/live.ts";
import { entryValues } from "./entry-values.ts";

/**
 * Finds the parts of a live state that a file cannot express, because the schema or a rule of files would refuse them.
 */
export function findUnwritable({ roles, members }: LiveState): Unwritable {
  const custom = roles.filter(({ predefined }) => !predefined);
  const file = { version: 1, roles: custom.map(roleValues), members: members.map(memberValues) };
  const refused = refusedPaths(file);
  return {
    roles: partsOf("roles", custom, file.roles, refused),
    members: partsOf("members", members, file.members, refused),
  };
}

type Values = Readonly<Record<string, unknown>>;

function roleValues(live: LiveRole): Values {
  return { ...entryValues<RoleImage>(ROLE_FIELDS, roleImage(live), NONE), id: live.id };
}

function memberValues(live: LiveMember): Values {
  const { id, user, invite } = live;
  const values = liveValues(live, (role) => ({ id: role, name: role }));
  const managed = entryValues<ManagedProperties>(MANAGED_FIELDS, values, NONE);
  return {
    // A pinned entry may have an address where its member has none.
    email: user?.email ?? invite?.email ?? "nobody@example.com",
    ...(isManaged(live) && { managed: { ...managed, password_env: "PASSWORD" } }),
    ...entryValues<CommonValues>(COMMON_FIELDS, values, NONE),
    id,
  };
}

const NONE: ReadonlySet<string> = new Set();

/** Returns the paths that the schema and the rules of single files refuse. */
function refusedPaths(file: object): readonly Path[] {
  const { error } = merchantSchema.safeParse(file);
  const ofSchema = (error?.issues ?? []).map(({ path }) =>
    path.map((key) => (typeof key === "symbol" ? "" : key)),
  );
  const ofRules = checkSource(toRawFile("", file), Number.NEGATIVE_INFINITY).flatMap(({ location }) =>
    "path" in location ? [location.path] : [],
  );
  return [...ofSchema, ...ofRules];
}

/** The required keys of an entry. */
const IDENTITY: ReadonlySet<unknown> = new Set(["name", "email", undefined]);

function partsOf(
  section: "roles" | "members",
  live: readonly (LiveRole | LiveMember)[],
  values: readonly Values[],
  refused: readonly Path[],
): ReadonlyMap<string, ReadonlySet<string>> {
  const parts = new Map<string, Set<string>>();
  const add = (index: number, key: unknown): void => {
    const { id } = live[index] ?? { id: "" };
    const keys = parts.get(id) ?? new Set();
    parts.set(id, keys.add(IDENTITY.has(key) ? "entry" : String(key)));
  };
  for (const [place, index, key, inner] of refused)
    if (place === section) add(Number(index), key === "managed" ? inner : key);
  for (const [index, { rounded = [] }] of live.entries()) {
    if (rounded.length > 0) add(index, "metadata");
    const { managed, ...entry } = values[index] ?? {};
    for (const [key, value] of Object.entries({ ...entry, ...fieldsOf(managed) }))
      if (isRisky(value, MAX_DEPTH - 4)) add(index, key);
  }
  return parts;
}

/** Maximum length of a key; YAML takes 1024 characters, escapes and all. */
const MAX_KEY_LENGTH = 128;

/** Returns whether a value has a long key, an API key or broken Unicode in it, or is nested too deep. */
function isRisky(value: unknown, levels: number): boolean {
  if (typeof value === "string") return findKeys(value).length > 0 || /\p{Cs}/u.test(value);
  if (typeof value !== "object" || value === null) return false;
  return (
    levels === 0 ||
    Object.entries(value).some(
      ([key, inner]) => key.length > MAX_KEY_LENGTH || isRisky(key, 1) || isRisky(inner, levels - 1),
    )
  );
}
