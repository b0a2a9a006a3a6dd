/** A comment on an issue or a pull request. */
export interface Comment {
  readonly id: number;
  readonly author: string;
  readonly body: string;
  readonly url: string;
}

/** An issue, with all that is needed to recognise it. */
export interface Issue extends Omit<Comment, "id"> {
  readonly number: number;
  readonly open: boolean;
}

/** A check run on a commit; nobody but an app with the right to write checks can make or change one. */
export interface CheckRun {
  readonly id: number;
  readonly externalId: string;
  readonly conclusion: string | null;
  readonly text: string;
}

/** A check run to make. */
export interface NewCheck {
  readonly name: string;
  readonly sha: string;
  readonly externalId: string;
  readonly conclusion: "success" | "neutral" | "failure";
  readonly title: string;
  readonly summary: string;
  readonly text: string;
}

/** A pull request as it is now. */
export interface Pull {
  readonly number: number;
  readonly headSha: string;
  readonly baseRef: string;
  readonly mergedAs: string | null;
}

/** A file in a commit. */
export interface TreeFile {
  readonly path: string;
  /** Of its content. */
  readonly blob: string;
}

/** The part of GitHub's API that the action uses; every call rejects with GithubError. */
export interface Github {
  /** Who the token belongs to; an app's ends with `[bot]`, which no person's can. */
  viewer(): Promise<string>;
  repository(): Promise<{ readonly defaultBranch: string; readonly isPublic: boolean }>;
  branchTip(branch: string): Promise<string>;
  /** The parents of a commit. */
  parents(sha: string): Promise<readonly string[]>;
  /** The latest commits up to this one, newest first. */
  commits(sha: string, count: number): Promise<readonly string[]>;
  pull(number: number): Promise<Pull>;
  /** The pull requests that brought a commit. */
  pullsOf(sha: string): Promise<readonly Pull[]>;
  files(sha: string): Promise<readonly TreeFile[]>;
  blob(sha: string): Promise<Uint8Array>;
  comments(issue: number): Promise<readonly Comment[]>;
  addComment(issue: number, body: string): Promise<string>;
  editComment(id: number, body: string): Promise<string>;
  checks(sha: string): Promise<readonly CheckRun[]>;
  addCheck(check: NewCheck): Promise<void>;
  issues(label: string): Promise<readonly Issue[]>;
  addIssue(title: string, body: string, label: string): Promise<Issue>;
  editIssue(number: number, change: { readonly body?: string; readonly open?: boolean }): Promise<void>;
}

/** GitHub's API did not do what was asked. */
export class GithubError extends Error {
  /** 0 where there was no answer. */
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = "GithubError";
    this.status = status;
  }

  /** The token may not do this, as in a run for a fork. */
  get isForbidden(): boolean {
    return this.status === 401 || this.status === 403 || this.status === 404;
  }
}
