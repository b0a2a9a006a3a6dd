import { resolve } from "node:path";
import picocolors from "picocolors";
import { type Extent, PLAIN, type Style } from "../render/style.ts";
import type { Io, Sink } from "./io.ts";
import { standardStream } from "./output-path.ts";

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

/** How much `--quiet` and `--verbose` let be shown. */
export function extentOf({ quiet, verbose }: { readonly quiet?: true; readonly verbose?: true }): Extent {
  if (quiet) return "quiet";
  return verbose ? "verbose" : "normal";
}

/** Somewhere to write a result to: a standard stream, or a file, which `end` writes whole. */
export interface Output {
  readonly sink: Sink;
  end(): Promise<void>;
}

/** Where a command's result goes: stdout, or with `--output` another stream or a file. */
export function outputTo(file: string | undefined, io: Io): Output {
  const stream = file === undefined ? "stdout" : standardStream(file);
  if (file === undefined || stream !== null)
    return { sink: io[stream ?? "stdout"], end: async () => undefined };
  let text = "";
  return {
    sink: {
      write: (more) => {
        text += more;
      },
      isTTY: false,
      columns: undefined,
    },
    end: async () => {
      const { writeAtomically } = await import("./atomic-write.ts");
      await writeAtomically(resolve(io.cwd, file), text, { shown: file });
      io.stderr.write(`Written to ${file}.\n`);
    },
  };
}
