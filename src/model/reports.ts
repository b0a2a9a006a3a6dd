import type { ListedRule } from "./coverage.ts";
import type { Environment } from "./desired.ts";
import type { ManagedProperties } from "./field-values.ts";
import type { MemberStatus } from "./live.ts";
import type { Impact, Plan, Refusal } from "./plan.ts";

/** The access at one merchant; with a plan, also the access that results from it. */
export interface AccessReport {
  readonly merchant: string;
  /** The name of the account at the service; `null` if unknown. */
  readonly merchantName: string | null;
  readonly environment: Environment | null;
  /** Base URL of the service that was read; `null` if only the file was read. */
  readonly service: string | null;
  readonly roles: readonly ReportedRole[];
  readonly members: readonly ReportedMember[];
  /** The sensitive permissions of the roles, sorted. */
  readonly sensitive: readonly string[];
}

/** A role and its permissions; without a plan, `before` and `after` are the same object. */
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

/** The roles of a member at a given time. */
export interface ReportedHolding {
  /** `invited`: by the plan; `declared`: in a file, and not looked up. */
  readonly status: MemberStatus | "invited" | "declared";
  /** Keys of roles. */
  readonly roles: readonly string[];
}

/** A member and its roles; without a plan, `before` and `after` are the same object. */
export interface ReportedMember extends ManagedProperties {
  /** The address, else the id. */
  readonly name: string;
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
  /** The text, as written in the file. */
  readonly text: string;
  /** The first moment without access, in ms since the epoch. */
  readonly ends: number;
}

/**
 * The result of a rule: `overridden` if it refuses and the file overrides it, `unknown` if a fact that it needs is not
 * known, `not-judged` for a guard that judges plans, if there is no plan.
 */
export type RuleStatus = "passed" | "failed" | "overridden" | "unknown" | "not-judged";

/** The result of a rule in one access. */
export interface RuleResult {
  readonly status: RuleStatus;
  /** Failures and unknowns, in sentences; empty if it passed. */
  readonly reasons: readonly string[];
}

/** A rule of a merchant with its results; without a plan, `before` and `after` are the same object. */
export interface ReportedRule {
  readonly rule: ListedRule;
  readonly before: RuleResult;
  readonly after: RuleResult;
}

/**
 * The side that changed last: the live state, after the last commit that changed the entry (`outside-git`), or the
 * file, after the last live change (`not-applied`); neither, but an end in the file has passed (`due`); `unknown` if it
 * cannot be determined.
 */
export type DriftCause = "outside-git" | "not-applied" | "due" | "unknown";

/**
 * A change made at the service, which the plan would revert. `missing` is declared and not live: it was removed at the
 * service, or never applied.
 */
export type DriftEvent = "added" | "changed" | "missing";

/** A commit with recorded live states. */
export interface RecordedCommit {
  readonly commit: string;
  /** ISO 8601. */
  readonly at: string;
}

/** Two successive recorded states of a merchant: the first does not have a change, the second does. */
export interface RecordedSpan {
  /** `null` if all recorded states have the change. */
  readonly from: RecordedCommit | null;
  /** `null` if no recorded state has it yet. */
  readonly to: RecordedCommit | null;
}

/** The cause and times of a planned change. */
export interface DriftedChange {
  /** Fingerprint of the plan's change. */
  readonly fingerprint: string;
  readonly cause: DriftCause;
  /** `null` if the file changed or an end has passed, and for a member that only follows a replaced role. */
  readonly event: DriftEvent | null;
  /** Last commit that changed what its entry declares, in ms since the epoch; `null` if there is none, or it is unknown. */
  readonly fileChangedAt: number | null;
  /** Last change at the service, in ms since the epoch; `null` if it does not exist. */
  readonly liveChangedAt: number | null;
  /** The recorded states between which the live side changed; absent without such states, or if it has not changed. */
  readonly recorded?: RecordedSpan;
}

/** A policy or check that live access breaks; equal violations have equal fingerprints. */
export interface DriftViolation extends Refusal {
  readonly fingerprint: string;
}

/** The differences between a merchant and its file, and which side changed. */
export interface Drift {
  readonly plan: Plan;
  /** One for each of the plan's changes, in their order. */
  readonly changes: readonly DriftedChange[];
  /** Permissions that people gained and lost by the events. */
  readonly impact: Impact;
  /** The policies and checks that live access breaks. */
  readonly violations: readonly DriftViolation[];
}

/** The result of one check: `unknown` if it could not be determined, which is not a failure. */
export type CheckStatus = "ok" | "failed" | "unknown";

/** A check of `doctor`. */
export interface HealthCheck {
  readonly name: string;
  readonly status: CheckStatus;
  readonly detail: string;
  /** Suggested next step; absent if there is nothing to do. */
  readonly next?: string;
}

/**
 * Checks of one subject, each of which depends on the ones before it: after a failed connection, nothing more is
 * checked.
 */
export interface HealthGroup {
  readonly about: "machine" | "service" | "key" | "merchant" | "github";
  /** The base URL, the variable with the key, the merchants, or a part of the repository; empty for the machine. */
  readonly names: readonly string[];
  readonly checks: readonly HealthCheck[];
}

/** The minimal permissions that commands need for one key. */
export interface NeededPermissions {
  /** Name of the environment variable that held the key. */
  readonly keySource: string;
  readonly command: "plan" | "drift" | "apply";
  readonly permissions: readonly string[];
  /** Those of `permissions` that the key certainly lacks. */
  readonly missing: readonly string[];
}

/** All that `doctor` has found. */
export interface HealthReport {
  readonly groups: readonly HealthGroup[];
  readonly needed: readonly NeededPermissions[];
  /** Suggested next steps in their order; empty if nothing failed. */
  readonly next: readonly string[];
}

/** The verdict on an operation with a key; `unknown` if the service's responses are inconclusive. */
export interface OperationVerdict<Operation extends string = string> {
  readonly operation: Operation;
  readonly verdict: "permitted" | "denied" | "unknown";
  /** The evidence: the service's response. */
  readonly reason: string;
  /** A resource that may have been created or changed unexpectedly; absent: none. */
  readonly alarm?: string;
}

/** Access that only some people of a merchant have. */
export interface SoleAccess {
  readonly merchant: string;
  /** The source of the data: the files may omit members and the permissions of predefined roles. */
  readonly source: "declared" | "live";
  /** Sorted; permissions of roles whose permissions are unknown do not count. */
  readonly permissions: readonly string[];
  /** Names of roles that only they hold; sorted. */
  readonly roles: readonly string[];
}

/** Somebody who is removed from all files. */
export interface OffboardedPerson {
  readonly email: string;
  /** The files that list the address as a member. */
  readonly files: readonly string[];
  /** Files of the project that name the address and were not searched. */
  readonly elsewhere: readonly string[];
  /** The merchants where the address is live; `null` if nothing was asked. */
  readonly live: readonly string[] | null;
  /** The merchants that could not be read. */
  readonly unknown: readonly string[];
  /** The merchants where the next plan does not remove it, although no file lists it any longer. */
  readonly stays: readonly OffboardStay[];
  /** The merchants whose other files still list it. */
  readonly listed: readonly string[];
}

/** A merchant where the next plan keeps somebody who is removed from its files. */
export interface OffboardStay {
  readonly merchant: string;
  /** Why; `unplanned` if the reason is not known. */
  readonly because: "unlisted" | "ignored" | "service-account" | "leaves-later" | "no-file" | "unplanned";
  /** `null` if it is not known whether the address is live there. */
  readonly live: true | null;
}

/** A merchant without a file that could not be read; `null` for all that a key can access. */
export interface UnreadMerchant {
  readonly merchant: string | null;
  /** `null` if it is reported elsewhere. */
  readonly reason: string | null;
}
