import { z } from "zod";
import { KEY_PERMISSIONS } from "../routes/authorize.ts";
import { emailSchema, logoSchema, metadataSchema, permissionsSchema } from "../routes/resources.ts";
import { PREDEFINED_ROLES_BY_ID, STATUSES } from "../state/snapshot.ts";
import {
  checkDocument,
  type DocumentForm,
  type DocumentIssue,
  type DocumentPath,
  parseDocumentAs,
} from "./parse-document.ts";

const text = z.string().min(1, "must not be empty");
const code = z.string().regex(/^[A-Za-z0-9_-]+$/, "must consist of letters, digits, _ and -");
const time = z.iso.datetime({ offset: true, error: "must be a time such as 2026-01-05T09:00:00Z" });
const times = { created_at: time.optional(), updated_at: time.optional() };
const parent = z.strictObject({ type: text, id: text });

const role = z.strictObject({
  name: text,
  id: z
    .string()
    .regex(/^role_[A-Za-z0-9_-]+$/, "must look like role_…")
    .optional(),
  description: z.string().optional(),
  permissions: permissionsSchema.default([]),
  metadata: metadataSchema.optional(),
  ...times,
});

const member = z
  .strictObject({
    email: emailSchema.optional(),
    /** Role names or ids. */
    roles: z.array(text).default([]),
    status: z.enum(STATUSES).default("accepted"),
    id: z
      .string()
      .regex(/^mem_[A-Za-z0-9_-]+$/, "must look like mem_…")
      .optional(),
    metadata: metadataSchema.optional(),
    attributes: z.record(z.string(), z.unknown()).optional(),
    /** Deprecated; they grant nothing here. */
    permissions: permissionsSchema.optional(),
    mfa: z.boolean().default(false),
    managed: z.strictObject({ nickname: z.string().optional() }).optional(),
    service_account: z.boolean().default(false),
    /** Any other user type, such as `system_account`. */
    type: text.optional(),
    /** A member without user and invitation. */
    no_address: z.boolean().default(false),
    user_id: z.guid("must be a UUID").optional(),
    /** Expiry of the invitation of a pending or expired member. */
    expires_at: time.optional(),
    ...times,
  })
  .refine((member) => member.no_address || member.email !== undefined, {
    path: ["email"],
    message: "is required, unless no_address is true",
  })
  .refine(({ type, managed, service_account }) => type === undefined || !(managed || service_account), {
    path: ["type"],
    message: "cannot be combined with managed or service_account",
  });

const merchant = z.strictObject({
  code,
  name: text.optional(),
  logo: logoSchema.optional(),
  /** Absent: a test account, unless only live keys reach it. */
  sandbox: z.boolean().optional(),
  parent: parent.optional(),
  roles: z.array(role).default([]),
  members: z.array(member).default([]),
  ...times,
});

const organization = z.strictObject({
  id: code,
  name: text.optional(),
  logo: logoSchema.optional(),
  sandbox: z.boolean().default(true),
  parent: parent.optional(),
  members: z.array(member).default([]),
  ...times,
});

const key = z.strictObject({
  /** Of any form: what follows `Bearer ` in the header. */
  key: z.string().regex(/^[\x21-\x7e]+$/, "must be printable ASCII without spaces"),
  owner: emailSchema.optional(),
  merchants: z.array(code).optional(),
  permissions: z.array(z.enum(KEY_PERMISSIONS)).optional(),
});
export const seedSchema = z.strictObject({
  merchants: z.array(merchant).min(1, "must have at least one merchant"),
  organizations: z.array(organization).default([]),
  /** Absent: `sk_test_sandbox`, with every permission. */
  keys: z.array(key).optional(),
});

/** The initial state of a sandbox, as written by a user. */
export type Seed = z.infer<typeof seedSchema>;
/** A member of a seed. */
export type SeedMember = z.infer<typeof member>;
/** A merchant of a seed. */
export type SeedMerchant = z.infer<typeof merchant>;
/** An API key of a seed. */
export type SeedKey = z.infer<typeof key>;

const MERCHANT_FILE =
  'this looks like a merchant\'s file, for validate, plan and apply; a seed begins with "merchants:"';

/** Returns whether a document is a merchant's file, which has one merchant, and not a seed, which has a list. */
function isMerchantFile(value: unknown): boolean {
  return typeof value === "object" && value !== null && "merchant" in value && !("merchants" in value);
}

const FORM: DocumentForm<Seed> = {
  schema: seedSchema,
  empty: 'the file is empty; a seed begins with "merchants:"',
  mistaken: (value) => (isMerchantFile(value) ? { key: "merchant", message: MERCHANT_FILE } : null),
  check: checkSeed,
};

/** Checks a seed that is not text; throws a 400 that names every problem. */
export function checkSeedValue(value: unknown): Seed {
  return checkDocument(value, FORM);
}

/** Checks a merchant to add; throws a 400 that names every problem. */
export function checkAddedMerchant(value: unknown): SeedMerchant {
  return checkDocument(value, { schema: merchant, check: (entry) => checkMerchant(entry, []) });
}

/** Checks an API key to add for existing merchants; throws a 400 that names every problem. */
export function checkAddedKey(value: unknown, merchants: ReadonlySet<string>): SeedKey {
  return checkDocument(value, { schema: key, check: (entry) => checkKeyMerchants(entry, merchants, []) });
}

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
  return members.flatMap((member, index) =>
    member.roles.flatMap((name, position) =>
      resolveRole(name, ids) === undefined
        ? [{ path: [...base, index, "roles", position], message: `there is no role ${JSON.stringify(name)}` }]
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
  return [...repeats(memberIds, (index) => [...base, index, "id"], "id"), ...checkRoles(members, ids, base)];
}

function checkMerchant(merchant: SeedMerchant, base: DocumentPath): DocumentIssue[] {
  // Two live roles may have the same name, and are distinguished by their ids.
  const names = merchant.roles.map(({ id, name }) => (id === undefined ? name : undefined));
  const roleIds = merchant.roles.map((role) => role.id);
  // Any id will do: only the keys are looked up here.
  const roleNames = new Map(
    merchant.roles.flatMap(({ name, id }) => [name, id ?? name].map((key) => [key, name])),
  );
  return [
    ...repeats(names, (index) => [...base, "roles", index, "name"], "role name"),
    ...repeats(roleIds, (index) => [...base, "roles", index, "id"], "id"),
    ...roleIds.flatMap((id, index) =>
      id !== undefined && PREDEFINED_ROLES_BY_ID.has(id)
        ? [{ path: [...base, "roles", index, "id"], message: "this is the id of a predefined role" }]
        : [],
    ),
    ...checkMembers(merchant.members, roleNames, [...base, "members"]),
  ];
}

function checkKeyMerchants(
  { merchants = [] }: SeedKey,
  knownCodes: ReadonlySet<string>,
  base: DocumentPath,
): DocumentIssue[] {
  return merchants.flatMap((code, index) =>
    knownCodes.has(code)
      ? []
      : [{ path: [...base, "merchants", index], message: `there is no merchant ${code}` }],
  );
}

/** Returns the problems that the schema cannot find: duplicates and unknown references. */
function checkSeed(seed: Seed): DocumentIssue[] {
  const codes = seed.merchants.map((merchant) => merchant.code);
  const organizations = seed.organizations.map((organization) => organization.id);
  const keys = (seed.keys ?? []).map((key) => key.key);
  return [
    ...repeats(codes, (index) => ["merchants", index, "code"], "code"),
    ...repeats(organizations, (index) => ["organizations", index, "id"], "id"),
    ...repeats(keys, (index) => ["keys", index, "key"], "key"),
    ...seed.merchants.flatMap((merchant, index) => checkMerchant(merchant, ["merchants", index])),
    ...seed.organizations.flatMap((organization, index) =>
      checkMembers(organization.members, new Map(), ["organizations", index, "members"]),
    ),
    ...(seed.keys ?? []).flatMap((key, index) => checkKeyMerchants(key, new Set(codes), ["keys", index])),
  ];
}
