import { Command } from "commander";
import { RolecallError } from "../../model/errors.ts";
import { warnWithoutEffect } from "../args/option-hints.ts";
import { type OutputOptions, wholeNumber, withMerchantOption, withOutputOptions } from "../args/options.ts";
import { ExitCode } from "../exit-code.ts";
import type { Io } from "../io/io.ts";
import { styleFor } from "../io/output.ts";
import type { Run } from "../journal/find-run.ts";

type Options = OutputOptions & { readonly merchant: readonly string[]; readonly limit: number };

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100_000;

/** `runs`: what past applies did. */
export function runsCommand(io: Io, done: (code: ExitCode) => void): Command {
  const command = new Command("runs")
    .summary("list past applies, or show one of them")
    .description(
      "Lists past applies on this machine, the newest first; or shows one: who ran it, from which commit, and for each merchant the outcome of each write.",
    )
    .argument("[run]", 'a run\'s id, a unique prefix of it, or "latest"')
    .option("--limit <n>", "how many to list", wholeNumber(1, MAX_LIMIT), DEFAULT_LIMIT)
    .addHelpText(
      "after",
      `
Examples:
  rolecall runs                         the last ${DEFAULT_LIMIT} applies
  rolecall runs -m MC4F7K2P             those of one merchant
  rolecall runs latest                  the last one, in full
  rolecall runs latest -m MC4F7K2P      its part at one merchant
  rolecall runs 2026-11-21T13-05        the one whose id starts with this
  rolecall undo latest                  reverts it

One apply is one run, even of many merchants. Its journals, one for each
merchant, are in .rolecall/runs below the root of the project. Each write is
recorded before it is sent, so that after a crash the journal shows which writes
have no known outcome.

Exits 0, or 1 if the run cannot be found or read.
`,
    )
    .action(async (run: string | undefined, options: Options, command: Command) => {
      if (run !== undefined) warnWithoutEffect(command, { limit: "where one run is named" }, io.stderr.write);
      done(run === undefined ? await list(options, io) : await show(run, options, io));
    });
  return withOutputOptions(withMerchantOption(command));
}

async function list({ merchant, limit, ...options }: Options, io: Io): Promise<ExitCode> {
  const [{ narrowed, pastRuns }, { renderRuns }, { runsJson }] = await Promise.all([
    import("../journal/find-run.ts"),
    import("../../render/text/runs-text.ts"),
    import("../../render/formats/json-output.ts"),
  ]);
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

async function show(text: string, options: Options, io: Io): Promise<ExitCode> {
  const [{ findRun }, { renderRun }, { runsJson }] = await Promise.all([
    import("../journal/find-run.ts"),
    import("../../render/text/runs-text.ts"),
    import("../../render/formats/json-output.ts"),
  ]);
  const found = await findRun(text, { merchants: options.merchant }, io);
  const [first] = found.journals;
  if (found.status === null && first && "unreadable" in first) {
    throw new RolecallError("file-invalid", `This journal cannot be read: ${first.unreadable}.`, {
      hint: "Nothing depends on it: rolecall plan reads what is live.",
    });
  }
  if (options.format === "json") io.stdout.write(runsJson([found]));
  else io.stdout.write(renderRun(found, styleFor(io.stdout, io, options.color)));
  return ExitCode.ok;
}
