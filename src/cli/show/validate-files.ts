import { ExitCode, type Io, VERSION } from "../../app/io/io.ts";
import type { OutputOptions } from "../../app/project/command-options.ts";
import { isFileError, isRefusal } from "../../app/project/file-errors.ts";
import { pathFromRoot } from "../../app/project/find-files.ts";
import { loadStates, reachNotes } from "../../app/project/load-states.ts";
import { rootNote } from "../../app/show/print-diagnostics.ts";
import { writeDocument } from "../../app/show/write-document.ts";
import { diagnosticTable } from "../../kernel/rules/every-rule.ts";
import { counted } from "../../lib/text.ts";
import type { ProblemsDocument } from "../../show/formats/format.ts";

/** The options of `validate`. */
export type ValidateCommandOptions = OutputOptions & {
  readonly merchant: readonly string[];
  readonly asOf?: number;
};

/** Checks the files without the network, and prints every problem. */
export async function validateFiles(
  paths: readonly string[],
  options: ValidateCommandOptions,
  io: Io,
): Promise<ExitCode> {
  const loaded = await loadStates(paths, {
    merchants: options.merchant,
    cwd: io.cwd,
    now: options.asOf ?? io.now(),
  });
  const { sources, diagnostics } = loaded;
  if (!options.quiet) io.stderr.write(reachNotes(loaded));
  const shown = options.quiet ? diagnostics.filter(({ severity }) => severity === "error") : diagnostics;
  const none = `${counted(sources.length, "file")} valid.\n`;
  const checked = { diagnostics: shown, sources, rules: diagnosticTable(), none };
  await printProblems({ ...checked, command: "validate" }, options, io);
  if (diagnostics.some(isFileError)) return ExitCode.failed;
  return diagnostics.some(isRefusal) ? ExitCode.refused : ExitCode.ok;
}

/** Prints problems of files in the format of the options. */
export async function printProblems(
  {
    diagnostics,
    sources,
    ...checked
  }: Pick<ProblemsDocument, "diagnostics" | "rules" | "none" | "command"> & {
    readonly sources: readonly { readonly file: string }[];
  },
  options: OutputOptions,
  io: Io,
): Promise<void> {
  const fromRoot = (file: string): string => pathFromRoot(file, io.cwd);
  const document = {
    ...checked,
    diagnostics,
    inProject: diagnostics.map((diagnostic) => ({ ...diagnostic, file: fromRoot(diagnostic.file) })),
    files: sources.map(({ file }) => fromRoot(file)),
    version: VERSION,
  };
  await writeDocument("problems", document, options, io);
  if (diagnostics.length > 0 && options.format === "text") io.stderr.write(rootNote(io));
}
