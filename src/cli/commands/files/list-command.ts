import { Command, Option } from "commander";
import type { ExitCode, Io } from "../../../app/io/io.ts";
import { MAX_JOBS } from "../../../app/project/job-matrix.ts";
import {
  parseShard,
  warnWithoutEffect,
  wholeNumber,
  withChangedSinceOption,
  withMerchantOption,
  withOutputOptions,
} from "../../args/options.ts";
import type { ListCommandOptions } from "../../show/list-merchants.ts";

/** Declares `list`. */
export function listCommand(io: Io, done: (code: ExitCode) => void): Command {
  const command = new Command("list")
    .summary("list the merchants, without the network")
    .description(
      "Lists the merchants of the files. With --format json, prints a workflow matrix that divides them among jobs.",
    )
    .argument("[path...]", "files or folders (default: access/)")
    .option(
      "--using <file>",
      "only merchants that this shared file affects, by include or through rolecall.yaml",
    )
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
  rolecall list --changed-since origin/main
                                        only merchants that this branch changes
  rolecall list --using shared/group.yaml
                                        only merchants that this file affects

A file that cannot be read, that declares no merchant, or that declares the
merchant of another file is an error; "rolecall validate" finds all other
errors.

Exits 0 if there is no such file, otherwise 1.
`,
    )
    .action(async (paths: readonly string[], options: ListCommandOptions, command: Command) => {
      if (options.format !== "json") {
        warnWithoutEffect(command, ["jobs"], "without --format json", io.stderr.write);
      }
      const { listMerchants } = await import("../../show/list-merchants.ts");
      done(await listMerchants(paths, options, io));
    });
  return withOutputOptions(withChangedSinceOption(withMerchantOption(command)), "answer");
}
