import type { Io } from "../../app/io/io.ts";
import { styleFor } from "../../app/io/terminal.ts";
import type { IgnoredAccess } from "../../model/questions.ts";
import { ignoredTexts } from "../../show/text/ignored-text.ts";
import { hangingLines } from "../../show/text/wrap.ts";

/** Writes to stderr which access an answer from files leaves out, and how to see it. */
export function writeIgnored(
  ignored: readonly IgnoredAccess[],
  advice: string,
  { color }: { readonly color: boolean },
  io: Io,
): void {
  const style = styleFor(io.stderr, io, color);
  const lines = ignoredTexts(ignored, advice).flatMap((text) => hangingLines(text, style.columns, "", "  "));
  io.stderr.write(lines.map((line) => `${style.yellow(line)}\n`).join(""));
}
