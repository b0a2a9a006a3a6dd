import { Command, Option } from "commander";
import type { ExitCode, Io } from "../../../app/io/io.ts";
import type { PullCommandOptions } from "../../adopt/pull-merchants.ts";
import { withConnectionOptions, withQuietOption } from "../../args/service-options.ts";

/** Declares `pull`. */
export function pullCommand(io: Io, done: (code: ExitCode) => void): Command {
  const command = new Command("pull")
    .summary("write the live state into the files, after confirmation")
    .description(
      "Writes what is live into the merchants' files, so that the next plan has no changes: a new file for a " +
        "merchant without one; in an existing file only what differs. Comments, order and quotes stay. Shows the " +
        "patch and asks. Changes nothing at the service.",
    )
    .argument("[merchant...]", "merchant codes (default: every merchant of the files in access/)")
    .option("--check", "write nothing; show the patch, and exit 2 if there is one")
    .option("-y, --yes", "do not ask; needed where there is no terminal")
    .addOption(new Option("--only <section>", "only roles, or only members").choices(["roles", "members"]))
    .addOption(
      new Option("--member <email>", "only this member, and the roles it needs; repeatable")
        .argParser((email: string, emails: readonly string[]) => [...emails, email])
        .default([], "all"),
    )
    .option("--adopt-drift", "only what drift reports as changed outside git")
    .addOption(
      new Option("--format <format>", "output format; json with --check")
        .choices(["text", "json"])
        .default("text"),
    )
    .option("--no-color", "print without colours (also: NO_COLOR)")
    .addHelpText(
      "after",
      `
Examples:
  rolecall pull MC4F7K2P                writes access/mc4f7k2p.yaml
  rolecall pull                         updates every file in access/
  rolecall pull --check                 shows the patch, and writes nothing
  rolecall pull --check --format json   the patch of each file, for other programs
  rolecall pull --adopt-drift           keeps what was changed outside git
  rolecall pull --member ada@example.com
                                        takes over the access of one member

What belongs to an included file is changed there. If several merchants include
the file and do not agree, it stays as it is, and the differences are listed.

Exits 0, 1 if a merchant could not be pulled whole or nothing was confirmed, or
2 with --check if there are differences.
`,
    )
    .action(async (codes: readonly string[], options: PullCommandOptions) => {
      const { pullMerchants } = await import("../../adopt/pull-merchants.ts");
      done(await pullMerchants(codes, options, io));
    });
  return withQuietOption(withConnectionOptions(command));
}
