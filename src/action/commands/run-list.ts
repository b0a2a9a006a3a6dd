import { fleetMatrix, MAX_JOBS } from "../../cli/show/job-matrix.ts";
import { counted } from "../../render/words.ts";
import { failed, passed, type Step, type StepResult } from "../action-context.ts";
import { annotate } from "../action-log.ts";
import { loadFiles, orActionError } from "../prepare-action.ts";
import { diagnosticAnnotations } from "../review/annotations.ts";

/** `list`: a matrix of jobs that together take all merchants. */
export async function runList(step: Step): Promise<StepResult> {
  const loaded = await orActionError(() => loadFiles(step.inputs, step.io));
  annotate(diagnosticAnnotations(loaded.diagnostics), step.log);
  const matrix = fleetMatrix(loaded.states, MAX_JOBS);
  const outputs = { matrix: JSON.stringify(matrix) };
  step.log.info(`${counted(loaded.states.length, "merchant")} in ${counted(matrix.include.length, "job")}.`);
  if (!loaded.valid)
    return failed("failed", "invalid-files", "A file has an error: its merchant is in no job.", outputs);
  return passed("listed", outputs);
}
