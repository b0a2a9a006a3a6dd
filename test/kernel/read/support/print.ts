import type { Diagnostic } from "../../../../src/model/diagnostic.ts";

/** Diagnostics as the golden files hold them. */
export function print(diagnostics: readonly Diagnostic[]): string {
  return diagnostics.map(printOne).join("\n");
}

function printOne({ file, span, severity, code, message, hint, frame }: Diagnostic): string {
  const place = span === undefined ? file : `${file}:${span.line}:${span.column}`;
  const lines = [`${place} ${severity} ${code}`, `  ${message}`];
  if (hint !== undefined) {
    lines.push(`  hint: ${hint}`);
  }
  if (frame !== undefined) {
    lines.push(frame);
  }
  return `${lines.join("\n")}\n`;
}
