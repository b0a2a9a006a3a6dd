import type { ApplyEvent } from "../model/apply.ts";
import { type Failure, RolecallError } from "../model/errors.ts";
import type { Journal, WriteIntended } from "../model/journal.ts";
import type { LiveMember } from "../model/live.ts";
import type { LookAgain } from "../model/ports.ts";
import { oneUntilKnown } from "./put-semantics.ts";
import { type Look, type LookContext, lookAt } from "./recheck.ts";
import { isPasswordChange, type Step } from "./step.ts";
import type { Emptied } from "./update-member.ts";
import {
  isReinvitation,
  type Reinvitation,
  reinvitationWrites,
  restoringWrite,
  type Sent,
  type Write,
  type WriteContext,
  writeOf,
} from "./write-change.ts";

/** What carrying out a step needs, and what this run has done so far. */
export interface RunContext extends WriteContext {
  /** Whether each resource is looked at before it is written. */
  readonly recheck: boolean;
  readonly merchant: string;
  readonly journal: Journal;
  /** Aborted when nothing new is to start. */
  readonly stop: AbortSignal;
  readonly emit: (event: ApplyEvent) => void;
  readonly createdRoles: Map<string, string>;
  readonly renamedRoles: Map<string, string>;
  /** Whether nothing new is to start. */
  stopped(): boolean;
  /** Gives a write its number, from 1. */
  nextWrite(): number;
  /** Takes note that the service has carried a write out, or may have. */
  written(): void;
  /** Takes note of what could not be recorded, and of the change where that was sent; from then on nothing new starts. */
  unrecorded(failure: Failure, sent: Step["change"] | null): void;
  /** Whether everything so far could be recorded. */
  recordable(): boolean;
}

interface Done {
  readonly status: "done";
  readonly id: string | null;
  readonly adopted: boolean;
  readonly already?: true;
  readonly emptied?: Emptied;
}

interface Undone {
  readonly status: "failed" | "unknown";
  readonly failure: Failure;
  readonly removed?: true;
}

interface Stale {
  readonly status: "stale";
  readonly failure: Failure;
}

/** How a step ended. */
export type Ended =
  | Done
  | Undone
  | Stale
  /** The run was stopped before this step had sent anything. */
  | { readonly status: "not-started" }
  /** Not all of its writes are done. */
  | { readonly status: "unfinished"; readonly failure?: Failure; readonly removed?: true };

/** Carries one step out: for each of its writes a look, an intent, the request, and what became of it. */
export async function carryOut(step: Step, run: RunContext): Promise<Ended> {
  return oneUntilKnown(run.putSemantics, step.change, async () =>
    // It may have waited for the update before it.
    run.stopped() ? { status: "not-started" } : carryOutNow(step, run),
  );
}

async function carryOutNow({ change, ...step }: Step, run: RunContext): Promise<Ended> {
  return isReinvitation(change)
    ? reinvite({ ...step, change }, run)
    : sendPlanned({ ...step, change }, writeOf(change, step.part, run), run);
}

/** Sends a write that is still as planned. */
async function sendPlanned(step: Step, write: Write, run: RunContext): Promise<Ended> {
  const look = await lookBefore(step, write, run);
  switch (look.as) {
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
async function reinvite(step: Step & { readonly change: Reinvitation }, run: RunContext): Promise<Ended> {
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
    case "unfinished":
      return { status: "unfinished", removed: true };
    default:
      return sent satisfies never;
  }
}

/** Removes the expired invitation where the service keeps it beside the new one; a service may also have renewed it. */
async function clearAway(step: Step, invited: Done, remove: Write, run: RunContext): Promise<Ended> {
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

function isConflict(ended: Ended): boolean {
  return ended.status === "failed" && ended.failure.code === "conflict";
}

type BeforeWrite =
  | Look
  | { readonly as: "failed"; readonly failure: Failure }
  /** The run was stopped while it looked. */
  | { readonly as: "stopped" };

async function lookBefore(step: Step, write: Write, run: RunContext): Promise<BeforeWrite> {
  const { recheck, stop } = run;
  if (!recheck) return { as: "planned" };
  // One for each look: a signal that dozens of requests listen to makes Node.js warn of a leak.
  const context: LookContext = { ...run, signal: AbortSignal.any([stop]) };
  try {
    return await lookAt(step, write, context, false);
  } catch (error) {
    if (stop.aborted && error === stop.reason) return { as: "stopped" };
    if (run.stopped() && error instanceof RolecallError) return { as: "stopped" };
    return { as: "failed", failure: notLookedAt(failureOf(error)) };
  }
}

function notLookedAt({ message, hint, ...rest }: Failure): Failure {
  const further = rest.code === "forbidden" ? [hint, "With --no-recheck nothing is looked at."] : [hint];
  return {
    ...rest,
    message: `It could not be looked at before the write: ${message}`,
    ...(hint !== undefined && { hint: further.join(" ") }),
  };
}

/** Sends a write, and restores what the service has emptied besides; a failure tells what is left empty. */
async function sendAndRestore(
  step: Step,
  sent: Write,
  run: RunContext,
  found: LiveMember | undefined,
): Promise<Ended> {
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

async function sendRecorded(step: Step, write: Write, run: RunContext, found?: LiveMember): Promise<Ended> {
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
  const lookAgain: LookAgain = async (doubt) => {
    const look = await lookAt(step, write, run, doubt);
    if (look.as === "stale") throw new RolecallError("stale", look.message);
    seen.already = look.as === "done" && !doubt;
    return look.as === "done" ? "done" : "go";
  };
  try {
    const sent: Sent = await write.send(run.recheck ? lookAgain : undefined, found);
    return { status: "done", ...sent, ...(seen.already && { already: true }) };
  } catch (error) {
    const failure = failureOf(error);
    if (isPasswordChange(step.change) && isRepeatedPassword(failure)) {
      return { status: "done", id: write.id, adopted: true };
    }
    return undone(failure);
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

/** Whether it was a look that failed, and the write itself was not sent, or refused. */
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

function failureOf(error: unknown): Failure {
  if (!(error instanceof RolecallError)) throw error;
  return error.failure;
}
