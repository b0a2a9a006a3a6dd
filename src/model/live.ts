import type { Failure } from "./errors.ts";
import type { Held, ManagedProperties, MemberProperties, RoleImage } from "./field-values.ts";

/** The status of a membership; `unknown` also for values that the contract does not name. */
export type MemberStatus = "accepted" | "pending" | "expired" | "disabled" | "unknown";

/** The words for the status of a membership. */
export const MEMBER_STATUSES: readonly MemberStatus[] = [
  "accepted",
  "pending",
  "expired",
  "disabled",
  "unknown",
];

/** A membership of the key's user: a member, seen from the user's side. */
export interface Membership {
  /** The member's id. */
  readonly id: string;
  /** The merchant account or organization. */
  readonly resource: {
    /** The merchant code, for a merchant. */
    readonly id: string;
    /** `merchant`, `organization`, or a word that the contract does not name. */
    readonly type: string;
    /** Empty if the service does not return it. */
    readonly name: string;
    /** True for a test account; `null` if unknown. */
    readonly sandbox: boolean | null;
  };
  /** Role ids. */
  readonly roles: readonly string[];
  readonly status: MemberStatus;
  /** The end of a pending invitation, ISO 8601; absent if there is none. */
  readonly expiresAt?: string;
}

/** A role at the service. */
export interface LiveRole extends Held<RoleImage> {
  readonly id: string;
  /** True if the service provides it; it can be held, but never changed or removed. */
  readonly predefined: boolean;
  /** The properties of `metadata` with a number that was rounded; absent if none. */
  readonly rounded?: readonly string[];
  /** ISO 8601; absent if the response does not say. */
  readonly createdAt?: string;
  /** ISO 8601. */
  readonly updatedAt: string;
  /** True if only the id is known, because the service does not return the role. */
  readonly idOnly?: true;
}

/** The ids of the predefined roles that every merchant is known to have. */
export const PREDEFINED_ROLES: readonly string[] = [
  "role_owner",
  "role_admin",
  "role_manager",
  "role_employee",
  "role_accountant",
  "role_cashier",
];

/** Returns the id of the predefined role with a name, in any case; `null` if there is none. */
export function predefinedRole(name: string): string | null {
  return PREDEFINED_ROLES.find((id) => id === `role_${name.toLowerCase()}`) ?? null;
}

/** The predefined roles that the service may refuse to assign through its API; current holders keep them. */
export const UNASSIGNABLE_ROLES: readonly string[] = ["role_owner", "role_admin"];

/** Returns whether a reference to a role looks like an id, as `role_owner` does. */
export function isLikeRoleId(role: string): boolean {
  return role.startsWith("role_");
}

/** The user of an accepted membership. */
export interface LiveUser extends Held<ManagedProperties> {
  readonly id: string;
  /** Absent if missing or empty. */
  readonly email?: string;
  /** `null` if unknown. */
  readonly mfaOnLogin: boolean | null;
  /**
   * `user`, `managed_user` (an operator of the merchant's own), `service_account`, `system_account`, or another type of
   * the service, about which nothing is known.
   */
  readonly type: string;
}

/** A pending invitation. */
export interface LiveInvite {
  readonly email: string;
  /** ISO 8601. */
  readonly expiresAt: string;
}

/** A member at the service; without `user` and `invite` it has no address. */
export interface LiveMember extends Held<MemberProperties> {
  readonly id: string;
  /** Role ids. */
  readonly roles: readonly string[];
  readonly status: MemberStatus;
  readonly user?: LiveUser;
  readonly invite?: LiveInvite;
  /** The properties of `metadata` with a number that was rounded; absent if none. */
  readonly rounded?: readonly string[];
  /** The exact JSON text of these properties. */
  readonly exact?: Readonly<Record<string, string>>;
  /** ISO 8601; absent if the response does not say. */
  readonly createdAt?: string;
  /** ISO 8601. */
  readonly updatedAt: string;
}

/** The consistent live state of one merchant; ids are unique. */
export interface LiveState {
  readonly merchant: string;
  /** The name of the account; absent if the service does not say. */
  readonly merchantName?: string;
  /** The custom roles, and other roles that a member holds, or that the file names and that exist. */
  readonly roles: readonly LiveRole[];
  readonly members: readonly LiveMember[];
  /** The member that the API key belongs to; `null` if none or unknown. */
  readonly callerId: string | null;
  /** Set if the member of the key could not be looked up. */
  readonly callerUnknown?: true;
  /** True for a test account; absent if the service does not say. */
  readonly sandbox?: boolean;
  /** Why the service could not be asked whether it is a test account; absent if it answered. */
  readonly sandboxFailure?: Failure;
}
