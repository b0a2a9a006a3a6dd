import type { PlannedMerchant } from "../../app/session/session.ts";
import { oneLine } from "../../lib/escape.ts";
import { fenced } from "../../show/markdown/markdown-blocks.ts";
import type { ActionContext } from "../context/action-context.ts";
import type { EventContext } from "../context/event-context.ts";
import type { Github } from "../context/github-api.ts";
import { readBaselines } from "../github/apply-mark.ts";
import {
  type MergedApproval,
  mergedApproval,
  objectionLines,
  openApprovals,
  pullNames,
} from "../github/merged-approval.ts";
import { type ApplyPlace, queuedPulls, readingApprovals } from "../github/merged-pulls.ts";
import { recordTrust } from "../github/pull-approval.ts";
import { maskText } from "./annotations.ts";
import { withTimes } from "./covered-merchants.ts";

/** Returns whether the event is a review of a pull request: it looks again at a plan, and must not approve it anew. */
export function isReview({ name }: EventContext): boolean {
  return name.startsWith("pull_request_review");
}

/**
 * Compares plans with those that were approved before, in the merge queue and after a review. Returns `null` for other
 * events.
 */
export async function approvedBefore(
  context: ActionContext,
  looks: readonly PlannedMerchant[],
): Promise<MergedApproval | null> {
  const { event, inputs, github, scope } = context;
  return readingApprovals(async () => {
    const place = await reviewedPlace(event, github);
    if (place === null) return null;
    const { onPlanChange: rule, approvalSecret: key } = inputs;
    if (rule === "apply") return { pulls: place.pulls, objections: new Map(), ignored: [] };
    const trust = recordTrust(inputs);
    const codes = looks.map(({ plan }) => plan.merchant);
    const found = await readBaselines(codes, { sha: place.sha, family: scope.family }, trust, github);
    const states = looks.map(({ session }) => session.state);
    const baselines = await withTimes(found, states, context);
    const { pulls, ...compared } = await mergedApproval(
      looks,
      openApprovals(place, trust, github),
      baselines,
      {
        rule,
        key,
      },
    );
    return { ...compared, pulls: pulls.length === 0 ? place.pulls : pulls };
  });
}

async function reviewedPlace(event: EventContext, github: Github): Promise<ApplyPlace | null> {
  const { group, pull, sha } = event;
  if (group !== null) {
    return { sha: group.headSha, branch: group.baseRef, pulls: await queuedPulls(group, github) };
  }
  if (pull === null || !isReview(event)) return null;
  const reviewed = { ...(await github.pull(pull.number)), headSha: pull.headSha };
  return { sha, branch: pull.baseRef, pulls: [reviewed] };
}

/** Returns the paragraph that says whether plans were approved before, and if not, what to do next. */
export function approvalText(
  { event, masked }: ActionContext,
  { pulls, objections, ignored }: MergedApproval,
): string {
  const where = pulls.length === 0 ? "" : ` on ${pullNames(pulls)}`;
  if (objections.size === 0) return `**Approved**${where}: there is nothing else in this plan.`;
  const lines = [...objectionLines(objections), ...ignored]
    .map(oneLine)
    .map((line) => (masked ? maskText(line) : line));
  return [`**Not what was approved**${where}. ${howToApprove(event)}`, fenced("text", lines)].join("\n\n");
}

/** Returns what to do about a plan that is not what was approved. */
export function howToApprove(event: EventContext): string {
  return isReview(event)
    ? "Run the plan of the pull request again, and review it again."
    : "Update the pull request, so that its plan shows what is new, and queue it again after its review.";
}
