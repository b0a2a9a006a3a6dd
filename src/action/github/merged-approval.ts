import { objectionSentences } from "../../cli/review/approval.ts";
import type { PlanResult } from "../../cli/session/session.ts";
import { type Approval, type ApprovalRecord, approveByRecord, isRecordedPlan } from "../../plan/approve.ts";
import type { RecordTrust } from "./approval-store.ts";
import type { Github, Pull } from "./github-api.ts";
import { type ApplyPlace, unappliedPulls } from "./merged-pulls.ts";
import { type PullApproval, pullApproval } from "./pull-approval.ts";

/** The approving pull requests, and objections to the changes that none of them approves. */
export interface MergedApproval {
  readonly pulls: readonly Pull[];
  readonly objections: readonly string[];
  /** Why records do not count, a sentence each. */
  readonly ignored: readonly string[];
}

/**
 * Compares new plans with the approval on the pull requests of a commit. If changes remain, earlier commits count too,
 * back to the last applied one, because several pull requests may be merged before an apply.
 */
export async function mergedApproval(
  looks: readonly PlanResult[],
  place: ApplyPlace,
  rule: "refuse-new" | "fail",
  trust: RecordTrust,
  github: Github,
): Promise<MergedApproval> {
  const found: PullApproval[] = [];
  let objections = objectionsTo(looks, [], rule, trust.key);
  for await (const pulls of unappliedPulls(place, trust, github)) {
    for (const pull of pulls) found.push(await pullApproval(pull, trust, github));
    const records = found.flatMap((one) => one.records);
    if (pulls.length > 0) objections = objectionsTo(looks, records, rule, trust.key);
    // This rule requires the very plan that was reviewed, so other commits do not help.
    if (objections.length === 0 || rule === "fail") break;
  }
  return { pulls: found.map(({ pull }) => pull), objections, ignored: found.flatMap((one) => one.ignored) };
}

/** Returns the objections to changes that no record approves. */
function objectionsTo(
  looks: readonly PlanResult[],
  records: readonly ApprovalRecord[],
  rule: "refuse-new" | "fail",
  key: string,
): readonly string[] {
  return looks.flatMap(({ plan, live }) => {
    if (plan.changes.length === 0) return [];
    const own = records.filter(({ merchant }) => merchant === plan.merchant);
    if (own.length === 0) return [`${plan.merchant}: no plan of this merchant was approved.`];
    if (rule === "fail") {
      return own.some((record) => isRecordedPlan(plan, record, key))
        ? []
        : [`${plan.merchant}: the plan differs from the approved one.`];
    }
    const approval = together(own.map((one) => approveByRecord(plan, one, live, key)));
    return objectionSentences(approval).map((sentence) => `${plan.merchant}: ${sentence}`);
  });
}

/** Merges approvals: a change is new only if it is new to all of them. */
function together(approvals: readonly Approval[]): Approval {
  if (approvals.some(({ status }) => status === "approved")) return { status: "approved" };
  const news = approvals.flatMap((one) => (one.status === "new-changes" ? [one] : []));
  const [first, ...others] = news;
  if (first === undefined) return approvals[0] ?? { status: "tampered" };
  const changes = first.changes.filter(({ fingerprint }) =>
    others.every((other) => other.changes.some((change) => change.fingerprint === fingerprint)),
  );
  return changes.length === 0 ? { status: "approved" } : { status: "new-changes", changes };
}
