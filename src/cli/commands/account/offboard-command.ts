import { Command } from "commander";
import type { ExitCode, Io } from "../../../app/io/io.ts";
import type { OffboardCommandOptions } from "../../adopt/offboard-people.ts";
import { withOutputOptions } from "../../args/options.ts";
import { withConnectionOptions, withQuietOption } from "../../args/service-options.ts";

/** Declares `offboard`. */
export function offboardCommand(io: Io, done: (code: ExitCode) => void): Command {
  const command = new Command("offboard")
    .summary("remove people from every file, after confirmation")
    .description(
      "Removes people from every file below access/ or the given paths, and from the files that these include: from members, guards and checks. Keeps comments, order and quotes. Shows what only they can do, the patch and the plan, and asks. Changes nothing at the service: the next apply does.",
    )
    .usage("[options] <email...> [path...]")
    .argument("<email...>", "addresses of the people; then files or folders (default: access/)")
    .option("--check", "write nothing; show the patch, and exit 2 if there is one")
    .option("-y, --yes", "do not ask; needed where there is no terminal")
    .option("--declared", "use only the files: read nothing from the service, and show no plan")
    .addHelpText(
      "after",
      `
Examples:
  rolecall offboard karim@example.com   shows the patch, asks, writes the files
  rolecall offboard karim@example.com --check
                                        writes nothing
  rolecall offboard karim@example.com temp@agency.example --declared
                                        without the service
  rolecall offboard karim@example.com shops/north
                                        only from these files and their includes

Without paths, the command also looks for the people at merchants without a file
that the keys can access. It lists other files of the project that name them. If
a plan will not remove an address, because the files leave unlisted members
alone, list it under "leavers", which removes it from every merchant.

Exits 0 on success, 1 if it failed or you did not confirm, or 2 if a file would
change (with --check). If a merchant cannot be read, the command says what is
not known, writes nothing and exits 1; with --declared, it does not read
merchants.
`,
    )
    .action(async (words: readonly string[], options: OffboardCommandOptions) => {
      const { offboardPeople } = await import("../../adopt/offboard-people.ts");
      done(await offboardPeople(words, options, io));
    });
  return withOutputOptions(
    withQuietOption(withConnectionOptions(command)),
    "result",
    "output format; json with --check",
  );
}
