import { Command } from "commander";
import type { ExitCode, Io } from "../../../app/io/io.ts";
import { withOutputFileOption, withOutputOptions } from "../../args/options.ts";
import { warnIfOffline, withServiceOptions } from "../../args/service-options.ts";
import type { CheckOptions } from "../../questions/check-rules.ts";

/** Declares `check`. */
export function checkCommand(io: Io, done: (code: ExitCode) => void): Command {
  const command = new Command("check")
    .summary("judge access by its rules, and find what no rule would notice")
    .description(
      "Says which policies and checks hold, and with --coverage which changes of access no check, policy or guard " +
        "would refuse. Changes nothing.",
    )
    .argument("[path...]", "files or folders (default: access/)")
    .option("--coverage", "try every single change of access, and list those that no rule notices")
    .option("--live", "judge what is live, instead of what the files declare")
    .addHelpText(
      "after",
      `
Examples:
  rolecall check                        whether the files keep their rules
  rolecall check --live                 whether what is live keeps them
  rolecall check --coverage             what could change without a rule that
                                        notices, and a rule to paste for each
  rolecall check --coverage --format json

With --coverage, each role is given to and taken from each member and somebody
new, and each permission given to and taken from each custom role, one change at
a time. What no rule refuses is listed, administrators first; what only takes
away what breaks a rule is not. Members who are suspended in the files, and what
has not begun there, count as if that time was over. Then come the rules that no one or two of these
changes break.

Exits 0 if all policies and checks hold, whatever goes unnoticed, 1 if a file is
invalid or a merchant could not be read, or else 3 if a policy or a check is
broken.
`,
    )
    .action(async (paths: readonly string[], options: CheckOptions, command: Command) => {
      warnIfOffline(command, options.live === true, io.stderr.write);
      const { checkRules } = await import("../../questions/check-rules.ts");
      done(await checkRules(paths, options, io));
    });
  return withOutputFileOption(withOutputOptions(withServiceOptions(command)));
}
