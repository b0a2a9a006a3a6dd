import { applyPlan } from "../../apply/apply-plan.ts";
import { type PutSemantics, unknownPutSemantics } from "../../apply/update-member.ts";
import { oneLine } from "../../lib/escape.ts";
import { counted } from "../../lib/text.ts";
import type { ApplyResult, JournalEntry, MerchantOutcome, OnError, StopCause } from "../../model/apply.ts";
import { type Failure, RolecallError } from "../../model/errors.ts";
import type { Change, Plan } from "../../model/plan.ts";
import { remainingChanges, summaryOf } from "../../render/text/verified-text.ts";
import { ExitCode } from "../io/io.ts";
import type { OpenJournal } from "../journal/write-journal.ts";
import type { PendingApply } from "../review/confirm-apply.ts";
import type { PlanResult } from "../session/session.ts";
import type { Cancellation } from "./cancellation.ts";
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
  readonly cancellation: Cancellation;
  /** Waits for some ms, or until the signal is aborted. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

type Running = PendingApply & { readonly journal: OpenJournal };

/** Applies plans in parallel, verifies them when all have ended, and returns how it ended at each merchant. */
export async function runApply(
  due: readonly PendingApply[],
  options: RunOptions,
  reporter: ApplyReporter,
): Promise<readonly MerchantOutcome[]> {
  const { cancellation } = options;
  // All journals are opened before the first change: if one cannot be written, nothing is changed anywhere.
  const running = await openJournals(due, options.openJournal);
  const tellJournals = (): void => {
    const [first] = running;
    if (first === undefined) return;
    reporter.journals(
      first.journal.run,
      running.map(({ journal }) => journal.file),
    );
  };
  let intents = 0;
  cancellation.onForcedExit(() => {
    reporter.say(
      intents === 0
        ? "Exited before anything was changed."
        : 'Exited at once: requests in flight may have taken effect. Run "rolecall plan" to see.',
    );
    tellJournals();
    return intents === 0 ? ExitCode.failed : ExitCode.partial;
  });
  try {
    return await applyAll(running, options, reporter, (entry) => {
      if (entry.type === "intent") intents += 1;
    });
  } finally {
    await Promise.all(running.map(({ journal }) => journal.close()));
    tellJournals();
  }
}

async function applyAll(
  running: readonly Running[],
  { password, concurrency, recheck, onError = "stop", cancellation, sleep }: RunOptions,
  reporter: ApplyReporter,
  note: (entry: JournalEntry) => void,
): Promise<readonly MerchantOutcome[]> {
  const known = new Map<string, PutSemantics>();
  const semanticsOf = (service: string): PutSemantics => {
    const semantics = known.get(service) ?? unknownPutSemantics();
    known.set(service, semantics);
    return semantics;
  };
  const ended = await allEnded(
    running.map(async (one) => {
      const { session, plan, passwords, journal } = one;
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
      return { one, merchant, result };
    }),
  );
  const cause = cancellation.cause();
  reporter.results(
    ended.map(({ merchant, result }) => ({ merchant, result })),
    cause,
  );
  const isStopped = ended.some(({ result }) => result.status === "stopped");
  const stopped = aborted(cancellation.cancelled);
  const pause = async (): Promise<void> => sleep(LAG_MS, cancellation.cancelled).catch(() => undefined);
  const waits = { cause: cancellation.cause, stopped, pause };
  return Promise.all(
    ended.map(async ({ one, merchant, result }) => {
      // After a stop at all merchants nothing is read any more.
      const isRead = result.status !== "stopped" && !(isStopped && cause !== null);
      const open = isRead ? await verify(one, result, waits, reporter) : null;
      return outcomeOf(merchant, result, open, cause);
    }),
  );
}

/** Returns how an apply ended at a merchant; `open` says why it is not complete by the verification. */
function outcomeOf(
  merchant: string,
  result: ApplyResult,
  open: string | null,
  cause: StopCause | null,
): MerchantOutcome {
  if (result.status === "done" && open === null) return { merchant, status: "applied", reasons: [] };
  const failures = result.outcomes.flatMap((one) =>
    "failure" in one && one.failure ? oneLine(`${summaryOf(one.change)}: ${one.failure.message}`) : [],
  );
  const { journalFailure } = result;
  const own = [...failures, ...(journalFailure ? [oneLine(journalFailure.message)] : [])];
  const why = own.length > 0 ? own : result.status === "stopped" ? [stoppedBy(cause)] : [];
  return {
    merchant,
    status: result.status === "done" || result.writes > 0 ? "partial" : "failed",
    reasons: [...new Set([...why, ...(open === null ? [] : [open])])],
  };
}

/** Pause before a verification reads once more, in ms: the lists of a service may lag behind its writes. */
const LAG_MS = 2_000;

/** Returns the targets of the changes that are done, or of those that were refused for their address. */
function targetsOf(result: ApplyResult | undefined, isDone: boolean): ReadonlySet<string> {
  const outcomes = (result?.outcomes ?? []).filter(({ status }) => (status === "done") === isDone);
  return new Set(outcomes.map(({ change }) => targetOf(change)));
}

/** Identifies a change by its resource: its kind may differ by now. */
function targetOf({ resource, name }: Change): string {
  return `${resource} ${name}`;
}

/**
 * Waits for all; rethrows a bug in one only after the others have ended, so that their journals are complete.
 */
async function allEnded<T>(all: readonly Promise<T>[]): Promise<readonly T[]> {
  const settled = await Promise.allSettled(all);
  return settled.map((one) => {
    if (one.status === "rejected") throw one.reason;
    return one.value;
  });
}

/** The signal that ends a verification, and the function that delays it. */
interface Waits extends Pick<Cancellation, "cause"> {
  readonly stopped: Promise<null>;
  readonly pause: () => Promise<void>;
}

/** Plans again; returns `null` if only deferred and refused changes remain, else what is wrong. */
async function verify(
  { session, plan: { merchant }, leftOut = 0, journal }: Running,
  result: ApplyResult | undefined,
  { cause, stopped, pause }: Waits,
  reporter: ApplyReporter,
): Promise<string | null> {
  const refused = targetsOf(result, false);
  const done = targetsOf(result, true);
  const planAgain = async (): Promise<PlanResult> => {
    const first = await session.plan();
    if (!remainingChanges(first.plan).left.some((change) => done.has(targetOf(change)))) return first;
    await pause();
    return session.plan();
  };
  const looked = await toResult(Promise.race([stopped, planAgain()]));
  if (looked === null || "failure" in looked) {
    const why = looked?.failure ?? stoppedBy(cause());
    reporter.unverified(merchant, why);
    return `The changes are done, but not verified: ${oneLine(typeof why === "string" ? why : why.message)}`;
  }
  const { plan } = looked;
  const { left, errors } = remainingChanges(plan);
  const unexpected = left.filter((change) => !refused.has(targetOf(change)));
  reporter.verified({ ...plan, changes: unexpected }, leftOut, left.length - unexpected.length);
  const deferred = plan.deferred.map(({ change }) => summaryOf(change));
  const recorded = await toResult(journal.write({ type: "verified", left: left.map(summaryOf), deferred }));
  const unrecorded = recorded?.failure ? oneLine(recorded.failure.message) : null;
  if (unrecorded !== null) reporter.say(unrecorded);
  if (unexpected.length + errors.length === 0) return unrecorded;
  return `The verification found ${counted(unexpected.length, "remaining change")} and ${counted(errors.length, "problem")}.`;
}

function stoppedBy(cause: StopCause | null): string {
  if (cause?.by === "signal") return `The run was stopped by ${cause.signal}.`;
  if (cause?.by === "merchant") return `The run was stopped by the failure at ${oneLine(cause.merchant)}.`;
  return cause?.by === "output" ? `${cause.stream} could not be written to.` : "The run was stopped.";
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
  open: (plan: Plan) => Promise<OpenJournal>,
): Promise<readonly (PendingApply & { readonly journal: OpenJournal })[]> {
  const opened: (PendingApply & { readonly journal: OpenJournal })[] = [];
  try {
    for (const one of due) opened.push({ ...one, journal: await open(one.plan) });
  } catch (error) {
    if (!(error instanceof RolecallError)) throw error;
    await Promise.all(opened.map((one) => abandon(one, error.message)));
    const { code, message, hint = "Make the folder writable." } = error;
    throw new RolecallError(code, message, { hint: `${hint} Nothing was changed.`, cause: error });
  }
  return opened;
}

async function abandon(
  { journal, plan, passwords = [] }: Planned & { readonly journal: OpenJournal },
  cause: string,
): Promise<void> {
  const left = plan.changes.length + passwords.length;
  const outcomes = { done: 0, failed: 0, unknown: 0, stale: 0, unfinished: 0, "not-started": left };
  // A second failure to write adds nothing to the first.
  await journal.write({ type: "end", status: "stopped", cause, outcomes }).catch(() => undefined);
  await journal.close();
}
