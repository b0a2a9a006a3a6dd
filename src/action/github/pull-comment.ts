import { markerOf, type RunScope } from "../context/action-context.ts";
import type { RunnerLog } from "../context/action-log.ts";
import { type Comment, type Github, GithubError } from "../context/github-api.ts";
import { appliedBody, commentKind, planningBody } from "./comment-body.ts";

/** The comment of a scope on a pull request. */
export interface PullComment {
  /** Returns its id; `null` if there is none. */
  id(): number | null;
  /** Returns whether it warns that its plan is not what was approved. */
  isWarning(): boolean;
  /**
   * Returns whether it lacks its latest text, or shows an earlier one; false if this run may not write comments at all.
   */
  isStale(): boolean;
  /** Announces in an existing comment that a commit is being planned. */
  planning(sha: string, runUrl: string): Promise<void>;
  /**
   * Writes a plan; retries with a shorter text if GitHub rejects its length. Creates a comment only if `worth`. On a
   * closed pull request, an existing comment stays as it is. Returns its URL, or null.
   */
  show(
    render: (maxSize: number) => string,
    options: { readonly worth: boolean; readonly closed: boolean },
  ): Promise<string | null>;
  /**
   * Writes the result of an apply above earlier ones and the reviewed plan, which stay; otherwise like `show`. A result
   * that is not `worth` it does not change a comment that already has one.
   */
  showApplied(render: (maxSize: number) => string, worth: boolean): Promise<string | null>;
}

/** The location of a comment, and the access to it. */
export interface CommentPlace {
  readonly github: Github;
  readonly log: RunnerLog;
  readonly scope: RunScope;
  readonly pull: number;
  /** Id of the comment that the records name: GitHub's list may lack one that was created a moment ago. */
  readonly recorded: number | null;
}

/** Size from which a comment is shortened, in UTF-16 units: GitHub's limit is 65,536 characters. */
const COMMENT_SIZE = 60_000;
const MIN_COMMENT_SIZE = 2_000;

/** Does nothing, for runs without comment or pull request. */
export const NO_COMMENT: PullComment = {
  id: () => null,
  isWarning: () => false,
  isStale: () => false,
  planning: async () => undefined,
  show: async () => null,
  showApplied: async () => null,
};

/** Finds the comment by marker and author; without permission, logs that and writes nothing. */
export async function findComment(place: CommentPlace): Promise<PullComment> {
  const { github, scope } = place;
  const marker = markerOf("plan", scope);
  let comment: Comment | null = null;
  let isStale = false;
  const attempt = async <T>(what: string, work: () => Promise<T>): Promise<T | null> => {
    try {
      const result = await work();
      isStale = false;
      return result;
    } catch (error) {
      if (!(error instanceof GithubError)) throw error;
      place.log[error.isForbidden ? "notice" : "warning"](refusalText(what, error));
      isStale = comment !== null || place.recorded !== null || !error.isForbidden;
      return null;
    }
  };
  const listed = await attempt("The existing comment could not be looked up", async () => {
    const recorded = await recordedComment(place, marker);
    return recorded === null ? listOwn(place, marker) : [recorded];
  });
  if (listed === null) return { ...NO_COMMENT, isStale: () => isStale };
  comment = listed[0] ?? null;
  const bodyNow = async (): Promise<string | null> =>
    comment && ((await github.comment(comment.id).catch(() => null))?.body ?? comment.body);
  const write = (
    bodyOf: (size: number) => string,
    { worth, isSure }: { readonly worth: boolean; readonly isSure: boolean },
  ): Promise<string | null> =>
    attempt("The comment could not be written", async () => {
      if (comment === null && !worth) return null;
      // GitHub's list may lack a comment that was written a moment ago.
      if (!isSure) comment ??= (await listOwn(place, marker))[0] ?? null;
      if (comment === null) {
        comment = await shortened(bodyOf, (body) => create(place, marker, body));
      } else {
        const { id } = comment;
        await shortened(bodyOf, (body) => github.editComment(id, body));
      }
      // One that cannot be deleted is found again by the next run.
      for (const other of listed.slice(1)) await github.deleteComment(other.id).catch(() => undefined);
      return comment.url;
    });
  return {
    id: () => comment?.id ?? null,
    isWarning: () => comment?.body.includes("\n> [!WARNING]\n") === true,
    isStale: () => isStale,
    planning: async (sha, runUrl) => {
      if (comment === null) return;
      const { id } = comment;
      const body = planningBody(marker, sha, runUrl);
      await attempt("The comment could not be written", () => github.editComment(id, body));
    },
    show: async (render, { worth, closed }) => {
      if (closed) {
        const body = await bodyNow();
        if (body !== null && commentKind(body, marker) !== "planning") {
          place.log.notice("The pull request is closed: its comment is left as it is.");
          return comment?.url ?? null;
        }
      }
      return write(render, { worth, isSure: false });
    },
    showApplied: async (render, worth) => {
      if (comment !== null && !worth && commentKind(comment.body, marker) === "applied") return comment.url;
      return write((size) => appliedBody(marker, render, comment?.body ?? null, size), {
        worth,
        isSure: true,
      });
    },
  };
}

/** Says why GitHub refused something. */
function refusalText(what: string, error: GithubError): string {
  const all = "The job summary has everything.";
  if (!error.isForbidden) return `${what}: ${error.because("pull-requests: write")}. ${all}`;
  return /\block(ed)?\b/i.test(error.message)
    ? `${what}: the pull request is locked. ${all}`
    : `${what}: this run has no permission to write to the pull request, like every run for a fork. ${all}`;
}

/** Returns the comments with a marker that the token's owner wrote, oldest first. */
async function listOwn({ github, pull }: CommentPlace, marker: string): Promise<readonly Comment[]> {
  const [author, comments] = [await github.viewer(), await github.comments(pull)];
  return comments.filter((comment) => isOwn(comment, marker, author)).toSorted((a, b) => a.id - b.id);
}

function isOwn({ body, author }: Comment, marker: string, viewer: string): boolean {
  return author === viewer && body.startsWith(marker);
}

/** Writes a text; retries with a shorter one if GitHub rejects its length. */
export async function shortened<T>(
  bodyOf: (size: number) => string,
  write: (body: string) => Promise<T>,
): Promise<T> {
  for (let size = COMMENT_SIZE; ; size = Math.max(Math.floor(size / 3), MIN_COMMENT_SIZE)) {
    try {
      return await write(bodyOf(size));
    } catch (error) {
      // GitHub fails on some long texts instead of rejecting them.
      const tooLong = error instanceof GithubError && (error.status === 422 || error.status >= 500);
      if (!tooLong || size <= MIN_COMMENT_SIZE) throw error;
    }
  }
}

/** Creates a comment; after a failure, first checks whether the comment exists. */
async function create(place: CommentPlace, marker: string, body: string): Promise<Comment> {
  try {
    return await place.github.addComment(place.pull, body);
  } catch (error) {
    const isUncertain = error instanceof GithubError && (error.status === 0 || error.status >= 500);
    const [written] = isUncertain ? await listOwn(place, marker) : [];
    if (written === undefined) throw error;
    return written;
  }
}

/** Returns the comment that the records name, or `null`. */
async function recordedComment(
  { github, pull, recorded }: CommentPlace,
  marker: string,
): Promise<Comment | null> {
  const comment = recorded === null ? null : await github.comment(recorded).catch(() => null);
  return comment !== null && comment.issue === pull && comment.body.startsWith(marker) ? comment : null;
}
