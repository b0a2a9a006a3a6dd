import { counted } from "../../lib/text.ts";
import { inlineCode } from "../../render/markdown/markdown-blocks.ts";
import { markerOf, type RunScope } from "../action-context.ts";
import type { RunnerLog } from "../action-log.ts";
import type { Inputs } from "../inputs.ts";
import { type CheckRun, type Comment, type Github, GithubError } from "./github-api.ts";

/** The comment of a scope on a pull request. */
export interface PullComment {
  /** Announces in an existing comment that a commit is being planned. */
  planning(sha: string, runUrl: string): Promise<void>;
  /**
   * Writes a plan; retries with a shorter text if GitHub rejects its length. Creates a comment only if `worth`. On a closed
   * pull request, what a comment shows already stays. Returns its URL, or null.
   */
  show(
    render: (maxSize: number) => string,
    options: { readonly worth: boolean; readonly closed: boolean },
  ): Promise<string | null>;
  /** Writes the result of an apply above the reviewed plan, which stays; otherwise like `show`. */
  showApplied(render: (maxSize: number) => string, worth: boolean): Promise<string | null>;
}

/** The location of a comment, and the access to it. */
export interface CommentPlace {
  readonly github: Github;
  readonly log: RunnerLog;
  readonly scope: RunScope;
  readonly inputs: Pick<Inputs, "comment" | "maxCommentSize">;
  readonly pull: number;
  /** Head commits whose check runs may name the comment, the current one first. */
  readonly heads: readonly string[];
}

const MIN_COMMENT_SIZE = 2_000;

/** Does nothing, for runs without comment or pull request. */
export const NO_COMMENT: PullComment = {
  planning: async () => undefined,
  show: async () => null,
  showApplied: async () => null,
};

/** Finds the comment by marker and author; without permission it logs that and writes nothing. */
export async function findComment(place: CommentPlace): Promise<PullComment> {
  const { github, scope, inputs } = place;
  if (inputs.comment === "off") return NO_COMMENT;
  const marker = markerOf("plan", scope);
  const listed = await tolerate(place, "The comment could not be searched for", () => listOwn(place, marker));
  if (listed === null) return NO_COMMENT;
  let own = listed[0] ?? null;
  const bodyNow = async (): Promise<string | null> =>
    own && ((await github.comment(own.id).catch(() => null))?.body ?? own.body);
  const write = (bodyOf: (size: number) => string, worth: boolean): Promise<string | null> =>
    tolerate(place, "The comment could not be written", async () => {
      if (own === null && !worth && inputs.comment !== "always") return null;
      // GitHub's list may lack a comment that was written a moment ago.
      own ??= (await listOwn(place, marker))[0] ?? (await rememberedComment(place, marker));
      if (own === null) {
        own = await shortened(inputs.maxCommentSize, bodyOf, (body) => create(place, marker, body));
      } else {
        const { id } = own;
        await shortened(inputs.maxCommentSize, bodyOf, (body) => github.editComment(id, body));
      }
      if (listed.length === 0) await remember(place, own.id);
      // One that cannot be deleted is found again by the next run.
      for (const other of listed.slice(1)) await github.deleteComment(other.id).catch(() => undefined);
      return own.url;
    });
  return {
    planning: async (sha, runUrl) => {
      if (own === null) return;
      const { id } = own;
      const body = planningBody(marker, sha, runUrl);
      await tolerate(place, "The comment could not be written", () => github.editComment(id, body));
    },
    show: async (render, { worth, closed }) => {
      if (closed) {
        const body = await bodyNow();
        if (body !== null && commentKind(body, marker) !== "planning") {
          place.log.notice("The pull request is closed: its comment stays as it is.");
          return own?.url ?? null;
        }
      }
      return write(render, worth);
    },
    showApplied: (render, worth) => {
      return write((size) => appliedBody(marker, render, own?.body ?? null, size), worth);
    },
  };
}

/** Logs a refusal of GitHub's, and returns null. */
async function tolerate<T>({ log }: CommentPlace, what: string, work: () => Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof GithubError)) throw error;
    if (error.isForbidden) {
      log.notice(
        `${what}: this run has no permission to write to the pull request, like every run for a fork. The job summary has everything.`,
      );
    } else log.warning(`${what}: ${error.because("pull-requests: write")}. The job summary has everything.`);
    return null;
  }
}

/** Returns the comments with a marker that the token's owner wrote, oldest first. */
async function listOwn({ github, pull }: CommentPlace, marker: string): Promise<readonly Comment[]> {
  const [author, comments] = [await github.viewer(), await github.comments(pull)];
  return comments.filter((one) => isOwn(one, marker, author)).toSorted((a, b) => a.id - b.id);
}

function isOwn({ body, author }: Comment, marker: string, viewer: string): boolean {
  return author === viewer && body.startsWith(marker);
}

/** Writes a text; retries with a shorter one if GitHub rejects its length. */
async function shortened<T>(
  maxSize: number,
  bodyOf: (size: number) => string,
  write: (body: string) => Promise<T>,
): Promise<T> {
  for (let size = maxSize; ; size = Math.max(Math.floor(size / 3), MIN_COMMENT_SIZE)) {
    try {
      return await write(bodyOf(size));
    } catch (error) {
      // GitHub fails at some long texts instead of rejecting them.
      const tooLong = error instanceof GithubError && (error.status === 422 || error.status >= 500);
      if (!tooLong || size <= MIN_COMMENT_SIZE) throw error;
    }
  }
}

/** Creates a comment; after a failure it looks first whether the comment is there. */
async function create(place: CommentPlace, marker: string, body: string): Promise<Comment> {
  try {
    return await place.github.addComment(place.pull, body);
  } catch (error) {
    const isUncertain = error instanceof GithubError && (error.status === 0 || error.status >= 500);
    const [found] = isUncertain ? await listOwn(place, marker) : [];
    if (found === undefined) throw error;
    return found;
  }
}

/** A check run of an approval, which names the comment at the end of its external id. */
const MEMORY = /^rolecall-approval\/.*\/comment-(\d+)$/;

function isOfScope({ externalId }: CheckRun, { id }: RunScope): boolean {
  return externalId.startsWith("rolecall-approval/") && externalId.split("/").includes(id);
}

/** Returns the comment that a check run on a head commit names, or `null`. */
async function rememberedComment(place: CommentPlace, marker: string): Promise<Comment | null> {
  const { github, scope, heads, pull } = place;
  for (const head of heads) {
    const checks = (await github.checks(head)).filter((check) => isOfScope(check, scope));
    for (const { externalId } of checks) {
      const [, id] = MEMORY.exec(externalId) ?? [];
      const found = id === undefined ? null : await github.comment(Number(id)).catch(() => null);
      if (found !== null && found.issue === pull && isOwn(found, marker, await github.viewer())) return found;
    }
  }
  return null;
}

/** Names a new comment in a check run of its head commit, whose list may be ahead of that of comments. */
async function remember({ github, scope, heads: [head] }: CommentPlace, comment: number): Promise<void> {
  if (head === undefined) return;
  try {
    const check = (await github.checks(head)).find((one) => isOfScope(one, scope));
    if (check === undefined || MEMORY.test(check.externalId)) return;
    await github.editCheck(check.id, `${check.externalId}/comment-${comment}`);
  } catch (error) {
    // Without the permission there is only the list.
    if (!(error instanceof GithubError)) throw error;
  }
}

/** Follow the marker of a comment, where no text from files can stand. */
const PLANNING = "<!-- rolecall:planning -->";
const APPLIED = "<!-- rolecall:applied -->";
/** A line of its own above the reviewed plan. */
const REVIEWED = "<!-- rolecall:reviewed -->";

/** What a comment shows. */
export type CommentKind = "planning" | "plan" | "applied";

/** Returns what a comment with this marker shows. */
function commentKind(body: string, marker: string): CommentKind {
  const rest = body.slice(marker.length).trimStart();
  if (rest.startsWith(APPLIED)) return "applied";
  return rest.startsWith(PLANNING) ? "planning" : "plan";
}

/** Renders the announcement that a commit is being planned. */
function planningBody(marker: string, sha: string, runUrl: string): string {
  const about = `Commit ${inlineCode(sha.slice(0, 7))} · [run](${runUrl})`;
  const text = "If that run is over, it was cancelled, or GitHub refused its last edit: run it again.";
  return [`${marker}\n${PLANNING}`, "## ⏳ rolecall plan: planning…", about, text].join("\n\n");
}

/** Smallest part of a comment that the result of an apply gets, in UTF-16 units. */
const MIN_RESULT_SIZE = 1_500;

/**
 * Renders the result of an apply above the plan that was reviewed, taken from the comment's text so far. Of a plan that
 * does not fit, blocks are left out whole, and counted.
 */
function appliedBody(
  marker: string,
  render: (size: number) => string,
  before: string | null,
  maxSize: number,
): string {
  const reviewed = before === null ? "" : reviewedPlan(before, marker);
  const around = [marker, APPLIED, REVIEWED, OPEN, CLOSE].join("\n\n").length;
  const left = maxSize - around;
  const result = render(Math.max(left - reviewed.length, Math.floor(left / 3), MIN_RESULT_SIZE));
  const top = [`${marker}\n${APPLIED}`, result];
  if (reviewed === "") return top.join("\n\n");
  const plan = fitBlocks(reviewed, left - result.length);
  return [...top, `${REVIEWED}\n${OPEN}`, plan, CLOSE].join("\n\n");
}

const OPEN = "<details><summary>The reviewed plan</summary>";
const CLOSE = "</details>";

/** Returns the plan in a comment; empty if it shows none. */
function reviewedPlan(body: string, marker: string): string {
  const kind = commentKind(body, marker);
  if (kind === "planning") return "";
  const text = body.replaceAll("\r\n", "\n");
  if (kind === "plan") return text.slice(marker.length).trim();
  const at = text.indexOf(`\n${REVIEWED}\n${OPEN}\n`);
  if (at === -1) return "";
  const inner = text.slice(at + `\n${REVIEWED}\n${OPEN}\n`.length).trim();
  return inner.endsWith(CLOSE) ? inner.slice(0, -CLOSE.length).trim() : inner;
}

/** Returns the blocks of a Markdown text that fit into a size, in order, with a line that counts the others. */
function fitBlocks(text: string, size: number): string {
  if (text.length <= size) return text;
  const blocks = blocksOf(text);
  const restOf = (count: number): string => `${counted(count, "part")} left out to keep this short.`;
  let left = size - restOf(blocks.length).length;
  const kept = blocks.filter((block) => {
    const fits = block.length + 2 <= left;
    if (fits) left -= block.length + 2;
    return fits;
  });
  return [...kept, restOf(blocks.length - kept.length)].join("\n\n");
}

/** Splits a Markdown text at blank lines outside fences and folds. */
function blocksOf(text: string): readonly string[] {
  const blocks: string[] = [];
  let [lines, inside] = [[] as string[], OUTSIDE];
  for (const line of text.split("\n")) {
    inside = afterLine(line, inside);
    const isEnd = line === "" && inside.fence === "" && inside.depth === 0;
    if (!isEnd) lines.push(line);
    else if (lines.length > 0) blocks.push(lines.join("\n"));
    if (isEnd) lines = [];
  }
  return lines.length > 0 ? [...blocks, lines.join("\n")] : blocks;
}

/** The fence that a line is in, and how many folds are open around it. */
interface Inside {
  readonly fence: string;
  readonly depth: number;
}

const OUTSIDE: Inside = { fence: "", depth: 0 };

function afterLine(line: string, { fence, depth }: Inside): Inside {
  if (fence !== "") return { fence: line.trim() === fence ? "" : fence, depth };
  const [ticks = ""] = /^`{3,}/.exec(line) ?? [];
  if (line.startsWith("<details>")) return { fence: ticks, depth: depth + 1 };
  return { fence: ticks, depth: line.startsWith("</details>") ? Math.max(depth - 1, 0) : depth };
}
