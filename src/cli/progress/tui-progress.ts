import { applyLines } from "../../render/tui/apply-lines.ts";
import type { Board, LineSource } from "../../render/tui/board.tsx";
import type { Size } from "../../render/tui/cells.ts";
import { readingLines } from "../../render/tui/reading-lines.ts";
import { applyProgress } from "../../render/view/apply-progress.ts";
import { readingProgress } from "../../render/view/reading-progress.ts";
import type { Io, TextWriter } from "../io/io.ts";
import { styleFor } from "../io/output.ts";
import type { ProgressDisplay, ProgressOptions } from "./progress.ts";
import { serviceLog } from "./service-log.ts";

/** What is over sooner needs no board; and Ink is not loaded for it. */
const SOON_MS = 250;

/** How often a board is drawn anew while it is up. */
const FRAME_MS = 80;

/** A board on the terminal, drawn on stderr; what is written to a terminal meanwhile scrolls by above it. */
export function tuiProgress({ verbose, color }: ProgressOptions, io: Io): ProgressDisplay {
  const style = styleFor(io.stderr, io, color);
  const stage = boardStage(io);
  const out = { ...io, stdout: stage.sink("stdout"), stderr: stage.sink("stderr") };
  const log = verbose ? serviceLog(out, true) : () => undefined;
  let reading: ReturnType<typeof readingProgress> | null = null;
  let applying: ReturnType<typeof applyProgress> | null = null;
  return {
    io: out,
    draws: true,
    live(event) {
      log(event);
      reading?.live(event, io.monotonic());
      applying?.live(event, io.monotonic());
    },
    reading(merchants) {
      const progress = readingProgress(merchants);
      reading = progress;
      stage.raise((size) => readingLines(progress.view(io.monotonic()), size, style));
    },
    read: (merchant, problem) => reading?.ended(merchant, problem),
    applying(plans) {
      const progress = applyProgress(
        plans.map(({ merchant, changes }) => ({ merchant, changes: changes.length })),
      );
      applying = progress;
      stage.raise((size) => applyLines(progress.view(io.monotonic()), size, style));
    },
    applied: (event) => applying?.apply(event, io.monotonic()),
    async rest() {
      await stage.lower();
      reading = null;
      applying = null;
    },
  };
}

type Draw = (size: Size) => readonly string[];

interface Stage {
  /** Shows a board, unless it is lowered soon. */
  raise(draw: Draw): void;
  lower(): Promise<void>;
  sink(stream: "stdout" | "stderr"): TextWriter;
}

function boardStage(io: Io): Stage {
  let board: Board | null = null;
  let over = new AbortController();
  let raising: Promise<void> = Promise.resolve();
  const show = async (draw: Draw, signal: AbortSignal): Promise<void> => {
    await io.sleep(SOON_MS, signal).catch(() => undefined);
    if (signal.aborted) return;
    const { openBoard } = await import("../../render/tui/board.tsx");
    if (signal.aborted) return;
    board = openBoard(ticking(draw), io.terminal);
  };
  return {
    raise(draw) {
      over.abort();
      over = new AbortController();
      raising = show(draw, over.signal);
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
          // What does not go to the terminal cannot be in the way.
          if (board && sink.isTTY) board.write(stream, text);
          else sink.write(text);
        },
      };
    },
  };
}

/** Draws again and again: a countdown goes on without any event, and many events are one frame. */
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
