import { z } from "zod";

const MAX_PROPERTIES = 64;
const MAX_DEPTH = 32;

function fitsDepth(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return depth > 0 && Object.values(value).every((inner) => fitsDepth(inner, depth - 1));
}

/** Checks for valid metadata: an object of at most 64 properties. */
export function hasMetadataForm(value: unknown): value is Readonly<Record<string, unknown>> {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    Object.keys(value).length <= MAX_PROPERTIES &&
    // Deeper nesting can be parsed but not serialized: it would break every list that contains it.
    fitsDepth(value, MAX_DEPTH)
  );
}

/** The part of `hasMetadataForm` that JSON Schema can express. */
export const METADATA_JSON_SCHEMA = { type: "object", maxProperties: MAX_PROPERTIES } as const;

/** Message for a value that fails `hasMetadataForm`. */
export const METADATA_FORM = `must be an object of at most ${MAX_PROPERTIES} properties, nested at most ${MAX_DEPTH} deep`;

/** Every status of a membership. */
export const STATUSES = ["accepted", "pending", "expired", "disabled", "unknown"] as const;

/** A membership's status as the service reports it. */
export type Status = (typeof STATUSES)[number];

const metadata = z.custom<Readonly<Record<string, unknown>>>(hasMetadataForm);

const userSchema = z.strictObject({
  id: z.string(),
  email: z.string(),
  mfa: z.boolean(),
  type: z.string(),
  disabledAt: z.number().optional(),
  nickname: z.string().optional(),
  classicId: z.number(),
  /** Digests of all passwords of a managed user. */
  passwords: z.array(z.string()).readonly().optional(),
});

const inviteSchema = z.strictObject({ email: z.string(), expiresAt: z.number() });

/** Schema of a member in a state file. */
export const memberSchema = z.strictObject({
  id: z.string(),
  /** Role ids. */
  roles: z.array(z.string()).readonly(),
  /** `expired` is derived from the invitation and the clock, never stored. */
  status: z.enum(["accepted", "pending", "disabled", "unknown"]),
  user: userSchema.readonly().optional(),
  invite: inviteSchema.readonly().optional(),
  metadata: metadata.optional(),
  attributes: z.record(z.string(), z.unknown()).readonly().optional(),
  /** Deprecated; access depends on roles only. */
  permissions: z.array(z.string()).readonly().optional(),
  createdAt: z.number(),
  updatedAt: z.number(),
});

/** Schema of a role in a state file. */
export const roleSchema = z.strictObject({
  id: z.string(),
  name: z.string(),
  description: z.string().optional(),
  permissions: z.array(z.string()).readonly(),
  metadata: metadata.optional(),
  createdAt: z.number(),
  updatedAt: z.number(),
});

const keySchema = z.strictObject({
  key: z.string(),
  /** E-mail address of the key's user; absent if it has none. */
  owner: z.string().optional(),
  /** Merchant codes; absent: every merchant. */
  merchants: z.array(z.string()).readonly().optional(),
  /** Absent: every permission. */
  permissions: z.array(z.string()).readonly().optional(),
});

const accountSchema = z.strictObject({
  type: z.enum(["merchant", "organization"]),
  id: z.string(),
  name: z.string(),
  /** URL. */
  logo: z.string().optional(),
  sandbox: z.boolean(),
  parent: z.strictObject({ type: z.string(), id: z.string() }).readonly().optional(),
  createdAt: z.number(),
  updatedAt: z.number(),
  roles: z.array(roleSchema.readonly()),
  members: z.array(memberSchema.readonly()),
});

/** Schema of a state file without its changes. */
export const snapshotSchema = z.strictObject({
  format: z.literal("rolecall-sandbox"),
  version: z.literal(1),
  /** Number of created roles and members, so that ids never repeat. */
  counter: z.number().int().min(0),
  keys: z.array(keySchema.readonly()),
  accounts: z.array(accountSchema),
});

/** A custom role; times in milliseconds since the epoch. */
export type Role = Readonly<z.infer<typeof roleSchema>>;
/** The end-user behind a membership. */
export type User = Readonly<z.infer<typeof userSchema>>;
/** A membership in a merchant or an organization; times in milliseconds since the epoch. */
export type Member = Readonly<z.infer<typeof memberSchema>>;
/** An API key and what it may do. */
export type ApiKey = Readonly<z.infer<typeof keySchema>>;
/** A merchant or organization as plain data. */
export type AccountData = z.infer<typeof accountSchema>;
/** The state of the sandbox as plain data. */
export type Snapshot = z.infer<typeof snapshotSchema>;

const place = { change: z.enum(["merchant", "organization"]), of: z.string() };

const changeSchema = z.union([
  z.strictObject({ change: z.literal("counter"), counter: z.number().int().min(0) }),
  z.strictObject({ ...place, member: memberSchema.readonly() }),
  z.strictObject({ ...place, role: roleSchema.readonly() }),
  z.strictObject({ ...place, gone: z.string() }),
  z.strictObject({ ...place, first: z.string() }),
]);

/** A state change, as appended to a state file. */
export type StateChange =
  | { readonly change: "counter"; readonly counter: number }
  | {
      readonly change: "merchant" | "organization";
      readonly of: string;
      /** Added, or replaced by id. */
      readonly member?: Member;
      readonly role?: Role;
      /** Id of a removed member or role. */
      readonly gone?: string;
      /** Id of a member that was moved to the front. */
      readonly first?: string;
    };

/** Start of every change line, and of no line of a snapshot. */
export const CHANGE_MARK = '{"change":';

/** Parses a change line; `null` if invalid. */
export function parseChange(line: string): StateChange | null {
  try {
    return changeSchema.safeParse(JSON.parse(line)).data ?? null;
  } catch {
    return null;
  }
}

const view = ["catalog_view", "customers_view", "reports_view", "transactions_view"];
const sell = ["catalog_view", "checkouts_create", "refunds_create", "transactions_view"];
const money = ["invoices_view", "payouts_view", "reports_export", "taxes_view"];
const people = ["members_view", "merchant_read", "roles_list", "roles_view"];
const manage = [
  "catalog_edit",
  "customers_edit",
  "invoices_edit",
  "members_create",
  "members_update",
  "shops_edit",
];
const administer = [
  "members_delete",
  "merchant_edit",
  "payouts_edit",
  "roles_create",
  "roles_delete",
  "roles_update",
];
const ownerOnly = ["api_keys_edit", "merchant_close", "owner_transfer"];

function predefined(
  id: string,
  name: string,
  description: string,
  groups: readonly (readonly string[])[],
): Role {
  const permissions = [...new Set(groups.flat())].sort();
  const createdAt = Date.parse("2020-01-01T00:00:00Z");
  return { id, name, description, permissions, createdAt, updatedAt: createdAt };
}

/** The roles that the service provides to every merchant, by id; they are never listed or changed. */
export const PREDEFINED_ROLES_BY_ID: ReadonlyMap<string, Role> = new Map(
  [
    predefined("role_owner", "Owner", "Everything, including closing the account", [
      view,
      sell,
      money,
      people,
      manage,
      administer,
      ownerOnly,
    ]),
    predefined("role_admin", "Admin", "Everything but what only the owner may do", [
      view,
      sell,
      money,
      people,
      manage,
      administer,
    ]),
    predefined("role_manager", "Manager", "Runs the shop and its team", [view, sell, money, people, manage]),
    predefined("role_employee", "Employee", "Sells and refunds", [sell]),
    predefined("role_cashier", "Cashier", "Takes payments", [["catalog_view", "checkouts_create"]]),
    predefined("role_accountant", "Accountant", "Sees the books", [view, money]),
  ].map((role) => [role.id, role]),
);
