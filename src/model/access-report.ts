import type { Environment } from "./desired.ts";
import type { MemberStatus } from "./live.ts";

/** Who may do what at one merchant; with a plan also what it would leave behind. */
export interface AccessReport {
  readonly merchant: string;
  readonly environment: Environment | null;
  /** Base URL of the service that was read; null where only the file was. */
  readonly service: string | null;
  readonly roles: readonly ReportedRole[];
  readonly members: readonly ReportedMember[];
}

/** A role and what it grants; without a plan `before` and `after` are the same object. */
export interface ReportedRole {
  /** Tells the roles of one report apart. */
  readonly key: string;
  readonly name: string;
  readonly id: string | null;
  readonly description: string | null;
  readonly predefined: boolean;
  /** Null where it is not there; permissions are null where nobody tells them. */
  readonly before: { readonly permissions: readonly string[] | null } | null;
  readonly after: { readonly permissions: readonly string[] | null } | null;
}

/** What a member holds at one moment. */
export interface ReportedHolding {
  /** `invited` by the plan; `declared` in a file and not looked up. */
  readonly status: MemberStatus | "invited" | "declared";
  /** Keys of roles. */
  readonly roles: readonly string[];
}

/** A member and what it holds; without a plan `before` and `after` are the same object. */
export interface ReportedMember {
  /** The address, or the id where there is none. */
  readonly name: string;
  readonly nickname: string | null;
  /** As `LiveUser` has it. */
  readonly type: string;
  /** Null where it is not known. */
  readonly mfa: boolean | null;
  /** When its invitation expires, ISO 8601; null where there is none. */
  readonly invitedUntil: string | null;
  readonly before: ReportedHolding | null;
  readonly after: ReportedHolding | null;
  readonly ends: readonly ReportedEnd[];
}

/** An end that the file sets. */
export interface ReportedEnd {
  /** The role's name; null for the whole membership. */
  readonly role: string | null;
  /** As it is written. */
  readonly text: string;
  /** The first moment without it, in milliseconds since the epoch. */
  readonly ends: number;
}
