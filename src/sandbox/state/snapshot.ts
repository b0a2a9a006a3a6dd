import { z } from "zod";
import { hasMetadataForm } from "./metadata.ts";

/** Every status that a membership can be seen in. */
export const STATUSES = ["accepted", "pending", "expired", "disabled", "unknown"] as const;

/** A membership's status as the service tells it. */
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
  /** Digests of the passwords that a managed user has had. */
  passwords: z.array(z.string()).readonly().optional(),
});

const inviteSchema = z.strictObject({ email: z.string(), expiresAt: z.number() });

/** The form of a member in a state file. */
export const memberSchema = z.strictObject({
  id: z.string(),
  /** Role ids. */
  roles: z.array(z.string()).readonly(),
  /** `expired` is never stored: it follows from the invitation and the clock. */
  status: z.enum(["accepted", "pending", "disabled", "unknown"]),
  user: userSchema.readonly().optional(),
  invite: inviteSchema.readonly().optional(),
  metadata: metadata.optional(),
  attributes: z.record(z.string(), z.unknown()).readonly().optional(),
  /** The deprecated ones: access follows from the roles alone. */
  permissions: z.array(z.string()).readonly().optional(),
  createdAt: z.number(),
  updatedAt: z.number(),
});

/** The form of a role in a state file. */
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
  /** E-mail address of the user that the key belongs to; absent for a key of nobody. */
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
  sandbox: z.boolean(),
  parent: z.strictObject({ type: z.string(), id: z.string() }).readonly().optional(),
  createdAt: z.number(),
  updatedAt: z.number(),
  roles: z.array(roleSchema.readonly()),
  members: z.array(memberSchema.readonly()),
});

/** What a state file holds. */
export const snapshotSchema = z.strictObject({
  format: z.literal("rolecall-sandbox"),
  version: z.literal(1),
  /** Numbers the things that were created, so that their ids never repeat. */
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
/** Everything about one merchant or organization, as a seed or a state file brings it. */
export type AccountData = z.infer<typeof accountSchema>;
/** Everything that the sandbox knows, as plain data. */
export type Snapshot = z.infer<typeof snapshotSchema>;
