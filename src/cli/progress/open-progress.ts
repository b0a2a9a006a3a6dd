import type { Board, LineSource } from "../../render/tui/board.tsx";
import type { Size } from "../../render/tui/terminal-text.ts";
import type { Io, TextWriter } from "../io/io.ts";
import { styleFor, terminalOf } from "../io/output.ts";
import {
  logProgress,
  type ProgressDisplay,
  type ProgressOptions,
  progressDisplay,
  serviceLog,
} from "./log-progress.ts";

/** Opens a display of progress on stderr: a board on a terminal, lines elsewhere, nothing with `quiet`. */
export function openProgress(options: ProgressOptions, io: Io): ProgressDisplay {
  if (options.quiet) return silence(io);
  return terminalOf(io).draws ? tuiProgress(options, io) : logProgress(options, io);
}

function silence(io: Io): ProgressDisplay {
  const noop = (): void => undefined;
  return {
    io,
    draws: false,
    live: noop,
    reading: noop,
    expect: noop,
    read: noop,
    applying: noop,
    applied: noop,
    rest: async () => undefined,
  };
}

/** Work that ends sooner shows no board, and does not load Ink. */
const BOARD_DELAY_MS = 250;

/** Time between frames, in ms. */
const FRAME_MS = 80;

/** Displays progress as a board on stderr; other text scrolls above it. */
function tuiProgress({ verbose, color }: ProgressOptions, io: Io): ProgressDisplay {
  const style = styleFor(io.stderr, io, color);
  const stage = boardStage(io);
  const out = { ...io, stdout: stage.sink("stdout"), stderr: stage.sink("stderr") };
  return progressDisplay(out, {
    draws: true,
    log: verbose ? serviceLog(out, true) : () => undefined,
    showReading: (progress) =>
      stage.raise(async () => {
        const { readingLines } = await import("../../render/tui/progress-lines.ts");
        return (size) => readingLines(progress.view(io.monotonic()), size, style);
      }),
    showApplying: (progress) =>
      stage.raise(async () => {
        const { applyLines } = await import("../../render/tui/progress-lines.ts");
        return (size) => applyLines(progress.view(io.monotonic()), size, style);
      }),
    end: () => stage.lower(),
  });
}

type Draw = (size: Size) => readonly string[];

interface Stage {
  /** Shows a board, unless `lower` is called soon. */
  raise(load: () => Promise<Draw>): void;
  lower(): Promise<void>;
  sink(stream: "stdout" | "stderr"): TextWriter;
}

function boardStage(io: Io): Stage {
  let board: Board | null = null;
  let over = new AbortController();
  let raising: Promise<void> = Promise.resolve();
  const show = async (load: () => Promise<Draw>, signal: AbortSignal): Promise<void> => {
    await io.sleep(BOARD_DELAY_MS, signal).catch(() => undefined);
    if (signal.aborted) return;
    const [{ openBoard }, draw] = await Promise.all([import("../../render/tui/board.tsx"), load()]);
    if (signal.aborted) return;
    board = openBoard(ticking(draw), io.terminal);
  };
  return {
    raise(load) {
      over.abort();
      over = new AbortController();
      raising = show(load, over.signal);
    },
    async lower() {
      over.abort();
      await raising;
      const open = board;
      board = null;
      await open?.close();
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

/** Redraws at a fixed rate: countdowns advance without events, and many events share a frame. */
function ticking(lines: Draw): LineSource {
  let version = 0;
  return {
    lines,
    version: () => version,
    subscribe(listener) {
      const timer = setInterval(() => {
        version += 1;
        listener();
      }, FRAME_MS);
      return () => clearInterval(timer);
    },
  };
}
