import type { ForgePull, ForgeReview } from "../../review/forge.ts";

/** A pull request in GitHub's form. */
export interface ForgePullData {
  readonly number: number;
  readonly state: "OPEN" | "CLOSED" | "MERGED";
  readonly headRefOid: string;
  readonly baseRefName: string;
  readonly mergedAt: string | null;
  readonly mergeCommit: { readonly oid: string } | null;
  readonly reviews: Page<ReviewData>;
  readonly timelineItems: Page<DismissalData>;
}

/** The end of a list, or the part of it before a cursor. */
interface Page<Node> {
  readonly nodes: readonly Node[];
  readonly pageInfo: { readonly hasPreviousPage: boolean; readonly startCursor: string | null };
}

interface ReviewData {
  readonly databaseId: number;
  readonly author: { readonly login: string } | null;
  readonly state: string;
  readonly submittedAt: string | null;
  readonly authorCanPushToRepository: boolean;
  readonly commit: { readonly oid: string } | null;
}

interface DismissalData {
  readonly createdAt: string;
  readonly previousReviewState: string;
  readonly review: { readonly databaseId: number } | null;
}

/**
 * Returns a query for pull requests with their reviews, and whether the reviewers may push. Reviews that only comment
 * do not count, since anybody can submit any number of them.
 */
export function pullsQuery(numbers: readonly number[]): string {
  const pulls = numbers.map((number) => `p${number}: pullRequest(number: ${number}) { ...pull }`);
  return `query ($owner: String!, $repo: String!, $reviews: String, $dismissals: String) {
  repository(owner: $owner, name: $repo) { ${pulls.join(" ")} }
}
fragment pull on PullRequest {
  number state headRefOid baseRefName mergedAt mergeCommit { oid }
  reviews(last: 100, before: $reviews, states: [APPROVED, CHANGES_REQUESTED, DISMISSED]) {
    pageInfo { hasPreviousPage startCursor }
    nodes { databaseId author { login } state submittedAt authorCanPushToRepository commit { oid } }
  }
  timelineItems(last: 100, before: $dismissals, itemTypes: [REVIEW_DISMISSED_EVENT]) {
    pageInfo { hasPreviousPage startCursor }
    nodes { ... on ReviewDismissedEvent { createdAt previousReviewState review { databaseId } } }
  }
}`;
}

/** The variables that request the items before some cursors. */
export type EarlierPage = Readonly<Record<"reviews" | "dismissals", string | null>>;

/** Returns the variables that request the items before the lists of a pull request; `null` if there are none. */
export function earlierPage({
  reviews: { pageInfo: reviews },
  timelineItems: { pageInfo: dismissals },
}: ForgePullData): EarlierPage | null {
  if (!reviews.hasPreviousPage && !dismissals.hasPreviousPage) return null;
  return { reviews: reviews.startCursor, dismissals: dismissals.startCursor };
}

/** Returns a pull request with its lists preceded by those of an earlier page. */
export function withEarlier(data: ForgePullData, earlier: ForgePullData): ForgePullData {
  const joined = <Node>(page: Page<Node>, before: Page<Node>): Page<Node> => ({
    nodes: [...before.nodes, ...page.nodes],
    pageInfo: before.pageInfo,
  });
  return {
    ...data,
    reviews: joined(data.reviews, earlier.reviews),
    timelineItems: joined(data.timelineItems, earlier.timelineItems),
  };
}

export function forgePull(data: ForgePullData): ForgePull {
  const dismissals = new Map(data.timelineItems.nodes.map((node) => [node.review?.databaseId, node]));
  return {
    number: data.number,
    headSha: data.headRefOid,
    baseRef: data.baseRefName,
    status: STATUSES[data.state],
    mergedAt: Date.parse(data.mergedAt ?? ""),
    mergedAs: data.state === "MERGED" ? (data.mergeCommit?.oid ?? "") : null,
    reviews: data.reviews.nodes.map((review) => forgeReview(review, dismissals.get(review.databaseId))),
  };
}

const STATUSES = { OPEN: "open", CLOSED: "closed", MERGED: "merged" } as const;

function forgeReview(
  { databaseId, author, state, submittedAt, authorCanPushToRepository, commit }: ReviewData,
  dismissal: DismissalData | undefined,
): ForgeReview {
  const isDismissed = state === "DISMISSED";
  const opinion = isDismissed ? (dismissal?.previousReviewState ?? "APPROVED") : state;
  return {
    id: databaseId,
    author: author?.login ?? "",
    opinion: opinion === "APPROVED" ? "approved" : "rejected",
    submittedAt: Date.parse(submittedAt ?? ""),
    dismissedAt: isDismissed ? Date.parse(dismissal?.createdAt ?? "") : null,
    commit: commit?.oid ?? null,
    mayPush: authorCanPushToRepository,
  };
}
