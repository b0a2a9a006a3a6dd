import stringWidth from "string-width";

const [ISOLATE, END_OF_ISOLATE] = ["\u2068", "\u2069"];

/** Printable ASCII: a cell for each character. */
export const PLAIN_TEXT = /^[\x20-\x7e]*$/;

const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/**
 * Returns the most cells that a text takes. Terminals differ: some draw joined emoji apart, and some a mark that must not
 * be visible; a line that is a little short does no harm, and one that is too long breaks the screen.
 */
export function widthOf(text: string): number {
  if (PLAIN_TEXT.test(text)) return text.length;
  let apart = 0;
  for (const character of text) {
    apart += character === ISOLATE || character === END_OF_ISOLATE ? 1 : stringWidth(character);
  }
  return Math.max(apart, stringWidth(text));
}

/** Truncates an unstyled text to a number of cells, never inside a character, with "…" at the end. */
export function cutTo(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  if (columns <= 0) return "";
  // One by one, the characters of a long text take long.
  if (PLAIN_TEXT.test(text)) return `${text.slice(0, columns - 1)}…`;
  let cut = "";
  for (const { segment } of graphemes.segment(text)) {
    // Together, characters can be wider than one by one.
    if (widthOf(ended(`${cut}${segment}`)) > columns) break;
    cut += segment;
  }
  return ended(cut);
}

function ended(cut: string): string {
  return cut.lastIndexOf(ISOLATE) > cut.lastIndexOf(END_OF_ISOLATE) ? `${cut}${END_OF_ISOLATE}…` : `${cut}…`;
}

/** Cuts or fills a text to an exact number of cells. */
export function padded(text: string, columns: number): string {
  const cut = cutTo(text, columns);
  return `${cut}${" ".repeat(Math.max(columns - widthOf(cut), 0))}`;
}

/** One dressed piece of a line: its text, undressed, and its paint. */
export type PaintedPiece = readonly [text: string, paint?: ((text: string) => string) | undefined];

/** Joins pieces into a line of limited width, in cells; the rest is cut. */
export function line(pieces: readonly PaintedPiece[], columns: number): string {
  let room = columns;
  let joined = "";
  for (const [text, paint] of pieces) {
    if (room <= 0) break;
    const cut = cutTo(text, room);
    room -= widthOf(cut);
    joined += paint ? paint(cut) : cut;
  }
  return joined;
}
