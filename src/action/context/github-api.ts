import { listText } from "../../lib/text.ts";
import type { Forge } from "../../review/forge.ts";

export interface Comment {
  readonly id: number;
  readonly author: string;
  readonly body: string;
  readonly url: string;
}

export interface Issue extends Omit<Comment, "id"> {
  readonly number: number;
  readonly open: boolean;
}

export interface TextChange {
  readonly body?: string;
  readonly open?: boolean;
}

/** The current state of a pull request. */
export interface Pull {
  readonly number: number;
  readonly headSha: string;
  readonly baseRef: string;
  readonly open: boolean;
  /** Its merge commit on the base branch; `null` if it is not merged. */
  readonly mergedAs: string | null;
}

export interface Commit {
  readonly sha: string;
  /** A merge has several; the first is on the branch that it was merged into. */
  readonly parents: readonly string[];
}

export interface CommitComparison {
  readonly status: "ahead" | "behind" | "diverged" | "identical";
  /** The newest commits last; of very many, only the oldest. */
  readonly commits: readonly Commit[];
}

/** The result of a command on a commit, which a branch can require. */
export interface CommitStatus {
  readonly sha: string;
  readonly state: "success" | "failure";
  readonly context: string;
  readonly description: string;
  readonly url: string;
}

/** The part of GitHub's API that the action uses; every call rejects with a GithubError. */
export interface Github extends Forge {
  /** Returns the login of the token's owner; that of an app ends with `[bot]`, which no user's can. */
  viewer(): Promise<string>;
  repository(): Promise<{ readonly defaultBranch: string; readonly isPublic: boolean }>;
  /** Returns the tips of the branches whose names begin with a prefix, by name. */
  branchesBelow(prefix: string): Promise<ReadonlyMap<string, string>>;
  compare(base: string, head: string): Promise<CommitComparison>;
  pull(number: number): Promise<Pull>;
  /** Returns the pull requests that contain a commit. */
  pullsWith(sha: string): Promise<readonly Pull[]>;
  comments(issue: number): Promise<readonly Comment[]>;
  /** Returns a comment with the number of its issue or pull request. */
  comment(id: number): Promise<Comment & { readonly issue: number }>;
  addComment(issue: number, body: string): Promise<Comment>;
  editComment(id: number, body: string): Promise<void>;
  deleteComment(id: number): Promise<void>;
  addStatus(status: CommitStatus): Promise<void>;
  issues(label: string): Promise<readonly Issue[]>;
  addIssue(title: string, body: string, label: string): Promise<Issue>;
  editIssue(number: number, change: TextChange): Promise<void>;
}

export class GithubError extends Error {
  /** HTTP status; 0 without a response. */
  readonly status: number;
  /** Explanation of the rate limit that refused the request; `null` if none did. */
  readonly limit: string | null;

  constructor(status: number, message: string, limit: string | null = null) {
    super(message);
    this.name = "GithubError";
    this.status = status;
    this.limit = limit;
  }

  /** True if the token lacks a permission, as in a run for a fork. */
  get isForbidden(): boolean {
    return this.limit === null && (this.status === 401 || this.status === 403 || this.status === 404);
  }

  /** Explains the refusal of a request that requires permissions. */
  because(...permissions: readonly string[]): string {
    if (this.limit !== null) return this.limit;
    if (this.isForbidden) return `this requires ${named(permissions)}`;
    if (this.status === 0) return "GitHub returned no response";
    return this.status < 300 ? "GitHub's response could not be read" : `GitHub returned ${this.status}`;
  }

  /** Suggests a next step after the refusal of a request that requires permissions. */
  advice(...permissions: readonly string[]): string {
    if (this.limit !== null) return "Run the job again when the limit is lifted.";
    return this.isForbidden ? `Give the job ${named(permissions)}, and run it again.` : "Run it again.";
  }
}

function named(permissions: readonly string[]): string {
  return `the ${permissions.length === 1 ? "permission" : "permissions"} ${listText(permissions)}`;
}

export function commitOf({
  sha,
  parents,
}: {
  readonly sha: string;
  readonly parents: readonly { readonly sha: string }[];
}): Commit {
  return { sha, parents: parents.map((parent) => parent.sha) };
}

interface Written {
  readonly user?: { readonly login: string } | null;
  readonly body?: string | null;
  readonly html_url: string;
}

function written({ user, body, html_url }: Written): Omit<Comment, "id"> {
  return { author: user?.login ?? "", body: body ?? "", url: html_url };
}

export function commentOf(data: Written & { readonly id: number }): Comment {
  return { id: data.id, ...written(data) };
}

export function issueOf(data: Written & { readonly number: number; readonly state: string }): Issue {
  return { number: data.number, open: data.state === "open", ...written(data) };
}

interface PullData {
  readonly number: number;
  readonly head: { readonly sha: string };
  readonly base: { readonly ref: string };
  readonly state: string;
  readonly merged_at: string | null;
  readonly merge_commit_sha: string | null;
}

export function pullOf({ number, head, base, state, merged_at, merge_commit_sha }: PullData): Pull {
  const mergedAs = merged_at === null ? null : (merge_commit_sha ?? "");
  return {
    number,
    headSha: head.sha,
    baseRef: base.ref,
    open: state === "open",
    mergedAs,
  };
}
