import { Command, Option } from "commander";
import type { ExitCode, Io } from "../../../app/io/io.ts";
import { warnWithoutEffect, withOutputFileOption } from "../../args/options.ts";
import {
  parseAsOf,
  parseAt,
  REQUEST_OPTIONS,
  withQuietOption,
  withServiceOptions,
} from "../../args/service-options.ts";
import type { ReportCommandOptions } from "../../show/write-report.ts";

/** Declares `report`. */
export function reportCommand(io: Io, done: (code: ExitCode) => void): Command {
  const command = new Command("report")
    .summary("write a page that shows who can do what")
    .description(
      "Writes a self-contained HTML page: who holds which role, what roles grant and to how many people, what each member can do and why, which guards, policies and checks hold, end dates, and open invitations. Changes nothing.",
    )
    .argument("[path...]", "files or folders (default: access/)")
    .option("--declared", "show the access in the files instead of the live access, without the network")
    .addOption(new Option("--live", "show the live access, as without this option").conflicts("declared"))
    .addOption(
      new Option(
        "--at <time>",
        "show what was live on this day or at this time, as recorded in rolecall-live",
      )
        .argParser(parseAt)
        .conflicts(["declared", "asOf"]),
    )
    .option("--as-of <day>", "evaluate end dates as of this day or time", parseAsOf)
    .option("--no-color", "print without colours (also: NO_COLOR)")
    .addHelpText(
      "after",
      `
Examples:
  rolecall report --output report.html  the live access of every merchant below
                                        access/
  rolecall report --declared -o report.html
                                        the access in the files, without the
                                        network
  rolecall report --at 2026-05-01 --live -o may.html
                                        what was live then, as recorded in
                                        the branch rolecall-live
  rolecall plan --format html -o plan.html
                                        the same page, with a plan and the
                                        access before and after

The page loads nothing from the network, and can be printed. End dates come from
the files, since the service does not store them. With --declared, the page says
what the files do not contain: MFA, and who has accepted an invitation.

Exits 0 if the page is complete, or 1 if a file has an error or a merchant could
not be read.
`,
    )
    .action(async (paths: readonly string[], options: ReportCommandOptions, command: Command) => {
      if (options.declared && !options.quiet) {
        const reason = "with --declared, which asks no service";
        warnWithoutEffect(command, [...REQUEST_OPTIONS, "verbose"], reason, io.stderr.write);
      }
      const { writeReport } = await import("../../show/write-report.ts");
      done(await writeReport(paths, options, io));
    });
  return withOutputFileOption(withQuietOption(withServiceOptions(command)));
}
