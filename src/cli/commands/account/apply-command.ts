import { Command, Option } from "commander";
import type { ExitCode, Io } from "../../../app/io/io.ts";
import type { ApplyCommandOptions } from "../../apply/apply-merchants.ts";
import { approvedOption, withOutputOptions } from "../../args/options.ts";
import {
  parseDuration,
  withOnlyOption,
  withQuietOption,
  withRecordOptions,
  withReinviteOption,
  withServiceOptions,
} from "../../args/service-options.ts";

/** Declares `apply`. */
export function applyCommand(io: Io, done: (code: ExitCode) => void): Command {
  const command = new Command("apply")
    .summary("apply the planned changes, after confirmation")
    .description(
      "Plans again, shows the plan, asks for confirmation, applies the plan, and verifies that no changes remain.",
    )
    .argument("[path...]", "files or folders (default: access/)")
    .option("-y, --yes", "do not ask; needed where there is no terminal")
    .addOption(approvedOption())
    .addOption(
      new Option("-i, --interactive", "browse the plan first, and leave changes out").conflicts([
        "yes",
        "approved",
      ]),
    )
    .addOption(
      new Option("--allow <override>", "override a guard's refusal, as the plan prints it; repeatable")
        .argParser((text: string, overrides: readonly string[]) => [...overrides, text])
        .default([], "none"),
    )
    .addOption(
      new Option(
        "--rotate-password <email>",
        "change only the password of this managed user, or of all that a glob matches, from its password_env; repeatable",
      )
        .argParser((email: string, emails: readonly string[]) => [...emails, email])
        .default([], "none")
        .conflicts(["approved", "interactive", "only", "reinvite"]),
    )
    .addOption(
      new Option(
        "--on-error <mode>",
        "after a refusal or failure at one merchant: continue at the others, or stop",
      )
        .choices(["continue", "stop"])
        .default("continue"),
    )
    .addOption(
      new Option(
        "--lock-timeout <duration>",
        "how long to wait for another apply of the same merchant on this machine, such as 5m",
      )
        .argParser(parseDuration)
        .default(0, "not at all"),
    )
    .option("--no-recheck", "do not read each role and member again right before it is changed")
    .addHelpText(
      "after",
      `
Examples:
  rolecall apply access/shop.yaml       asks before it changes anything
  rolecall apply --interactive          lets you leave changes out
  rolecall apply --yes                  for pipelines: does not ask
  rolecall apply --only due --yes       makes only changes that are due by dates
                                        in the files
  rolecall apply --yes --format json    one event per line, for other programs
  rolecall apply --yes --approved plan.json
                                        only what was reviewed and saved
  rolecall apply --rotate-password 'till-*@shop-001.example.com'
                                        sets the passwords of a shop's tills,
                                        and changes nothing else

It asks for "yes", or for the merchant code if something is removed from an
account that is not a test account. Any other answer cancels.

Each role and member is read again right before it is changed or removed. If it
differs from the plan, or if a change fails, the apply stops at this merchant:
completed changes stay and are listed, and the next apply continues from there.
If an address was invited too often (429), only its invitation fails: all other
changes are made, and the address is listed with the time to try again. Ctrl-C
finishes the requests in flight, then stops; a second Ctrl-C exits at once.

A new password enables a disabled user: a glob skips such users, and an address
needs --allow. If the service refuses a password, the others are still set; a
password that was used before counts as set by an earlier run.

In one project on one machine, only one apply at a time can change a merchant. A
second apply changes nothing there and names the first, or waits for it
(--lock-timeout).

With --records push, the run's journals are also recorded in git, in
refs/rolecall/runs of the remote repository: first that it began, then how it
ended. A record that cannot be pushed is a warning, and the next run adds it. If
ROLECALL_APPROVAL_SECRET is set, it signs the records.

Merchants are independent: if one cannot be read, is refused or fails, the
others are still applied. With --on-error stop, nothing is changed if any
merchant has a problem, and the first failure stops the apply at all merchants.
If a file has an error, nothing is changed in either case.

Exits 0 if everything is done, even if there was nothing to do; 1 if it failed
or was cancelled before the first change; 3 if it was refused; or 4 if it was
done only in part: at some merchants only, or with changes remaining.
`,
    )
    .action(async (paths: readonly string[], options: ApplyCommandOptions) => {
      const { applyMerchants } = await import("../../apply/apply-merchants.ts");
      done(await applyMerchants(paths, options, io));
    });
  return withOutputOptions(
    withQuietOption(withRecordOptions(withServiceOptions(withOnlyOption(withReinviteOption(command))))),
  );
}
