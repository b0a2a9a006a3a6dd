import { createHash } from "node:crypto";
import type { Plan } from "../../model/plan.ts";
import { addCounts, planView } from "../../render/plan-view.ts";
import type { Outputs } from "../action-context.ts";

/** The numbers of plans as outputs of the step, and one fingerprint for all of them. */
export function planOutputs(plans: readonly Plan[]): Outputs {
  const counts = addCounts(plans.map((plan) => planView(plan).counts));
  const deferred = plans.reduce((sum, plan) => sum + plan.deferred.length, 0);
  const [only, ...more] = plans.map(({ fingerprint }) => fingerprint);
  return {
    "has-changes": String(plans.some(({ changes }) => changes.length > 0)),
    creates: String(counts.create),
    updates: String(counts.update),
    replaces: String(counts.replace),
    deletes: String(counts.delete),
    deferred: String(deferred),
    fingerprint: more.length === 0 ? (only ?? "") : hash([String(only), ...more]),
  };
}

function hash(fingerprints: readonly string[]): string {
  return createHash("sha256")
    .update([...fingerprints].sort().join("\n"))
    .digest("hex")
    .slice(0, 32);
}
