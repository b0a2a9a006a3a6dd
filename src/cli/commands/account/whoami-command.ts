import { Command, InvalidArgumentError, Option } from "commander";
import type { ExitCode, Io } from "../../../app/io/io.ts";
import { MEMBER_STATUSES } from "../../../model/live.ts";
import { withOutputOptions } from "../../args/options.ts";
import { withConnectionOptions } from "../../args/service-options.ts";
import type { WhoamiCommandOptions } from "../../show/show-memberships.ts";

/** Declares `whoami`. */
export function whoamiCommand(io: Io, done: (code: ExitCode) => void): Command {
  const command = new Command("whoami")
    .summary("list the memberships of the key's user, and merchants without a file")
    .description(
      "Lists the merchants and organizations that the key's user is a member of, the merchants without a file, and the files whose merchants the key cannot access. Changes nothing.",
    )
    .argument("[path...]", "files or folders (default: access/, if it exists)")
    .addOption(
      new Option("--type <type>", "only resources of this type").choices(["merchant", "organization"]),
    )
    .addOption(new Option("--status <status>", "only this status").choices(MEMBER_STATUSES))
    .option("--sandbox", "only test accounts")
    .option("--no-sandbox", "exclude test accounts")
    .option("--name <name>", "only resources of this name")
    .option("--parent <parent>", "only resources of this organization, or of none", parseParent)
    .addOption(
      new Option("--role <id>", "only memberships with one of these role ids; repeatable")
        .argParser((id: string, ids: readonly string[]) => [...ids, id])
        .default([], "all memberships"),
    )
    .option("--key-env <name>", "only the key in this environment variable")
    .addHelpText(
      "after",
      `
Examples:
  rolecall whoami                       every membership of every key in use
  rolecall whoami --key-env RETAIL_API_KEY --base-url https://api.example.com
                                        without any file
  rolecall whoami --type merchant --status accepted --no-sandbox
  rolecall whoami --parent org_1        resources of an organization
  rolecall whoami --parent none         resources without a parent
  rolecall whoami --role role_owner --role role_admin --format json

The keys are those that the files use, and the one in ROLECALL_API_KEY. The
service filters the list. To name a parent of another type, write TYPE:ID. A key
that is not tied to a user has no memberships.

Exits 0 if all memberships are listed, or 1 if the merchant of a file is unknown
or memberships could not be read.
`,
    )
    .action(async (paths: readonly string[], options: WhoamiCommandOptions) => {
      const { showMemberships } = await import("../../show/show-memberships.ts");
      done(await showMemberships(paths, options, io));
    });
  return withOutputOptions(withConnectionOptions(command));
}

/** Parses `none`, an id of an organization, or `TYPE:ID`. */
function parseParent(text: string): NonNullable<WhoamiCommandOptions["parent"]> | null {
  if (text === "none") return null;
  const [, type = "organization", id = ""] = /^(?:([a-z_]+):)?(.*)$/s.exec(text) ?? [];
  if (id === "") throw new InvalidArgumentError("It must be an id, TYPE:ID, or none.");
  return { type, id };
}
