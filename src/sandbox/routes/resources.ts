import { type Member, PREDEFINED_ROLES_BY_ID, type Role, type User } from "../state/snapshot.ts";
import { type Account, statusOf } from "../state/store.ts";

function time(ms: number): string {
  return new Date(ms).toISOString();
}

/** Converts a role to its resource in the contract. */
export function roleResource(role: Role): object {
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

function userResource(user: User): object {
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

function common(member: Member, now: number): object {
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
export function memberResource(member: Member, now: number): object {
  return { id: member.id, ...common(member, now), user: member.user && userResource(member.user) };
}

/** Converts a member to a membership, its resource from the user's point of view. */
export function membershipResource(member: Member, account: Account, now: number): object {
  return {
    id: member.id,
    resource_id: account.id,
    type: account.type,
    ...common(member, now),
    resource: {
      id: account.id,
      type: account.type,
      name: account.name,
      created_at: time(account.createdAt),
      updated_at: time(account.updatedAt),
      attributes: { sandbox: account.sandbox },
    },
  };
}
