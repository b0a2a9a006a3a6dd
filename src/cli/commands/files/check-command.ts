import { Command } from "commander";
import type { ExitCode, Io } from "../../../app/io/io.ts";
import { withOutputFileOption, withOutputOptions } from "../../args/options.ts";
import { warnIfOffline, withServiceOptions } from "../../args/service-options.ts";
import type { CheckOptions } from "../../questions/check-rules.ts";

/** Declares `check`. */
export function checkCommand(io: Io, done: (code: ExitCode) => void): Command {
  const command = new Command("check")
    .summary("test policies and checks, and find what no rule would refuse")
    .description(
      "Tests which policies and checks hold, and with --coverage, which changes to access no check, policy or guard would refuse. Changes nothing.",
    )
    .argument("[path...]", "files or folders (default: access/)")
    .option("--coverage", "try each single change to access, and list those that no rule would refuse")
    .option("--live", "judge the live state instead of the files")
    .addHelpText(
      "after",
      `
Examples:
  rolecall check                        whether the files satisfy their rules
  rolecall check --live                 whether the live state satisfies them
  rolecall check --coverage             changes that no rule would refuse, and
                                        a rule to paste for each
  rolecall check --coverage --format json

With --coverage, the command gives each role to each member and to somebody new,
takes each role from each member, and adds and removes each permission for each
custom role, one change at a time. It lists the changes that no rule refuses,
administrators first, but not those that only remove a violation. Suspensions in
the files count as over, and future grants as begun. If a merchant has too many
changes, the command says how many it did not examine.

Exits 0 if all policies and checks hold, 1 if a file is invalid or a merchant
could not be read, or 3 if a policy or a check is broken. Unnoticed changes do
not change the exit code.
`,
    )
    .action(async (paths: readonly string[], options: CheckOptions, command: Command) => {
      warnIfOffline(command, options.live === true, io.stderr.write);
      const { checkRules } = await import("../../questions/check-rules.ts");
      done(await checkRules(paths, options, io));
    });
  return withOutputFileOption(withOutputOptions(withServiceOptions(command), "answer"));
}
