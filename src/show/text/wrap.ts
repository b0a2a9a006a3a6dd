import { cellWidth } from "../../lib/text.ts";
import { hasCutList } from "../blocks/cut-list.ts";
import type { Style } from "../style.ts";

/** Fills a text up with spaces to a number of cells. */
export function padTo(text: string, width: number): string {
  return `${text}${" ".repeat(Math.max(0, width - cellWidth(text)))}`;
}

/**
 * Breaks a list between its items into lines of at most `width` cells, and a comma; an item that is longer than a line is
 * broken at its spaces, and a longer word has a line of its own.
 */
export function wrapList(items: readonly string[], width: number, separator = ", "): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const item of items) {
    if (cellWidth(item) > width && item.includes(" ")) {
      if (line !== "") lines.push(`${line}${separator.trimEnd()}`);
      const parts = wrapText(item, width);
      lines.push(...parts.slice(0, -1));
      line = parts.at(-1) ?? "";
      continue;
    }
    const longer = line === "" ? item : `${line}${separator}${item}`;
    if (line !== "" && cellWidth(longer) > width) {
      lines.push(`${line}${separator.trimEnd()}`);
      line = item;
    } else {
      line = longer;
    }
  }
  return line === "" ? lines : [...lines, line];
}

/** Breaks a text into lines of at most `width` cells at its spaces; a longer word has a line of its own. */
export function wrapText(text: string, width: number): readonly string[] {
  return wrapList(text.split(" "), width, " ");
}

/**
 * Breaks a text into lines of at most `columns` cells: the first follows `head`, which may be painted, the others
 * `indent`. A head that leaves no space for the first word has a line of its own.
 */
export function hangingLines(text: string, columns: number, head: string, indent: string): readonly string[] {
  const lines: string[] = [];
  let line = head;
  text.split(" ").forEach((word, index) => {
    const longer = index === 0 ? `${line}${word}` : `${line} ${word}`;
    if ((index > 0 || cellWidth(indent) < cellWidth(head)) && cellWidth(longer) > columns) {
      lines.push(line.trimEnd());
      line = `${indent}${word}`;
    } else {
      line = longer;
    }
  });
  return [...lines, line];
}

/** Breaks a text as `hangingLines` does on a terminal; anywhere else the text stays whole. */
export function wrapOnTerminal(
  text: string,
  { columns, onTerminal }: Style,
  head: string,
  indent: string,
): readonly string[] {
  return onTerminal ? hangingLines(text, columns, head, indent) : [`${head}${text}`];
}

/** On a terminal this narrow, in cells, texts are short and details have lines of their own. */
export const NARROW = 60;

/** Adds to a text with cut lists, once, how to see everything. */
export function withCutNote(text: string, ofMany: boolean, style: Style): string {
  if (!hasCutList(text)) return text;
  const note = `Lists are cut: ${ofMany ? "-m CODE shows one merchant, --verbose all" : "--verbose shows all"}.`;
  return `${text}${wrapText(note, style.columns).map(style.dim).join("\n")}\n`;
}
