import { z } from "zod";
import {
  hasMetadataForm,
  METADATA_FORM,
  METADATA_JSON_SCHEMA,
  type Member,
  PREDEFINED_ROLES_BY_ID,
  type Role,
  STATUSES,
  type User,
} from "../state/snapshot.ts";
import { type Account, statusOf } from "../state/store.ts";

const dateTime = z.iso.datetime();
const texts = z.array(z.string()).readonly();
const attributes = z.record(z.string(), z.unknown()).optional();

/** An e-mail address (addr-spec without comments). */
export const emailSchema = z
  .string()
  .max(256, "must be an e-mail address of at most 256 characters")
  .regex(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: excludes them; the OpenAPI document's patterns have no \p{Cc}
    /^(?:[^\s@"(),:;<>[\]\\\u0000-\u001f\u007f-\u009f]+|"(?:[^"\\\u0000-\u001f\u007f-\u009f]|\\[^\u0000-\u001f\u007f-\u009f])+")@[^\s@"(),:;<>[\]\\\u0000-\u001f\u007f-\u009f]+$/,
    "must be an e-mail address",
  );

/** Permissions of a role. */
export const permissionsSchema = z
  .array(z.string().min(1, "must not be empty"))
  .max(100, "must have at most 100 items");

/** Metadata of a role or a member. */
export const metadataSchema = z
  .custom<Readonly<Record<string, unknown>>>(hasMetadataForm, METADATA_FORM)
  .meta(METADATA_JSON_SCHEMA);

/** A URI of a logo. */
export const logoSchema = z.url("must be a URL").max(256, "must have at most 256 characters");

/** A role in a response. */
export const roleResponse = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string().optional(),
  permissions: permissionsSchema.readonly(),
  is_predefined: z.boolean(),
  metadata: metadataSchema.optional(),
  created_at: dateTime,
  updated_at: dateTime,
});

const user = z.object({
  id: z.guid(),
  email: emailSchema,
  mfa_on_login_enabled: z.boolean(),
  type: z.string(),
  virtual_user: z.boolean(),
  service_account_user: z.boolean(),
  disabled_at: dateTime.optional(),
  nickname: z.string().optional(),
  classic: z.object({ user_id: z.int() }),
});

const held = {
  roles: texts,
  permissions: texts,
  created_at: dateTime,
  updated_at: dateTime,
  invite: z.object({ email: emailSchema, expires_at: dateTime }).optional(),
  status: z.enum(STATUSES),
  metadata: metadataSchema.optional(),
  attributes,
};

/** A member in a response. */
export const memberResponse = z.object({ id: z.string(), ...held, user: user.optional() });

const resourceType = z.enum(["merchant", "organization"]);

const membershipResponse = z.object({
  id: z.string(),
  resource_id: z.string(),
  type: resourceType,
  ...held,
  resource: z.object({
    id: z.string(),
    type: resourceType,
    name: z.string(),
    logo: logoSchema.optional(),
    created_at: dateTime,
    updated_at: dateTime,
    attributes,
  }),
});

/** A list of roles in a response. */
export const roleListResponse = z.object({ items: z.array(roleResponse) });
/** A page of members in a response; without a count if the request asks for none. */
export const memberListResponse = z.object({
  items: z.array(memberResponse),
  total_count: z.int().optional(),
});
/** A page of memberships in a response. */
export const membershipListResponse = z.object({ items: z.array(membershipResponse), total_count: z.int() });

function time(ms: number): string {
  return new Date(ms).toISOString();
}

/** Converts a role to its resource in the contract. */
export function roleResource(role: Role): z.infer<typeof roleResponse> {
  return {
    id: role.id,
    name: role.name,
    description: role.description,
    permissions: role.permissions,
    is_predefined: PREDEFINED_ROLES_BY_ID.has(role.id),
    metadata: role.metadata,
    created_at: time(role.createdAt),
    updated_at: time(role.updatedAt),
  };
}

function userResource(user: User): z.infer<typeof memberResponse>["user"] {
  return {
    id: user.id,
    email: user.email,
    mfa_on_login_enabled: user.mfa,
    type: user.type,
    virtual_user: user.type === "managed_user",
    service_account_user: user.type === "service_account" || user.type === "system_account",
    disabled_at: user.disabledAt === undefined ? undefined : time(user.disabledAt),
    nickname: user.nickname,
    classic: { user_id: user.classicId },
  };
}

function heldBy(member: Member, now: number) {
  return {
    roles: member.roles,
    permissions: member.permissions ?? [],
    created_at: time(member.createdAt),
    updated_at: time(member.updatedAt),
    invite: member.invite && { email: member.invite.email, expires_at: time(member.invite.expiresAt) },
    status: statusOf(member, now),
    metadata: member.metadata,
    attributes: member.attributes,
  };
}

/** Converts a member to its resource in the contract. */
export function memberResource(member: Member, now: number): z.infer<typeof memberResponse> {
  return { id: member.id, ...heldBy(member, now), user: member.user && userResource(member.user) };
}

/** Converts a member to a membership, its resource from the user's point of view. */
export function membershipResource(
  member: Member,
  account: Account,
  now: number,
): z.infer<typeof membershipResponse> {
  return {
    id: member.id,
    resource_id: account.id,
    type: account.type,
    ...heldBy(member, now),
    resource: {
      id: account.id,
      type: account.type,
      name: account.name,
      logo: account.logo,
      created_at: time(account.createdAt),
      updated_at: time(account.updatedAt),
      attributes: { sandbox: account.sandbox },
    },
  };
}
