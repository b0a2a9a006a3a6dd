/** A text that ends in a line break, with the pieces that will be deleted from it and inserted into it. */
export interface Splices {
  readonly text: string;
  readonly deletions: (readonly [from: number, to: number])[];
  readonly insertions: { readonly at: number; readonly text: string }[];
}

/** Returns a range of the text with its splices; of several insertions at one place, the first comes first. */
export function spliced({ text, deletions, insertions }: Splices, from = 0, to = text.length): string {
  const cuts = deletions.toSorted(([a], [b]) => a - b);
  const added = insertions.toSorted((a, b) => a.at - b.at);
  const parts: string[] = [];
  let at = from;
  let cut = 0;
  const copyTo = (end: number) => {
    while (at < end) {
      while (cut < cuts.length && (cuts[cut]?.[1] ?? 0) <= at) cut += 1;
      const [start, stop] = cuts[cut] ?? [text.length, text.length];
      if (start <= at && stop > at) {
        at = Math.min(stop, end);
      } else {
        const next = Math.min(Math.max(start, at + 1), end);
        parts.push(text.slice(at, next));
        at = next;
      }
    }
  };
  for (const { at: place, text: piece } of added) {
    if (place < from || place > to) continue;
    copyTo(place);
    parts.push(piece);
  }
  copyTo(to);
  return parts.join("");
}

/** Returns the offset at which the line of an offset starts; behind a byte order mark. */
export function lineStart(text: string, at: number): number {
  const start = at === 0 ? 0 : text.lastIndexOf("\n", at - 1) + 1;
  return start === 0 && text.startsWith("\uFEFF") ? Math.min(1, at) : start;
}

/** Returns the offset behind the line break of an offset's line. */
export function lineEnd(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end === -1 ? text.length : end + 1;
}

export const columnOf = (text: string, at: number): number => at - lineStart(text, at);

/** Returns whether nothing but white space stands before an offset on its line. */
export const isFirstOnLine = (text: string, at: number): boolean =>
  text.slice(lineStart(text, at), at).trim() === "";

/** Returns the rest of an offset's line, without its line break. */
export const restOfLine = (text: string, at: number): string =>
  text.slice(at, lineEnd(text, at)).replace(/\r?\n$/, "");

/** Returns the line break of an offset's line, or else that of the line above, or of the first line. */
export function lineBreak(text: string, at: number): string {
  const end = text.indexOf("\n", at);
  const near = end === -1 ? text.lastIndexOf("\n") : end;
  return near > 0 && text[near - 1] === "\r" ? "\r\n" : "\n";
}

/** Inserts whole lines at the start of a line, or at the end of the text. */
export function insertLines({ text, insertions }: Splices, at: number, lines: readonly string[]): void {
  const ends = lineBreak(text, Math.max(0, at - 1));
  insertions.push({ at, text: lines.join(ends) + ends });
}

/** Returns where the comment lines directly above a line start: from `at` upwards, no further than `floor`. */
export function commentsAbove(text: string, at: number, floor: number, column: number): number {
  let start = lineStart(text, at);
  const lines: { readonly start: number; readonly mark: string }[] = [];
  while (start > floor) {
    const above = lineStart(text, start - 1);
    const mark = /^([ \t]*)(#.*)$/.exec(restOfLine(text, above));
    if (above < floor || mark === null || (mark[1] ?? "").length > column) break;
    lines.unshift({ start: above, mark: mark[2] ?? "" });
    start = above;
  }
  // An entry that is commented out is not about the one below it.
  const out = lines.findLastIndex(({ mark }) => /^# ?- /.test(mark));
  const own = lines.findIndex(({ mark }, index) => index > out && !(out >= 0 && /^# {2,}\S/.test(mark)));
  return own === -1 ? lineStart(text, at) : (lines[own]?.start ?? lineStart(text, at));
}

/** Returns the end of an entry's last line and of the comments below it that are indented further than the entry. */
export function endWithComments(text: string, end: number, column: number): number {
  let at = lineEnd(text, end);
  for (;;) {
    const mark = /^([ \t]*)#/.exec(text.slice(at, lineEnd(text, at)));
    if (mark === null || (mark[1] ?? "").length <= column) return at;
    at = lineEnd(text, at);
  }
}

/** Returns the start of the blank lines above a line start, no further than `floor`. */
export function blanksAbove(text: string, at: number, floor: number): number {
  let start = at;
  while (start > floor) {
    const above = lineStart(text, start - 1);
    if (above < floor || restOfLine(text, above).trim() !== "") break;
    start = above;
  }
  return start;
}

/** Returns the end of the blank lines at a line start. */
export function blanksBelow(text: string, at: number): number {
  let end = at;
  while (end < text.length && restOfLine(text, end).trim() === "") end = lineEnd(text, end);
  return end;
}
