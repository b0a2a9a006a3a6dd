import type { Journal, Step, WriteIntended } from "../../model/apply.ts";
import { type Failure, RolecallError } from "../../model/errors.ts";
import type { ApplyEvent } from "../../model/events.ts";
import type { LiveMember } from "../../model/live.ts";
import type { Recheck, WriteOptions } from "../../model/ports.ts";
import { checkPrecondition } from "./precondition.ts";
import { type Emptied, isMemberUpdate } from "./update-member.ts";
import {
  isPasswordChange,
  isReinvitation,
  restoringWrite,
  sendWrite,
  type Write,
  type WriteContext,
} from "./write-change.ts";

/** Sends a write, and restores fields that the service has emptied; a failure names what is left empty. */
export async function sendAndRestore(
  step: Step,
  planned: Write,
  run: RunContext,
  found: LiveMember | undefined,
): Promise<StepResult> {
  const { write, result } = await send(step, planned, run, { found });
  if (result.status !== "done" || result.emptied === undefined || !isMemberUpdate(step.change)) {
    return recordOutcome(step, { write, result }, run);
  }
  const { emptied, ...done } = result;
  const restoring = restoringWrite(step.change, emptied);
  // This is recorded before the update's outcome, so that the journal of a killed run always shows that fields may be
  // empty.
  const intent = await recordIntent(step, restoring, run);
  await recordOutcome(step, { write, result: done }, run);
  const { phase, change } = step;
  if (intent === null || !run.recordable())
    return { status: "failed", failure: notRestored(emptied, run.merchant, null) };
  // Called only when the restore is sent: a run that is stopped before does not restore.
  const onSending = (): void =>
    run.emit({ type: "fields-emptied", merchant: run.merchant, phase, change, fields: emptied.fields });
  const restored = await recordOutcome(step, await send(step, restoring, run, { intent, onSending }), run);
  if (restored.status === "done") return done;
  const status = restored.status === "unknown" ? "unknown" : "failed";
  return {
    status,
    failure: notRestored(emptied, run.merchant, "failure" in restored ? restored.failure : null),
  };
}

/** Returns the failure of a restore; without a cause, the run was stopped before it. */
function notRestored({ fields, rounded }: Emptied, merchant: string, failure: Failure | null): Failure {
  // A failure with its own hint concerns only numbers: the other fields were restored.
  const isPartial = rounded.length > 0 && failure?.code === "not-restored" && failure.hint !== undefined;
  const why = failure === null ? "the run was stopped first." : failure.message;
  return {
    code: "not-restored",
    message: `The service cleared ${fields.join(" and ")}, which the update did not send. ${isPartial ? "The rest was restored" : "They were not restored"}: ${why}`,
    hint:
      (failure?.code === "not-restored" && failure.hint) ||
      `To restore them, run "rolecall undo latest -m ${merchant}".`,
    ...(failure?.request && { request: failure.request }),
  };
}

/** Sends a write, and records its intent and outcome. */
export async function sendRecorded(step: Step, write: Write, run: RunContext): Promise<SendResult> {
  return recordOutcome(step, await send(step, write, run), run);
}

/** The result of a write, not yet recorded. */
interface SentWrite {
  /** The number in the journal; `null` if the write was never sent, so that no intent was recorded. */
  readonly write: number | null;
  readonly result: SendResult;
}

/** The result of a write; `not-started` if the run was stopped before it was sent. */
type SendResult = Done | Undone | Stale | { readonly status: "not-started" };

/** Records the intent of a write; returns its number, or `null` if recording failed. */
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

/** Sends a write once its intent is recorded; `intent` is its number if the intent is already recorded. */
async function send(
  step: Step,
  write: Write,
  run: RunContext,
  {
    found,
    intent = null,
    onSending,
  }: {
    readonly found?: LiveMember | undefined;
    readonly intent?: number | null;
    readonly onSending?: () => void;
  } = {},
): Promise<SentWrite> {
  const begun = { write: intent, isUnrecorded: false };
  // The intent is recorded once the write has a permit, so that queued writes of a killed run are known not to have
  // been sent.
  const begin = async (): Promise<void> => {
    onSending?.();
    if (intent !== null) return;
    begun.write = await recordIntent(step, write, run);
    begun.isUnrecorded = begun.write === null;
    if (begun.isUnrecorded)
      throw new RolecallError("journal-unwritable", "The intent could not be recorded.");
    run.sending(step);
  };
  const result = await attempt(step, write, run, { found, begin });
  if (begun.isUnrecorded) return { write: null, result: { status: "not-started" } };
  if (result.status === "done") note(write, result, run);
  if (result.status === "unknown" || (result.status === "done" && !result.already)) run.written();
  // A write that was stopped while waiting for a permit was not sent, so it has not failed.
  const isKept = result.status === "failed" && run.stopped() && neverArrived(result.failure);
  return { write: begun.write, result: isKept ? { status: "not-started" } : result };
}

async function attempt(
  step: Step,
  write: Write,
  run: RunContext,
  { found, begin }: { readonly found: LiveMember | undefined; readonly begin: () => Promise<void> },
): Promise<Done | Undone | Stale> {
  const seen = { already: false };
  const recheck: Recheck = async (maybeApplied) => {
    const check = await checkPrecondition(step, write, run, maybeApplied);
    if (check.status === "stale") throw new RolecallError("stale", check.message);
    seen.already = check.status === "done" && !maybeApplied;
    return check.status === "done" ? "done" : "go";
  };
  const options: WriteOptions = {
    ...(run.recheck && write.id !== null && { recheck }),
    beforeSending: begin,
  };
  try {
    const sent = await sendWrite(write, run, options, found ?? null);
    return { status: "done", ...sent, ...(seen.already && { already: true }) };
  } catch (error) {
    const failure = failureOf(error);
    if (isPasswordChange(step.change) && isRepeatedPassword(failure)) {
      const isOurs = failure.request?.uncertain === true;
      return { status: "done", id: write.id, adopted: isOurs, ...(!isOurs && { already: true }) };
    }
    if (isNotFound(failure) && isReinvitation(step.change) && (await isAbsent(write, run))) {
      return { status: "done", id: write.id, adopted: false };
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

/** Returns whether a resource to be removed has disappeared since it was checked. */
async function isGone(step: Step, write: Write, run: RunContext): Promise<boolean> {
  try {
    return (await checkPrecondition(step, write, run, false)).status === "done";
  } catch (error) {
    failureOf(error);
    return false;
  }
}

/** Returns whether a resource that the service reported missing is absent; without rechecks, the report counts. */
async function isAbsent({ id }: Write, { recheck, lookup }: RunContext): Promise<boolean> {
  if (!recheck || id === null) return true;
  try {
    return (await lookup.getMember(id)) === null;
  } catch (error) {
    failureOf(error);
    return true;
  }
}

/**
 * Returns whether a password was refused because it was used before: by a first attempt whose response was lost, or by
 * an earlier run, so that a stopped rotation can be repeated.
 */
function isRepeatedPassword({ request }: Failure): boolean {
  const { type, title, detail } = request?.problem ?? {};
  if (request?.status !== 403) return false;
  return /password/i.test(`${title} ${detail}`) && /used|reuse/i.test(`${type} ${title} ${detail}`);
}

function undone(failure: Failure): Undone | Stale {
  if (failure.request?.uncertain) return { status: "unknown", failure };
  if (failure.code === "stale") return { status: "stale", failure };
  return { status: "failed", failure: isCheckFailure(failure) ? checkFailed(failure) : failure };
}

/** Returns whether the recheck itself failed, so that the write was not sent or was refused. */
function isCheckFailure({ request }: Failure): boolean {
  return request?.method === "GET";
}

/** Records created and renamed roles for later checks. */
function note(write: Write, { id }: Done, run: RunContext): void {
  if (write.operation === "create a role" && id !== null) run.createdRoles.set(write.after.name, id);
  if (write.operation === "update a role" && write.after.name !== write.before.name) {
    run.renamedRoles.set(write.id, write.after.name);
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
  if (isCheckFailure(failure) || request?.attempts === 0) return true;
  const unanswered = request !== undefined && request.status === undefined;
  return !request?.uncertain && (code === "rate-limited" || unanswered);
}

/** Returns the failure of a RolecallError; rethrows anything else, which is a bug. */
export function failureOf(error: unknown): Failure {
  if (!(error instanceof RolecallError)) throw error;
  return error.failure;
}

/** Returns the failure of a check before a write. */
export function checkFailed({ message, hint, ...rest }: Failure): Failure {
  const further = rest.code === "forbidden" ? [hint, "--no-recheck skips the recheck."] : [hint];
  return {
    ...rest,
    message: `The recheck before the write failed: ${message}`,
    ...(hint !== undefined && { hint: further.join(" ") }),
  };
}

/** The dependencies of a step, and the state of the run. */
export interface RunContext extends WriteContext {
  /** True if each resource is rechecked before it is written. */
  readonly recheck: boolean;
  readonly merchant: string;
  readonly journal: Journal;
  /** Once aborted, nothing new starts. */
  readonly stop: AbortSignal;
  readonly emit: (event: ApplyEvent) => void;
  readonly createdRoles: Map<string, string>;
  readonly renamedRoles: Map<string, string>;
  /** Returns whether nothing new may start. */
  stopped(): boolean;
  /** Returns the number of the next write, from 1. */
  nextWrite(): number;
  /** Is called before a step sends a write. */
  sending(step: Step): void;
  /** Is called when the service has, or may have, applied a write. */
  written(): void;
  /** Is called when the journal fails, with the change if it was sent; afterwards, nothing new starts. */
  unrecorded(failure: Failure, sent: Step["change"] | null): void;
  /** Returns whether everything has been recorded so far. */
  recordable(): boolean;
}

/** The result of a step that is done. */
export interface Done {
  readonly status: "done";
  readonly id: string | null;
  readonly adopted: boolean;
  readonly already?: true;
  readonly emptied?: Emptied;
}

/** The result of a step that failed or has an unknown outcome. */
export interface Undone {
  readonly status: "failed" | "unknown";
  readonly failure: Failure;
  readonly removed?: true | "unknown";
}

/** The result of a step whose resource has changed since it was planned; nothing was sent. */
export interface Stale {
  readonly status: "stale";
  readonly failure: Failure;
}

/** The result of a step. */
export type StepResult =
  | Done
  | Undone
  | Stale
  /** The run was stopped before anything was sent. */
  | { readonly status: "not-started" }
  /** Some of its writes are done, others are not. */
  | { readonly status: "unfinished"; readonly failure?: Failure; readonly removed?: true };
