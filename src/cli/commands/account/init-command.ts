import { Command, Option } from "commander";
import type { ExitCode, Io } from "../../../app/io/io.ts";
import type { InitCommandOptions } from "../../adopt/init-questions.ts";
import { warnWithoutEffect } from "../../args/options.ts";
import { withConnectionOptions } from "../../args/service-options.ts";

/** Declares `init`. */
export function initCommand(io: Io, done: (code: ExitCode) => void): Command {
  const command = new Command("init")
    .summary("write files for existing merchants, from the live state")
    .description(
      "Writes a file for each selected merchant from its live roles and members, so that a plan has no changes. Asks for missing settings; existing files are not changed. Changes nothing at the service.",
    )
    .argument("[merchant...]", "merchant codes (default: asks)")
    .option("--all", "every merchant that the key can access")
    .option("--key-env <name>", "the environment variable that holds the API key")
    .addOption(
      new Option(
        "--sync <mode>",
        "authoritative: remove what a file does not list; additive: leave it alone",
      ).choices(["authoritative", "additive"]),
    )
    .option("--share-roles", "write identical roles of several merchants to one shared file")
    .option("--rules", "write guards, policies and checks that today's access meets")
    .option("--workflows", "write workflows for GitHub Actions, and list the settings that they need")
    .option(
      "--vendor",
      "with --workflows: write a copy of the action to the repository, or update it, instead of referring to its release (default if there is none)",
    )
    .option("--codeowners <owner>", "owner who must review the files, such as @org/team (.github/CODEOWNERS)")
    .option("-y, --yes", "do not ask; write the files")
    .option("-q, --quiet", "print no progress")
    .option("--no-color", "print without colours (also: NO_COLOR)")
    .addHelpText(
      "after",
      `
Examples:
  rolecall init                         asks for everything
  rolecall init MC4F7K2P --yes          does not ask; needs ROLECALL_BASE_URL
                                        and ROLECALL_API_KEY
  rolecall init --all --share-roles --workflows --codeowners @acme/access

Writes access/<code>.yaml for each merchant, schemas/merchant.schema.json for
editors, and a line for .gitignore. Ends with what the files do not declare, and
why. Run it again to add merchants; to update a merchant's file, run
rolecall pull. In a project with files, --workflows and --codeowners without
codes write only what they name, without a key.

Exits 0 if the files are written, or 1 if a merchant could not be read or
nothing was written.
`,
    )
    .action(async (merchant: readonly string[], options: Omit<InitCommandOptions, "merchant">, command) => {
      if (!options.workflows) warnWithoutEffect(command, ["vendor"], "without --workflows", io.stderr.write);
      const { initProject } = await import("../../adopt/init-project.ts");
      done(await initProject({ ...options, merchant }, io));
    });
  return withConnectionOptions(command);
}
