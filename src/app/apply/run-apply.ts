import { applyPlan, causeSentence } from "../../kernel/apply/apply-plan.ts";
import { unknownPutSemantics } from "../../kernel/apply/update-member.ts";
import { statusChanges } from "../../kernel/plan/status-changes.ts";
import { oneLine } from "../../lib/escape.ts";
import { memoized } from "../../lib/memoized.ts";
import { counted } from "../../lib/text.ts";
import type {
  ApplyResult,
  JournalEntry,
  MerchantOutcome,
  OnError,
  PasswordChange,
  StopCause,
} from "../../model/apply.ts";
import { type Failure, RolecallError } from "../../model/errors.ts";
import type { LiveState } from "../../model/live.ts";
import type { Change, Plan } from "../../model/plan.ts";
import { journalsText } from "../../show/documents/next-step.ts";
import { failureJson } from "../../show/machine/machine-formats.ts";
import {
  type MerchantEnd,
  remainingChanges,
  summaryOf,
  type Verification,
} from "../../show/view/ending-view.ts";
import { ExitCode } from "../io/io.ts";
import type { OpenJournal } from "../journal/write-journal.ts";
import type { LiveReading, RecordLive } from "../live-branch/record-live.ts";
import type { RunRecorder } from "../records/run-recorder.ts";
import type { PlanResult, Session } from "../session/session.ts";
import type { Cancellation } from "./cancellation.ts";
import { checkPermissions } from "./check-permissions.ts";
import { orderOptions } from "./order-options.ts";
import type { Passwords } from "./passwords.ts";
import type { ApplyReporter } from "./reporter.ts";

/** Dependencies of an apply besides the plans. */
export interface RunOptions {
  readonly password: Passwords;
  readonly concurrency: number;
  /** Rechecks each resource before it is written. */
  readonly recheck: boolean;
  /** Absent: `stop`. */
  readonly onError?: OnError;
  /** Throws RolecallError if the journal cannot be written. */
  readonly openJournal: (plan: Plan) => Promise<OpenJournal>;
  /** Records the run in a repository; absent: its journals are on this machine only. */
  readonly recorder?: RunRecorder | undefined;
  /** Records the live states that the verifications have read. */
  readonly recordLive?: RecordLive | undefined;
  readonly cancellation: Cancellation;
  /** Waits for some ms, or until the signal is aborted. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** A plan that waits for confirmation, with the passwords that are set in addition. */
export interface PendingApply {
  readonly session: Session;
  readonly plan: Plan;
  /** The state that was planned on; absent if it is unknown. */
  readonly live?: LiveState;
  readonly passwords?: readonly PasswordChange[];
  /** Number of changes that the user left out of the plan; absent: none. */
  readonly leftOut?: number;
}

type Running = PendingApply & { readonly journal: OpenJournal };

/** Applies plans in parallel, verifies them when all have ended, and returns how it ended at each merchant. */
export async function runApply(
  due: readonly PendingApply[],
  options: RunOptions,
  reporter: ApplyReporter,
): Promise<readonly MerchantOutcome[]> {
  const { cancellation, onError = "stop" } = options;
  const denied = await checkPermissions(due, options.recheck);
  reporter.failed(denied.map(({ merchant, error }) => failureJson(merchant, error.failure)));
  const refused = denied.map(
    ({ merchant, error: { message, hint = "" } }): MerchantOutcome => ({
      merchant,
      status: "failed",
      reasons: [oneLine(`${message} ${hint}`)],
    }),
  );
  const isDenied = new Set(denied.map(({ merchant }) => merchant));
  const permitted = due.filter(({ plan }) => !isDenied.has(plan.merchant));
  if (refused.length > 0) {
    if (onError === "stop" || permitted.length === 0) return refused;
    reporter.skipped(refused, permitted.length);
  }
  // All journals are opened before the first change: if one cannot be written, nothing is changed anywhere.
  const running = await openJournals(permitted, options.openJournal);
  const journals = running.map(({ journal }) => journal.file);
  const [first] = running;
  const run = first?.journal.run ?? "";
  let intents = 0;
  cancellation.onForcedExit(() => {
    reporter.say(
      intents === 0
        ? "Exited before anything was changed."
        : 'Exited at once: requests in flight may have taken effect. Run "rolecall plan" to see the difference.',
    );
    reporter.say(journalsText(run, journals));
    return intents === 0 ? ExitCode.failed : ExitCode.partial;
  });
  try {
    await options.recorder?.began(run, journals);
    const { cause, merchants } = await applyAll(running, options, reporter, (entry) => {
      if (entry.type === "intent") intents += 1;
    });
    reporter.applied({ run, journals, cause, ends: merchants.map(({ end }) => end) });
    await options.recordLive?.(
      merchants.flatMap(({ reading }) => reading ?? []),
      run,
    );
    return [...merchants.map(({ outcome }) => outcome), ...refused];
  } catch (error) {
    reporter.say(journalsText(run, journals));
    throw error;
  } finally {
    await Promise.all(running.map(({ journal }) => journal.close()));
    await options.recorder?.ended();
  }
}

async function applyAll(
  running: readonly Running[],
  { password, concurrency, recheck, onError = "stop", cancellation, sleep }: RunOptions,
  reporter: ApplyReporter,
  note: (entry: JournalEntry) => void,
): Promise<{ readonly cause: StopCause | null; readonly merchants: readonly AppliedMerchant[] }> {
  const semanticsOf = memoized((_service: string) => unknownPutSemantics());
  const ended = await allEnded(
    running.map(async (started) => {
      const { session, plan, live, passwords, journal } = started;
      const { merchant } = plan;
      const ports = {
        writer: session.writer,
        lookup: session.lookup,
        recheck,
        putSemantics: semanticsOf(plan.service),
        journal: {
          write: async (entry: JournalEntry) => {
            note(entry);
            try {
              await journal.write(entry);
            } catch (error) {
              // Queued writes must not be sent: they could not be recorded either.
              cancellation.halt({ by: "merchant", merchant });
              throw error;
            }
          },
        },
        password,
        ...orderOptions(session, live),
        emit: reporter.event,
        concurrency,
        stop: cancellation.signal,
        cause: cancellation.cause,
      };
      let result: ApplyResult | undefined;
      try {
        result = await applyPlan(plan, ports, passwords);
      } finally {
        // A bug stops the run at all merchants.
        if (result === undefined || (result.status === "stopped" && onError === "stop"))
          cancellation.stop({ by: "merchant", merchant });
      }
      return { one: started, merchant, result };
    }),
  );
  const cause = cancellation.cause();
  const isStopped = ended.some(({ result }) => result.status === "stopped");
  const stopped = aborted(cancellation.cancelled);
  const pause = async (): Promise<void> => sleep(LAG_MS, cancellation.cancelled).catch(() => undefined);
  const waits = { cause: cancellation.cause, stopped, pause };
  const merchants = await Promise.all(
    ended.map(async ({ one, merchant, result }): Promise<AppliedMerchant> => {
      // After a stop at all merchants, nothing more is read.
      const isRead = result.status !== "stopped" && !(isStopped && cause !== null);
      const { verification, live } = isRead ? await verify(one, result, waits) : NOT_VERIFIED;
      if (verification !== null) reporter.verified(merchant, verification);
      const outcome = outcomeOf(merchant, result, verification, cause);
      const { state: desired, environment } = one.session;
      const reading = live && { desired, live, environment, removed: removedMembers(result) };
      return { end: { plan: one.plan, result, verification }, outcome, reading };
    }),
  );
  return { cause, merchants };
}

/** The end of an apply at a merchant, in full and in short. */
interface AppliedMerchant {
  readonly end: MerchantEnd;
  readonly outcome: MerchantOutcome;
  /** The state that the verification has read; `null` without one. */
  readonly reading: LiveReading | null;
}

/** A verification with the state that it has read; `null` without one. */
interface VerifiedState<Verified = Verification> {
  readonly verification: Verified;
  readonly live: LiveState | null;
}

const NOT_VERIFIED: VerifiedState<null> = { verification: null, live: null };

/** Returns the addresses of the members whom an apply has removed, or may have. */
function removedMembers({ outcomes }: ApplyResult): readonly string[] {
  return outcomes.flatMap(({ status, change }) =>
    change.resource === "member" &&
    change.kind === "delete" &&
    status !== "failed" &&
    status !== "not-started"
      ? (change.before.email ?? [])
      : [],
  );
}

/** Returns how an apply ended at a merchant, by its result and its verification. */
function outcomeOf(
  merchant: string,
  result: ApplyResult,
  verification: Verification | null,
  cause: StopCause | null,
): MerchantOutcome {
  const remaining = verification === null ? null : openText(verification);
  if (result.status === "done" && remaining === null) return { merchant, status: "applied", reasons: [] };
  const failures = result.outcomes.flatMap((outcome) =>
    "failure" in outcome && outcome.failure
      ? oneLine(`${summaryOf(outcome.change)}: ${outcome.failure.message}`)
      : [],
  );
  const { journalFailure } = result;
  const failedHere = [...failures, ...(journalFailure ? [oneLine(journalFailure.message)] : [])];
  const why = failedHere.length > 0 ? failedHere : result.status === "stopped" ? [stoppedBy(cause)] : [];
  return {
    merchant,
    status: result.status === "done" || result.writes > 0 ? "partial" : "failed",
    reasons: [...new Set([...why, ...(remaining === null ? [] : [remaining])])],
  };
}

/** Says why a merchant is not as its file says, by its verification; `null` if it is. */
function openText(verification: Verification): string | null {
  if (verification.status === "unverified") {
    const { why } = verification;
    return `Applied, not verified: ${oneLine(typeof why === "string" ? why : why.message)}`;
  }
  const { left: remaining, errors } = remainingChanges(verification.plan);
  if (remaining.length + errors.length === 0) return verification.unrecorded;
  return `The verification found ${counted(remaining.length, "remaining change")} and ${counted(errors.length, "problem")}.`;
}

/** Pause before a verification reads once more, in ms: the lists of a service may lag behind its writes. */
const LAG_MS = 2_000;

/** Returns the targets of the changes that are done, or of those that were refused for their address. */
function targetsOf(result: ApplyResult, isDone: boolean): ReadonlySet<string> {
  const outcomes = result.outcomes.filter(({ status }) => (status === "done") === isDone);
  return new Set(outcomes.map(({ change }) => targetOf(change)));
}

/** Identifies a change by its resource, since its kind may have changed. */
function targetOf({ resource, name }: Change): string {
  return `${resource} ${name}`;
}

/**
 * Waits for all; rethrows a bug in one only after the others have ended, so that their journals are complete.
 */
async function allEnded<T>(promises: readonly Promise<T>[]): Promise<readonly T[]> {
  const settled = await Promise.allSettled(promises);
  return settled.map((result) => {
    if (result.status === "rejected") throw result.reason;
    return result.value;
  });
}

/** The signal that ends a verification, and the function that delays it. */
interface Waits extends Pick<Cancellation, "cause"> {
  readonly stopped: Promise<null>;
  readonly pause: () => Promise<void>;
}

/** Plans again, and returns what remains except changes that were refused temporarily. */
async function verify(
  { session, plan: planned, live, passwords = [], leftOut = 0, journal }: Running,
  result: ApplyResult,
  { cause, stopped, pause }: Waits,
): Promise<VerifiedState> {
  const refused = targetsOf(result, false);
  const done = targetsOf(result, true);
  const planAgain = async (): Promise<PlanResult> => {
    const first = await session.plan();
    if (!remainingChanges(first.plan).left.some((change) => done.has(targetOf(change)))) return first;
    await pause();
    return session.plan();
  };
  const looked = await toResult(Promise.race([stopped, planAgain()]));
  if (looked === null || "failure" in looked)
    return { verification: { status: "unverified", why: looked?.failure ?? stoppedBy(cause()) }, live: null };
  const enabled = passwords.flatMap(({ id, before, after }) => (before.status === after.status ? [] : [id]));
  const changed = live ? statusChanges(live, looked.live, new Set(enabled)) : [];
  const waited = new Set(planned.deferred.map(({ change }) => change.fingerprint));
  // Deferred changes may have become due, such as when a managed user was created under a new address.
  const isRemoved = ({ id }: Change): boolean =>
    result.outcomes.some(
      ({ status, change }) => status === "done" && change.kind === "delete" && change.id === id,
    );
  const isDue = (change: Change): boolean =>
    waited.has(change.fingerprint) || (change.reason === "address-changed" && !isRemoved(change));
  const { left } = remainingChanges(looked.plan);
  const remaining = left.filter((change) => !isDue(change));
  const changes = remaining.filter((change) => !refused.has(targetOf(change)));
  const due = left.filter(isDue).map((change) => ({ change, role: null, waitsFor: [] }));
  const deferred = [...looked.plan.deferred, ...due];
  const recorded = await toResult(
    journal.write({
      type: "verified",
      left: remaining.map(summaryOf),
      deferred: deferred.map(({ change }) => summaryOf(change)),
    }),
  );
  const verification = {
    status: "verified" as const,
    plan: { ...looked.plan, changes, deferred, findings: [...changed, ...looked.plan.findings] },
    leftOut,
    refused: remaining.length - changes.length,
    unrecorded: recorded?.failure ? oneLine(recorded.failure.message) : null,
  };
  return { verification, live: looked.live };
}

function stoppedBy(cause: StopCause | null): string {
  return oneLine(causeSentence(cause) ?? "The run was stopped.");
}

async function toResult<T>(asked: Promise<T>): Promise<T | { readonly failure: Failure }> {
  try {
    return await asked;
  } catch (error) {
    if (!(error instanceof RolecallError)) throw error;
    return { failure: error.failure };
  }
}

/** Resolves when a signal is aborted. One listener serves all merchants: Node.js warns of a leak above ten. */
function aborted(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(null);
    signal.addEventListener("abort", () => resolve(null), { once: true });
  });
}

/** A plan that is about to be applied, with the passwords that are set in addition. */
interface Planned {
  readonly plan: Plan;
  readonly passwords?: readonly unknown[];
}

/** Opens one journal for each plan; if one fails, the others record that nothing was done, and the error is thrown. */
async function openJournals<PendingApply extends Planned>(
  due: readonly PendingApply[],
  openJournal: (plan: Plan) => Promise<OpenJournal>,
): Promise<readonly (PendingApply & { readonly journal: OpenJournal })[]> {
  const opened: (PendingApply & { readonly journal: OpenJournal })[] = [];
  try {
    for (const toStart of due) opened.push({ ...toStart, journal: await openJournal(toStart.plan) });
  } catch (error) {
    if (!(error instanceof RolecallError)) throw error;
    await Promise.all(opened.map((started) => abandon(started, error.message)));
    const { code, message, hint = "Make the folder writable." } = error;
    throw new RolecallError(code, message, { hint: `${hint} Nothing was changed.`, cause: error });
  }
  return opened;
}

async function abandon(
  { journal, plan, passwords = [] }: Planned & { readonly journal: OpenJournal },
  cause: string,
): Promise<void> {
  const notStarted = plan.changes.length + passwords.length;
  const outcomes = { done: 0, failed: 0, unknown: 0, stale: 0, unfinished: 0, "not-started": notStarted };
  // A second failure to write adds nothing to the first.
  await journal.write({ type: "end", status: "stopped", cause, outcomes }).catch(() => undefined);
  await journal.close();
}
