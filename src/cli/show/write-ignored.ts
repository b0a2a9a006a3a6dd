import type { Io } from "../../app/io/io.ts";
import { styleFor } from "../../app/io/terminal.ts";
import { globMatcher, type PlannedMerchant } from "../../app/session/session.ts";
import { ignoredLive } from "../../ask/access/ignored-access.ts";
import type { IgnoredAccess } from "../../model/questions.ts";
import { ignoredTexts } from "../../show/text/ignored-text.ts";
import { hangingLines } from "../../show/text/wrap.ts";

/** Returns the live roles and members that the files of merchants ignore. */
export function ignoredPlanned(planned: readonly PlannedMerchant[]): readonly IgnoredAccess[] {
  const matches = globMatcher();
  return planned.flatMap(({ live, session: { state } }) => ignoredLive(live, state, matches));
}

/**
 * Writes to stderr what files ignore; `advice` says how to see the access that patterns match, and is empty for live
 * access.
 */
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
