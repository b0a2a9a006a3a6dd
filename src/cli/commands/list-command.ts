import { Command, Option } from "commander";
import type { DesiredState } from "../../model/desired.ts";
import { warnWithoutEffect } from "../args/option-hints.ts";
import { type OutputOptions, wholeNumber, withMerchantOption, withOutputOptions } from "../args/options.ts";
import { emptyShard, parseShard, type Shard } from "../args/shard.ts";
import { ExitCode } from "../exit-code.ts";
import type { Io } from "../io/io.ts";
import { styleFor } from "../io/output.ts";
import { MAX_JOBS } from "../show/job-matrix.ts";

type Options = OutputOptions & {
  readonly merchant: readonly string[];
  readonly shard?: Shard;
  readonly jobs: number;
};

/** `list`: which merchants the files are about, and as JSON how to divide them among jobs. */
export function listCommand(io: Io, done: (code: ExitCode) => void): Command {
  const command = new Command("list")
    .summary("list the merchants, without the network")
    .description(
      "Lists the merchants of the files. With --format json, prints a workflow matrix that divides them among jobs.",
    )
    .argument("[path...]", "files or folders (default: access/)")
    .option("--shard <i/n>", "only this part of the merchants, such as 2/5", parseShard)
    .addOption(
      new Option("--jobs <n>", "at most this many parts, with --format json")
        .argParser(wholeNumber(1, MAX_JOBS))
        .default(MAX_JOBS),
    )
    .addHelpText(
      "after",
      `
Examples:
  rolecall list                         code, environment and file of each
  rolecall list --format json           for strategy.matrix: {"include": [...]}
                                        with name, merchants, environment, files
  rolecall list --format json --jobs 20 at most 20 parts of one environment each

Exits 0, or 1 if a file has an error.
`,
    )
    .action(async (paths: readonly string[], options: Options, command: Command) => {
      if (options.format !== "json") {
        warnWithoutEffect(command, { jobs: "without --format json" }, io.stderr.write);
      }
      done(await list(paths, options, io));
    });
  return withOutputOptions(withMerchantOption(command));
}

async function list(paths: readonly string[], options: Options, io: Io): Promise<ExitCode> {
  const [{ isError, loadStates }, { warnRemovedMerchants }, { isInShard }, { jobMatrix }] = await Promise.all(
    [
      import("../files/load-states.ts"),
      import("../files/removed-merchants.ts"),
      import("../args/shard.ts"),
      import("../show/job-matrix.ts"),
    ],
  );
  const { shard, merchant } = options;
  const loaded = await loadStates(paths, {
    merchants: merchant,
    cwd: io.cwd,
    now: io.now(),
  });
  const errors = loaded.diagnostics.filter(isError);
  if (errors.length > 0) {
    const { renderDiagnostics } = await import("../../render/text/diagnostics-text.ts");
    io.stderr.write(`${renderDiagnostics(errors, styleFor(io.stderr, io, options.color))}\n`);
  }
  const states = shard ? loaded.states.filter((state) => isInShard(state.merchant, shard)) : loaded.states;
  if (shard && states.length === 0 && loaded.states.length > 0) io.stderr.write(emptyShard(shard));
  if (merchant.length === 0) {
    const present = loaded.states.map((state) => state.merchant);
    await warnRemovedMerchants(paths, present, { ...(shard && { shard }) }, io);
  }
  if (options.format === "json") io.stdout.write(`${JSON.stringify(jobMatrix(states, options.jobs))}\n`);
  else io.stdout.write(await table(states));
  return errors.length > 0 ? ExitCode.failed : ExitCode.ok;
}

async function table(states: readonly DesiredState[]): Promise<string> {
  const { oneLine } = await import("../../lib/escape.ts");
  const rows = states.map(({ merchant, environment, origin }) => [
    merchant,
    environment ?? "-",
    oneLine(origin.file),
  ]);
  const widthOf = (column: number): number => Math.max(0, ...rows.map((row) => row[column]?.length ?? 0));
  const widths = [widthOf(0), widthOf(1)];
  return rows
    .map((row) => `${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ")}\n`)
    .join("");
}
