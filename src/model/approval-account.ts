import type { Origin } from "./desired.ts";
import type { Change } from "./plan.ts";

/** The location of a row in a reviewed state. */
export interface RowPlace {
  readonly list: "roles" | "members" | "people" | "dates";
  readonly index: number;
}

/** A change in a fresh plan that no review covers, or that depends on such a change. */
export interface RefusedChange {
  readonly change: Change;
  /** A sentence each. */
  readonly reasons: readonly string[];
}

/**
 * Outcome of a reviewed change: the covered plan makes it; it is already made; a later review supersedes it; a reviewed
 * date has passed since; it waits until others accept; it is refused together with something that nobody reviewed; the
 * files or the service no longer lead to it.
 */
export type Verdict = "covered" | "done" | "superseded" | "ended" | "deferred" | "refused" | "dropped";

/** The outcome of one reviewed change. */
export interface AccountEntry {
  /** The name of the review, and its index among the reviews. */
  readonly review: string;
  readonly index: number;
  /**
   * The row of the reviewed state; `people` is what somebody gains or loses through roles alone, `dates` what was due
   * later.
   */
  readonly row: RowPlace;
  readonly resource: "role" | "member";
  /** `null` if nobody with that sealed name is live or listed. */
  readonly name: string | null;
  readonly does: "create" | "update" | "remove" | "permissions";
  readonly verdict: Verdict;
  /** Differences from the reviewed change, one sentence each; empty if there are none. */
  readonly reasons: readonly string[];
  /** The name of the later review that superseded it, if any. */
  readonly by: string | null;
  /** The file entries that contradict it, if it is dropped; empty if there are none. */
  readonly origins: readonly Origin[];
  /** Fingerprints of the fresh plan's changes that affect the same role or person, and of deferred ones. */
  readonly fingerprints: readonly string[];
}
