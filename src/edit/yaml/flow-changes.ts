import type { EntryRange } from "./entry-ranges.ts";
import {
  columnOf,
  commentsAbove,
  insertLines,
  isFirstOnLine,
  lineEnd,
  restOfLine,
  type Splices,
} from "./splices.ts";

/** A new entry in brackets, with the comment above it. */
export interface FlowText {
  readonly text: string;
  readonly comment: string | null;
}

/** Inserts entries in brackets behind one of the others, or in front of the first; on lines of their own among lines. */
export function insertInFlow(
  splices: Splices,
  entries: readonly EntryRange[],
  after: number,
  fresh: readonly FlowText[],
  removal: Range | null,
): void {
  const { text, insertions } = splices;
  const [above, below] = [entries[after], entries[after + 1]];
  if (fresh.length === 0) return;
  const linesAt = (column: number, end: string): readonly string[] => {
    const indent = " ".repeat(column);
    return fresh.flatMap(({ comment, text: entry }, index) => [
      ...(comment === null ? [] : [indent + comment]),
      indent + entry + (index < fresh.length - 1 ? "," : end),
    ]);
  };
  const hasLostComma = removal !== null && removal[1] === above?.end && removal[0] < above.start;
  if (above !== undefined && !hasLostComma && isOnOwnLines(text, above)) {
    const hasComma = commaEnd(text, above.end) !== null;
    if (!hasComma && removal === null) insertions.push({ at: above.end, text: "," });
    const lines = linesAt(columnOf(text, above.start), hasComma ? "," : "");
    insertLines(splices, lineEnd(text, above.end), lines);
  } else if (below !== undefined && isFirstOnLine(text, below.start)) {
    const column = columnOf(text, below.start);
    const floor = above === undefined ? 0 : lineEnd(text, above.end);
    insertLines(splices, commentsAbove(text, below.start, floor, column), linesAt(column, ","));
  } else {
    insertOnLine(splices, entries, after, fresh, removal?.[0] === above?.start);
  }
}

/** Inserts entries on the line of their neighbour; the first has no comma in front of it if it takes the place of `above`. */
function insertOnLine(
  { text, insertions }: Splices,
  entries: readonly EntryRange[],
  after: number,
  fresh: readonly FlowText[],
  isReplacement: boolean,
): void {
  const [above, below] = [entries[after], entries[after + 1]];
  const line = `\n${" ".repeat(columnOf(text, entries[0]?.start ?? 0))}`;
  const isLine = below === undefined && above !== undefined && isFirstOnLine(text, above.start);
  const pieces = fresh.map(({ comment, text: entry }) =>
    comment === null ? (isLine ? line : "") + entry : line + comment + line + entry,
  );
  if (below !== undefined) {
    insertions.push({ at: below.start, text: pieces.map((piece) => `${piece}, `).join("") });
  } else if (above !== undefined) {
    const joined = pieces.map((piece) => (piece.startsWith("\n") ? `,${piece}` : `, ${piece}`)).join("");
    insertions.push({ at: above.end, text: isReplacement ? joined.replace(/^, ?/, "") : joined });
  }
}

type Range = readonly [from: number, to: number];

/** Returns what to delete of brackets with an entry: its comma and comments, or behind all that stays, the comma above. */
export function flowRemoval(
  text: string,
  entries: readonly EntryRange[],
  index: number,
  lastKept: number,
): Range {
  const [above, entry, below] = [entries[index - 1], entries[index], entries[index + 1]];
  if (entry === undefined) return [0, 0];
  const { start, end } = entry;
  if (index > lastKept && above !== undefined && !hasComments(text, entries, lastKept))
    return [above.end, end];
  if (isOnOwnLines(text, entry)) {
    const floor = above === undefined ? 0 : lineEnd(text, above.end);
    return [commentsAbove(text, start, floor, columnOf(text, start)), lineEnd(text, end)];
  }
  const last = commaEnd(text, end) ?? end;
  if (index < lastKept && below !== undefined && !text.slice(last, below.start).includes("\n"))
    return [start, below.start];
  const [comment = ""] = /^[ \t]*#.*/.exec(restOfLine(text, last)) ?? [];
  return [start, last + comment.length];
}

/** Returns whether there are comments behind an entry that are about the following ones. */
function hasComments(text: string, entries: readonly EntryRange[], index: number): boolean {
  const [from, last] = [entries[index]?.end, entries.at(-1)];
  const isBehind = /^[ \t]*,?[ \t]*#/.test(restOfLine(text, last?.end ?? 0));
  return isBehind || text.slice(from, last?.start).includes("#");
}

/** Returns whether nothing but its comma and a comment shares the lines of an entry. */
function isOnOwnLines(text: string, { start, end }: EntryRange): boolean {
  const last = commaEnd(text, end) ?? end;
  return (
    isFirstOnLine(text, start) &&
    !text.slice(end, last).includes("\n") &&
    /^[ \t]*(?:#.*)?$/.test(restOfLine(text, last))
  );
}

/** Returns the end of the comma behind an entry; `null` if there is none. */
function commaEnd(text: string, end: number): number | null {
  const comma = /(?:\s|#.*\n)*,/y;
  comma.lastIndex = end;
  return comma.test(text) ? comma.lastIndex : null;
}
