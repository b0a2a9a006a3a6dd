import { Command, Option } from "commander";
import type { ExitCode, Io } from "../../../app/io/io.ts";
import { withOutputOptions } from "../../args/options.ts";
import { warnIfOffline, withServiceOptions } from "../../args/service-options.ts";
import type { LintCommandOptions } from "../../questions/lint-files.ts";

/** Declares `lint`. */
export function lintCommand(io: Io, done: (code: ExitCode) => void): Command {
  const command = new Command("lint")
    .summary("find valid but questionable entries in the files")
    .description(
      "Finds what is valid but unwise in the files: identical roles, grants that add nothing, rules that cannot fail. Also shows the warnings of validate. Changes nothing at the service.",
    )
    .argument("[path...]", "files or folders (default: access/)")
    .option("--live", "also check the live state: invitations, MFA, patterns that match nothing")
    .option("--strict", "exit 2 if there are findings")
    .addOption(
      new Option(
        "--fix",
        "remove repeated entries and ended access, and write roles' current names, if that changes no plan; asks first",
      ).conflicts(["live", "strict"]),
    )
    .option("--check", "with --fix: write nothing; show the patch, and exit 2 if there is one")
    .option("-y, --yes", "with --fix: do not ask; needed where there is no terminal")
    .addHelpText(
      "after",
      `
Examples:
  rolecall lint                         from the files alone, without the network
  rolecall lint --live                  also what only the service knows
  rolecall lint --verbose               also roles that another role contains
  rolecall lint --fix                   removes what has no effect, and writes the
                                        new name of a role wherever the files have
                                        the old one, after confirmation
  rolecall lint --strict --format sarif
                                        for code scanning, as a required check

Without --live, predefined roles and the roles of members without "roles" are
unknown, and findings that depend on them are not reported. A finding about a
shared file takes all merchants that include it into account, anywhere in the
git repository (without one, below the working directory).

--fix makes only changes that alter no plan: for each merchant that uses a
changed file, the new files must lead to the same state as the old ones, whether
the ended access is still live or already removed. It does not change a shared
file if a file that may include it has errors. Comments, order and quotes are
kept. Run "rolecall apply" first: once an entry is removed, apply --only due
does not end its live access.

Exits 0 on success; 1 if a file has an error, a merchant could not be read or
you did not confirm; or 2 if there are findings (with --strict) or a file would
change (with --check).
`,
    )
    .action(async (paths: readonly string[], options: LintCommandOptions, command: Command) => {
      warnIfOffline(command, options.live === true, io.stderr.write);
      const { lintFiles } = await import("../../questions/lint-files.ts");
      done(await lintFiles(paths, options, io));
    });
  return withOutputOptions(withServiceOptions(command), "problems");
}
