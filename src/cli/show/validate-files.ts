import { ExitCode, type Io, VERSION } from "../../app/io/io.ts";
import { styleFor } from "../../app/io/terminal.ts";
import type { OutputOptions } from "../../app/project/command-options.ts";
import { isFileError, isRefusal } from "../../app/project/file-errors.ts";
import { pathFromRoot } from "../../app/project/find-files.ts";
import { loadStates, reachNotes } from "../../app/project/load-states.ts";
import { rootNote } from "../../app/show/print-diagnostics.ts";
import type { DiagnosticRule } from "../../kernel/problems/rule-table.ts";
import { diagnosticTable } from "../../kernel/rules/every-rule.ts";
import { counted } from "../../lib/text.ts";
import type { Diagnostic } from "../../model/diagnostic.ts";
import {
  diagnosticsGitlab,
  diagnosticsSarif,
  renderDiagnosticsGithub,
} from "../../show/machine/diagnostic-formats.ts";
import { diagnosticsJson } from "../../show/machine/machine-formats.ts";

/** The options of `validate`. */
export type ValidateCommandOptions = OutputOptions<
  "text" | "json" | "github" | "gitlab" | "sarif" | "junit"
> & {
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
  io.stdout.write(
    await renderProblems(
      shown,
      { sources, rules: diagnosticTable(), none, command: "validate" },
      options,
      io,
    ),
  );
  if (shown.length > 0 && options.format === "text") io.stderr.write(rootNote(io));
  if (diagnostics.some(isFileError)) return ExitCode.failed;
  return diagnostics.some(isRefusal) ? ExitCode.refused : ExitCode.ok;
}

/** The files that were checked, the rules that they were checked against, the text for no problem, and the command. */
export interface Checked {
  readonly sources: readonly { readonly file: string }[];
  readonly rules: readonly Pick<DiagnosticRule, "code" | "severity" | "summary">[];
  readonly none: string;
  readonly command: "validate" | "lint";
}

/** Renders problems of files in the format of the options. */
export async function renderProblems(
  diagnostics: readonly Diagnostic[],
  { sources, rules, none, command }: Checked,
  { format, color }: Pick<ValidateCommandOptions, "format" | "color">,
  io: Io,
): Promise<string> {
  const inProject = diagnostics.map((diagnostic) => ({
    ...diagnostic,
    file: pathFromRoot(diagnostic.file, io.cwd),
  }));
  switch (format) {
    case "json":
      return diagnosticsJson(diagnostics);
    case "github":
      return renderDiagnosticsGithub(inProject, command);
    case "gitlab":
      return diagnosticsGitlab(inProject);
    case "junit": {
      const { diagnosticsJunit } = await import("../../show/machine/junit-report.ts");
      const files = sources.map(({ file }) => pathFromRoot(file, io.cwd));
      return diagnosticsJunit(inProject, files, `rolecall ${command}`);
    }
    case "sarif":
      return diagnosticsSarif(inProject, { version: VERSION, rules });
    case "text": {
      if (diagnostics.length === 0) return none;
      // Wrapping needs a library that takes as long to load as a small file to validate.
      const { renderDiagnostics } = await import("../../show/text/diagnostics-text.ts");
      return renderDiagnostics(diagnostics, styleFor(io.stdout, io, color));
    }
    default:
      return format satisfies never;
  }
}
