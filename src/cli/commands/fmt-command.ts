import { resolve } from "node:path";
import { Command } from "commander";
import type { FormattedFile } from "../../config/format/format-file.ts";
import { oneLine } from "../../lib/escape.ts";
import { grouped } from "../../lib/text.ts";
import { ExitCode } from "../exit-code.ts";
import type { Io } from "../io/io.ts";
import { styleFor } from "../io/output.ts";

interface Options {
  readonly check?: true;
  readonly sort?: true;
  readonly color: boolean;
}

/** `fmt`: the files in the canonical order and style, with every comment. */
export function fmtCommand(io: Io, done: (code: ExitCode) => void): Command {
  return new Command("fmt")
    .summary("put the files in the canonical order and style")
    .description(
      "Puts sections and keys in one order, and indents them in one way. The entries of a list keep their order. Comments stay with what they stand above or beside, and what a file means never changes.",
    )
    .argument("[path...]", "files or folders (default: access/)")
    .option("--check", "write nothing; name the files that would change, and exit 1 if there are any")
    .option(
      "--sort",
      "also sort roles, members, permissions and grants, each within the groups that comments and blank lines make",
    )
    .option("--no-color", "print without colours (also: NO_COLOR)")
    .addHelpText(
      "after",
      `
Examples:
  rolecall fmt                          formats every file below access/
  rolecall fmt access/shop.yaml         formats one
  rolecall fmt --sort                   sorts the entries of each group, too
  rolecall fmt --check                  for a pipeline: is everything formatted?

A file with errors is left alone and its errors are printed; the exit code is 1.
A file of more than 700,000 characters is left alone with a warning.
`,
    )
    .action(async (paths: readonly string[], options: Options) => done(await fmt(paths, options, io)));
}

async function fmt(paths: readonly string[], options: Options, io: Io): Promise<ExitCode> {
  const [{ readYamlFiles }, { formatFile }, { writeAtomically }, { renderDiagnostics }] = await Promise.all([
    import("../files/find-files.ts"),
    import("../../config/format/format-file.ts"),
    import("../files/atomic-write.ts"),
    import("../../render/text/diagnostics-text.ts"),
  ]);
  const files = await readYamlFiles(paths, io.cwd);
  const results = files.map(({ file, text }) => ({
    file,
    result: formatFile(file, text, options.sort ? "sorted" : "kept"),
  }));
  const changed = results.flatMap(({ file, result }) =>
    "text" in result && result.changed ? [{ file, text: result.text }] : [],
  );
  for (const { file, text } of changed) {
    if (!options.check) await writeAtomically(resolve(io.cwd, file), text, { shown: oneLine(file) });
    io.stdout.write(`${options.check ? "would format" : "formatted"} ${oneLine(file)}\n`);
  }
  for (const { file, result } of results) {
    if ("longest" in result) io.stderr.write(`${tooLarge(oneLine(file), result.longest)}\n`);
  }
  const diagnostics = results.flatMap(({ result }) => ("diagnostics" in result ? result.diagnostics : []));
  io.stdout.write(renderDiagnostics(diagnostics, styleFor(io.stdout, io, options.color)));
  const counts = count(results.map(({ result }) => result));
  io.stdout.write(`${sum(counts, options.check === true)}\n`);
  return counts.bad > 0 || (options.check && counts.changed > 0) ? ExitCode.failed : ExitCode.ok;
}

interface Counts {
  readonly changed: number;
  readonly unchanged: number;
  readonly bad: number;
  readonly tooLarge: number;
}

function tooLarge(file: string, longest: number): string {
  return `${file} is too large to format, and stays as it is: it is longer than ${grouped(longest)} characters. Split it with include.`;
}

function count(results: readonly FormattedFile[]): Counts {
  const bad = results.filter((result) => "diagnostics" in result).length;
  const changed = results.filter((result) => "text" in result && result.changed).length;
  const large = results.filter((result) => "longest" in result).length;
  return { changed, bad, tooLarge: large, unchanged: results.length - changed - bad - large };
}

/** "1 formatted, 4 unchanged, 1 with errors". */
function sum({ changed, unchanged, bad, tooLarge: large }: Counts, check: boolean): string {
  const parts = [
    [changed, check ? "to format" : "formatted"],
    [unchanged, check ? "already formatted" : "unchanged"],
    [bad, "with errors"],
    [large, "too large"],
  ] as const;
  return parts
    .filter(([number]) => number > 0)
    .map(([number, what]) => `${number} ${what}`)
    .join(", ");
}
