/** A review that somebody submitted for a pull request. */
export interface ForgeReview {
  readonly id: number;
  readonly author: string;
  /** As submitted, even if it was dismissed later. */
  readonly opinion: "approved" | "rejected";
  /** In ms since the epoch, by the forge's clock. */
  readonly submittedAt: number;
  /** Time of the dismissal, in ms since the epoch; `null` if the review stands, NaN if that is unknown. */
  readonly dismissedAt: number | null;
  /** The commit that was reviewed; `null` if unknown. */
  readonly commit: string | null;
  /** True if the author may push to the repository. */
  readonly mayPush: boolean;
}

/** A pull request as it is now, with all its reviews, oldest first. */
export interface ForgePull {
  readonly number: number;
  readonly headSha: string;
  readonly baseRef: string;
  readonly status: "open" | "merged" | "closed";
  /** In ms since the epoch, by the forge's clock; NaN if it is not merged. */
  readonly mergedAt: number;
  /** Commit that it became on its base branch; `null` if it is not merged. */
  readonly mergedAs: string | null;
  readonly reviews: readonly ForgeReview[];
}

/** Questions that only the service that hosts the repository can answer. */
export interface Forge {
  /** Returns those of the pull requests that exist, in a few requests. */
  pulls(numbers: readonly number[]): Promise<readonly ForgePull[]>;
  branchTip(branch: string): Promise<string>;
  /** Returns the environments that reviewers let this run of the workflow use, once for each approval. */
  approvals(): Promise<readonly string[]>;
  /** Returns the forge's time, in ms since the epoch. */
  now(): number;
}
