import type { Environment } from "./desired.ts";
import type { MemberStatus } from "./live.ts";

/** The access at one merchant; with a plan also the access that results from it. */
export interface AccessReport {
  readonly merchant: string;
  readonly environment: Environment | null;
  /** Base URL of the service that was read; `null` if only the file was. */
  readonly service: string | null;
  readonly roles: readonly ReportedRole[];
  readonly members: readonly ReportedMember[];
}

/** A role and its permissions; without a plan `before` and `after` are the same object. */
export interface ReportedRole {
  /** Unique among the roles of a report. */
  readonly key: string;
  readonly name: string;
  readonly id: string | null;
  readonly description: string | null;
  readonly predefined: boolean;
  /** `null` if it does not exist; permissions are `null` if unknown. */
  readonly before: { readonly permissions: readonly string[] | null } | null;
  readonly after: { readonly permissions: readonly string[] | null } | null;
}

/** The roles of a member at one time. */
export interface ReportedHolding {
  /** `invited` by the plan; `declared` in a file and not looked up. */
  readonly status: MemberStatus | "invited" | "declared";
  /** Keys of roles. */
  readonly roles: readonly string[];
}

/** A member and its roles; without a plan `before` and `after` are the same object. */
export interface ReportedMember {
  /** The address, else the id. */
  readonly name: string;
  readonly nickname: string | null;
  /** The type of `LiveUser`. */
  readonly type: string;
  /** `null` if unknown. */
  readonly mfa: boolean | null;
  /** Expiry of its invitation, ISO 8601; `null` if there is none. */
  readonly invitedUntil: string | null;
  readonly before: ReportedHolding | null;
  readonly after: ReportedHolding | null;
  readonly ends: readonly ReportedEnd[];
}

/** An end of access that is set in the file. */
export interface ReportedEnd {
  /** The role's name; `null` for the whole membership. */
  readonly role: string | null;
  /** As written in the file. */
  readonly text: string;
  /** The first moment without access, in ms since the epoch. */
  readonly ends: number;
}
