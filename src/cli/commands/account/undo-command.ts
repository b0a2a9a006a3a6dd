import { Command, Option } from "commander";
import type { ExitCode, Io } from "../../../app/io/io.ts";
import {
  approvedOption,
  warnWithoutEffect,
  withMerchantOption,
  withOutputOptions,
} from "../../args/options.ts";
import { withConnectionOptions, withQuietOption, withRecordOptions } from "../../args/service-options.ts";
import type { UndoCommandOptions } from "../../undo/revert-run.ts";

/** Declares `undo`. */
export function undoCommand(io: Io, done: (code: ExitCode) => void): Command {
  const command = new Command("undo")
    .summary("revert a past apply, after confirmation")
    .description(
      "Plans the changes that revert a past apply at all its merchants, from its journals and the live state, shows what it cannot fully restore, asks, and applies them. Leaves alone what the apply did not change, and what has changed since.",
    )
    .argument("<run>", 'a run\'s id, a unique prefix of it, or "latest"')
    .argument("[path...]", "files or folders with the merchants' guards and policies (default: access/)")
    .option("-y, --yes", "do not ask; needed where there is no terminal")
    .option("--dry-run", "show the plan; change nothing")
    .option("--out <file>", "save the plan as JSON, for undo --approved; change nothing")
    .addOption(approvedOption())
    .addOption(
      new Option("--allow <override>", "override a guard's refusal, as the plan prints it; repeatable")
        .argParser((text: string, overrides: readonly string[]) => [...overrides, text])
        .default([], "none"),
    )
    .option("--allow-unverified", "revert a run by a record in git that is not signed, or cannot be verified")
    .option("--no-recheck", "do not read each role and member again right before it is changed")
    .addHelpText(
      "after",
      `
Examples:
  rolecall undo latest --dry-run        shows the plan and its limits
  rolecall undo latest                  asks before it changes anything
  rolecall undo latest -m MC4F7K2P      the latest run of one merchant
  rolecall undo 2026-11-21T13-05 --yes  for pipelines: does not ask

One apply is one run. Without --merchant, it is reverted at all its merchants,
as a new run. Guards, policies and checks come from the merchants' files, if
there are any, and refuse as they do for apply. What cannot be fully restored is
shown first: a member whose accepted membership was removed is invited again and
must accept again; recreated roles and members get new ids; the password of a
managed user comes from the file's password_env.

Change the file as well, or the next apply makes the reverted changes again. An
undo keeps a journal, too, so it can be undone.

A run of another machine is found if it is recorded in git. Its record must be
signed with the key in ROLECALL_APPROVAL_SECRET: anybody who can push could have
written another one.

Exits 0 if everything is done, even if there was nothing to do; 1 if it failed
or was cancelled before the first change; 3 if it was refused; or 4 if it
stopped part-way or changes remain.
`,
    )
    .action(async (run: string, paths: readonly string[], options: UndoCommandOptions, command: Command) => {
      if ((options.dryRun || options.out !== undefined) && !options.quiet) {
        const unused = `with ${options.dryRun ? "--dry-run" : "--out"}, which changes nothing`;
        warnWithoutEffect(command, ["approved", "allow", "recheck"], unused, io.stderr.write);
      }
      const { revertRun } = await import("../../undo/revert-run.ts");
      done(await revertRun(run, paths, options, io));
    });
  return withOutputOptions(
    withQuietOption(withRecordOptions(withConnectionOptions(withMerchantOption(command)))),
  );
}
