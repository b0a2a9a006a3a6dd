import picocolors from "picocolors";
import { PLAIN, type Style } from "../render/style.ts";
import type { Io, Sink } from "./io.ts";

const MAX_COLUMNS = 120;

/** How to dress text for a stream: colours on a terminal, unless NO_COLOR, FORCE_COLOR or `--no-color` say otherwise. */
export function styleFor(sink: Sink, io: Io, color: boolean): Style {
  const { isTTY, columns } = sink;
  const wanted = color && wantsColor(io.env, isTTY);
  const { bold, dim, red, green, yellow, cyan } = picocolors.createColors(wanted);
  const width = isTTY ? Math.min(columns ?? PLAIN.columns, MAX_COLUMNS) : PLAIN.columns;
  return { bold, dim, red, green, yellow, cyan, columns: width };
}

function wantsColor(env: Io["env"], isTTY: boolean): boolean {
  if (env["NO_COLOR"]) return false;
  const forced = env["FORCE_COLOR"];
  if (forced !== undefined) return forced !== "0" && forced !== "false";
  return isTTY && env["TERM"] !== "dumb";
}
