import * as z from "zod/mini";
import { eachField, type FieldTable, mapFields } from "../kernel/fields/field.ts";
import type { KindValues } from "../kernel/fields/kind.ts";
import { COMMON_FIELDS, type CommonValues, MANAGED_FIELDS } from "../kernel/fields/member.ts";
import { ROLE_FIELDS } from "../kernel/fields/role.ts";
import { unmark } from "../lib/exact-numbers.ts";
import type { ManagedProperties, RoleImage, SentOf } from "../model/field-values.ts";
import type { Metadata } from "../model/json.ts";
import type { LiveMember, LiveRole } from "../model/live.ts";
import {
  absent,
  hasText,
  type Page,
  parseResponse,
  toStatus,
  totalSchema,
  UNKNOWN_TYPE,
} from "./response-json.ts";

// Kept as parsed: a copy by key would lose a property called "__proto__".
const metadataSchema = absent(
  z.custom<Metadata>((value) => typeof value === "object" && value !== null && !Array.isArray(value)),
);

/** The values in responses. */
const RESPONSES: Readonly<Record<keyof KindValues, z.ZodMiniType>> = {
  name: z.string(),
  line: absent(z.string()),
  prose: absent(z.string()),
  list: z.array(z.string()),
  roles: z.array(z.string()),
  metadata: metadataSchema,
};

/** Returns the keys of a response that hold the fields of a table. */
function responseKeys<Values>(table: FieldTable<Values>): Readonly<Record<string, z.ZodMiniType>> {
  return Object.fromEntries(
    mapFields(table, (_, { response, kind }) => [response, RESPONSES[kind.name]] as const),
  );
}

const roleSchema = z.object({
  ...responseKeys<RoleImage>(ROLE_FIELDS),
  id: z.string().check(z.minLength(1)),
  is_predefined: absent(z.boolean()),
  created_at: absent(z.string()),
  updated_at: absent(z.string()),
});

const memberSchema = z.object({
  ...responseKeys<CommonValues>(COMMON_FIELDS),
  id: z.string().check(z.minLength(1)),
  // Any other value counts as unknown.
  status: z.optional(z.unknown()),
  user: absent(
    z.object({
      ...responseKeys<ManagedProperties>(MANAGED_FIELDS),
      id: z.string(),
      email: absent(z.string()),
      mfa_on_login_enabled: absent(z.boolean()),
      // Any other value counts as an unknown type.
      type: z.optional(z.unknown()),
      virtual_user: absent(z.boolean()),
      service_account_user: absent(z.boolean()),
      disabled_at: absent(z.string()),
    }),
  ),
  invite: absent(z.object({ email: absent(z.string()), expires_at: absent(z.string()) })),
  created_at: absent(z.string()),
  updated_at: absent(z.string()),
});

const roleListSchema = z.object({ items: z.array(roleSchema) });
const memberListSchema = z.object({ items: z.array(memberSchema), total_count: totalSchema });
/** Parses a role. Throws a SyntaxError if it is not JSON, a TypeError if it is not a role. */
export function readRole(body: string): LiveRole {
  const { data, marked } = parseResponse(roleSchema, body);
  return toRole(data, marked);
}

/** Parses a list of roles. */
export function readRoles(body: string): readonly LiveRole[] {
  const { data, marked } = parseResponse(roleListSchema, body);
  const roles = data.items.map((item) => toRole(item, marked));
  const ids = new Set(roles.map(({ id }) => id));
  if (ids.size < roles.length) throw new TypeError("with a role listed twice");
  return roles;
}

/** Parses a member. */
export function readMember(body: string): LiveMember {
  const { data, marked } = parseResponse(memberSchema, body);
  return toMember(data, marked, unshared);
}

/** Parses a page of members; `share` may return one shared list of roles for equal ones. */
export function readMemberPage(body: string, share: InternRoles = unshared): Page<LiveMember> {
  const { data, marked } = parseResponse(memberListSchema, body);
  const { items, total_count } = data;
  return { items: items.map((item) => toMember(item, marked, share)), total: total_count ?? null };
}

type InternRoles = (roles: readonly string[]) => readonly string[];

const unshared: InternRoles = (roles) => roles;

/** Parses the updated member; `null` if the response does not contain it. */
export function readUpdatedMember(id: string, body: string): LiveMember | null {
  try {
    const member = readMember(body);
    return member.id === id ? member : null;
  } catch {
    return null;
  }
}

/** Returns the values of a response, without those that are absent; its schema has checked them. */
function receivedValues<Values>(
  table: FieldTable<Values>,
  wire: Readonly<Record<string, unknown>>,
): { readonly [Name in keyof Values]: SentOf<Values[Name]> } {
  return eachField(table, (_, { response }) => (wire[response] ?? undefined) as never);
}

function toRole(wire: z.infer<typeof roleSchema>, marked: boolean): LiveRole {
  const values = receivedValues<RoleImage>(ROLE_FIELDS, wire);
  return {
    id: wire.id,
    ...values,
    predefined: wire.is_predefined ?? false,
    ...toMetadata(values.metadata, marked),
    ...(hasText(wire.created_at) && { createdAt: wire.created_at }),
    updatedAt: wire.updated_at ?? "",
  };
}

function toMember(wire: z.infer<typeof memberSchema>, marked: boolean, share: InternRoles): LiveMember {
  const { user, invite } = wire;
  const values = receivedValues<CommonValues>(COMMON_FIELDS, wire);
  return {
    id: wire.id,
    ...values,
    roles: share(values.roles),
    status: hasText(user?.disabled_at) ? "disabled" : toStatus(wire.status),
    ...(user && {
      user: {
        id: user.id,
        ...(hasText(user.email) && { email: user.email }),
        mfaOnLogin: user.mfa_on_login_enabled ?? null,
        type: toUserType(user),
        ...receivedValues<ManagedProperties>(MANAGED_FIELDS, user),
      },
    }),
    ...(hasText(invite?.email) && { invite: { email: invite.email, expiresAt: invite?.expires_at ?? "" } }),
    ...toMetadata(values.metadata, marked),
    ...(hasText(wire.created_at) && { createdAt: wire.created_at }),
    updatedAt: wire.updated_at ?? "",
  };
}

/** Returns the type of a user: older responses have two booleans instead; without either, it may not be a person. */
function toUserType(user: NonNullable<z.infer<typeof memberSchema>["user"]>): string {
  const { type, virtual_user, service_account_user } = user;
  if (type != null) return typeof type === "string" && type !== "" ? type : UNKNOWN_TYPE;
  if (service_account_user) return "service_account";
  if (virtual_user) return "managed_user";
  return service_account_user === false ? "user" : UNKNOWN_TYPE;
}

const NO_METADATA: Metadata = {};

function toMetadata(
  metadata: Metadata | null | undefined,
  marked: boolean,
): Pick<LiveMember, "metadata" | "rounded" | "exact"> {
  if (!metadata || !marked) return { metadata: metadata ?? NO_METADATA };
  const { metadata: plain, rounded, exact } = unmark(metadata);
  return { metadata: plain, ...(rounded.length > 0 && { rounded, exact }) };
}
