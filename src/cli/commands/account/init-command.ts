import { Command, Option } from "commander";
import type { ExitCode, Io } from "../../../app/io/io.ts";
import type { InitCommandOptions } from "../../adopt/init-questions.ts";
import { withConnectionOptions } from "../../args/service-options.ts";

/** Declares `init`. */
export function initCommand(io: Io, done: (code: ExitCode) => void): Command {
  const command = new Command("init")
    .summary("write the files of existing merchants, from what is live")
    .description(
      "Writes a file for each chosen merchant from its live roles and members, such that a plan has no changes. Asks what it needs to know; existing files stay as they are. Changes nothing at the service.",
    )
    .addOption(
      new Option("-m, --merchant <code>", "this merchant; repeatable")
        .argParser((code: string, codes: readonly string[]) => [...codes, code])
        .default([], "asks"),
    )
    .option("--all", "every merchant that the key reaches")
    .option("--key-env <name>", "the environment variable that holds the API key")
    .addOption(
      new Option(
        "--sync <mode>",
        "authoritative: what a file does not list is removed; additive: it is left alone",
      ).choices(["authoritative", "additive"]),
    )
    .option("--share-roles", "write equal roles of several merchants into one shared file")
    .option("--workflows", "write workflows for GitHub Actions")
    .option(
      "--codeowners <owner>",
      "let this owner, such as @org/team, review the files (.github/CODEOWNERS)",
    )
    .option("-y, --yes", "ask nothing, and write the files")
    .option("-q, --quiet", "print no progress")
    .option("--no-color", "print without colours (also: NO_COLOR)")
    .addHelpText(
      "after",
      `
Examples:
  rolecall init                         asks everything
  rolecall init --merchant MC4F7K2P --yes
                                        asks nothing; needs ROLECALL_BASE_URL
                                        and ROLECALL_API_KEY
  rolecall init --all --share-roles --workflows --codeowners @acme/access

Writes access/<code>.yaml for each merchant, schemas/merchant.schema.json for
editors, and a line for .gitignore. Run it again for further merchants; for one
that has a file, rolecall pull updates the file.

Exits 0, or 1 if a merchant could not be read or nothing was written.
`,
    )
    .action(async (options: InitCommandOptions) => {
      const { initProject } = await import("../../adopt/init-project.ts");
      done(await initProject(options, io));
    });
  return withConnectionOptions(command);
}
