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
  let offset = from;
  let cut = 0;
  const copyTo = (end: number) => {
    while (offset < end) {
      while (cut < cuts.length && (cuts[cut]?.[1] ?? 0) <= offset) cut += 1;
      const [start, stop] = cuts[cut] ?? [text.length, text.length];
      if (start <= offset && stop > offset) {
        offset = Math.min(stop, end);
      } else {
        const next = Math.min(Math.max(start, offset + 1), end);
        parts.push(text.slice(offset, next));
        offset = next;
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
export function lineStart(text: string, offset: number): number {
  const start = offset === 0 ? 0 : text.lastIndexOf("\n", offset - 1) + 1;
  return start === 0 && text.startsWith("\uFEFF") ? Math.min(1, offset) : start;
}

/** Returns the offset behind the line break of an offset's line. */
export function lineEnd(text: string, offset: number): number {
  const end = text.indexOf("\n", offset);
  return end === -1 ? text.length : end + 1;
}

export const columnOf = (text: string, offset: number): number => offset - lineStart(text, offset);

/** Returns whether nothing but white space stands before an offset on its line. */
export const isFirstOnLine = (text: string, offset: number): boolean =>
  text.slice(lineStart(text, offset), offset).trim() === "";

/** Returns the rest of an offset's line, without its line break. */
export const restOfLine = (text: string, offset: number): string =>
  text.slice(offset, lineEnd(text, offset)).replace(/\n$/, "");

/** Inserts whole lines at the start of a line, or at the end of the text. */
export function insertLines({ insertions }: Splices, offset: number, lines: readonly string[]): void {
  insertions.push({ at: offset, text: `${lines.join("\n")}\n` });
}

/** Returns where the comment lines directly above a line start: from `offset` upwards, no further than `floor`. */
export function commentsAbove(text: string, offset: number, floor: number, column: number): number {
  let start = lineStart(text, offset);
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
  const ownLine = lines.findIndex(({ mark }, index) => index > out && !(out >= 0 && /^# {2,}\S/.test(mark)));
  return ownLine === -1 ? lineStart(text, offset) : (lines[ownLine]?.start ?? lineStart(text, offset));
}

/** Returns the end of an entry's last line and of the comments below it that are indented further than the entry. */
export function endWithComments(text: string, end: number, column: number): number {
  let offset = lineEnd(text, end);
  for (;;) {
    const mark = /^([ \t]*)#/.exec(text.slice(offset, lineEnd(text, offset)));
    if (mark === null || (mark[1] ?? "").length <= column) return offset;
    offset = lineEnd(text, offset);
  }
}

/** Returns the start of the blank lines above a line start, no further than `floor`. */
export function blanksAbove(text: string, offset: number, floor: number): number {
  let start = offset;
  while (start > floor) {
    const above = lineStart(text, start - 1);
    if (above < floor || restOfLine(text, above).trim() !== "") break;
    start = above;
  }
  return start;
}

/** Returns the end of the blank lines at a line start. */
export function blanksBelow(text: string, offset: number): number {
  let end = offset;
  while (end < text.length && restOfLine(text, end).trim() === "") end = lineEnd(text, end);
  return end;
}
