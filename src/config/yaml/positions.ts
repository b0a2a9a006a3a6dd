import type { Span } from "../../model/diagnostic.ts";

/** An index that converts offsets of a text to lines and columns. */
export interface Positions {
  readonly lineCount: number;
  /** A line's text without its break, counted from 1. */
  line(number: number): string;
  span(start: number, end: number): Span;
}

/** Indexes the lines of a text once, for any number of look-ups. */
export function indexPositions(text: string): Positions {
  // An editor does not count a byte order mark as a column.
  const starts = [text.startsWith("\uFEFF") ? 1 : 0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) {
    starts.push(at + 1);
  }
  const start = (index: number) => starts[index] ?? text.length;
  const position = (offset: number) => {
    const index = lastNotAfter(starts, offset);
    return { line: index + 1, column: Math.max(0, offset - start(index)) + 1 };
  };
  return {
    lineCount: starts.length,
    line: (number) => {
      const end = number < starts.length ? start(number) - 1 : text.length;
      return text.slice(start(number - 1), text[end - 1] === "\r" ? end - 1 : end);
    },
    span: (from, to) => {
      const begin = position(Math.min(from, text.length));
      const end = position(Math.min(Math.max(from, to), text.length));
      return { line: begin.line, column: begin.column, endLine: end.line, endColumn: end.column };
    },
  };
}

/** Returns the index of the last line start at or before an offset. */
function lastNotAfter(starts: readonly number[], offset: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((starts[middle] ?? 0) <= offset) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}
