import { oneLine } from "../../lib/escape.ts";

/** The size of a terminal, in cells. */
export interface Size {
  readonly columns: number;
  readonly rows: number;
}

const DEFAULT_SIZE: Size = { columns: 80, rows: 24 };

/** Returns the size of a terminal; the default size if it has none. */
export function terminalSize({ columns, rows }: Pick<NodeJS.WriteStream, "columns" | "rows">): Size {
  return { columns: columns || DEFAULT_SIZE.columns, rows: rows || DEFAULT_SIZE.rows };
}

/** Matches the joiner between two emoji, which some terminals draw apart, and others as one. */
const EMOJI_JOINER = /(?<=\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f)\u200d/gu;

/** Returns text from a file or the service as one line of the same width on every terminal, with what is unsafe visible. */
export function shown(text: string): string {
  return oneLine(text).replaceAll(EMOJI_JOINER, "");
}

const [HOME, CLEAR_LINE, CLEAR_BELOW] = ["\u001b[H", "\u001b[K", "\u001b[J"];

/** Matches the sequences with which Ink moves the cursor and erases lines, the screen and the history. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is what an escape sequence begins with.
const ERASING = /\u001b\[\d*[A-HJK]/g;

/** Matches words that are written from right to left. */
const RIGHT_TO_LEFT =
  /[\p{sc=Hebrew}\p{sc=Arabic}\p{sc=Syriac}\p{sc=Thaana}\p{sc=Nko}\p{sc=Adlam}\p{M}]+(?: [\p{sc=Hebrew}\p{sc=Arabic}\p{sc=Syriac}\p{sc=Thaana}\p{sc=Nko}\p{sc=Adlam}\p{M}]+)*/gu;

const [ISOLATE, END_OF_ISOLATE] = ["\u2068", "\u2069"];

/**
 * Returns the second screen of a terminal for Ink. Frames overwrite one another from the first line on, without a blank
 * screen in between; the history is kept, which Ink erases when the window gets lower than a frame; and what is written
 * from right to left does not turn its neighbours around.
 */
export function secondScreen(stream: NodeJS.WriteStream): NodeJS.WriteStream {
  return new Proxy(stream, {
    get(target, name) {
      if (name === "write") return (text: string, ...rest: []) => target.write(frameOf(text), ...rest);
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

function frameOf(text: string): string {
  const frame = text.replaceAll(ERASING, "").replaceAll(RIGHT_TO_LEFT, `${ISOLATE}$&${END_OF_ISOLATE}`);
  if (!frame.includes("\n")) return frame;
  // Behind a line as wide as the window, its last cell would be cleared.
  return `${HOME}${CLEAR_LINE}${frame.replaceAll("\n", `\r\n${CLEAR_LINE}`)}${CLEAR_BELOW}`;
}
