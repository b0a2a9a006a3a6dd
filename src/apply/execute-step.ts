import { type Failure, RolecallError } from "../model/errors.ts";
import type { Step } from "./phases.ts";
import { checkPrecondition, type Precondition, type PreconditionContext } from "./precondition.ts";
import {
  checkFailed,
  type Done,
  failureOf,
  type RunContext,
  type StepResult,
  sendAndRestore,
  sendRecorded,
} from "./send-recorded.ts";
import { runOneUntilKnown } from "./update-member.ts";
import {
  isReinvitation,
  type Reinvitation,
  reinvitationWrites,
  type Write,
  writeOf,
} from "./write-change.ts";

/** Executes a step: checks, records, sends and records the outcome of each of its writes. */
export async function executeStep(step: Step, run: RunContext): Promise<StepResult> {
  return runOneUntilKnown(run.putSemantics, step.change, async () =>
    // The run may have stopped while it waited for the update before it.
    run.stopped() ? { status: "not-started" } : executeNow(step, run),
  );
}

async function executeNow({ change, ...step }: Step, run: RunContext): Promise<StepResult> {
  return isReinvitation(change)
    ? reinvite({ ...step, change }, run)
    : sendPlanned({ ...step, change }, writeOf(change, step.part, run), run);
}

/** Sends a write if the resource is still as planned. */
async function sendPlanned(step: Step, write: Write, run: RunContext): Promise<StepResult> {
  const check = await checkBefore(step, write, run);
  switch (check.status) {
    case "planned":
      return run.stopped() ? { status: "not-started" } : sendAndRestore(step, write, run, check.found);
    case "done":
      return { status: "done", id: write.id, adopted: false, already: true };
    case "stale":
      return { status: "stale", failure: { code: "stale", message: check.message } };
    case "failed":
      return { status: "failed", failure: check.failure };
    case "stopped":
      return { status: "not-started" };
    default:
      return check satisfies never;
  }
}

/**
 * Sends a new invitation beside the expired one. If the service answers with a conflict, it removes the expired one
 * first; the journal keeps its content in case the new one is refused.
 */
async function reinvite(
  step: Step & { readonly change: Reinvitation },
  run: RunContext,
): Promise<StepResult> {
  const { invite, remove, again } = reinvitationWrites(step.change, run);
  const invited = await sendPlanned(step, invite, run);
  if (invited.status === "done") return removeExpired(step, invited, remove, run);
  if (!isConflict(invited)) return invited;
  if (!run.recordable()) return invited;
  const removed = await sendPlanned(step, remove, run);
  if (removed.status === "unknown") return { ...removed, removed: true };
  if (removed.status !== "done") return removed;
  if (!run.recordable()) return { status: "unfinished", removed: true };
  const sent = await sendRecorded(step, again, run);
  switch (sent.status) {
    case "done":
      return sent;
    case "unknown":
      return { ...sent, removed: true };
    case "failed":
    case "stale":
      return { status: "unfinished", failure: sent.failure, removed: true };
    case "not-started":
      return { status: "unfinished", removed: true };
    default:
      return sent satisfies never;
  }
}

/** Removes the expired invitation if the service keeps it beside the new one and has not renewed it. */
async function removeExpired(step: Step, invited: Done, remove: Write, run: RunContext): Promise<StepResult> {
  if (invited.id === remove.id) return invited;
  if (!run.recordable()) return { status: "unfinished" };
  const removed = await sendPlanned(step, remove, run);
  switch (removed.status) {
    case "done":
    // It is gone, or not an expired invitation any more.
    case "stale":
      return invited;
    case "not-started":
    case "unfinished":
      return { status: "unfinished" };
    case "failed":
      return removed.failure.code === "not-found" ? invited : { ...removed, status: "unfinished" };
    case "unknown":
      return { status: "unfinished", failure: removed.failure };
    default:
      return removed satisfies never;
  }
}

function isConflict(ended: StepResult): boolean {
  return ended.status === "failed" && ended.failure.code === "conflict";
}

type CheckedBefore =
  | Precondition
  | { readonly status: "failed"; readonly failure: Failure }
  /** The run was stopped during the check. */
  | { readonly status: "stopped" };

async function checkBefore(step: Step, write: Write, run: RunContext): Promise<CheckedBefore> {
  const { recheck, stop } = run;
  if (!recheck) return { status: "planned" };
  // One for each check: Node warns of a leak at many listeners on one signal.
  const context: PreconditionContext = { ...run, signal: AbortSignal.any([stop]) };
  try {
    return await checkPrecondition(step, write, context, false);
  } catch (error) {
    if (stop.aborted && error === stop.reason) return { status: "stopped" };
    if (run.stopped() && error instanceof RolecallError) return { status: "stopped" };
    return { status: "failed", failure: checkFailed(failureOf(error)) };
  }
}
