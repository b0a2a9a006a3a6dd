import { type Failure, RolecallError } from "../model/errors.ts";
import type { Step } from "./phases.ts";
import { checkPrecondition, type Precondition, type PreconditionContext } from "./precondition.ts";
import {
  type Done,
  failureOf,
  notLookedAt,
  type RunContext,
  type StepResult,
  sendAndRestore,
  sendRecorded,
} from "./send-recorded.ts";
import { oneUntilKnown } from "./update-member.ts";
import {
  isReinvitation,
  type Reinvitation,
  reinvitationWrites,
  type Write,
  writeOf,
} from "./write-change.ts";

/** Carries one step out: for each of its writes a look, an intent, the request, and what became of it. */
export async function executeStep(step: Step, run: RunContext): Promise<StepResult> {
  return oneUntilKnown(run.putSemantics, step.change, async () =>
    // It may have waited for the update before it.
    run.stopped() ? { status: "not-started" } : executeNow(step, run),
  );
}

async function executeNow({ change, ...step }: Step, run: RunContext): Promise<StepResult> {
  return isReinvitation(change)
    ? reinvite({ ...step, change }, run)
    : sendPlanned({ ...step, change }, writeOf(change, step.part, run), run);
}

/** Sends a write that is still as planned. */
async function sendPlanned(step: Step, write: Write, run: RunContext): Promise<StepResult> {
  const look = await checkBefore(step, write, run);
  switch (look.status) {
    case "planned":
      return run.stopped() ? { status: "not-started" } : sendAndRestore(step, write, run, look.found);
    case "done":
      return { status: "done", id: write.id, adopted: false, already: true };
    case "stale":
      return { status: "stale", failure: { code: "stale", message: look.message } };
    case "failed":
      return { status: "failed", failure: look.failure };
    case "stopped":
      return { status: "not-started" };
    default:
      return look satisfies never;
  }
}

/**
 * Sends a new invitation beside the expired one; only where the service refuses that for the expired one's sake is that
 * one removed first. The journal then holds what it held, should the new one be refused.
 */
async function reinvite(
  step: Step & { readonly change: Reinvitation },
  run: RunContext,
): Promise<StepResult> {
  const { invite, remove, again } = reinvitationWrites(step.change, run);
  const invited = await sendPlanned(step, invite, run);
  if (invited.status === "done") return clearAway(step, invited, remove, run);
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

/** Removes the expired invitation where the service keeps it beside the new one; a service may also have renewed it. */
async function clearAway(step: Step, invited: Done, remove: Write, run: RunContext): Promise<StepResult> {
  if (invited.id === remove.id) return invited;
  if (!run.recordable()) return { status: "unfinished" };
  const removed = await sendPlanned(step, remove, run);
  switch (removed.status) {
    case "done":
    // It is gone, or no expired invitation any more.
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
  /** The run was stopped while it looked. */
  | { readonly status: "stopped" };

async function checkBefore(step: Step, write: Write, run: RunContext): Promise<CheckedBefore> {
  const { recheck, stop } = run;
  if (!recheck) return { status: "planned" };
  // One for each look: a signal that dozens of requests listen to makes Node.js warn of a leak.
  const context: PreconditionContext = { ...run, signal: AbortSignal.any([stop]) };
  try {
    return await checkPrecondition(step, write, context, false);
  } catch (error) {
    if (stop.aborted && error === stop.reason) return { status: "stopped" };
    if (run.stopped() && error instanceof RolecallError) return { status: "stopped" };
    return { status: "failed", failure: notLookedAt(failureOf(error)) };
  }
}
