import { Command } from "commander";
import { counted } from "../../lib/text.ts";
import type { Diagnostic } from "../../model/diagnostic.ts";
import {
  type OutputOptions,
  parseAsOf,
  withMerchantOption,
  withOutputOptions,
  withQuietOption,
} from "../args/options.ts";
import { ExitCode } from "../exit-code.ts";
import type { Io } from "../io/io.ts";
import { styleFor } from "../io/output.ts";
import { VERSION } from "../version.ts";

const FORMATS = ["text", "json", "github", "sarif"] as const;

type Options = OutputOptions<(typeof FORMATS)[number]> & {
  readonly merchant: readonly string[];
  readonly asOf?: number;
};

/** `validate`: everything that can be known of the files without the network. */
export function validateCommand(io: Io, done: (code: ExitCode) => void): Command {
  const command = new Command("validate")
    .summary("check the files, without the network")
    .description("Checks the files for everything that needs no network, and reports every problem at once.")
    .argument("[path...]", "files or folders (default: access/)")
    .option("--as-of <day>", "check as if it were this day, or moment", parseAsOf)
    .addHelpText(
      "after",
      `
Examples:
  rolecall validate                     checks every file below access/
  rolecall validate access/shop.yaml    checks one
  rolecall validate --format json       for other programs
  rolecall validate --format github     annotations in a GitHub workflow
  rolecall validate --format sarif      for code scanning

Exits 0, 1 if a file has an error, or 3 if a file breaks its own policies or
checks. Warnings do not change the exit code.
`,
    )
    .action(async (paths: readonly string[], options: Options) => done(await validate(paths, options, io)));
  return withOutputOptions(withQuietOption(withMerchantOption(command)), FORMATS);
}

async function validate(paths: readonly string[], options: Options, io: Io): Promise<ExitCode> {
  const { isError, isRefusal, loadStates } = await import("../files/load-states.ts");
  const { sources, diagnostics } = await loadStates(paths, {
    merchants: options.merchant,
    cwd: io.cwd,
    now: options.asOf ?? io.now(),
  });
  const shown = options.quiet ? diagnostics.filter(({ severity }) => severity === "error") : diagnostics;
  io.stdout.write(await render(shown, sources.length, options, io));
  if (diagnostics.some(isError)) return ExitCode.failed;
  return diagnostics.some(isRefusal) ? ExitCode.refused : ExitCode.ok;
}

async function render(
  diagnostics: readonly Diagnostic[],
  files: number,
  options: Options,
  io: Io,
): Promise<string> {
  const { format } = options;
  switch (format) {
    case "json":
      return (await import("../../render/formats/json-output.ts")).diagnosticsJson(diagnostics);
    case "github":
      return (await import("../../render/formats/diagnostics-github.ts")).renderDiagnosticsGithub(
        diagnostics,
      );
    case "sarif": {
      const [{ diagnosticsSarif }, { diagnosticTable }] = await Promise.all([
        import("../../render/formats/diagnostics-sarif.ts"),
        import("../../config/diagnostics/rule-table.ts"),
      ]);
      return diagnosticsSarif(diagnostics, { version: VERSION, rules: diagnosticTable() });
    }
    case "text": {
      if (diagnostics.length === 0) return `${counted(files, "file")} valid.\n`;
      const { renderDiagnostics } = await import("../../render/text/diagnostics-text.ts");
      return renderDiagnostics(diagnostics, styleFor(io.stdout, io, options.color));
    }
    default:
      return format satisfies never;
  }
}
