import { PREDEFINED_ROLES_BY_ID } from "../state/predefined-roles.ts";
import {
  type DocumentForm,
  type DocumentIssue,
  type DocumentPath,
  parseDocumentAs,
} from "./parse-document.ts";
import { type Seed, type SeedMember, type SeedMerchant, seedSchema } from "./seed-schema.ts";

const MERCHANT_FILE =
  'this looks like a merchant\'s file, for validate, plan and apply; a seed begins with "merchants:"';

/** Tells a merchant's file, which has one merchant, from a seed, which has a list. */
function isMerchantFile(value: unknown): boolean {
  return typeof value === "object" && value !== null && "merchant" in value && !("merchants" in value);
}

const FORM: DocumentForm<Seed> = {
  schema: seedSchema,
  empty: 'the file is empty; a seed begins with "merchants:"',
  mistaken: (value) => (isMerchantFile(value) ? { key: "merchant", message: MERCHANT_FILE } : null),
  check: checkSeed,
};

/** Parses a seed; throws `DocumentInvalid` with every problem and its position. */
export function parseSeed(text: string): Seed {
  return parseDocumentAs(text, FORM);
}

function repeats(
  values: readonly (string | undefined)[],
  pathOf: (index: number) => DocumentPath,
  what: string,
): DocumentIssue[] {
  const seen = new Set<string>();
  return values.flatMap((value, index) => {
    if (value === undefined) return [];
    const again = seen.has(value);
    seen.add(value);
    return again ? [{ path: pathOf(index), message: `duplicate ${what}` }] : [];
  });
}

/** Returns the id of the role that a seed refers to by name or id; undefined if unknown. */
export function resolveRole(name: string, ids: ReadonlyMap<string, string>): string | undefined {
  if (PREDEFINED_ROLES_BY_ID.has(name)) return name;
  const predefined = [...PREDEFINED_ROLES_BY_ID.values()].find((role) => role.name === name);
  return ids.get(name) ?? predefined?.id;
}

function checkRoles(
  members: readonly SeedMember[],
  ids: ReadonlyMap<string, string>,
  base: DocumentPath,
): DocumentIssue[] {
  return members.flatMap((member, at) =>
    member.roles.flatMap((name, position) =>
      resolveRole(name, ids) === undefined
        ? [{ path: [...base, at, "roles", position], message: `there is no role ${JSON.stringify(name)}` }]
        : [],
    ),
  );
}

function checkMembers(
  members: readonly SeedMember[],
  ids: ReadonlyMap<string, string>,
  base: DocumentPath,
): DocumentIssue[] {
  const memberIds = members.map((member) => member.id);
  return [...repeats(memberIds, (at) => [...base, at, "id"], "id"), ...checkRoles(members, ids, base)];
}

function checkMerchant(merchant: SeedMerchant, base: DocumentPath): DocumentIssue[] {
  const names = merchant.roles.map((role) => role.name);
  const roleIds = merchant.roles.map((role) => role.id);
  // Any id will do: only the keys are looked up here.
  const known = new Map(
    merchant.roles.flatMap(({ name, id }) => [name, id ?? name].map((key) => [key, name])),
  );
  return [
    ...repeats(names, (at) => [...base, "roles", at, "name"], "role name"),
    ...repeats(roleIds, (at) => [...base, "roles", at, "id"], "id"),
    ...roleIds.flatMap((id, at) =>
      id !== undefined && PREDEFINED_ROLES_BY_ID.has(id)
        ? [{ path: [...base, "roles", at, "id"], message: "this is the id of a predefined role" }]
        : [],
    ),
    ...checkMembers(merchant.members, known, [...base, "members"]),
  ];
}

/** Returns the problems that the schema cannot find: duplicates and unknown references. */
function checkSeed(seed: Seed): DocumentIssue[] {
  const codes = seed.merchants.map((merchant) => merchant.code);
  const organizations = seed.organizations.map((organization) => organization.id);
  const keys = (seed.keys ?? []).map((key) => key.key);
  return [
    ...repeats(codes, (at) => ["merchants", at, "code"], "code"),
    ...repeats(organizations, (at) => ["organizations", at, "id"], "id"),
    ...repeats(keys, (at) => ["keys", at, "key"], "key"),
    ...seed.merchants.flatMap((merchant, at) => checkMerchant(merchant, ["merchants", at])),
    ...seed.organizations.flatMap((organization, at) =>
      checkMembers(organization.members, new Map(), ["organizations", at, "members"]),
    ),
    ...(seed.keys ?? []).flatMap((key, at) =>
      (key.merchants ?? []).flatMap((code, position) =>
        codes.includes(code)
          ? []
          : [{ path: ["keys", at, "merchants", position], message: `there is no merchant ${code}` }],
      ),
    ),
  ];
}
