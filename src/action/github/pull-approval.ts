import { type ApprovalRecord, isRecordedPlan } from "../../kernel/plan/approve.ts";
import { counted, normalizeServiceUrl } from "../../lib/text.ts";
import type { DesiredState } from "../../model/desired.ts";
import type { Plan } from "../../model/plan.ts";
import { inlineCode } from "../../show/markdown/markdown-blocks.ts";
import type { ActionContext } from "../context/action-context.ts";
import { type Github, GithubError, type Pull, type Review } from "../context/github-api.ts";
import type { Inputs } from "../context/inputs.ts";
import {
  type Ignored,
  type RecordTrust,
  readRecords,
  type StoredRecord,
  storeRecords,
  type TimedRecord,
} from "./approval-store.ts";

/** The approval of a pull request. */
export interface PullApproval {
  readonly pull: Pull;
  /** Approving reviews, oldest first. */
  readonly reviews: readonly Review[];
  /** The records that count, one for each merchant and service. */
  readonly records: readonly TimedRecord[];
  /** Why other records do not count, a sentence each. */
  readonly ignored: readonly string[];
}

/** Maximum number of earlier commits whose records count because a review was submitted for them. */
const MAX_REVIEWED_COMMITS = 3;

/**
 * Reads what was approved on a pull request. A record counts only if it was completed before the merge and, where there
 * are approving reviews, before the last of those of its commit: the head or, where it has none, an earlier one. A
 * branch that was only updated since is covered by the records of the commit that was reviewed, for what the head plans:
 * by its records, or by `planned`.
 */
export async function pullApproval(
  pull: Pull,
  trust: RecordTrust,
  github: Pick<Github, "checks" | "reviews" | "dismissals">,
  planned: readonly Target[] = [],
): Promise<PullApproval> {
  const reviews = approvingReviews(await reviewsAtMerge(pull, github));
  const place = { pull: pull.number, base: pull.baseRef };
  const read = (sha: string) => readRecords({ ...place, sha }, trust, github);
  const { found, ignored } = await read(pull.headSha);
  const merge = pull.mergedAt === null ? Number.POSITIVE_INFINITY : Date.parse(pull.mergedAt);
  const timely = found.filter(({ record }) => record.completedAt < merge);
  const ofHead = reviews.filter(({ commit }) => commit === null || commit === pull.headSha);
  // A review of an earlier commit may be submitted after the plan of the head.
  const reviewed = ofHead.length === 0 && reviews.length > 0 ? [] : isReviewed(timely, ofHead);
  const records = newestByTarget(reviewed);
  const earlier = reviews.filter((review) => !ofHead.includes(review)).reverse();
  const commits = [...new Set(earlier.flatMap(({ commit }) => commit ?? []))].slice(0, MAX_REVIEWED_COMMITS);
  for (const commit of commits) {
    const ofHeadPlans = [...newestByTarget(timely).values()].filter(
      ({ due, seen }) => due.length + seen.length > 0,
    );
    const ofPlans = [...ofHeadPlans, ...planned].map(targetOf);
    const missing = new Set(ofPlans.filter((target) => !records.has(target)));
    if (missing.size === 0) break;
    const ofCommit = reviews.filter((review) => review.commit === commit);
    for (const [target, record] of newestByTarget(isReviewed((await read(commit)).found, ofCommit))) {
      if (missing.has(target)) records.set(target, record);
    }
  }
  const late = [
    ...(timely.length < found.length ? [`A record on #${pull.number} is from after the merge.`] : []),
    ...(reviewed.length < timely.length
      ? [
          `A record on #${pull.number} has no approving review of its commit after it: nobody approved that plan.`,
        ]
      : []),
  ];
  return {
    pull,
    reviews,
    records: [...records.values()],
    ignored: [...late, ...[...ignored].map((why) => `A record on #${pull.number} ${IGNORED[why]}`)],
  };
}

/** Returns the reviews as they were at the merge: what somebody reviews or dismisses later moves nothing any more. */
async function reviewsAtMerge(
  { number, mergedAt }: Pull,
  github: Pick<Github, "reviews" | "dismissals">,
): Promise<readonly Review[]> {
  const all = await github.reviews(number);
  if (mergedAt === null) return all;
  const merge = Date.parse(mergedAt);
  const reviews = all.filter((review) => submittedAt(review) <= merge);
  if (!reviews.some(({ state }) => state === "DISMISSED")) return reviews;
  const later = (await github.dismissals(number)).filter(({ at }) => Date.parse(at) > merge);
  const before = new Map(later.map(({ review, state }) => [review, state]));
  return reviews.map((review) => ({ ...review, state: before.get(review.id) ?? review.state }));
}

const IGNORED = {
  "old-format":
    "was stored by an older version of rolecall and does not count: re-run the plan before the merge.",
  "other-app":
    "was stored by another app and does not count; the input approval-app names the one that does.",
  unsigned: "is not signed with approval-secret and does not count: give the plan job the same secret.",
  "no-key": "is signed with approval-secret: give this job the same secret.",
  elsewhere: "was made for another commit, pull request, base branch or scope, and does not count.",
  unreadable: "cannot be read, and does not count: re-run the plan before the merge.",
} as const satisfies Readonly<Record<Ignored, string>>;

/** Opinions of an author; a comment leaves an earlier one as it is. */
const OPINIONS = new Set(["APPROVED", "CHANGES_REQUESTED", "DISMISSED"]);

/** Everybody else can submit an approving review in a public repository, too. */
const INSIDERS = new Set(["OWNER", "MEMBER", "COLLABORATOR", ""]);

/**
 * Returns the approving reviews that stand, oldest first: the latest opinion of each author. Those of outsiders count only
 * among themselves: GitHub lists a member whose membership is private as one.
 */
function approvingReviews(reviews: readonly Review[]): readonly Review[] {
  const latest = new Map<string, Review>();
  const byTime = [...reviews].sort((a, b) => submittedAt(a) - submittedAt(b));
  for (const review of byTime) if (OPINIONS.has(review.state)) latest.set(review.author, review);
  const standing = byTime.filter((one) => one.state === "APPROVED" && latest.get(one.author) === one);
  const inside = standing.filter(({ association }) => INSIDERS.has(association));
  return inside.length > 0 ? inside : standing;
}

function submittedAt(review: Pick<Review, "submittedAt">): number {
  return Date.parse(review.submittedAt);
}

/** Returns the records from before the last of these reviews; all of them without a review. */
function isReviewed(stored: readonly StoredRecord[], reviews: readonly Review[]): readonly StoredRecord[] {
  const last = reviews.at(-1);
  if (last === undefined) return stored;
  return stored.filter(
    ({ record, reviews: earlier }) => record.completedAt < submittedAt(last) && !earlier.includes(last.id),
  );
}

/** Takes the first record of each merchant and service, which is the newest. */
function newestByTarget(stored: readonly StoredRecord[]): Map<string, TimedRecord> {
  const newest = new Map<string, TimedRecord>();
  for (const { record } of stored) if (!newest.has(targetOf(record))) newest.set(targetOf(record), record);
  return newest;
}

/** The merchant and the service that an approval is for. */
type Target = Pick<ApprovalRecord, "merchant" | "service">;

function targetOf({ merchant, service }: Target): string {
  return JSON.stringify([merchant, normalizeServiceUrl(service)]);
}

/** The result of storing the records of a plan. */
export interface KeptApproval {
  readonly stored: boolean;
  /** True if the pull request is closed or merged. */
  readonly closed: boolean;
  /** Paragraphs of Markdown for the comment. */
  readonly remarks: readonly string[];
  /** Why an apply would refuse every change; `null` if the records count, or if none is needed. */
  readonly problem: string | null;
}

/**
 * Stores the records of a plan on the head of an open pull request, and tells what an approval of it no longer covers. A
 * record of a plan that a rule of the base branch refuses is empty: the apply after the merge does not know that rule.
 */
export async function keepApproval(
  context: ActionContext,
  all: readonly Plan[],
  states: readonly DesiredState[],
): Promise<KeptApproval> {
  const plans = all.filter(({ refusals }) => refusals.every(({ by }) => by !== "base"));
  const { event, inputs, github, log, scope, io } = context;
  const { pull } = event;
  // Other events about a pull request run on its base branch, or after its review.
  if (pull === null || event.name !== "pull_request" || all.length === 0) return NOT_KEPT;
  const isNeeded =
    !pull.fork && inputs.onPlanChange !== "apply" && plans.some(({ changes }) => changes.length > 0);
  const missing = (why: string): KeptApproval => {
    const text = `${why} Without a stored approval, an apply after the merge would refuse every change.`;
    if (!isNeeded) log.notice(pull.fork ? text : why);
    if (!isNeeded) return NOT_KEPT;
    return {
      ...NOT_KEPT,
      remarks: [`> [!CAUTION]\n> **This plan cannot be applied.** ${text}`],
      problem: text,
    };
  };
  try {
    const now = await github.pull(pull.number);
    if (!now.open)
      log.notice("The pull request is closed or merged, so the approval of this plan is not stored.");
    if (!now.open) return { ...NOT_KEPT, closed: true, remarks: [closedRemark(now)] };
    if (now.baseRef !== pull.baseRef) {
      return missing(
        "This plan is for another base branch than the pull request has by now: close and reopen it.",
      );
    }
    const trust = recordTrust(inputs);
    const head = { ...now, headSha: pull.headSha };
    const { reviews, records } = await pullApproval(head, trust, github, plans);
    const place = { sha: pull.headSha, pull: pull.number, base: pull.baseRef, scope, states, now: io.now() };
    const known = reviews.map(({ id }) => id);
    // Records that an earlier run has stored for this commit must not count any more.
    const kept = all.map((plan) => (plans.includes(plan) ? plan : withoutChanges(plan)));
    const app = await storeRecords(kept, { ...place, reviews: known }, trust.key, github);
    if (app === null) return missing("There are too many changes to store the approval: plan in shards.");
    if (app !== "" && app !== trust.app) {
      return missing(
        `The records were stored by the app ${app}, which does not count: set approval-app to ${app}, for plan and apply.`,
      );
    }
    const last = reviews.at(-1);
    const changed = last === undefined ? [] : plans.filter((plan) => isChanged(plan, records, trust.key));
    return {
      stored: true,
      closed: false,
      problem: null,
      remarks: last === undefined ? [] : changedRemarks(changed, last),
    };
  } catch (error) {
    if (!(error instanceof GithubError)) throw error;
    const because = error.because("checks: write");
    const advice = error.isForbidden ? "Give it to the job, and run it again." : error.advice("");
    return missing(`The approval could not be stored on the commit: ${because}. ${advice}`);
  }
}

/** Returns a plan of which nothing may be applied. */
function withoutChanges(plan: Plan): Plan {
  return { ...plan, changes: [], deferred: [], impact: { ...plan.impact, members: [] } };
}

const NOT_KEPT: KeptApproval = { stored: false, closed: false, remarks: [], problem: null };

/** Returns what the inputs say a check run must have to count. */
export function recordTrust({
  approvalApp,
  approvalSecret,
}: Pick<Inputs, "approvalApp" | "approvalSecret">): RecordTrust {
  return { app: approvalApp, key: approvalSecret };
}

/** Returns whether a plan is not the one that was approved of the same merchant. */
function isChanged(plan: Plan, records: readonly ApprovalRecord[], key: string): boolean {
  const own = records.find((record) => targetOf(record) === targetOf(plan));
  return own === undefined ? plan.changes.length > 0 : !isRecordedPlan(plan, own, key);
}

const MAX_NAMED = 10;

function changedRemarks(plans: readonly Plan[], { submittedAt }: Review): readonly string[] {
  if (plans.length === 0) return [];
  const named = plans.slice(0, MAX_NAMED).map(({ merchant }) => inlineCode(merchant));
  const more = plans.length - named.length;
  const merchants = [...named, ...(more > 0 ? [`${counted(more, "more merchant", "more merchants")}`] : [])];
  const when = new Date(submittedAt).toISOString().slice(0, 16).replace("T", " ");
  return [
    `> [!WARNING]\n> **Changed since it was approved**, at ${when} UTC: the plan of ${merchants.join(", ")}. It is another one by now, or there was none. After a merge only what was approved is applied, and the rest is refused. To approve this plan, submit an approving review again.`,
  ];
}

function closedRemark({ mergedAt }: Pull): string {
  const state = mergedAt === null ? "closed" : "merged";
  return `> [!NOTE]\n> **This pull request is ${state}**, so this plan cannot be approved any more, and was not stored. An apply takes what was approved before.`;
}
