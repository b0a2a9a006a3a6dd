import { INTERRUPTED, type Io, type TextWriter } from "../../app/io/io.ts";
import { PROGRESS_MODES, type ProgressMode, styleFor, terminalOf } from "../../app/io/terminal.ts";
import {
  logProgress,
  type ProgressDisplay,
  type ProgressOptions,
  progressDisplay,
  type ShownProgress,
} from "../../app/progress/log-progress.ts";
import { serviceLog } from "../../app/progress/service-log.ts";
import { oneLine } from "../../lib/escape.ts";
import { counted, grouped } from "../../lib/text.ts";
import { RolecallError } from "../../model/errors.ts";
import type { OpenBoard } from "../../show/screen/open-board.tsx";
import type { Style } from "../../show/style.ts";
import type { Progress } from "../../show/view/progress.ts";

/** Opens a display of progress on stderr: a board on a terminal, lines elsewhere or if asked for, nothing with `quiet`. */
export function openProgress(options: ProgressOptions, io: Io): ProgressDisplay {
  const mode = options.progress ?? modeOf(io.env["ROLECALL_PROGRESS"]);
  if (options.quiet || mode === "none") return interruptible(silence(io), io);
  const isDrawn = mode === "auto" && terminalOf(io).draws;
  return interruptible(
    isDrawn ? tuiProgress(options, io) : logProgress({ ...options, opens: mode === "plain" }, io),
    io,
  );
}

/** Adds the count of what was read, which is the last line on stderr if a signal ends the process. */
function interruptible(display: ShownProgress, { onExit, outputLost }: Io): ProgressDisplay {
  let count = 0;
  let read = 0;
  const interrupted = (): string => {
    if (count === 0) return INTERRUPTED;
    const were = count === 1 ? "was" : "were";
    return `Interrupted: ${grouped(read)} of ${counted(count, "merchant")} ${were} read. Nothing was changed.`;
  };
  // Listens before a board does, since a board writes pending text when it closes.
  const off = onExit((signal) => {
    if (signal !== null && !outputLost.aborted) display.io.stderr.write(`${interrupted()}\n`);
  });
  return {
    ...display,
    interrupted,
    reading(merchants) {
      count = merchants.length;
      display.reading(merchants);
    },
    read(merchant, problem) {
      if (problem === null) read += 1;
      display.read(merchant, problem);
    },
    async rest() {
      off();
      count = 0;
      await display.rest();
    },
  };
}

/** Returns the mode in ROLECALL_PROGRESS. Throws RolecallError if there is no such mode. */
function modeOf(text = ""): ProgressMode {
  const mode = PROGRESS_MODES.find((each) => each === (text || "auto"));
  if (mode !== undefined) return mode;
  throw new RolecallError("usage", `ROLECALL_PROGRESS is "${oneLine(text)}".`, {
    hint: `It must be one of ${PROGRESS_MODES.join(", ")}.`,
  });
}

function silence(io: Io): ShownProgress {
  const noop = (): void => undefined;
  return {
    io,
    draws: false,
    live: noop,
    reading: noop,
    read: noop,
    applying: noop,
    applied: noop,
    verified: noop,
    stopping: noop,
    rest: async () => undefined,
  };
}

/** Work that ends sooner shows no board. */
const BOARD_DELAY_MS = 700;

/** Time between frames, in ms. */
const FRAME_MS = 100;

/** Displays progress as a board on stderr; other text is written when the board has closed. */
function tuiProgress({ verbose, color }: ProgressOptions, io: Io): ShownProgress {
  const style = styleFor(io.stderr, io, color);
  const stage = boardStage(style, io);
  const out = { ...io, stdout: stage.sink("stdout"), stderr: stage.sink("stderr") };
  return progressDisplay(out, {
    draws: true,
    log: verbose ? serviceLog(out, true) : () => undefined,
    show: (progress) => stage.raise(progress),
    end: () => stage.lower(),
  });
}

interface Stage {
  /** Shows a board, unless `lower` is called soon. */
  raise(progress: Progress): void;
  lower(): Promise<void>;
  sink(stream: "stdout" | "stderr"): TextWriter;
}

function boardStage(style: Style, io: Io): Stage {
  let board: OpenBoard | null = null;
  let close = (): void => undefined;
  let over = new AbortController();
  let raising: Promise<void> = Promise.resolve();
  const show = async (progress: Progress, signal: AbortSignal): Promise<void> => {
    await io.sleep(BOARD_DELAY_MS, signal).catch(() => undefined);
    if (signal.aborted) return;
    const { openBoard } = await import("../../show/screen/open-board.tsx");
    if (signal.aborted) return;
    let shownBoard: OpenBoard | null = null;
    // Before the board is drawn, since a signal may come as soon as somebody sees it.
    const ending = [
      io.onExit(() => close()),
      io.onSuspend({ suspend: () => shownBoard?.hide(), resume: () => shownBoard?.show() }),
      repeat(() => shownBoard?.draw(), FRAME_MS, io),
    ];
    close = () => {
      for (const end of ending) end();
      close = () => undefined;
      board = null;
      shownBoard?.close();
    };
    shownBoard = openBoard(() => progress.view(io.monotonic()), io.terminal, style);
    board = shownBoard;
  };
  return {
    raise(progress) {
      over.abort();
      close();
      over = new AbortController();
      raising = show(progress, over.signal);
    },
    async lower() {
      over.abort();
      await raising;
      close();
    },
    sink(stream) {
      const sink = io[stream];
      return {
        isTTY: sink.isTTY,
        get columns() {
          return sink.columns;
        },
        write(text) {
          // Text that does not go to the terminal bypasses the board.
          if (board && sink.isTTY) board.write(stream, text);
          else sink.write(text);
        },
      };
    },
  };
}

/** Runs work again and again: countdowns advance without events, and many events share a frame. */
function repeat(work: () => void, ms: number, { setTimer }: Pick<Io, "setTimer">): () => void {
  let cancel = (): void => undefined;
  const next = (): void => {
    cancel = setTimer(ms, () => {
      work();
      next();
    });
  };
  next();
  return () => cancel();
}
