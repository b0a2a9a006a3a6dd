import { objectionSentences } from "../../cli/review/approval.ts";
import type { Look } from "../../cli/session/session.ts";
import type { ApprovalRecord } from "../../plan/approval-record.ts";
import { type Approval, approveByRecord, isRecordedPlan } from "../../plan/approve.ts";
import type { Scope } from "../scope.ts";
import { readApprovals } from "./approval-store.ts";
import type { Github, Pull } from "./github-api.ts";

/** How far back approvals are looked for that were merged and not applied yet. */
const MOST_COMMITS = 15;

/** Which pull requests approve of fresh plans, and what there is to object to; empty where nothing is. */
export interface MergedApproval {
  readonly pulls: readonly Pull[];
  readonly objections: readonly string[];
}

/** What the external id of a finished apply's check run begins with. */
export function appliedMark({ id }: Scope): string {
  return `rolecall-apply/1/${id}`;
}

/**
 * Holds fresh plans against what was approved on the pull request that a commit comes from. Where that does not speak of
 * everything, the commits before it count too, back to the last one that was applied: several may be merged at once.
 */
export async function mergedApproval(
  looks: readonly Look[],
  place: { readonly sha: string; readonly branch: string; readonly scope: Scope },
  rule: "refuse-new" | "fail",
  github: Github,
): Promise<MergedApproval> {
  const pulls: Pull[] = [];
  const records: ApprovalRecord[] = [];
  let objections: readonly string[] = [];
  const commits = await github.commits(place.sha, MOST_COMMITS);
  for (const [index, commit] of (commits[0] === place.sha ? commits : [place.sha]).entries()) {
    if (index > 0 && (await isApplied(commit, place.scope, github))) break;
    const pull = await mergedPull(commit, place.branch, github);
    if (pull !== null && !pulls.some(({ number }) => number === pull.number)) {
      pulls.push(pull);
      records.push(...(await readApprovals(pull.headSha, github)));
    }
    objections = objectionsTo(looks, records, rule);
    // With this rule the plan has to be the one that was shown, so no other commit can help.
    if (objections.length === 0 || rule === "fail") break;
  }
  return { pulls, objections };
}

/** The pull request that brought a commit to a branch. */
export async function mergedPull(commit: string, branch: string, github: Github): Promise<Pull | null> {
  const all = await github.pullsOf(commit);
  const merged = all.filter(({ mergedAs, baseRef }) => mergedAs !== null && baseRef === branch);
  return merged.find(({ mergedAs }) => mergedAs === commit) ?? merged[0] ?? null;
}

async function isApplied(commit: string, scope: Scope, github: Github): Promise<boolean> {
  const checks = await github.checks(commit);
  return checks.some(
    ({ externalId, conclusion }) => externalId === appliedMark(scope) && conclusion === "success",
  );
}

/** What nobody approved; a change may be approved by any of the records, each with all that it says. */
function objectionsTo(
  looks: readonly Look[],
  records: readonly ApprovalRecord[],
  rule: "refuse-new" | "fail",
): readonly string[] {
  return looks.flatMap(({ plan, live }) => {
    if (plan.changes.length === 0) return [];
    const own = records.filter(({ merchant }) => merchant === plan.merchant);
    if (own.length === 0) return [`${plan.merchant}: no plan of this merchant was approved.`];
    if (rule === "fail") {
      return own.some((record) => isRecordedPlan(plan, record))
        ? []
        : [`${plan.merchant}: the plan is not the one that was approved.`];
    }
    return objectionSentences(plan.merchant, together(own.map((one) => approveByRecord(plan, one, live))));
  });
}

/** What several approvals say together: new is only what is new to all of them. */
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
