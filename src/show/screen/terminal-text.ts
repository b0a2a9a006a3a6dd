import stringWidth from "string-width";
import { oneLine } from "../../lib/escape.ts";

/** The size of a terminal, in cells. */
export interface Size {
  readonly columns: number;
  readonly rows: number;
}

const DEFAULT_SIZE: Size = { columns: 80, rows: 24 };

/** Returns the size of a terminal; of one whose size nobody has set, the usual one. */
export function terminalSize({ columns, rows }: Pick<NodeJS.WriteStream, "columns" | "rows">): Size {
  return { columns: columns || DEFAULT_SIZE.columns, rows: rows || DEFAULT_SIZE.rows };
}

/** Letters of scripts that are written from right to left. */
const RIGHT_TO_LEFT = /[\p{sc=Hebrew}\p{sc=Arabic}\p{sc=Syriac}\p{sc=Thaana}\p{sc=Nko}\p{sc=Adlam}]/u;

const [ISOLATE, END_OF_ISOLATE] = ["\u2068", "\u2069"];

/** Printable ASCII: a cell for each character. */
export const PLAIN_TEXT = /^[\x20-\x7e]*$/;

const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/**
 * Text from a file or the service on one line of the terminal: what is unsafe is made visible, and what is written from
 * right to left is kept from turning its neighbours around.
 */
export function shown(text: string): string {
  const safe = oneLine(text);
  return RIGHT_TO_LEFT.test(safe) ? `${ISOLATE}${safe}${END_OF_ISOLATE}` : safe;
}

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
export type Piece = readonly [text: string, paint?: ((text: string) => string) | undefined];

/** Joins pieces into a line of limited width, in cells; the rest is cut. */
export function line(pieces: readonly Piece[], columns: number): string {
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

/** A line that is being typed, was sent off with Enter, or was left without an answer. */
export interface Line {
  readonly state: "open" | "sent" | "left";
  readonly text: string;
}

/** The keys that are more than text. */
export interface Key {
  readonly ctrl: boolean;
  readonly escape: boolean;
  readonly backspace: boolean;
  readonly delete: boolean;
}

/** Matches the marks that some terminals put around pasted text. */
const PASTE_MARK = /^\[20[01]~$/;

const CONTROL = /\p{Cc}/u;

/** Adds one piece of input to a line. A paste brings text and Enter in one piece, so each character counts for itself. */
export function typeInto(text: string, input: string, key: Key): Line {
  if (key.escape || (key.ctrl && (input === "c" || input === "d"))) return { state: "left", text };
  if (key.backspace || key.delete) return { state: "open", text: withoutLast(text) };
  if (key.ctrl) return { state: "open", text: input === "u" ? "" : text };
  if (PASTE_MARK.test(input)) return { state: "open", text };
  let line = text;
  for (const character of input) {
    switch (character) {
      case "\r":
      case "\n":
        return { state: "sent", text: line };
      case "\u0003":
      case "\u0004":
        return { state: "left", text: line };
      case "\b":
      case "\u007f":
        line = withoutLast(line);
        break;
      default:
        if (!CONTROL.test(character)) line += character;
    }
  }
  return { state: "open", text: line };
}

function withoutLast(text: string): string {
  return [...text].slice(0, -1).join("");
}
