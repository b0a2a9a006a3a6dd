import { Command, Option } from "commander";
import type { ExitCode, Io } from "../../../app/io/io.ts";
import { DIAGNOSTIC_FORMATS, withOutputOptions } from "../../args/options.ts";
import { warnIfOffline, withServiceOptions } from "../../args/service-options.ts";
import type { LintCommandOptions } from "../../questions/lint-files.ts";

/** Declares `lint`. */
export function lintCommand(io: Io, done: (code: ExitCode) => void): Command {
  const command = new Command("lint")
    .summary("find what is valid in the files, and unwise")
    .description(
      "Finds what is valid in the files, and unwise: equal roles, grants that give nothing, rules that cannot fail, " +
        "with the warnings of validate. Changes nothing at the service.",
    )
    .argument("[path...]", "files or folders (default: access/)")
    .option("--live", "also look at what is live: invitations, MFA, patterns that match nothing")
    .option("--strict", "exit 2 if something is found")
    .addOption(
      new Option(
        "--fix",
        "remove ends that are past and repeated entries, and write roles' current names, if that changes nobody's access; asks before",
      ).conflicts(["live", "strict"]),
    )
    .option("--check", "with --fix: write nothing; show the patch, and exit 2 if there is one")
    .option("-y, --yes", "with --fix: do not ask; needed where there is no terminal")
    .addHelpText(
      "after",
      `
Examples:
  rolecall lint                         from the files alone, without the network
  rolecall lint --live                  with what only the service knows
  rolecall lint --verbose               also roles that another one contains
  rolecall lint --fix                   removes what has no effect, and writes the
                                        new name of a role wherever the files have
                                        the old one, after confirmation
  rolecall lint --strict --format sarif
                                        for code scanning, as a required check

Predefined roles, and members whose roles the files leave alone, are unknown
without --live: what depends on them is not reported. A shared file is judged
by all merchants that include it, wherever their files are in the git repository
(without one, below the working directory).

--fix writes what is proved by plans: for each merchant of a changed file, the
files after it leave alone what those before it made, and change a live state in
which nothing has ended yet as those do. Where a file that may share it has
errors, a shared file is left alone. Comments, order and quotes stay. Run "rolecall apply"
first: once an entry is gone, apply --only due does not end what is still live.

Exits 0, 1 if a file has an error, a merchant could not be read or nothing was
confirmed, or 2 with --strict if something is found, or with --check if a file
would change.
`,
    )
    .action(async (paths: readonly string[], options: LintCommandOptions, command: Command) => {
      warnIfOffline(command, options.live === true, io.stderr.write);
      const { lintFiles } = await import("../../questions/lint-files.ts");
      done(await lintFiles(paths, options, io));
    });
  return withOutputOptions(withServiceOptions(command), DIAGNOSTIC_FORMATS);
}
