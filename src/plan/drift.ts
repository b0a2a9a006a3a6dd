import type { Drift, DriftCause } from "../model/drift.ts";
import type { Change, Plan } from "../model/plan.ts";

/** When the two sides of a change last moved, in milliseconds since the epoch; null where that is not known. */
export interface DriftTimes {
  readonly file: (change: Change) => number | null;
  readonly live: (change: Change) => number | null;
}

/** Tells a plan as drift: which side of each change moved last. */
export function driftOf(plan: Plan, times: DriftTimes): Drift {
  return {
    plan,
    changes: plan.changes.map((change) => {
      const fileChangedAt = times.file(change);
      const liveChangedAt = times.live(change);
      return {
        fingerprint: change.fingerprint,
        cause: causeOf(fileChangedAt, liveChangedAt),
        fileChangedAt,
        liveChangedAt,
      };
    }),
  };
}

/** A commit is told in whole seconds, so the live side has to be later by more than that. */
const SECOND = 1000;

function causeOf(file: number | null, live: number | null): DriftCause {
  if (file === null || live === null) return "unknown";
  return live >= file + SECOND ? "outside-git" : "not-applied";
}
