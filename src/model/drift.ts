import type { Impact, Plan, Refusal } from "./plan.ts";

/**
 * Which side moved: the live one after the last commit that touched its entry (`outside-git`), the file after the last
 * change of the live one (`not-applied`), or nobody can tell (`unknown`).
 */
export type DriftCause = "outside-git" | "not-applied" | "unknown";

/** A change made at the service, which the plan would revert. */
export type DriftEvent = "added" | "removed" | "changed";

/** What is known of one change that a plan would make. */
export interface DriftedChange {
  /** Of the plan's change. */
  readonly fingerprint: string;
  readonly cause: DriftCause;
  /** Null where the file moved, and for a member who only moves along with a replaced role. */
  readonly event: DriftEvent | null;
  /** When its entry in the file was last committed, in milliseconds since the epoch; null where that is not known. */
  readonly fileChangedAt: number | null;
  /** When the service last changed it, in milliseconds since the epoch; null where it is not there. */
  readonly liveChangedAt: number | null;
}

/** A policy or check that what is live breaks; equal violations have equal fingerprints. */
export interface DriftViolation extends Refusal {
  readonly fingerprint: string;
}

/** How one merchant differs from its file, and which side moved. */
export interface Drift {
  readonly plan: Plan;
  /** One for each of the plan's changes, in their order. */
  readonly changes: readonly DriftedChange[];
  /** Permissions that people gained and lost by the events. */
  readonly impact: Impact;
  /** Every policy and check that what is live breaks. */
  readonly violations: readonly DriftViolation[];
}
