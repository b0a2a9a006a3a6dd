import type { Diagnostic } from "../model/diagnostic.ts";
import type { Drift } from "../model/drift.ts";
import type { Plan } from "../model/plan.ts";

/** The plans as JSON, one object for all merchants. */
export function plansJson(plans: readonly Plan[]): string {
  return `${JSON.stringify({ format: 1, plans }, null, 2)}\n`;
}

/** How merchants differ from their files, as JSON. */
export function driftsJson(drifts: readonly Drift[]): string {
  return `${JSON.stringify({ format: 1, drifts }, null, 2)}\n`;
}

/** Problems in files as JSON. */
export function diagnosticsJson(diagnostics: readonly Diagnostic[]): string {
  return `${JSON.stringify({ format: 1, diagnostics }, null, 2)}\n`;
}
