import type { PastRun, PastWrite, RunStatus } from "../model/past-run.ts";

/** How a run stands; `alive`: the process that wrote the journal still runs, as far as can be told. */
export function runStatus(run: PastRun, alive: boolean): RunStatus {
  const { end, verified } = run;
  if (end === null) return alive ? "running" : "cut-short";
  if (unsureWrites(run).length > 0) return "unsure";
  if (end.status === "stopped") return "stopped";
  return verified !== null && verified.left.length > 0 ? "left" : "done";
}

/** The writes of which nobody knows what became of them. */
function unsureWrites({ writes }: Pick<PastRun, "writes">): readonly PastWrite[] {
  return writes.filter(({ outcome }) => outcome === null || outcome.status === "unknown");
}
