import { inlineCode } from "../../render/markdown/markdown-blocks.ts";
import { markerOf, type RunScope } from "../action-context.ts";
import type { RunnerLog } from "../action-log.ts";
import type { Inputs } from "../inputs.ts";
import { type Comment, type Github, GithubError } from "./github-api.ts";

/** The comment of a scope on a pull request. */
export interface PullComment {
  /** True if the comment exists. */
  readonly exists: boolean;
  /** Announces in an existing comment that a newer commit is being planned. */
  planning(sha: string): Promise<void>;
  /**
   * Writes the comment; retries with a shorter text if GitHub rejects its length. Creates one only if `worth`. Returns its
   * URL, or null.
   */
  show(render: (maxSize: number) => string, worth: boolean): Promise<string | null>;
}

/** The location of a comment, and the access to it. */
export interface CommentPlace {
  readonly github: Github;
  readonly log: RunnerLog;
  readonly scope: RunScope;
  readonly inputs: Pick<Inputs, "comment" | "maxCommentSize">;
  readonly pull: number;
}

const MIN_COMMENT_SIZE = 2_000;

/** Does nothing, for runs without comment or pull request. */
export const NO_COMMENT: PullComment = {
  exists: false,
  planning: async () => undefined,
  show: async () => null,
};

/** Finds the comment by marker and author; without permission it logs that and writes nothing. */
export async function findComment({ github, log, scope, inputs, pull }: CommentPlace): Promise<PullComment> {
  if (inputs.comment === "off") return NO_COMMENT;
  const marker = markerOf("plan", scope);
  const tolerate = async <T>(what: string, work: () => Promise<T>): Promise<T | null> => {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof GithubError)) throw error;
      if (error.isForbidden) {
        log.notice(
          `${what}: this run has no permission to write to the pull request, like every run for a fork. The job summary has everything.`,
        );
      } else
        log.warning(`${what}: ${error.because("pull-requests: write")}. The job summary has everything.`);
      return null;
    }
  };
  const found = await tolerate("The comment could not be searched for", async () => {
    const [author, comments] = [await github.viewer(), await github.comments(pull)];
    return { own: comments.find((one) => isOwn(one, marker, author)) ?? null };
  });
  if (found === null) return NO_COMMENT;
  const { own } = found;
  return {
    exists: own !== null,
    planning: async (sha) => {
      if (own === null) return;
      const body = `${marker}\n\n## ⏳ rolecall plan: planning…\n\nCommit ${inlineCode(sha.slice(0, 7))}`;
      await tolerate("The comment could not be written", () => github.editComment(own.id, body));
    },
    show: (render, worth) =>
      tolerate("The comment could not be written", async () => {
        if (own === null && !worth && inputs.comment !== "always") return null;
        const write = (body: string): Promise<string> =>
          own === null ? github.addComment(pull, body) : github.editComment(own.id, body);
        for (let size = inputs.maxCommentSize; ; size = Math.max(Math.floor(size / 3), MIN_COMMENT_SIZE)) {
          try {
            return await write(render(size));
          } catch (error) {
            // GitHub fails at some long texts instead of rejecting them.
            const tooLong = error instanceof GithubError && (error.status === 422 || error.status >= 500);
            if (!tooLong || size <= MIN_COMMENT_SIZE) throw error;
          }
        }
      }),
  };
}

function isOwn({ body, author }: Comment, marker: string, viewer: string): boolean {
  return author === viewer && body.startsWith(marker);
}
