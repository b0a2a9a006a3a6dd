import { Command, Option } from "commander";
import type { ExitCode, Io } from "../../../app/io/io.ts";
import { warnWithoutEffect, withOutputOptions } from "../../args/options.ts";
import { withDocumentOptions, withQuietOption, withServiceOptions } from "../../args/service-options.ts";
import type { DriftCommandOptions } from "../../show/show-drift.ts";

/** Declares `drift`. */
export function driftCommand(io: Io, done: (code: ExitCode) => void): Command {
  const command = new Command("drift")
    .summary("show what differs, and which side changed; changes nothing")
    .description(
      "Compares the files with the live state, and shows for each difference which side changed last: " +
        "the live state (outside git) or the file (merged but not applied). Shows who gained and lost which " +
        "permissions, and which policies and checks the live access breaks. Changes nothing.",
    )
    .argument("[path...]", "files or folders (default: access/)")
    .addOption(
      new Option("--patch", "print the patch of the files that adopts what changed outside git").conflicts(
        "format",
      ),
    )
    .addHelpText(
      "after",
      `
Examples:
  rolecall drift                        every merchant below access/
  rolecall drift --format json          for other programs
  rolecall drift --format markdown      for a report or an issue
  rolecall drift --format junit         a test report; differences are failures
  rolecall drift --patch | git apply --allow-empty
                                        adopts what was changed outside git,
                                        as rolecall pull --adopt-drift does

An entry counts as changed by the last commit that changed its lines. Without
git, or for an entry that no longer exists, the side that changed last is
unknown. With live_branch in rolecall.yaml, the live state is recorded, and for
each difference at the service, the output names the two recorded states between
which it appeared.

Exits 0 without drift, 2 with drift or if live access breaks a policy or check,
or 1 if a merchant could not be read.
`,
    )
    .action(async (paths: readonly string[], options: DriftCommandOptions, command: Command) => {
      if (options.format !== "markdown" && !options.quiet) {
        warnWithoutEffect(command, ["maxSize"], "without --format markdown", io.stderr.write);
      }
      const { showDrift } = await import("../../show/show-drift.ts");
      done(await showDrift(paths, options, io));
    });
  return withDocumentOptions(withOutputOptions(withQuietOption(withServiceOptions(command)), "drifts"));
}
