import { Command } from "commander";
import type { ExitCode, Io } from "../../../app/io/io.ts";
import { withMerchantOption, withOutputOptions } from "../../args/options.ts";
import { parseAsOf, withQuietOption } from "../../args/service-options.ts";
import type { ValidateCommandOptions } from "../../show/validate-files.ts";

/** Declares `validate`. */
export function validateCommand(io: Io, done: (code: ExitCode) => void): Command {
  const command = new Command("validate")
    .summary("check the files, without the network")
    .description("Checks everything in the files that needs no network, and reports every problem at once.")
    .argument("[path...]", "files or folders (default: access/)")
    .option("--as-of <day>", "check as of this day or time", parseAsOf)
    .addHelpText(
      "after",
      `
Examples:
  rolecall validate                     checks every file below access/
  rolecall validate access/shop.yaml    checks one file
  rolecall validate --format json       for other programs
  rolecall validate --format github     annotations in a GitHub workflow
  rolecall validate --format gitlab     a Code Quality report for GitLab
  rolecall validate --format sarif      for code scanning
  rolecall validate --format junit      a test report

Rules that rolecall.yaml enforces on a file always apply, whichever paths you
pass.

Exits 0 if the files are valid, 1 if a file has an error, or 3 if a file breaks
a policy or a check. Warnings do not change the exit code.
`,
    )
    .action(async (paths: readonly string[], options: ValidateCommandOptions) => {
      const { validateFiles } = await import("../../show/validate-files.ts");
      done(await validateFiles(paths, options, io));
    });
  return withOutputOptions(withQuietOption(withMerchantOption(command)), "problems");
}
