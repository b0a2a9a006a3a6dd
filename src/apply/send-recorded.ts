import { type Failure, RolecallError } from "../model/errors.ts";
import type { ApplyEvent } from "../model/events.ts";
import type { Journal, WriteIntended } from "../model/journal.ts";
import type { LiveMember } from "../model/live.ts";
import type { Recheck, WriteOptions } from "../model/ports.ts";
import { isPasswordChange, type Step } from "./phases.ts";
import { checkPrecondition } from "./precondition.ts";
import type { Emptied } from "./update-member.ts";
import { restoringWrite, type Sent, type Write, type WriteContext } from "./write-change.ts";

/** Sends a write, and restores what the service has emptied besides; a failure tells what is left empty. */
export async function sendAndRestore(
  step: Step,
  planned: Write,
  run: RunContext,
  found: LiveMember | undefined,
): Promise<StepResult> {
  const { write, result } = await send(step, planned, run, { found });
  const restoring =
    result.status === "done" && result.emptied ? restoringWrite(step, result.emptied, run) : null;
  if (result.status !== "done" || result.emptied === undefined || restoring === null) {
    return recordOutcome(step, { write, result }, run);
  }
  const { emptied, ...done } = result;
  // Before the outcome of the update: wherever the run is killed, its journal tells that fields may be empty.
  const intent = await recordIntent(step, restoring, run);
  await recordOutcome(step, { write, result: done }, run);
  const { phase, change } = step;
  run.emit({ type: "fields-emptied", merchant: run.merchant, phase, change, fields: emptied.fields });
  if (intent === null || !run.recordable()) return { status: "failed", failure: notRestored(emptied, null) };
  const restored = await recordOutcome(step, await send(step, restoring, run, { intent }), run);
  if (restored.status === "done") return done;
  const status = restored.status === "unknown" ? "unknown" : "failed";
  return { status, failure: notRestored(emptied, "failure" in restored ? restored.failure : null) };
}

/** Why fields are still empty; without a failure the run was stopped first. */
function notRestored({ fields }: Emptied, failure: Failure | null): Failure {
  const why = failure === null ? "the run was stopped first." : failure.message;
  return {
    code: "not-restored",
    message: `The service emptied ${fields.join(" and ")}, which the update did not send. It is not restored: ${why}`,
    hint: (failure?.code === "not-restored" && failure.hint) || 'To restore it, run "rolecall undo latest".',
    ...(failure?.request && { request: failure.request }),
  };
}

/** Sends a write between the two entries of the journal that tell of it. */
export async function sendRecorded(step: Step, write: Write, run: RunContext): Promise<SendResult> {
  return recordOutcome(step, await send(step, write, run), run);
}

/** The result of a write, not yet recorded. */
interface SentWrite {
  /** Its number in the journal; null if it is not there, because the turn of the write never came. */
  readonly write: number | null;
  readonly result: SendResult;
}

/** The result of a write; `not-started`: the run was stopped before it was sent. */
type SendResult = Done | Undone | Stale | { readonly status: "not-started" };

/** Records the intent of a write; returns its number, null if it could not be recorded. */
async function recordIntent(step: Step, write: Write, run: RunContext): Promise<number | null> {
  const number = run.nextWrite();
  try {
    await run.journal.write(intentOf(number, step, write));
    return number;
  } catch (error) {
    run.unrecorded(failureOf(error), null);
    return null;
  }
}

/** Sends a write once its intent is recorded; `intent` is its number where it is already. */
async function send(
  step: Step,
  write: Write,
  run: RunContext,
  { found, intent = null }: { readonly found?: LiveMember | undefined; readonly intent?: number | null } = {},
): Promise<SentWrite> {
  const begun = { write: intent, isUnrecorded: false };
  // Not earlier: of what waits for its turn when the run is killed, everybody knows that it was not sent.
  const begin = async (): Promise<void> => {
    begun.write = await recordIntent(step, write, run);
    begun.isUnrecorded = begun.write === null;
    if (begun.isUnrecorded) throw new RolecallError("journal-unwritable", "The intent is not recorded.");
    run.sending(step);
  };
  const result = await attempt(step, write, run, { found, ...(intent === null && { begin }) });
  if (begun.isUnrecorded) return { write: null, result: { status: "not-started" } };
  if (result.status === "done") note(step, write, result, run);
  if (result.status === "unknown" || (result.status === "done" && !result.already)) run.written();
  // Told to stop while it waited for its turn: nothing has been done, and nothing is wrong.
  const isKept = result.status === "failed" && run.stopped() && neverArrived(result.failure);
  return { write: begun.write, result: isKept ? { status: "not-started" } : result };
}

async function attempt(
  step: Step,
  write: Write,
  run: RunContext,
  { found, begin }: { readonly found: LiveMember | undefined; readonly begin?: () => Promise<void> },
): Promise<Done | Undone | Stale> {
  const seen = { already: false };
  const recheck: Recheck = async (maybeApplied) => {
    const look = await checkPrecondition(step, write, run, maybeApplied);
    if (look.status === "stale") throw new RolecallError("stale", look.message);
    seen.already = look.status === "done" && !maybeApplied;
    return look.status === "done" ? "done" : "go";
  };
  const options: WriteOptions = {
    ...(run.recheck && write.id !== null && { recheck }),
    beforeSending: begin,
  };
  try {
    const sent: Sent = await write.send(options, found);
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
    return (await checkPrecondition(step, write, run, false)).status === "done";
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

/** Records the outcome of a write whose intent is recorded. */
async function recordOutcome<R extends SendResult>(
  step: Step,
  { write, result }: SentWrite & { readonly result: R },
  run: RunContext,
): Promise<R> {
  if (write === null) return result;
  const isDone = result.status === "done";
  try {
    await run.journal.write({
      type: "outcome",
      write,
      status: result.status === "not-started" ? "not-sent" : result.status,
      id: isDone ? result.id : null,
      adopted: isDone && result.adopted,
      failure: "failure" in result ? result.failure : null,
      ...(isDone && result.already && { already: true }),
    });
  } catch (error) {
    run.unrecorded(failureOf(error), result.status === "not-started" ? null : step.change);
  }
  return result;
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
  return !request?.uncertain && (code === "rate-limited" || unanswered);
}

/** The failure that was thrown; anything else is a bug, and thrown on. */
export function failureOf(error: unknown): Failure {
  if (!(error instanceof RolecallError)) throw error;
  return error.failure;
}

/** The failure of a look before a write. */
export function notLookedAt({ message, hint, ...rest }: Failure): Failure {
  const further = rest.code === "forbidden" ? [hint, "--no-recheck skips this check."] : [hint];
  return {
    ...rest,
    message: `The check before the write failed: ${message}`,
    ...(hint !== undefined && { hint: further.join(" ") }),
  };
}

/** The ports that a step needs, and the progress of the run so far. */
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
  /** Takes note that a step is about to send its first, or a further request. */
  sending(step: Step): void;
  /** Takes note that the service has carried a write out, or may have. */
  written(): void;
  /** Takes note of what could not be recorded, and of the change where that was sent; from then on nothing new starts. */
  unrecorded(failure: Failure, sent: Step["change"] | null): void;
  /** Whether everything so far could be recorded. */
  recordable(): boolean;
}

/** It is as the step was to make it. */
export interface Done {
  readonly status: "done";
  readonly id: string | null;
  readonly adopted: boolean;
  readonly already?: true;
  readonly emptied?: Emptied;
}

/** It was not done, or nobody knows. */
export interface Undone {
  readonly status: "failed" | "unknown";
  readonly failure: Failure;
  readonly removed?: true;
}

/** It is no longer what was planned; nothing was sent. */
export interface Stale {
  readonly status: "stale";
  readonly failure: Failure;
}

/** How a step ended. */
export type StepResult =
  | Done
  | Undone
  | Stale
  /** The run was stopped before this step had sent anything. */
  | { readonly status: "not-started" }
  /** Not all of its writes are done. */
  | { readonly status: "unfinished"; readonly failure?: Failure; readonly removed?: true };
