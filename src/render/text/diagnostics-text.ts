import { oneLine } from "../../lib/escape.ts";
import { counted } from "../../lib/text.ts";
import type { Diagnostic } from "../../model/diagnostic.ts";
import type { Style } from "../style.ts";
import { wrapIfNarrow } from "./wrap.ts";

/** Formats diagnostics: location, message, code frame and hint of each, then the totals. */
export function renderDiagnostics(diagnostics: readonly Diagnostic[], style: Style): string {
  if (diagnostics.length === 0) return "";
  return `${diagnostics.map((one) => renderDiagnostic(one, style)).join("\n")}\n${tally(diagnostics)}\n`;
}

function renderDiagnostic(diagnostic: Diagnostic, style: Style): string {
  const { file, span, severity, code, message, frame, hint } = diagnostic;
  const place = span ? `${oneLine(file)}:${span.line}:${span.column}` : oneLine(file);
  const paint = severity === "error" ? style.red : style.yellow;
  const head = `${style.bold(place)}: ${paint(severity)}: `;
  const lines = [...wrapIfNarrow(`${oneLine(message)} ${style.dim(`[${code}]`)}`, style, head, "  ")];
  if (frame !== undefined) lines.push(...frame.split("\n").map((line) => `  ${style.dim(oneLine(line))}`));
  if (hint !== undefined) lines.push(...wrapIfNarrow(oneLine(hint), style, `  ${style.cyan("→")} `, "    "));
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
