import { Command, Option } from "commander";
import type { ExitCode, Io } from "../../../app/io/io.ts";
import type { PullCommandOptions } from "../../adopt/pull-merchants.ts";
import { withOutputOptions } from "../../args/options.ts";
import { withConnectionOptions, withQuietOption } from "../../args/service-options.ts";

/** Declares `pull`. */
export function pullCommand(io: Io, done: (code: ExitCode) => void): Command {
  const command = new Command("pull")
    .summary("write the live state to the files, after confirmation")
    .description(
      "Writes the live state to the merchants' files, so that the next plan has no changes. Creates missing files; in existing files, changes only what differs, and keeps comments, order and quotes. Shows the patch and asks. Changes nothing at the service.",
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
                                        adopts the access of one member

An included file is changed only if every merchant that includes it needs the
same change. Otherwise, a role's permissions are adjusted in the merchant's own
file, and other differences are listed.

Exits 0 on success, 1 if a merchant could not be pulled completely or you did
not confirm, or 2 if there are differences (with --check).
`,
    )
    .action(async (codes: readonly string[], options: PullCommandOptions) => {
      const { pullMerchants } = await import("../../adopt/pull-merchants.ts");
      done(await pullMerchants(codes, options, io));
    });
  return withOutputOptions(
    withQuietOption(withConnectionOptions(command)),
    "result",
    "output format; json with --check",
  );
}
