import type { Metadata } from "./json.ts";

/** A membership's status; a value that the contract does not name reads as `unknown`. */
export type MemberStatus = "accepted" | "pending" | "expired" | "disabled" | "unknown";

/** A role as the service holds it. */
export interface LiveRole {
  readonly id: string;
  readonly name: string;
  readonly description?: string;
  readonly permissions: readonly string[];
  /** Provided by the service itself: it can be held, but never changed or removed. */
  readonly predefined: boolean;
  readonly metadata: Metadata;
  /** The properties of `metadata` with a number that had to be rounded; absent where there is none. */
  readonly rounded?: readonly string[];
  /** ISO 8601. */
  readonly updatedAt: string;
  /** Nothing but the id is known: the service does not answer for it. */
  readonly idOnly?: true;
}

/** The ids of the roles that the service is known to provide to every merchant. */
export const PREDEFINED_ROLES: readonly string[] = [
  "role_owner",
  "role_admin",
  "role_manager",
  "role_employee",
  "role_accountant",
  "role_cashier",
];

/** The end-user behind an accepted membership. */
export interface LiveUser {
  readonly id: string;
  /** Absent where the service gives none, or an empty one. */
  readonly email?: string;
  readonly mfaOnLogin: boolean;
  /**
   * `user`, `managed_user` (an operator of the merchant's own), `service_account`, `system_account`, or another word of
   * the service: nothing is known of such a type.
   */
  readonly type: string;
  readonly nickname?: string;
}

/** An invitation that waits for its addressee. */
export interface LiveInvite {
  readonly email: string;
  /** ISO 8601. */
  readonly expiresAt: string;
}

/** A member as the service holds it; one without `user` and `invite` has no address. */
export interface LiveMember {
  readonly id: string;
  /** Role ids. */
  readonly roles: readonly string[];
  readonly status: MemberStatus;
  readonly user?: LiveUser;
  readonly invite?: LiveInvite;
  readonly metadata: Metadata;
  /** The properties of `metadata` with a number that had to be rounded; absent where there is none. */
  readonly rounded?: readonly string[];
  /** ISO 8601. */
  readonly updatedAt: string;
}

/** The live state of one merchant, read whole and consistent with itself: each id is there once. */
export interface LiveState {
  readonly merchant: string;
  /** The custom roles, and every predefined or unlisted role that a member holds or the file names, as far as it exists or is held. */
  readonly roles: readonly LiveRole[];
  readonly members: readonly LiveMember[];
  /** The member that the API key belongs to; null where the key belongs to nobody, or the service does not tell. */
  readonly callerId: string | null;
  /** It could not be found out whether the key belongs to a member, and to which. */
  readonly callerUnknown?: true;
}
