import { counted } from "../../lib/text.ts";
import { inlineCode } from "../../render/markdown/markdown-blocks.ts";

/** Follow the marker of a comment, where no text from files can stand. */
const PLANNING = "<!-- rolecall:planning -->";
const APPLIED = "<!-- rolecall:applied -->";
/** A line of its own above the reviewed plan. */
const REVIEWED = "<!-- rolecall:reviewed -->";

/** What a comment shows. */
export type CommentKind = "planning" | "plan" | "applied";

/** Returns what a comment with this marker shows. */
export function commentKind(body: string, marker: string): CommentKind {
  const rest = body.slice(marker.length).trimStart();
  if (rest.startsWith(APPLIED)) return "applied";
  return rest.startsWith(PLANNING) ? "planning" : "plan";
}

/** Renders the announcement that a commit is being planned. */
export function planningBody(marker: string, sha: string, runUrl: string): string {
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
export function appliedBody(
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
