import type { PlannedMerchant } from "../../app/session/session.ts";
import { compareReviewed } from "../../kernel/approval/compare-reviewed.ts";
import { oneLine } from "../../lib/escape.ts";
import { firstOf } from "../../lib/text.ts";
import type { AccountEntry } from "../../model/approval-account.ts";
import type { DesiredState } from "../../model/desired.ts";
import type { Plan } from "../../model/plan.ts";
import { standingReviews } from "../../review/counted-run.ts";
import type { ForgePull } from "../../review/forge.ts";
import { droppedChanges, judgeMerchant, type PlaceOfEntry } from "../../review/judge-merchant.ts";
import {
  isToCome,
  lostReviews,
  type MergedReview,
  type OpenStore,
  type ReviewRecords,
  recordedReviews,
  reviewOf,
  reviewsOf,
} from "../../review/merchant-state.ts";
import { undeclaredSentence } from "../../review/open-failures.ts";
import { type RecordedPlan, recordPlan } from "../../review/recorded-plan.ts";
import { fenced, inlineCode } from "../../show/markdown/markdown-blocks.ts";
import type { ActionContext } from "../context/action-context.ts";
import { ActionError } from "../context/action-error.ts";
import type { EventContext } from "../context/event-context.ts";
import { queuedPulls, readingApprovals } from "../github/merged-pulls.ts";

/** Approvals so far of a pull request, or of the pull requests of a merge group. */
export interface PlanApproval {
  /** The pull requests that the plan is of. */
  readonly own: readonly MergedReview[];
  /** Reviews that were merged earlier and are not applied yet. */
  readonly merged: readonly MergedReview[];
  /**
   * Sentences that say why merchants' plans differ from what was approved; empty if they do not, or if nothing was
   * approved.
   */
  readonly objections: ReadonlyMap<string, readonly string[]>;
  /** Sentences about reviewed changes that were lost earlier, and that merging this plan does not restore. */
  readonly settled: readonly string[];
  /** Sentences about future dates of the base branch that no review has shown; merging this plan approves them. */
  readonly unseen: readonly string[];
  /** True if the approvals came before any plan of their commit. */
  readonly isEarly: boolean;
  /** True if somebody requests changes of the pull request. */
  readonly isRejected: boolean;
}

export function isReview({ name }: EventContext): boolean {
  return name.startsWith("pull_request_review");
}

/** Returns the reviews of the pull request, or of those of the merge group, that a plan is of. */
export function ownReviews(
  { event, github }: Pick<ActionContext, "event" | "github">,
  records: ReviewRecords,
): Promise<readonly MergedReview[]> {
  const { pull } = event;
  return readingApprovals(() =>
    pull === null ? queuedReviews(event, github, records) : openReview(pull.number, github, records),
  );
}

/**
 * Compares plans with what has been approved of them so far; `null` for events without a pull request. `declared` are the
 * merchants that files declare; `null` if not all are known.
 */
export async function approvalSoFar(
  { event, github }: Pick<ActionContext, "event" | "github">,
  { seal }: OpenStore,
  records: ReviewRecords,
  own: readonly MergedReview[],
  looks: readonly PlannedMerchant[],
  declared: ReadonlySet<string> | null,
  placeOf: PlaceOfEntry,
): Promise<PlanApproval | null> {
  const { pull, group } = event;
  const branch = pull?.baseRef ?? group?.baseRef;
  if (branch === undefined) return null;
  return readingApprovals(async () => {
    const { merged } = await recordedReviews(records, github, branch);
    const isApproved = group !== null || own.some(({ approvals }) => approvals.length > 0);
    const settled = looks.flatMap((look): readonly string[] => {
      const { merchant } = look.plan;
      const lost = lostReviews(records.states.get(merchant));
      if (lost.length === 0) return [];
      const comparison = compareReviewed(lost, look, seal);
      const sentences = [
        ...droppedChanges(comparison, lost, placeOf).map(({ sentence }) => sentence),
        ...comparison.account.flatMap((entry) => renamedText(entry, look.session.state)),
      ];
      return sentences.map((sentence) => `${merchant}: ${sentence}`);
    });
    const unseen = looks.flatMap((look): readonly string[] => {
      const { merchant, reviewed } = look.plan;
      const state = records.states.get(merchant);
      if (!state?.failure) return [];
      const { baseDates = reviewed.dates } = reviewed;
      return compareReviewed(reviewsOf(merchant, state, merged), look, seal).unseenDates.flatMap(
        ({ date, text }) =>
          baseDates.some(({ at, name }) => at === date.at && name === date.email.toLowerCase())
            ? `${merchant}: ${text}`
            : [],
      );
    });
    const objections = new Map(declared === null ? [] : undeclaredObjections(own, declared));
    for (const look of isApproved ? looks : []) {
      const { merchant } = look.plan;
      const recorded = records.states.get(merchant);
      const reviews = reviewsOf(merchant, recorded, [...merged, ...own]);
      const judged = judgeMerchant(look, reviews, seal, placeOf);
      const gone = judged.dropped.map(({ review, change, why, sentence }) =>
        own.some(({ name }) => name === review)
          ? `it was approved to ${change}, but no longer does so: ${why}.`
          : sentence,
      );
      const sentences = [...judged.refusals, ...gone];
      if (sentences.length > 0) objections.set(merchant, sentences);
    }
    const isReviewable = pull !== null && looks.some(hasReviewed);
    const isEarly = isApproved && isReviewable && own.every(({ run }) => run === null);
    const isRejected = isReviewable && own.some((review) => hasRejection(review, github.now()));
    return { own, merged, objections, settled, unseen, isEarly, isRejected };
  });
}

/** Returns objections to approved changes at merchants that no file declares any longer. */
function undeclaredObjections(
  own: readonly MergedReview[],
  declared: ReadonlySet<string>,
): readonly (readonly [string, readonly string[]])[] {
  const approved = new Set(own.flatMap(({ run }) => [...(run?.merchants.keys() ?? [])]));
  return [...approved].flatMap((merchant) => {
    const reviews = declared.has(merchant) ? [] : reviewsOf(merchant, undefined, own).filter(isToCome);
    const sentence = undeclaredSentence(merchant, reviews);
    return sentence === null ? [] : [[merchant, [sentence]] as const];
  });
}

/** Says that somebody whose reviewed removal was lost continues under a new address; empty if nobody does. */
function renamedText(
  { review, does, verdict, name }: AccountEntry,
  { members = [] }: DesiredState,
): readonly string[] {
  if (does !== "remove" || verdict === "dropped" || name === null) return [];
  return members
    .filter(({ previously = [] }) => previously.some((former) => former.toLowerCase() === name.toLowerCase()))
    .map(({ email }) => `${review} was to remove ${name}, and was lost: ${name} continues as ${email}.`);
}

function hasReviewed({ plan: { reviewed } }: PlannedMerchant): boolean {
  return reviewed.roles.length + reviewed.members.length + reviewed.people.length + reviewed.dates.length > 0;
}

function hasRejection({ pull: { reviews } }: MergedReview, now: number): boolean {
  return standingReviews(reviews, now).some(({ opinion }) => opinion === "rejected");
}

async function openReview(
  number: number,
  github: ActionContext["github"],
  records: ReviewRecords,
): Promise<readonly MergedReview[]> {
  const pulls = await github.pulls([number]);
  return Promise.all(pulls.map((pull) => reviewOf(pull, records, github)));
}

/** Returns the reviews of the pull requests of a merge group: somebody has asked to merge them as they are. */
async function queuedReviews(
  { group }: EventContext,
  github: ActionContext["github"],
  records: ReviewRecords,
): Promise<readonly MergedReview[]> {
  if (group === null) return [];
  const queued = await queuedPulls(group, github);
  const pulls = await github.pulls(queued.map(({ number }) => number));
  const merging = pulls.map((pull): ForgePull => ({ ...pull, status: "merged", mergedAt: github.now() }));
  return Promise.all(merging.map((pull) => reviewOf(pull, records, github)));
}

/** Records a plan for the apply after its merge; throws ActionError if the pull request has another base branch by now. */
export async function keepPlan(
  { event: { pull }, github, log }: Pick<ActionContext, "event" | "github" | "log">,
  openStore: OpenStore,
  records: ReviewRecords,
  plans: readonly Plan[],
  comment: number | null,
): Promise<RecordedPlan | null> {
  if (pull === null || plans.length === 0) return null;
  const kept = await recordPlan({ ...pull, comment }, plans, openStore, records, github);
  if (kept.outcome === "other-base") {
    throw new ActionError(
      "not-approved",
      "The base branch of the pull request has changed since this plan.",
      "Close the pull request and reopen it.",
    );
  }
  if (kept.outcome === "closed")
    log.notice("The pull request is closed or merged, so this plan is not recorded.");
  if (kept.outcome === "merged")
    log.notice("The pull request was merged in the meantime, so this plan is not recorded.");
  return kept;
}

/** Returns the paragraph that says whether a plan is what was approved before, and if not, what to do next. */
export function approvalText(
  { event, mask }: Pick<ActionContext, "event" | "mask">,
  { own, objections, isEarly }: PlanApproval,
): string {
  const where = own.length === 0 ? "" : ` on ${pullNames(own)}`;
  if (objections.size === 0 && !isEarly) return `**Approved**${where}: the plan contains nothing else.`;
  const lines = mask(objectionLines(objections).map(oneLine));
  const why = isEarly ? "**Approved before this plan was ready**" : "**Not what was approved**";
  const text = `${why}${where}. ${howToApprove(event)}`;
  return lines.length === 0 ? text : [text, fenced("text", lines)].join("\n\n");
}

/** Returns the warning about a plan that nobody has approved in its current form; empty if there is none. */
export function changedRemarks(approval: PlanApproval | null, { group }: EventContext): readonly string[] {
  if (approval === null || group !== null) return [];
  const { own, objections, isEarly } = approval;
  const closed = own.find(({ pull }) => pull.status !== "open");
  if (closed !== undefined) {
    return [
      `> [!NOTE]\n> **This pull request is ${closed.pull.status}**, so this plan can no longer be approved, and is not recorded. An apply uses what was approved before.`,
    ];
  }
  const last = own.flatMap(({ approvals }) => approvals).at(-1);
  if (last === undefined || (objections.size === 0 && !isEarly)) return [];
  const when = new Date(last.submittedAt).toISOString().slice(0, 16).replace("T", " ");
  if (isEarly) {
    return [
      `> [!WARNING]\n> **Approved before this plan was ready**, at ${when} UTC: nobody has approved this plan. Submit an approving review again.`,
    ];
  }
  const merchants = firstOf([...objections.keys()].map(inlineCode), MAX_NAMED, "merchant");
  return [
    `> [!WARNING]\n> **Changed since it was approved**, at ${when} UTC: the plan of ${merchants.join(", ")}. The plan has changed since, or did not exist yet. After a merge, only what was approved is applied. To approve this plan, submit an approving review again.`,
  ];
}

const MAX_NAMED = 10;

/** Returns objections as sentences that name their merchants. */
export function objectionLines(objections: ReadonlyMap<string, readonly string[]>): readonly string[] {
  return [...objections].flatMap(([merchant, sentences]) =>
    sentences.map((sentence) => `${merchant}: ${sentence}`),
  );
}

/** Returns what to do about a plan that is not what was approved. */
export function howToApprove({ group }: EventContext): string {
  return group === null
    ? "Approve it again."
    : "Update the pull request, so that its plan shows what is new, and queue it again after its review.";
}

/** Returns the names of pull requests, "#7, #8". */
function pullNames(reviews: readonly MergedReview[]): string {
  const numbers = reviews.map(({ pull }) => pull.number).sort((a, b) => a - b);
  return numbers.map((number) => `#${number}`).join(", ");
}
