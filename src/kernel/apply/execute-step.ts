import type { Step } from "../../model/apply.ts";
import { RolecallError } from "../../model/errors.ts";
import { type AsPlanned, checkPrecondition, PLANNED, type PreconditionContext } from "./precondition.ts";
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

/**
 * Executes a step: for each of its writes, checks the resource, records the intent, sends the request and records the
 * outcome.
 */
export async function executeStep(step: Step, run: RunContext): Promise<StepResult> {
  return runOneUntilKnown(run.putSemantics, step.change, async () =>
    // The run may have stopped while it waited for the update before it.
    run.stopped() ? { status: "not-started" } : executeNow(step, run),
  );
}

async function executeNow({ change, ...step }: Step, run: RunContext): Promise<StepResult> {
  return isReinvitation(change)
    ? reinvite({ ...step, change }, run)
    : sendPlanned({ ...step, change }, writeOf(change, step.part), run);
}

/** Sends a write if the resource is still as planned. */
async function sendPlanned(step: Step, write: Write, run: RunContext): Promise<StepResult> {
  const check = run.recheck ? await checkBefore(step, write, run) : PLANNED;
  if (check.status !== "planned") return check;
  return run.stopped() ? { status: "not-started" } : sendAndRestore(step, write, run, check.found);
}

/**
 * Sends a new invitation beside the expired one. If the service returns a conflict, it removes the expired one
 * first; the journal keeps its content in case the new one is refused.
 */
async function reinvite(
  step: Step & { readonly change: Reinvitation },
  run: RunContext,
): Promise<StepResult> {
  const { invite, remove, again } = reinvitationWrites(step.change);
  const invited = await sendPlanned(step, invite, run);
  if (invited.status === "done") return removeExpired(step, invited, remove, run);
  if (!isConflict(invited)) return invited;
  if (!run.recordable()) return invited;
  const removed = await sendPlanned(step, remove, run);
  if (removed.status === "unknown") return { ...removed, removed: "unknown" };
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

/** Removes the expired invitation, unless the service has renewed or removed it. */
async function removeExpired(step: Step, invited: Done, remove: Write, run: RunContext): Promise<StepResult> {
  if (invited.id === remove.id) return invited;
  if (!run.recordable()) return { status: "unfinished" };
  const removed = await sendPlanned(step, remove, run);
  switch (removed.status) {
    case "done":
    // The invitation is gone, or no longer expired.
    case "stale":
      return invited;
    case "not-started":
    case "unfinished":
      return { status: "unfinished" };
    case "failed":
    case "unknown":
      return removed.failure.code === "not-found"
        ? invited
        : { status: "unfinished", failure: removed.failure };
    default:
      return removed satisfies never;
  }
}

function isConflict(ended: StepResult): boolean {
  return ended.status === "failed" && ended.failure.code === "conflict";
}

/** Returns the result of a step whose write is not to be sent, else the live member. */
async function checkBefore(step: Step, write: Write, run: RunContext): Promise<StepResult | AsPlanned> {
  const { stop } = run;
  // Each check has its own signal: Node warns of a leak if one signal has many listeners.
  const context: PreconditionContext = { ...run, signal: AbortSignal.any([stop]) };
  try {
    const check = await checkPrecondition(step, write, context, false);
    switch (check.status) {
      case "planned":
        return check;
      case "done":
        return { status: "done", id: write.id, adopted: false, already: true };
      case "stale":
        return { status: "stale", failure: { code: "stale", message: check.message } };
      default:
        return check satisfies never;
    }
  } catch (error) {
    // The run was stopped during the check.
    if (stop.aborted && error === stop.reason) return { status: "not-started" };
    if (run.stopped() && error instanceof RolecallError) return { status: "not-started" };
    return { status: "failed", failure: checkFailed(failureOf(error)) };
  }
}
