import { type Failure, RolecallError } from "../model/errors.ts";
import type { Journal, WriteIntended } from "../model/journal.ts";
import type { Created, LiveRecords, LookAgain } from "../model/ports.ts";
import { type Look, type LookContext, lookAt } from "./recheck.ts";
import { isPasswordChange, type Step } from "./step.ts";
import { type Write, type WriteContext, writesOf } from "./write-change.ts";

/** What carrying out a step needs, and what this run has done so far. */
export interface RunContext extends WriteContext {
  /** Null where nothing is looked at before it is written. */
  readonly records: LiveRecords | null;
  readonly journal: Journal;
  /** Aborted when nothing new is to start. */
  readonly stop: AbortSignal;
  readonly createdRoles: Map<string, string>;
  readonly renamedRoles: Map<string, string>;
  /** Whether nothing new is to start. */
  stopped(): boolean;
  /** Gives a write its number, from 1. */
  nextWrite(): number;
  /** Takes note that the service has carried a write out, or may have. */
  written(): void;
  /** Takes note of what could not be recorded; from then on nothing new starts. */
  unrecorded(failure: Failure): void;
  /** Whether everything so far could be recorded. */
  recordable(): boolean;
}

interface Done {
  readonly status: "done";
  readonly id: string | null;
  readonly adopted: boolean;
  readonly already?: true;
}

interface Undone {
  readonly status: "failed" | "unknown";
  readonly failure: Failure;
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
  /** The run was stopped between two of its writes. */
  | { readonly status: "unfinished" };

/** Carries one step out: for each of its writes a look, an intent, the request, and what became of it. */
export async function carryOut(step: Step, run: RunContext): Promise<Ended> {
  let ended: Ended = { status: "done", id: step.change.id, adopted: false };
  let sent = false;
  for (const write of writesOf(step, run)) {
    if (sent && !run.recordable()) return { status: "unfinished" };
    const look = await lookBefore(step, write, run);
    if (look.as === "failed") return { status: "failed", failure: look.failure };
    if (look.as === "stale") {
      return { status: "stale", failure: { code: "stale", message: look.message } };
    }
    if (look.as === "done") {
      ended = { status: "done", id: write.id, adopted: false, already: true };
      continue;
    }
    // What one change sends belongs together; only what has not begun yet is left.
    if (look.as === "stopped" || (run.stopped() && !sent)) return { status: "not-started" };
    ended = await sendRecorded(step, write, run);
    if (ended.status === "not-started" && sent) return { status: "unfinished" };
    if (ended.status !== "done") return ended;
    sent ||= !ended.already;
  }
  return ended;
}

type BeforeWrite =
  | Look
  | { readonly as: "failed"; readonly failure: Failure }
  /** The run was stopped while it looked. */
  | { readonly as: "stopped" };

async function lookBefore(step: Step, write: Write, run: RunContext): Promise<BeforeWrite> {
  const { records, stop } = run;
  if (records === null) return { as: "planned" };
  // One for each look: a signal that dozens of requests listen to makes Node.js warn of a leak.
  const context: LookContext = { ...run, records, signal: AbortSignal.any([stop]) };
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

async function sendRecorded(step: Step, write: Write, run: RunContext): Promise<Ended> {
  const number = run.nextWrite();
  try {
    await run.journal.write(intentOf(number, step, write));
  } catch (error) {
    const failure = failureOf(error);
    run.unrecorded(failure);
    return { status: "failed", failure };
  }
  const sent = await attempt(step, write, run);
  if (sent.status === "done") note(step, write, sent, run);
  if (sent.status === "unknown" || (sent.status === "done" && !sent.already)) run.written();
  // Told to stop while it waited for its turn: nothing has been done, and nothing is wrong.
  const kept = sent.status === "failed" && run.stopped() && neverArrived(sent.failure);
  const recorded = await record(number, kept ? { status: "not-sent" } : sent, run);
  return kept && recorded ? { status: "not-started" } : sent;
}

/** A write that waited for its turn until the run was stopped. */
interface NotSent {
  readonly status: "not-sent";
}

async function attempt(step: Step, write: Write, run: RunContext): Promise<Done | Undone | Stale> {
  const { records } = run;
  const seen = { already: false };
  const lookAgain = (context: LookContext): LookAgain => {
    return async (doubt) => {
      const look = await lookAt(step, write, context, doubt);
      if (look.as === "stale") throw new RolecallError("stale", look.message);
      seen.already = look.as === "done" && !doubt;
      return look.as === "done" ? "done" : "go";
    };
  };
  try {
    const { id, adopted }: Created = await write.send(records ? lookAgain({ ...run, records }) : undefined);
    return { status: "done", id, adopted, ...(seen.already && { already: true }) };
  } catch (error) {
    return undone(failureOf(error));
  }
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

async function record(
  write: number,
  sent: Done | Undone | Stale | NotSent,
  run: RunContext,
): Promise<boolean> {
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
    return true;
  } catch (error) {
    run.unrecorded(failureOf(error));
    return false;
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
  return !request?.uncertain && (code === "rate-limited" || unanswered);
}

function failureOf(error: unknown): Failure {
  if (!(error instanceof RolecallError)) throw error;
  return error.failure;
}
