import { relative } from "node:path";
import { oneLine } from "../../lib/escape.ts";
import type { Diagnostic } from "../../model/diagnostic.ts";
import { renderDiagnostics } from "../../show/text/diagnostics-text.ts";
import type { Io } from "../io/io.ts";
import { styleFor } from "../io/terminal.ts";
import type { OutputOptions } from "../project/command-options.ts";

/** Prints the problems of files on stderr. */
export function printDiagnostics(
  diagnostics: readonly Diagnostic[],
  options: Pick<OutputOptions, "color" | "quiet">,
  io: Io,
): void {
  const shown = options.quiet ? diagnostics.filter(({ severity }) => severity === "error") : diagnostics;
  if (shown.length === 0) return;
  io.stderr.write(`${renderDiagnostics(shown, styleFor(io.stderr, io, options.color))}\n`);
  io.stderr.write(rootNote(io));
}

/** Prints the folder that the paths of problems are relative to, if the command was run in another one. */
export function rootNote({ cwd, startedIn }: Pick<Io, "cwd" | "startedIn">): string {
  return startedIn === undefined ? "" : `Paths are relative to ${oneLine(relative(startedIn, cwd))}/.\n`;
}
