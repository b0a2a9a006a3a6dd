import { Command } from "commander";
import type { ExitCode, Io } from "../../../app/io/io.ts";
import type { FmtCommandOptions } from "../../format/format-files.ts";

/** Declares `fmt`. */
export function fmtCommand(io: Io, done: (code: ExitCode) => void): Command {
  return new Command("fmt")
    .summary("format the files in canonical order and style")
    .description(
      "Puts sections and keys in canonical order, with consistent indentation. List entries keep their order, comments stay with their lines, and the meaning of a file never changes.",
    )
    .argument("[path...]", "files or folders (default: access/, and rolecall.yaml)")
    .option("--check", "write nothing; list the files that would change, and exit 1 if there are any")
    .option(
      "--sort",
      "also sort roles, members, permissions and grants, within the groups that comments and blank lines form",
    )
    .option("--no-color", "print without colours (also: NO_COLOR)")
    .addHelpText(
      "after",
      `
Examples:
  rolecall fmt                          formats every file below access/, and
                                        rolecall.yaml
  rolecall fmt access/shop.yaml         formats one
  rolecall fmt --sort                   sorts the entries of each group, too
  rolecall fmt --check                  fails if a file is not formatted

A file that is not valid YAML is left alone and its errors are printed; the exit
code is 1. "rolecall validate" reports all other errors. A file of more than
700,000 characters is left alone with a warning.
`,
    )
    .action(async (paths: readonly string[], options: FmtCommandOptions) => {
      const { formatFiles } = await import("../../format/format-files.ts");
      done(await formatFiles(paths, options, io));
    });
}
