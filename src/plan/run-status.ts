import type { PastRun, PastWrite, RunStatus } from "../model/past-run.ts";

/** How a run stands; `alive`: the process that wrote the journal still runs, as far as can be told. */
export function runStatus(run: PastRun, alive: boolean): RunStatus {
  const { end, verified } = run;
  if (end === null) return alive ? "running" : "interrupted";
  if (unknownWrites(run).length > 0) return "unknown-outcome";
  if (end.status === "stopped") return "stopped";
  if (end.status === "incomplete") return "incomplete";
  return verified !== null && verified.left.length > 0 ? "incomplete" : "done";
}

/** Returns the most important status of a run at several merchants. */
const FIRST: readonly RunStatus[] = [
  "running",
  "interrupted",
  "unknown-outcome",
  "stopped",
  "incomplete",
  "done",
];

/** How a run stands, all its merchants together; null where nothing is known of any. */
export function jointStatus(statuses: readonly RunStatus[]): RunStatus | null {
  return FIRST.find((status) => statuses.includes(status)) ?? null;
}

/** The writes of which nobody knows what became of them. */
function unknownWrites({ writes }: Pick<PastRun, "writes">): readonly PastWrite[] {
  return writes.filter(({ outcome }) => outcome === null || outcome.status === "unknown");
}
