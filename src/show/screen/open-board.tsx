import { type Instance, render } from "ink";
import type { Style } from "../style.ts";
import type { ProgressView } from "../view/progress.ts";
import { Board } from "./board.tsx";
import { secondScreen, terminalSize } from "./second-screen.ts";
import { Theme } from "./theme.tsx";

/** A board on the screen. */
export interface OpenBoard {
  /** Draws the current progress. */
  draw(): void;
  /** Keeps whole lines until the board closes; the last of them are shown below it. */
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

const [ENTER, LEAVE] = ["\u001b[?1049h\u001b[?7l", "\u001b[H\u001b[J\u001b[?7h\u001b[?1049l"];

/**
 * Draws progress on the alternate screen, so that the terminal keeps its lines and history, whatever its size and even
 * if it is resized. Reads no keys, so Ctrl-C keeps its meaning.
 */
export function openBoard(view: () => ProgressView, streams: BoardStreams, style: Style): OpenBoard {
  const { stderr } = streams;
  const kept: (readonly [OutputStream, string])[] = [];
  let recent: readonly string[] = [];
  let app: Instance | null = null;
  const board = (): React.ReactNode => (
    <Theme value={style}>
      <Board view={view()} size={terminalSize(stderr)} kept={recent} />
    </Theme>
  );
  const draw = (): void => app?.rerender(board());
  const show = (): void => {
    if (app !== null) return;
    // A terminal without a second screen scrolls its lines into the history, and loses none.
    stderr.write(`${ENTER}${"\r\n".repeat(terminalSize(stderr).rows)}`);
    app = render(board(), { stdout: secondScreen(stderr), exitOnCtrlC: false, patchConsole: false });
  };
  const hide = (): void => {
    if (app === null) return;
    app.unmount();
    app = null;
    stderr.write(LEAVE);
  };
  stderr.on("resize", draw);
  show();
  return {
    draw,
    write(stream, text) {
      kept.push([stream, text]);
      recent = [...recent, ...plainLines(text)].slice(-terminalSize(stderr).rows);
    },
    hide,
    show,
    close() {
      stderr.off("resize", draw);
      hide();
      for (const [stream, text] of kept.splice(0)) streams[stream].write(text);
    },
  };
}

/** Matches the colours of a text; there are no other sequences in it. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is what an escape sequence begins with.
const COLOR = /\u001b\[[\d;]*m/g;

function plainLines(text: string): readonly string[] {
  return text
    .replaceAll(COLOR, "")
    .split("\n")
    .filter((line) => line.trim() !== "");
}
