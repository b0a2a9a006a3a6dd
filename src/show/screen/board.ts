import type { Style } from "../style.ts";
import { cutTo, type Size, shown, terminalSize } from "./terminal-text.ts";

/** A board on the screen. */
export interface Board {
  /** Draws the current lines, if they have changed. */
  draw(): void;
  /** Keeps whole lines for the time after the board; the last of them are shown below it. */
  write(stream: OutputStream, text: string): void;
  /** Shows the screen as it was before, or the board again. */
  hide(): void;
  show(): void;
  /** Removes the board, and writes what was kept. */
  close(): void;
}

type OutputStream = "stdout" | "stderr";

/** The streams of the terminal. */
export type BoardStreams = Readonly<Record<OutputStream, NodeJS.WriteStream>>;

/** Returns the current lines of a board. */
export type BoardLines = (size: Size) => readonly string[];

const [ENTER, LEAVE] = ["\u001b[?1049h", "\u001b[?1049l"];
const [HIDE_CURSOR, SHOW_CURSOR] = ["\u001b[?25l", "\u001b[?25h"];
const [NO_WRAP, WRAP] = ["\u001b[?7l", "\u001b[?7h"];
const [BEGIN, END] = ["\u001b[?2026h", "\u001b[?2026l"];
const [HOME, CLEAR_LINE, CLEAR_BELOW] = ["\u001b[H", "\u001b[K", "\u001b[J"];

/** Lines of kept text that are shown below a board, where there is room. */
const MOST_KEPT_LINES = 4;

/**
 * Draws a board on the alternate screen, so that a terminal of any size, and one that is resized, keeps its lines and its
 * history as they are. It reads no keys, so Ctrl-C keeps its meaning.
 */
export function openBoard(lines: BoardLines, streams: BoardStreams, style: Style): Board {
  const { stderr } = streams;
  const kept: (readonly [OutputStream, string])[] = [];
  let recent: readonly string[] = [];
  let drawn: string | null = null;

  const draw = (): void => {
    if (drawn === null) return;
    const size = terminalSize(stderr);
    const frame = frameOf(lines(size), recent, size, style);
    if (frame === drawn) return;
    drawn = frame;
    stderr.write(`${BEGIN}${HOME}${NO_WRAP}${frame}${WRAP}${END}`);
  };
  const redraw = (): void => {
    if (drawn !== null) drawn = "";
    draw();
  };
  const show = (): void => {
    if (drawn !== null) return;
    drawn = "";
    // A terminal without a second screen scrolls its lines into the history, and loses none.
    stderr.write(`${ENTER}${HIDE_CURSOR}${"\r\n".repeat(terminalSize(stderr).rows)}`);
    draw();
  };
  const hide = (): void => {
    if (drawn === null) return;
    drawn = null;
    stderr.write(`${HOME}${CLEAR_BELOW}${LEAVE}${SHOW_CURSOR}`);
  };
  stderr.on("resize", redraw);
  show();
  return {
    draw,
    write(stream, text) {
      kept.push([stream, text]);
      recent = [...recent, ...plainLines(text)].slice(-MOST_KEPT_LINES);
    },
    hide,
    show,
    close() {
      stderr.off("resize", redraw);
      hide();
      for (const [stream, text] of kept.splice(0)) streams[stream].write(text);
    },
  };
}

/** Returns what fills the screen: the board's lines, and at the bottom the last lines of kept text. */
function frameOf(board: readonly string[], recent: readonly string[], size: Size, style: Style): string {
  const { columns, rows } = size;
  const upper = board.slice(0, rows - 1);
  const room = rows - upper.length - 2;
  const lower = room < 1 ? [] : recent.slice(-room).map((text) => style.dim(cutTo(text, columns - 1)));
  const gap = lower.length === 0 ? [] : Array.from({ length: room + 1 - lower.length }, () => "");
  return [...upper, ...gap, ...lower]
    .map((text) => `${text}${CLEAR_LINE}`)
    .join("\r\n")
    .concat(CLEAR_BELOW);
}

/** Matches the colours of a text; there are no other sequences in it. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is what an escape sequence begins with.
const COLOR = /\u001b\[[\d;]*m/g;

function plainLines(text: string): readonly string[] {
  return text
    .replaceAll(COLOR, "")
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map(shown);
}
