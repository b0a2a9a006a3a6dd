import { RolecallError } from "../../model/errors.ts";
import { runsJson } from "../../render/formats/json-output.ts";
import { renderRun, renderRuns } from "../../render/text/runs-text.ts";
import type { OutputOptions } from "../args/options.ts";
import { ExitCode } from "../exit-code.ts";
import type { Io } from "../io/io.ts";
import { styleFor } from "../io/output.ts";
import { findRun, narrowed, pastRuns, type Run } from "./find-run.ts";

/** The options of `runs`. */
export type RunsCommandOptions = OutputOptions & {
  readonly merchant: readonly string[];
  readonly limit: number;
};

/** Prints past runs, the newest first. */
export async function listPastRuns(
  { merchant, limit, ...options }: RunsCommandOptions,
  io: Io,
): Promise<ExitCode> {
  const found: Run[] = [];
  for await (const run of pastRuns(io)) {
    if (found.length === limit) break;
    const part = narrowed(run, merchant);
    if (part !== null) found.push(part);
  }
  if (options.format === "json") io.stdout.write(runsJson(found));
  else if (found.length > 0) io.stdout.write(renderRuns(found, styleFor(io.stdout, io, options.color)));
  else {
    const whose = merchant.length === 0 ? "" : ` of ${merchant.join(", ")}`;
    io.stderr.write(`There are no runs${whose} yet: every apply leaves a journal in .rolecall/runs.\n`);
  }
  return ExitCode.ok;
}

/** Prints one past run. */
export async function showPastRun(text: string, options: RunsCommandOptions, io: Io): Promise<ExitCode> {
  const found = await findRun(text, { merchants: options.merchant }, io);
  const [first] = found.journals;
  if (found.status === null && first && "unreadable" in first) {
    throw new RolecallError("file-invalid", `This journal cannot be read: ${first.unreadable}.`, {
      hint: "Nothing depends on it: rolecall plan reads the live state.",
    });
  }
  if (options.format === "json") io.stdout.write(runsJson([found]));
  else io.stdout.write(renderRun(found, styleFor(io.stdout, io, options.color)));
  return ExitCode.ok;
}
