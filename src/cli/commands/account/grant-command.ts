import { Command } from "commander";
import type { ExitCode, Io } from "../../../app/io/io.ts";
import { withMerchantOption } from "../../args/options.ts";
import { withConnectionOptions, withQuietOption } from "../../args/service-options.ts";
import type { AccessCommandOptions } from "../../grant/prepare-change.ts";

/** Declares `grant`. */
export function grantCommand(io: Io, done: (code: ExitCode) => void): Command {
  const command = new Command("grant")
    .summary("give somebody roles in the right file, after confirmation")
    .description(
      "Gives somebody roles at a merchant: adds the entry to the right file, in its place if the list is sorted, or extends it. Shows the patch and the resulting plan, and asks for confirmation. Changes nothing at the service: the next apply does.",
    )
    .argument("<email>", "the address of the person")
    .argument("<role...>", "names or ids of roles")
    .option("--until <date>", "end: a date, a timestamp, or a period from now (+7d, +2w, +12h)")
    .option("--from <date>", "beginning: a date or a timestamp");
  return withAccessOptions(command)
    .addHelpText(
      "after",
      `
Examples:
  rolecall grant karim@example.com Cashier -m MC4F7K2P
                                        shows the patch and the plan, and asks
  rolecall grant karim@example.com "Shift Lead" -m MC4F7K2P --until +7d \\
    --reason "Covers for Ada"           a week, with a comment
  rolecall grant karim@example.com Cashier -m MC4F7K2P --pr
                                        opens a pull request instead

A role that the person already holds is extended, never shortened. If the entry
could go to the merchant's own file or to a shared one, the command asks, and
fails without a terminal: --file chooses one. "requestable" in rolecall.yaml
limits what can be granted in this way, and for how long.
${EXIT_CODES}`,
    )
    .action(async (email: string, roles: readonly string[], options: AccessCommandOptions) => {
      const { changeAccess } = await import("../../grant/change-access.ts");
      done(await changeAccess("grant", email, roles, options, io));
    });
}

/** Declares `revoke`. */
export function revokeCommand(io: Io, done: (code: ExitCode) => void): Command {
  const command = new Command("revoke")
    .summary("remove somebody's roles from the right file, after confirmation")
    .description(
      "Revokes roles of somebody at a merchant. Removes the membership if you name no role, or if none would be left. Shows the patch and the resulting plan, and asks for confirmation. Changes nothing at the service: the next apply does.",
    )
    .argument("<email>", "the address of the person")
    .argument("[role...]", "names or ids of roles (default: the membership)");
  return withAccessOptions(command)
    .addHelpText(
      "after",
      `
Examples:
  rolecall revoke karim@example.com Cashier -m MC4F7K2P
                                        shows the patch and the plan, and asks
  rolecall revoke karim@example.com -m MC4F7K2P -m MC9Q3T8X
                                        ends both memberships
  rolecall revoke karim@example.com Cashier -m MC4F7K2P --pr
                                        opens a pull request instead

What a shared file grants is not revoked unless --file names that file; the
command says where it comes from. rolecall offboard removes a person from every
file.
${EXIT_CODES}`,
    )
    .action(async (email: string, roles: readonly string[], options: AccessCommandOptions) => {
      const { changeAccess } = await import("../../grant/change-access.ts");
      done(await changeAccess("revoke", email, roles, options, io));
    });
}

const EXIT_CODES = `
Exits 0 on success, even if there is nothing to change; 1 if it failed or you did
not confirm; 2 if a file would change (with --check); 3 if "requestable" does not
allow it.
`;

function withAccessOptions(command: Command): Command {
  const options = withMerchantOption(command)
    .option("--reason <text>", "a comment above the entry, and in the pull request")
    .option("--file <file>", "the file to change, if there are several")
    .option("--pr", "open a pull request from the default branch instead of writing here")
    .option("--check", "write nothing; show the patch, and exit 2 if there is one")
    .option("-y, --yes", "do not ask; needed where there is no terminal")
    .option("--declared", "use only the files: read nothing from the service, and show no plan")
    .option("--no-color", "print without colours (also: NO_COLOR)");
  return withQuietOption(withConnectionOptions(options));
}
