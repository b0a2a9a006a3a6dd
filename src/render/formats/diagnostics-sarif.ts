import { oneLine } from "../../lib/escape.ts";
import type { Diagnostic, Severity, Span } from "../../model/diagnostic.ts";

/** A diagnostic code with its meaning. */
export interface SarifRule {
  readonly code: string;
  readonly severity: Severity;
  readonly summary: string;
}

/** The program that wrote a log. */
export interface SarifTool {
  /** The program's own version. */
  readonly version: string;
  /** Every rule that there is, whether or not a file breaks it. */
  readonly rules: readonly SarifRule[];
}

/** Problems in files as a SARIF 2.1.0 log, for code scanning and other tools. */
export function diagnosticsSarif(diagnostics: readonly Diagnostic[], { version, rules }: SarifTool): string {
  const indexes = new Map(rules.map(({ code }, index) => [code, index]));
  const log = {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: { driver: { name: "rolecall", version, rules: rules.map(descriptor) } },
        columnKind: "utf16CodeUnits",
        results: diagnostics.map((diagnostic) => result(diagnostic, indexes.get(diagnostic.code))),
      },
    ],
  };
  return `${JSON.stringify(log, null, 2)}\n`;
}

function descriptor({ code, severity, summary }: SarifRule): object {
  return {
    id: code,
    shortDescription: { text: plain(summary) },
    help: { text: plain(`${summary} The rule ${code} is in the reference of the file language.`) },
    defaultConfiguration: { level: severity },
  };
}

function result(
  { code, severity, message, hint, file, span }: Diagnostic,
  index: number | undefined,
): object {
  return {
    ruleId: code,
    ...(index === undefined ? {} : { ruleIndex: index }),
    level: severity,
    message: { text: [message, ...(hint === undefined ? [] : [hint])].map(plain).join("\n") },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: uriOf(file) },
          ...(span === undefined ? {} : { region: region(span) }),
        },
      },
    ],
  };
}

function region({ line, column, endLine, endColumn }: Span): object {
  return { startLine: line, startColumn: column, endLine, endColumn };
}

/** Text in which nothing acts as a link. */
function plain(text: string): string {
  return oneLine(text).replaceAll("](", "\\](");
}

/** A path as a relative URI; an absolute path as one of a file. */
function uriOf(path: string): string {
  const encoded = path
    .replace(/\p{Cs}/gu, "\uFFFD")
    .split("/")
    .map(encodeURIComponent)
    .join("/");
  return path.startsWith("/") ? `file://${encoded}` : encoded;
}
