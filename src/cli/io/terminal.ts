import type { Io } from "./io.ts";

/** What can be done on the terminal that somebody sits at. */
export interface Terminal {
  /** Lines can be drawn over: progress is a board instead of lines now and then. */
  readonly draws: boolean;
  /** Somebody can be asked. */
  readonly asks: boolean;
}

/**
 * The one place that decides whether there is a terminal. What is drawn goes to stderr, so stderr decides, and a plan
 * can be piped away meanwhile. CI is not asked: where it is set there is no terminal, or a real one. Colours are
 * another question (NO_COLOR), and so is what stdout is.
 */
export function terminalOf({ env, stderr, stdinIsTTY }: Pick<Io, "env" | "stderr" | "stdinIsTTY">): Terminal {
  return {
    draws: stderr.isTTY && env["TERM"] !== "dumb",
    asks: stderr.isTTY && stdinIsTTY,
  };
}
