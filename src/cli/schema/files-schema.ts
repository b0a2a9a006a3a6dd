import { keysNaming } from "../../kernel/rules/settings/every-setting.ts";
import { counted, listText, sortedSet } from "../../lib/text.ts";
import type { DesiredState } from "../../model/desired.ts";
import { PREDEFINED_ROLES } from "../../model/live.ts";

type Schema = Readonly<Record<string, unknown>>;

/** The definitions of the names in the files. */
type Known = "knownRoles" | "knownPermissions" | "knownAddresses" | "knownHolders";

/** The texts that the values of a key name. */
const KNOWN_AT: ReadonlyMap<string, Known> = new Map([
  ...["name", "role", "roles", ...keysNaming("role")].map((key) => [key, "knownRoles"] as const),
  ...[
    "add",
    "assign",
    "can",
    "cannot",
    "create",
    "edit",
    "permissions",
    "remove",
    ...keysNaming("permission"),
  ].map((key) => [key, "knownPermissions"] as const),
  ...["email", "member", "members"].map((key) => [key, "knownAddresses"] as const),
  ["only", "knownHolders"] as const,
]);

/**
 * Returns the JSON Schema of merchant files with the names in these states, for editors to suggest and explain; any
 * other text stays valid.
 */
export function withKnownNames(schema: object, states: readonly DesiredState[]): object {
  const roles = knownRoles(states);
  const permissions = sortedSet(
    states.flatMap((state) => (state.roles ?? []).flatMap((role) => role.permissions ?? [])),
  );
  const addresses = sortedSet(states.flatMap((state) => (state.members ?? []).map(({ email }) => email)));
  const enumOf = (texts: readonly string[]): Schema => ({ type: "string", enum: texts });
  const definitions: Readonly<Record<Known, Schema>> = {
    knownRoles: { anyOf: roles.map(({ name, grants }) => ({ const: name, description: grants })) },
    knownPermissions: enumOf(permissions),
    knownAddresses: enumOf(addresses),
    knownHolders: enumOf([...roles.map(({ name }) => `role:${name}`), ...addresses]),
  };
  const used = Object.entries(definitions).filter(([, { anyOf, enum: texts }]) => {
    const known = anyOf ?? texts;
    return Array.isArray(known) && known.length > 0;
  });
  const names = new Set(used.map(([name]) => name));
  const adding = { names, roles: roles.map(({ name }) => name) };
  return { ...(added(schema as Schema, null, adding) as Schema), definitions: Object.fromEntries(used) };
}

interface Adding {
  /** The definitions that have texts. */
  readonly names: ReadonlySet<string>;
  readonly roles: readonly string[];
}

/** Adds the definitions to the texts of a schema; `key` is the nearest key that a text is the value of. */
function added(schema: unknown, key: string | null, adding: Adding): unknown {
  if (Array.isArray(schema)) return schema.map((inner) => added(inner, key, adding));
  if (typeof schema !== "object" || schema === null) return schema;
  const known = (key !== null && KNOWN_AT.get(key)) || null;
  const { properties, propertyNames, additionalProperties, ...rest } = schema as Schema;
  if (rest["type"] === "string") {
    const isOpen = known !== null && adding.names.has(known) && !("enum" in rest) && !("const" in rest);
    if (!isOpen) return schema;
    const { title, description, examples, ...form } = rest;
    const words = Object.fromEntries(
      Object.entries({ title, description, examples }).filter(([, text]) => text),
    );
    // The general form comes first, since editors report why that does not match.
    return { ...words, anyOf: [form, { $ref: `#/definitions/${known}` }] };
  }
  const ownProperties = Object.entries((properties ?? {}) as Schema).map(
    ([name, inner]) => [name, added(inner, name, adding)] as const,
  );
  // Editors suggest keys that are properties.
  const roleProperties =
    propertyNames !== undefined && known === "knownRoles"
      ? adding.roles.map((name) => [name, additionalProperties] as const)
      : [];
  const all = [...ownProperties, ...roleProperties];
  const forms = ["items", "anyOf", "oneOf", "allOf"].flatMap((word) =>
    word in rest ? [[word, added(rest[word], key, adding)] as const] : [],
  );
  return {
    ...rest,
    ...Object.fromEntries(forms),
    ...(all.length > 0 && { properties: Object.fromEntries(all) }),
    ...(propertyNames !== undefined && { propertyNames }),
    ...(additionalProperties !== undefined && { additionalProperties }),
  };
}

/** Maximum number of different sets of permissions in the description of a role. */
const MAX_SETS = 3;

/** Returns the roles by name and id, with what they grant and at how many merchants. */
function knownRoles(
  states: readonly DesiredState[],
): readonly { readonly name: string; readonly grants: string }[] {
  const sets = new Map<string, Map<string, number>>();
  for (const { name, id, permissions } of states.flatMap((state) => state.roles ?? [])) {
    for (const key of [name, ...(id === undefined ? [] : [id])]) {
      const counts = sets.get(key) ?? new Map<string, number>();
      const granted = permissions === undefined ? "its live permissions" : listText(permissions) || "nothing";
      sets.set(key, counts.set(granted, (counts.get(granted) ?? 0) + 1));
    }
  }
  const held = states.flatMap((state) =>
    (state.members ?? []).flatMap(({ roles = [] }) => roles.map(({ role }) => role)),
  );
  return sortedSet([...sets.keys(), ...held, ...PREDEFINED_ROLES]).map((name) => ({
    name,
    grants: describeSets(sets.get(name) ?? new Map()),
  }));
}

function describeSets(sets: ReadonlyMap<string, number>): string {
  const [first, ...others] = [...sets].sort(([, a], [, b]) => b - a);
  if (first === undefined) return "No file declares its permissions.";
  if (others.length === 0) return `Grants ${first[0]}.`;
  const shown = [first, ...others]
    .slice(0, MAX_SETS)
    .map(([granted, count]) => `${granted} at ${counted(count, "merchant")}`);
  const more = others.length + 1 - shown.length;
  return `Grants ${shown.join("; ")}${more > 0 ? `; and ${more} other sets of permissions` : ""}.`;
}
