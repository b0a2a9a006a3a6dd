import { Command, Option } from "commander";
import type { ExitCode, Io } from "../../../app/io/io.ts";
import { withOutputFileOption, withOutputOptions } from "../../args/options.ts";
import { parseDays, withServiceOptions } from "../../args/service-options.ts";
import type { ExpiringCommandOptions } from "../../questions/list-expiring.ts";

const DEFAULT_WITHIN_MS = 30 * 24 * 60 * 60 * 1000;

/** Declares `expiring`. */
export function expiringCommand(io: Io, done: (code: ExitCode) => void): Command {
  const command = new Command("expiring")
    .summary("list grants, memberships and invitations that end soon")
    .description(
      "Lists grants and memberships that end soon according to the files, people who leave and, with --live, invitations that expire. Changes nothing.",
    )
    .argument("[path...]", "files or folders (default: access/)")
    .addOption(
      new Option("--within <days>", "how far to look ahead, such as 14d or 12h")
        .argParser(parseDays)
        .default(DEFAULT_WITHIN_MS, "30d"),
    )
    .option("--live", "also list invitations, and leave out access that is not live")
    .addHelpText(
      "after",
      `
Examples:
  rolecall expiring                     what ends within 30 days
  rolecall expiring --within 7d --live  only live access, with invitations
  rolecall expiring --format json       for notifications

Exits 0, even if nothing ends, or 1 if a file has an error or a merchant could
not be read.
`,
    )
    .action(async (paths: readonly string[], options: ExpiringCommandOptions) => {
      const { listExpiring } = await import("../../questions/list-expiring.ts");
      done(await listExpiring(paths, options, io));
    });
  return withOutputFileOption(withOutputOptions(withServiceOptions(command), "answer"));
}
