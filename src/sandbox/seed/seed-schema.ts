import { z } from "zod";
import { KEY_PERMISSIONS } from "../routes/authorize.ts";
import { emailSchema, metadataSchema, permissionsSchema } from "../routes/request-body.ts";
import { STATUSES } from "../state/snapshot.ts";

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
  .refine((one) => one.no_address || one.email !== undefined, {
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
  sandbox: z.boolean().default(true),
  parent: parent.optional(),
  roles: z.array(role).default([]),
  members: z.array(member).default([]),
  ...times,
});

const organization = z.strictObject({
  id: code,
  name: text.optional(),
  sandbox: z.boolean().default(true),
  parent: parent.optional(),
  members: z.array(member).default([]),
  ...times,
});

const key = z.strictObject({
  key: z.string().regex(/^sk_(test|live)_[A-Za-z0-9_-]+$/, "must look like sk_test_… or sk_live_…"),
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
