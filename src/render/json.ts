import type { Diagnostic } from "../model/diagnostic.ts";
import type { Drift } from "../model/drift.ts";
import type { UndoNote } from "../model/past-run.ts";
import type { Plan } from "../model/plan.ts";
import { driftRisks } from "./drift-view.ts";
import type { ListedRun } from "./runs-text.ts";

/** The plans as JSON, one object for all merchants. */
export function plansJson(plans: readonly Plan[]): string {
  return `${JSON.stringify({ format: 1, plans }, null, 2)}\n`;
}

/** How merchants differ from their files, and the risks of what happened, as JSON. */
export function driftsJson(drifts: readonly Drift[]): string {
  const shown = drifts.map((drift) => ({ ...drift, risks: driftRisks(drift) }));
  return `${JSON.stringify({ format: 1, drifts: shown }, null, 2)}\n`;
}

/** Problems in files as JSON. */
export function diagnosticsJson(diagnostics: readonly Diagnostic[]): string {
  return `${JSON.stringify({ format: 1, diagnostics }, null, 2)}\n`;
}

/** Past runs as JSON: what each journal holds, and how the run stands. */
export function runsJson(runs: readonly ListedRun[]): string {
  const shown = runs.map((run) =>
    "past" in run
      ? { name: run.name, status: run.status, ...run.past }
      : { name: run.name, status: "unreadable", reason: run.unreadable },
  );
  return `${JSON.stringify({ format: 1, runs: shown }, null, 2)}\n`;
}

/** What an undo does not bring back, ahead of its plan, as one event for other programs. */
export function undoNotesJson(run: string, notes: readonly UndoNote[]): string {
  return `${JSON.stringify({ type: "undo", run, notes })}\n`;
}
