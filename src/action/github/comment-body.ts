import { counted } from "../../lib/text.ts";
import { inlineCode } from "../../show/markdown/markdown-blocks.ts";

/** Follow the marker of a comment, where no text from files can stand. */
const PLANNING = "<!-- rolecall:planning -->";
const APPLIED = "<!-- rolecall:applied -->";
/** Lines of their own, above the results of earlier applies and above the reviewed plan. */
const EARLIER = "<!-- rolecall:earlier -->";
const REVIEWED = "<!-- rolecall:reviewed -->";

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
  const text = "If that run has ended, it was cancelled, or GitHub refused its last edit: run it again.";
  return [`${marker}\n${PLANNING}`, "## ⏳ rolecall plan: planning…", about, text].join("\n\n");
}

/** Smallest part of a comment that the result of an apply gets, in UTF-16 units. */
const MIN_RESULT_SIZE = 1_500;

/**
 * Renders the result of an apply above earlier results and the reviewed plan, both taken from the current text of the
 * comment. Blocks that do not fit are left out whole, and counted.
 */
export function appliedBody(
  marker: string,
  render: (size: number) => string,
  before: string | null,
  maxSize: number,
): string {
  const { earlier, reviewed } = before === null ? NOTHING_BEFORE : partsOf(before, marker);
  const around = [marker, APPLIED, EARLIER, EARLIER_OPEN, REVIEWED, REVIEWED_OPEN, CLOSE, CLOSE].join("\n\n");
  const room = maxSize - around.length;
  const wantedRoom = room - reviewed.length - earlier.length;
  const result = render(Math.max(wantedRoom, Math.floor(room / 3), MIN_RESULT_SIZE));
  const plan = fitBlocks(reviewed, room - result.length);
  const results = fitBlocks(earlier, room - result.length - plan.length);
  return [
    `${marker}\n${APPLIED}`,
    result,
    ...(results === "" ? [] : [`${EARLIER}\n${EARLIER_OPEN}`, results, CLOSE]),
    ...(plan === "" ? [] : [`${REVIEWED}\n${REVIEWED_OPEN}`, plan, CLOSE]),
  ].join("\n\n");
}

const EARLIER_OPEN = "<details><summary>Earlier results</summary>";
const REVIEWED_OPEN = "<details><summary>The reviewed plan</summary>";
const CLOSE = "</details>";

/** The parts of a comment that stay below the next result; each may be empty. */
interface KeptParts {
  /** Results of earlier applies, the newest first. */
  readonly earlier: string;
  readonly reviewed: string;
}

const NOTHING_BEFORE: KeptParts = { earlier: "", reviewed: "" };

function partsOf(body: string, marker: string): KeptParts {
  const kind = commentKind(body, marker);
  if (kind === "planning") return NOTHING_BEFORE;
  const text = body.slice(marker.length).replaceAll("\r\n", "\n");
  if (kind === "plan") return { earlier: "", reviewed: text.trim() };
  const [results, reviewed] = splitAt(text, REVIEWED, REVIEWED_OPEN);
  const [last, earlier] = splitAt(results, EARLIER, EARLIER_OPEN);
  const parts = [last.replace(APPLIED, "").trim(), earlier].filter((part) => part !== "");
  return { earlier: parts.join("\n\n---\n\n"), reviewed };
}

/** Splits a text at a fold with a mark; returns what is before it, and what is in it. */
function splitAt(text: string, mark: string, opening: string): readonly [before: string, inside: string] {
  const head = `\n${mark}\n${opening}\n`;
  const position = text.indexOf(head);
  if (position === -1) return [text, ""];
  const inside = text.slice(position + head.length).trim();
  return [text.slice(0, position), inside.endsWith(CLOSE) ? inside.slice(0, -CLOSE.length).trim() : inside];
}

/** Returns the blocks of a Markdown text that fit into a size, in order, with a line that counts the others. */
function fitBlocks(text: string, size: number): string {
  if (text.length <= size) return text;
  const blocks = blocksOf(text);
  const restOf = (count: number): string => `${counted(count, "part")} left out to keep this short.`;
  let room = size - restOf(blocks.length).length;
  const kept = blocks.filter((block) => {
    const fits = block.length + 2 <= room;
    if (fits) room -= block.length + 2;
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
