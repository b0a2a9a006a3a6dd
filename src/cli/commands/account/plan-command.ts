import { Command } from "commander";
import type { ExitCode, Io } from "../../../app/io/io.ts";
import { warnWithoutEffect, withOutputOptions } from "../../args/options.ts";
import {
  parseAsOf,
  withDocumentOptions,
  withOnlyOption,
  withQuietOption,
  withReinviteOption,
  withServiceOptions,
} from "../../args/service-options.ts";
import type { PlanCommandOptions } from "../../show/preview-plans.ts";

/** Declares `plan`. */
export function planCommand(io: Io, done: (code: ExitCode) => void): Command {
  const command = new Command("plan")
    .summary("show what would change; changes nothing")
    .description(
      "Reads the live state, compares it with the files, and shows what an apply would change. Changes nothing.",
    )
    .argument("[path...]", "files or folders (default: access/)")
    .option("-i, --interactive", "browse the plan with the keyboard, and print it at the end")
    .option("--out <file>", "save the plan as JSON, for apply --approved")
    .option("--as-of <day>", "plan as of this day or time, for future end dates", parseAsOf)
    .option("--detailed-exitcode", "exit 2 when there are changes, 0 when there are none")
    .addHelpText(
      "after",
      `
Examples:
  rolecall plan                         every merchant below access/
  rolecall plan access/shop.yaml        one file
  rolecall plan --interactive           changes in two panes; ? lists the keys
  rolecall plan -m MC4F7K2P --format json
  rolecall plan --changed-since origin/main
                                        only merchants that this branch changes
  rolecall plan --out plan.json         saves it for apply --approved plan.json
  rolecall plan --format markdown --output plan.md
                                        for a comment in a review
  rolecall plan --format html -o plan.html
                                        a page with the access before and after
  rolecall plan --format junit -o plan.xml
                                        a test report; refusals are failures
  rolecall plan --reinvite bob@example.com
                                        renews an expired invitation; give the
                                        same option to apply
  rolecall plan --as-of 2027-02-01      what a run on that day would do

With --merchant, only the files that the merchant needs are read and checked;
validate checks all files. --changed-since compares the content of the files and
their includes with that at a commit: comments, formatting and the order of keys
do not count, and a change to a shared file counts for every merchant that it
affects.

The API key comes from the environment: the variable that the file names in
api.key_env, else ROLECALL_API_KEY_<MERCHANT>, else ROLECALL_API_KEY.

Exits 0, even if there are changes; 1 if it failed; 2 if there are changes (with
--detailed-exitcode); or 3 if a guard, a policy or a check would refuse the
apply.
`,
    )
    .action(async (paths: readonly string[], options: PlanCommandOptions, command: Command) => {
      if (options.format !== "markdown" && !options.quiet) {
        warnWithoutEffect(command, ["maxSize"], "without --format markdown", io.stderr.write);
      }
      const { previewPlans } = await import("../../show/preview-plans.ts");
      done(await previewPlans(paths, options, io));
    });
  return withDocumentOptions(
    withOutputOptions(
      withQuietOption(withServiceOptions(withOnlyOption(withReinviteOption(command)))),
      "plans",
    ),
  );
}
