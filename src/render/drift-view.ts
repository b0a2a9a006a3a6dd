import type { Drift, DriftCause } from "../model/drift.ts";
import { rowOf } from "./change-view.ts";
import { type PlanView, planView } from "./plan-view.ts";

const TITLES: Readonly<Record<DriftCause, string>> = {
  "outside-git": "Changed outside git: live is newer than the file",
  "not-applied": "Merged, but not applied: the file is newer than what is live",
  unknown: "Different, and not known which side moved",
};
const CAUSES: readonly DriftCause[] = ["outside-git", "not-applied", "unknown"];

/** What every format shows of a drift: a plan's view, but by the side that moved, and without what an apply would meet. */
export function driftView({ plan, changes }: Drift): PlanView {
  const causes = new Map(changes.map(({ fingerprint, cause }) => [fingerprint, cause]));
  const groups = CAUSES.map((cause) => ({
    title: TITLES[cause],
    rows: plan.changes.filter(({ fingerprint }) => causes.get(fingerprint) === cause).map(rowOf),
  }));
  return {
    ...planView(plan),
    groups: groups.filter(({ rows }) => rows.length > 0),
    refusals: [],
    passwords: [],
  };
}
