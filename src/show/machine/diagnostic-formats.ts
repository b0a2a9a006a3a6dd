import { oneLine } from "../../lib/escape.ts";
import type { Diagnostic, Severity, Span } from "../../model/diagnostic.ts";

/** GitHub shows no more annotations than this of each severity and step. */
const MAX_ANNOTATIONS = 10;

const MAX_CHARACTERS = 4000;

/** Formats diagnostics as workflow commands, which GitHub shows beside the lines of a pull request. */
export function renderDiagnosticsGithub(diagnostics: readonly Diagnostic[], by = "validate"): string {
  // Errors that make a file unreadable come before refusals.
  const errors = bySeverity(diagnostics, "error").toSorted((a, b) => rank(a) - rank(b));
  const warnings = bySeverity(diagnostics, "warning");
  const shown = [...errors.slice(0, MAX_ANNOTATIONS), ...warnings.slice(0, MAX_ANNOTATIONS)];
  const lines = shown.map(annotation);
  const more = [moreOf(errors, "error"), moreOf(warnings, "warning")].filter((part) => part !== "");
  if (more.length > 0) {
    lines.push(command("notice", {}, `${more.join(" and ")}: rolecall ${by} shows all of them.`));
  }
  return lines.map((line) => `${line}\n`).join("");
}

function bySeverity(diagnostics: readonly Diagnostic[], level: Severity): readonly Diagnostic[] {
  return diagnostics.filter(({ severity }) => severity === level);
}

function rank({ refusal }: Diagnostic): number {
  return refusal === true ? 1 : 0;
}

/** "3 more errors". */
function moreOf(diagnostics: readonly Diagnostic[], what: Severity): string {
  const more = diagnostics.length - MAX_ANNOTATIONS;
  return more > 0 ? `${more} more ${what}${more === 1 ? "" : "s"}` : "";
}

function annotation({ severity, file, span, code, message, hint }: Diagnostic): string {
  const place =
    span === undefined
      ? {}
      : { line: span.line, endLine: span.endLine, col: span.column, endColumn: span.endColumn };
  const text = [message, ...(hint === undefined ? [] : [hint])].map((part) => cut(oneLine(part)));
  return command(severity, { file: oneLine(file), ...place, title: oneLine(code) }, text.join("\n"));
}

function command(
  name: Severity | "notice",
  properties: Readonly<Record<string, string | number>>,
  message: string,
): string {
  const given = Object.entries(properties).map(([key, value]) => `${key}=${escapeProperty(String(value))}`);
  return `::${name}${given.length > 0 ? ` ${given.join(",")}` : ""}::${escapeData(message)}`;
}

function escapeData(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}

function cut(text: string): string {
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text;
}

/** Returns diagnostics as a Code Quality report, which GitLab shows on the lines of a merge request. */
export function diagnosticsGitlab(diagnostics: readonly Diagnostic[]): string {
  const seen = new Map<string, number>();
  const issues = diagnostics.map(({ code, severity, message, hint, file, span }) => {
    // Without the line, so that the same problem is found again where lines move.
    const problem = oneLine(`${code} ${file} ${message}`);
    const nth = (seen.get(problem) ?? 0) + 1;
    seen.set(problem, nth);
    return {
      description: [message, ...(hint === undefined ? [] : [hint])].map(oneLine).join(" "),
      check_name: code,
      fingerprint: `${problem} #${nth}`,
      severity: severity === "error" ? "major" : "minor",
      location: { path: file, lines: { begin: span?.line ?? 1 } },
    };
  });
  return `${JSON.stringify(issues, null, 2)}\n`;
}

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
  /** All rules, broken or not. */
  readonly rules: readonly SarifRule[];
}

/** Returns diagnostics as a SARIF 2.1.0 log, for code scanning and other tools. */
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
    help: { text: plain(`${summary} The reference of the file format describes the rule ${code}.`) },
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

/** Escapes text so that nothing acts as a link. */
function plain(text: string): string {
  return oneLine(text).replaceAll("](", "\\](");
}

/** Returns a path as a relative URI; an absolute path as a `file:` URI. */
function uriOf(path: string): string {
  const encoded = path
    .replace(/\p{Cs}/gu, "\uFFFD")
    .split("/")
    .map(encodeURIComponent)
    .join("/");
  return path.startsWith("/") ? `file://${encoded}` : encoded;
}
