import { type Failure, RolecallError } from "../model/errors.ts";
import type { WriteIntended } from "../model/journal.ts";
import type { LiveMember } from "../model/live.ts";
import type { Recheck } from "../model/ports.ts";
import { checkPrecondition } from "./precondition.ts";
import type { Done, RunContext, Stale, StepResult, Undone } from "./run-context.ts";
import { isPasswordChange, type Step } from "./step.ts";
import type { Emptied } from "./update-member.ts";
import { restoringWrite, type Sent, type Write } from "./write-change.ts";

/** Sends a write, and restores what the service has emptied besides; a failure tells what is left empty. */
export async function sendAndRestore(
  step: Step,
  sent: Write,
  run: RunContext,
  found: LiveMember | undefined,
): Promise<StepResult> {
  const ended = await sendRecorded(step, sent, run, found);
  if (ended.status !== "done" || ended.emptied === undefined) return ended;
  const { emptied, ...done } = ended;
  const write = restoringWrite(step, emptied, run);
  if (write === null) return done;
  const { phase, change } = step;
  run.emit({ type: "fields-emptied", merchant: run.merchant, phase, change, fields: emptied.fields });
  const restored = run.recordable()
    ? await sendRecorded(step, write, run)
    : ({ status: "unfinished" } as const);
  if (restored.status === "done") return done;
  const status = restored.status === "unknown" ? "unknown" : "failed";
  return { status, failure: notRestored(emptied, "failure" in restored ? restored.failure : null) };
}

/** Why fields are still empty; without a failure the run was stopped first. */
function notRestored({ fields }: Emptied, failure: Failure | null): Failure {
  const why = failure === null ? "the run was stopped first." : failure.message;
  return {
    code: "not-restored",
    message: `The service emptied ${fields.join(" and ")}, which the update did not hold. It is not restored: ${why}`,
    hint: (failure?.code === "not-restored" && failure.hint) || 'To restore it, run "rolecall undo latest".',
    ...(failure?.request && { request: failure.request }),
  };
}

/** Sends a write between the two entries of the journal that tell of it. */
export async function sendRecorded(
  step: Step,
  write: Write,
  run: RunContext,
  found?: LiveMember,
): Promise<StepResult> {
  const number = run.nextWrite();
  try {
    await run.journal.write(intentOf(number, step, write));
  } catch (error) {
    run.unrecorded(failureOf(error), null);
    return { status: "not-started" };
  }
  const sent = await attempt(step, write, run, found);
  if (sent.status === "done") note(step, write, sent, run);
  if (sent.status === "unknown" || (sent.status === "done" && !sent.already)) run.written();
  // Told to stop while it waited for its turn: nothing has been done, and nothing is wrong.
  const kept = sent.status === "failed" && run.stopped() && neverArrived(sent.failure);
  const unrecorded = await record(number, kept ? { status: "not-sent" } : sent, run);
  if (unrecorded) run.unrecorded(unrecorded, kept ? null : step.change);
  return kept ? { status: "not-started" } : sent;
}

/** A write that waited for its turn until the run was stopped. */
interface NotSent {
  readonly status: "not-sent";
}

async function attempt(
  step: Step,
  write: Write,
  run: RunContext,
  found: LiveMember | undefined,
): Promise<Done | Undone | Stale> {
  const seen = { already: false };
  const recheck: Recheck = async (maybeApplied) => {
    const look = await checkPrecondition(step, write, run, maybeApplied);
    if (look.as === "stale") throw new RolecallError("stale", look.message);
    seen.already = look.as === "done" && !maybeApplied;
    return look.as === "done" ? "done" : "go";
  };
  try {
    const sent: Sent = await write.send(run.recheck ? recheck : undefined, found);
    return { status: "done", ...sent, ...(seen.already && { already: true }) };
  } catch (error) {
    const failure = failureOf(error);
    if (isPasswordChange(step.change) && isRepeatedPassword(failure)) {
      return { status: "done", id: write.id, adopted: true };
    }
    if (run.recheck && isNotFound(failure) && (await isGone(step, write, run))) {
      return { status: "done", id: write.id, adopted: false, already: true };
    }
    return undone(failure);
  }
}

function isNotFound({ code, request }: Failure): boolean {
  return code === "not-found" && request?.method === "DELETE";
}

/** Whether what was to be removed is gone since it was looked at. */
async function isGone(step: Step, write: Write, run: RunContext): Promise<boolean> {
  try {
    return (await checkPrecondition(step, write, run, false)).as === "done";
  } catch (error) {
    failureOf(error);
    return false;
  }
}

/** Whether a password was sent again after a lost answer, and refused because the service has it by then. */
function isRepeatedPassword({ request }: Failure): boolean {
  const { type, title, detail } = request?.problem ?? {};
  if (!request?.uncertain || request.status !== 403) return false;
  return /password/i.test(`${title} ${detail}`) && /used|reuse/i.test(`${type} ${title} ${detail}`);
}

function undone(failure: Failure): Undone | Stale {
  if (failure.request?.uncertain) return { status: "unknown", failure };
  if (failure.code === "stale") return { status: "stale", failure };
  return { status: "failed", failure: isOfLook(failure) ? notLookedAt(failure) : failure };
}

/** Tells whether the recheck failed, so that the write itself was not sent, or was refused. */
function isOfLook({ request }: Failure): boolean {
  return request?.method === "GET";
}

/** Remembers what the looks to come have to know. */
function note({ change, part }: Step, { id, after }: Write, { id: createdId }: Done, run: RunContext): void {
  if (change.resource !== "role" || after === null || !("permissions" in after)) return;
  if (id === null && createdId !== null) run.createdRoles.set(after.name, createdId);
  if (id !== null && (part === "set-aside" || after.name !== change.before?.name)) {
    run.renamedRoles.set(id, after.name);
  }
}

/** Records what became of a write; why that cannot be done, or null. */
async function record(
  write: number,
  sent: Done | Undone | Stale | NotSent,
  run: RunContext,
): Promise<Failure | null> {
  const done = sent.status === "done";
  try {
    await run.journal.write({
      type: "outcome",
      write,
      status: sent.status,
      id: done ? sent.id : null,
      adopted: done && sent.adopted,
      failure: "failure" in sent ? sent.failure : null,
      ...(done && sent.already && { already: true }),
    });
    return null;
  } catch (error) {
    return failureOf(error);
  }
}

function intentOf(write: number, { phase, change }: Step, { part, id, before, after }: Write): WriteIntended {
  const { resource, kind, name, reason, fingerprint } = change;
  return {
    type: "intent",
    write,
    phase,
    part,
    resource,
    kind,
    name,
    id,
    reason,
    fingerprint,
    before,
    after,
    ...(isPasswordChange(change) && { password: true }),
  };
}

function neverArrived(failure: Failure): boolean {
  const { code, request } = failure;
  if (isOfLook(failure) || request?.attempts === 0) return true;
  const unanswered = request !== undefined && request.status === undefined;
  return !request?.uncertain && (code === "rate-limited" || code === "invitation-limited" || unanswered);
}

/** The failure that was thrown; anything else is a bug, and thrown on. */
export function failureOf(error: unknown): Failure {
  if (!(error instanceof RolecallError)) throw error;
  return error.failure;
}

/** The failure of a look before a write. */
export function notLookedAt({ message, hint, ...rest }: Failure): Failure {
  const further = rest.code === "forbidden" ? [hint, "With --no-recheck nothing is looked at."] : [hint];
  return {
    ...rest,
    message: `It could not be looked at before the write: ${message}`,
    ...(hint !== undefined && { hint: further.join(" ") }),
  };
}
