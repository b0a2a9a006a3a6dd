import type { Io } from "../io/io.ts";
import { terminalOf } from "../io/output.ts";
import { logProgress } from "./log-progress.ts";
import type { ProgressDisplay, ProgressOptions } from "./progress.ts";
import { tuiProgress } from "./tui-progress.ts";

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
    read: noop,
    applying: noop,
    applied: noop,
    rest: async () => undefined,
  };
}
