import type { Impact, Plan, Refusal } from "./plan.ts";

/**
 * Which side moved: the live one after the last commit that touched its entry (`outside-git`), the file after the last
 * change of the live one (`not-applied`), or nobody can tell (`unknown`).
 */
export type DriftCause = "outside-git" | "not-applied" | "unknown";

/** A change made at the service, which the plan would revert. */
export type DriftEvent = "added" | "removed" | "changed";

/** The cause and times of a planned change. */
export interface DriftedChange {
  /** Of the plan's change. */
  readonly fingerprint: string;
  readonly cause: DriftCause;
  /** `null` if the file changed, and for a member that only follows a replaced role. */
  readonly event: DriftEvent | null;
  /** Last commit of its entry in the file, in ms since the epoch; `null` if unknown. */
  readonly fileChangedAt: number | null;
  /** Last change at the service, in ms since the epoch; `null` if it does not exist. */
  readonly liveChangedAt: number | null;
}

/** A policy or check that what is live breaks; equal violations have equal fingerprints. */
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
  /** Every policy and check that what is live breaks. */
  readonly violations: readonly DriftViolation[];
}
