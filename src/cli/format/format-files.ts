import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { writeAtomically } from "../../app/io/atomic-write.ts";
import { ExitCode, type Io } from "../../app/io/io.ts";
import { styleFor } from "../../app/io/terminal.ts";
import { readYamlFiles } from "../../app/project/find-files.ts";
import { projectRoot } from "../../app/project/project-root.ts";
import { type FormattedFile, formatFile } from "../../edit/format/format-file.ts";
import { PROJECT_FILE } from "../../kernel/schema/project-file.ts";
import { oneLine } from "../../lib/escape.ts";
import { grouped } from "../../lib/text.ts";
import { renderDiagnostics } from "../../show/text/diagnostics-text.ts";

/** The options of `fmt`. */
export interface FmtCommandOptions {
  readonly check?: true;
  readonly sort?: true;
  readonly color: boolean;
}

/** Formats the files, or with `check` only names those that would change. */
export async function formatFiles(
  paths: readonly string[],
  options: FmtCommandOptions,
  io: Io,
): Promise<ExitCode> {
  const project = join(projectRoot(io.cwd, io.cwd), PROJECT_FILE);
  const read = await readYamlFiles(paths, io.cwd);
  // The project's file belongs to the project as much as its merchants' folder does.
  const more = paths.length === 0 && existsSync(project) ? await readYamlFiles([project], io.cwd) : [];
  const results = [...more, ...read].map(({ file, text }) => ({
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
  const counts = countResults(results.map(({ result }) => result));
  io.stdout.write(`${summary(counts, options.check === true)}\n`);
  return counts.bad > 0 || (options.check && counts.changed > 0) ? ExitCode.failed : ExitCode.ok;
}

interface Counts {
  readonly changed: number;
  readonly unchanged: number;
  readonly bad: number;
  readonly tooLarge: number;
}

function tooLarge(file: string, longest: number): string {
  return `${file} is left alone: it is longer than ${grouped(longest)} characters. To format it, split it with include.`;
}

function countResults(results: readonly FormattedFile[]): Counts {
  const bad = results.filter((result) => "diagnostics" in result).length;
  const changed = results.filter((result) => "text" in result && result.changed).length;
  const large = results.filter((result) => "longest" in result).length;
  return { changed, bad, tooLarge: large, unchanged: results.length - changed - bad - large };
}

/** "1 formatted, 4 unchanged, 1 with errors". */
function summary({ changed, unchanged, bad, tooLarge: large }: Counts, check: boolean): string {
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
