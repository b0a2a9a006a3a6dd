import type { RecordedStates } from "../store/open-records.ts";
import type { ForgePull, ForgeReview } from "./forge.ts";

/** The recorded plans of a pull request that its reviewers have approved. */
export interface CountedRun<Reviewed> {
  /** The plan that counts; `null` if neither a review nor the merge concerns a plan. */
  readonly run: RecordedStates<Reviewed> | null;
  /** Time of the review or merge that makes it count, in ms since the epoch. */
  readonly at: number;
  /** The valid approvals, oldest first. */
  readonly approvals: readonly ForgeReview[];
}

/**
 * Returns which recorded plan of a pull request counts: the one that its last approving reviewer could see. That is the
 * newest plan of the reviewed commit that was recorded before the review. Only those who may push can approve. Without an
 * approval, the merge approves the newest plan of the head. Nothing that happened after the merge matters.
 */
export function countedRun<Reviewed>(
  pull: ForgePull,
  runs: readonly RecordedStates<Reviewed>[],
  now: number,
): CountedRun<Reviewed> {
  const isMerged = pull.status === "merged";
  const approvals = standingApprovals(pull.reviews, isMerged ? pull.mergedAt : now);
  const ownRuns = runs.filter(({ base }) => base === pull.baseRef);
  for (const { id, commit, submittedAt } of approvals.toReversed()) {
    const seen = ownRuns.findLast(({ head, earlier }) => head === commit && !earlier.includes(id));
    if (seen !== undefined) return { run: seen, at: submittedAt, approvals };
  }
  if (approvals.length > 0 || !isMerged) return { run: null, at: Number.NaN, approvals };
  const newest = ownRuns.findLast(({ head }) => head === pull.headSha) ?? null;
  return { run: newest, at: pull.mergedAt, approvals };
}

/** Returns the approvals that are valid at a time, oldest first. */
export function standingApprovals(reviews: readonly ForgeReview[], time: number): readonly ForgeReview[] {
  return standingReviews(reviews, time).filter(({ opinion }) => opinion === "approved");
}

/** Returns the reviews that are valid at a time, oldest first: the latest review of each author who may push. */
export function standingReviews(reviews: readonly ForgeReview[], time: number): readonly ForgeReview[] {
  const opinions = reviews
    .filter(({ mayPush, submittedAt }) => mayPush && !(submittedAt > time))
    .toSorted((a, b) => a.submittedAt - b.submittedAt);
  const latest = new Map(opinions.map((review) => [review.author, review]));
  return opinions.filter(
    (review) =>
      latest.get(review.author) === review && (review.dismissedAt === null || review.dismissedAt > time),
  );
}
