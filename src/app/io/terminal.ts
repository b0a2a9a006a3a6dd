import { type Paint, PLAIN, type Style, type Verbosity } from "../../show/style.ts";
import type { Io, TextWriter } from "./io.ts";

const MAX_COLUMNS = 120;

/**
 * Returns the style for a stream: colours on a terminal, unless NO_COLOR, FORCE_COLOR or `--no-color` decide otherwise.
 */
export function styleFor(sink: TextWriter, io: Io, color: boolean): Style {
  const { isTTY, columns } = sink;
  // A pseudo-terminal whose size nobody has set has no columns.
  const width = isTTY ? Math.min(columns || PLAIN.columns, MAX_COLUMNS) : PLAIN.columns;
  const paints = color && wantsColor(io.env, isTTY) ? ansiFor(io.env) : PLAIN;
  return { ...paints, columns: width, onTerminal: isTTY };
}

/** Wraps text in two escape sequences; `again` replaces an `end` inside the text, which would end this one too. */
function paint(begin: string, end: string, again = begin): Paint {
  return (text) => `${begin}${text.replaceAll(end, again)}${end}`;
}

/** Returns the styles with these foreground colours, as the parameters of SGR; `null` for plain text. */
function ansiStyle(
  foreground: Readonly<Record<Exclude<keyof AnsiStyle, "bold" | "inverse">, string | null>>,
): AnsiStyle {
  const plain: Paint = (text) => text;
  const of = (code: string | null): Paint => (code === null ? plain : paint(`\x1b[${code}m`, "\x1b[39m"));
  const { dim, red, green, yellow, cyan } = foreground;
  return {
    bold: paint("\x1b[1m", "\x1b[22m", "\x1b[22m\x1b[1m"),
    dim: of(dim),
    red: of(red),
    green: of(green),
    yellow: of(yellow),
    cyan: of(cyan),
    inverse: paint("\x1b[7m", "\x1b[27m"),
  };
}

type AnsiStyle = Omit<Style, "columns" | "onTerminal">;

/** Colours of the 256-colour cube, which no theme changes: each has a contrast of 4:1 and more to white and to black. */
const ANSI = ansiStyle({
  dim: "38;5;243",
  red: "38;5;161",
  green: "38;5;28",
  yellow: "38;5;130",
  cyan: "38;5;30",
});

/** Of the colours that a theme chooses, red and magenta are the ones that show on white and on black. */
const BASIC = ansiStyle({ dim: null, red: "31", green: null, yellow: "35", cyan: null });

/** Matches the terminals that have 16 colours only. */
const BASIC_TERMINAL = /^(?:linux|ansi|cons25|cygwin|vt\d+.*)$/;

function ansiFor({ TERM = "", COLORTERM }: Io["env"]): AnsiStyle {
  return BASIC_TERMINAL.test(TERM) && !COLORTERM ? BASIC : ANSI;
}

function wantsColor(env: Io["env"], isTTY: boolean): boolean {
  if (env["NO_COLOR"]) return false;
  const forced = env["FORCE_COLOR"];
  if (forced !== undefined) return forced !== "0" && forced !== "false";
  return isTTY && env["TERM"] !== "dumb";
}

/** Returns the verbosity that `--quiet` and `--verbose` select. */
export function verbosityOf({
  quiet,
  verbose,
}: {
  readonly quiet?: true;
  readonly verbose?: true;
}): Verbosity {
  if (quiet) return "quiet";
  return verbose ? "verbose" : "normal";
}

/** The ways to show progress: a board on a terminal and lines elsewhere; lines everywhere; nothing. */
export const PROGRESS_MODES = ["auto", "plain", "none"] as const;

/** One of the ways to show progress. */
export type ProgressMode = (typeof PROGRESS_MODES)[number];

/** The abilities of the terminal. */
export interface TerminalSupport {
  /** True if it can be redrawn: progress is a board instead of single lines. */
  readonly draws: boolean;
  /** True if the user can be asked. */
  readonly asks: boolean;
}

/**
 * Decides whether there is a terminal. Drawing goes to stderr, so stderr decides, and a plan can be piped at the same
 * time. CI does not matter: there the terminal is missing, or real. Colours are decided apart (NO_COLOR).
 */
export function terminalOf({
  env,
  stderr,
  stdinIsTTY,
}: Pick<Io, "env" | "stderr" | "stdinIsTTY">): TerminalSupport {
  return {
    draws: stderr.isTTY && env["TERM"] !== "dumb",
    asks: stderr.isTTY && stdinIsTTY,
  };
}

/** The escape sequences that enter the alternate screen without line wrapping, and leave it again. */
const [OTHER_SCREEN, FIRST_SCREEN] = ["\u001b[?1049h\u001b[?7l\u001b[H", "\u001b[?7h\u001b[?1049l"];

/**
 * Switches to the alternate screen for drawing, and reads keys; the returned function, or the end of the process,
 * restores the previous screen.
 */
export function openScreen({ terminal, stderr, onExit }: Io): () => void {
  let isOpen = true;
  const close = (): void => {
    // If the alternate screen is left twice, the cursor moves back over text that was printed since.
    if (isOpen) stderr.write(FIRST_SCREEN);
    isOpen = false;
    offExit();
  };
  const offExit = onExit(close);
  // Set before the first frame, so that early keys are not echoed into it.
  terminal.stdin.setRawMode(true);
  stderr.write(OTHER_SCREEN);
  return close;
}
