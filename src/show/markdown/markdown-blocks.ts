import { oneLine } from "../../lib/escape.ts";
import type { Table } from "../view/table.ts";

/** The minimum size of a review, in UTF-16 units: the verdict, the number of each risk, and what was left out. */
export const MIN_REVIEW_SIZE = 1500;

/** A size that fits into a comment on common code hosts, in UTF-16 units. */
export const DEFAULT_REVIEW_SIZE = 60_000;

/**
 * Returns lines as a fenced block, inside which Markdown, HTML, links and mentions have no effect; the fence is longer
 * than any run of backticks in it. Each item must be a single line.
 */
export function fenced(info: string, lines: readonly string[]): string {
  const longest = lines.reduce((most, line) => {
    if (!line.includes("```")) return most;
    return [...line.matchAll(/`{3,}/g)].reduce((longer, [run]) => Math.max(longer, run.length + 1), most);
  }, 3);
  const fence = "`".repeat(longest);
  return [`${fence}${info}`, ...lines, fence].join("\n");
}

/**
 * Returns a text as inline code for a sentence, a table or an HTML element. Everything except letters and digits
 * becomes an entity, so that nothing is parsed as Markdown, HTML, a link or a mention.
 */
export function inlineCode(text: string): string {
  return `<code>${plainText(text)}</code>`;
}

/** Returns a text in which nothing is parsed as Markdown, HTML, a link or a mention. */
export function plainText(text: string): string {
  return oneLine(text).replaceAll(/[^\p{L}\p{M}\p{N} ]/gu, (character) => `&#${character.codePointAt(0)};`);
}

/** Returns a foldable block, initially folded unless `isOpen`; `summary` is HTML. */
export function folded(summary: string, blocks: readonly string[], isOpen = false): string {
  const tag = isOpen ? "<details open>" : "<details>";
  return [`${tag}<summary>${summary}</summary>`, ...blocks, "</details>"].join("\n\n");
}

/** Returns a table without its empty columns. */
export function markdownTable({ columns, rows }: Table): string {
  const shown = columns.flatMap((head, index) =>
    rows.length === 0 || rows.some((row) => row[index]) ? [[head, index] as const] : [],
  );
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [
    line(shown.map(([head]) => head.replaceAll("_", " "))),
    line(shown.map(() => "---")),
    ...rows.map((row) => line(shown.map(([, index]) => (row[index] ? inlineCode(row[index]) : "")))),
  ].join("\n");
}
