import type { ForgePull, ForgeReview } from "../../review/forge.ts";

/** A pull request in GitHub's form. */
export interface ForgePullData {
  readonly number: number;
  readonly state: "OPEN" | "CLOSED" | "MERGED";
  readonly headRefOid: string;
  readonly baseRefName: string;
  readonly mergedAt: string | null;
  readonly mergeCommit: { readonly oid: string } | null;
  readonly reviews: { readonly nodes: readonly ReviewData[] };
  readonly timelineItems: { readonly nodes: readonly DismissalData[] };
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

/** Returns a query for pull requests with their reviews, and who of the authors may push. */
export function pullsQuery(numbers: readonly number[]): string {
  const pulls = numbers.map((number) => `p${number}: pullRequest(number: ${number}) { ...pull }`);
  return `query ($owner: String!, $repo: String!) {
  repository(owner: $owner, name: $repo) { ${pulls.join(" ")} }
}
fragment pull on PullRequest {
  number state headRefOid baseRefName mergedAt mergeCommit { oid }
  reviews(last: 100) {
    nodes { databaseId author { login } state submittedAt authorCanPushToRepository commit { oid } }
  }
  timelineItems(last: 100, itemTypes: [REVIEW_DISMISSED_EVENT]) {
    nodes { ... on ReviewDismissedEvent { createdAt previousReviewState review { databaseId } } }
  }
}`;
}

/** Converts a pull request from GitHub's form. */
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
    opinion: opinion === "APPROVED" ? "approved" : opinion === "CHANGES_REQUESTED" ? "rejected" : "none",
    submittedAt: Date.parse(submittedAt ?? ""),
    dismissedAt: isDismissed ? Date.parse(dismissal?.createdAt ?? "") : null,
    commit: commit?.oid ?? null,
    mayPush: authorCanPushToRepository,
  };
}
