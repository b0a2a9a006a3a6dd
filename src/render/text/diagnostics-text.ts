import { oneLine } from "../../lib/escape.ts";
import { counted } from "../../lib/text.ts";
import type { Diagnostic } from "../../model/diagnostic.ts";
import type { Style } from "../style.ts";

/** Problems in files as text: place, message, the lines themselves, and what to do; then the sum. */
export function renderDiagnostics(diagnostics: readonly Diagnostic[], style: Style): string {
  if (diagnostics.length === 0) return "";
  return `${diagnostics.map((one) => renderDiagnostic(one, style)).join("\n")}\n${tally(diagnostics)}\n`;
}

function renderDiagnostic(diagnostic: Diagnostic, style: Style): string {
  const { file, span, severity, code, message, frame, hint } = diagnostic;
  const place = span ? `${oneLine(file)}:${span.line}:${span.column}` : oneLine(file);
  const paint = severity === "error" ? style.red : style.yellow;
  const lines = [`${style.bold(place)}: ${paint(severity)}: ${oneLine(message)} ${style.dim(`[${code}]`)}`];
  if (frame !== undefined) lines.push(...frame.split("\n").map((line) => `  ${style.dim(oneLine(line))}`));
  if (hint !== undefined) lines.push(`  ${style.cyan("→")} ${oneLine(hint)}`);
  return `${lines.join("\n")}\n`;
}

/** "2 errors, 1 warning". */
function tally(diagnostics: readonly Diagnostic[]): string {
  const errors = diagnostics.filter(({ severity }) => severity === "error").length;
  const warnings = diagnostics.length - errors;
  return [errors > 0 ? counted(errors, "error") : "", warnings > 0 ? counted(warnings, "warning") : ""]
    .filter((part) => part !== "")
    .join(", ");
}
