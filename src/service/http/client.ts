import { RolecallError } from "../../model/errors.ts";
import { type AttemptOptions, type AttemptResult, attempt, type Call, type Failed } from "./call.ts";
import { checkKey } from "./check-key.ts";
import type { Limiter, Permit, RequestVerdict } from "./limiter.ts";
import {
  changedConcurrently,
  conflictOfRepeat,
  createNotApplied,
  notSent,
  outcomeUnknown,
  retriesExhausted,
} from "./request-errors.ts";
import {
  type HeldBack,
  type Next,
  nextWait,
  type RetryPolicy,
  type RetryReason,
  waitForAddress,
} from "./retry.ts";

/** The options of a client. */
export interface ClientOptions extends Omit<AttemptOptions, "secrets"> {
  readonly limiter: Limiter;
  readonly retry: RetryPolicy;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly random: () => number;
  /**
   * Once aborted, waits end and no write is sent: a call that would have to be retried ends with its last failure.
   */
  readonly cancelled: AbortSignal;
}

/** Sends calls to one service: queues them and retries where that is safe. Throws RolecallError. */
export interface Client {
  send<T>(call: Call<T>): Promise<T>;
}

/** Creates a client for one service and key. */
export function createClient(options: ClientOptions): Client {
  const { limiter, retry, now, sleep, random, emit, cancelled, key } = options;
  checkKey(key, options.keySource);

  /** Grows with each password that is sent: any later response may repeat it. */
  const secrets = new Set([key]);

  const policyOf = (call: Call<unknown>): RetryPolicy => call.retry?.(retry) ?? retry;

  const nextStep = (call: Call<unknown>, { retryReason }: Failed, state: CallState): Next | null => {
    if (retryReason === null || cancelled.aborted) return null;
    // While the service refuses everything, the time limit counts from the first refusal, not for each call anew.
    const since = Math.min(state.began, limiter.refusedSince() ?? state.began);
    return nextWait(policyOf(call), retryReason, { attempts: state.attempts, ms: now() - since }, random());
  };

  /** Returns whether the last recheck is too old to rely on. */
  const needsRecheck = ({ recheck }: Call<unknown>, { recheckedAt, rechecks }: CallState): boolean => {
    if (recheck === undefined || now() - recheckedAt <= RECHECK_MAX_AGE_MS) return false;
    // If the service is so slow that the next turn takes as long, another recheck would not be fresher.
    return rechecks === 0 || limiter.pausedAfter(recheckedAt);
  };

  /** Throws the last failure of a write that may no longer be sent, or the failure that it was not sent. */
  const checkCancelled = (call: Call<unknown>, state: CallState): void => {
    const isFinished = call.finishes !== true || state.attempts > 0;
    const isStopped = (cancelled.aborted && isFinished) || state.heldBack?.holdBack.stop.aborted;
    if (isWrite(call) && isStopped) throw state.last ?? notSent(call);
  };

  const acquire = (call: Call<unknown>, state: CallState): Promise<Permit> => {
    // A recheck must not become stale again at the end of the queue.
    const urgent = state.attempts > 0 || call.recheck !== undefined;
    const signal = isWrite(call) ? cancelled : call.signal;
    const permit = untilCancelled(call, limiter.acquire(urgent, signal, call.turn), cancelled, state.last);
    if (call.finishes !== true) return permit;
    // After a stop, it waits neither in the queue nor for the end of a pause.
    return permit.catch((reason: unknown) => {
      checkCancelled(call, state);
      if (cancelled.aborted) return UNLIMITED;
      throw reason;
    });
  };

  /** Throws if the call has used up its time. */
  const checkTime = (call: Call<unknown>, state: CallState, error: RolecallError): void => {
    const { totalMs } = policyOf(call);
    if (now() - state.began > totalMs)
      throw retriesExhausted(error, { kind: "time", askedMs: null, totalMs });
  };

  /** Acquires a permit and rechecks if needed; `null` if the recheck finds the change already applied. */
  const permitFor = async (call: Call<unknown>, state: CallState): Promise<Permit | null> => {
    state.rechecks = 0;
    for (;;) {
      checkCancelled(call, state);
      if (needsRecheck(call, state)) {
        if ((await recheck(call, state)) === "done") return null;
        state.rechecks += 1;
        state.recheckedAt = now();
      }
      const permit = await acquire(call, state);
      if (state.attempts + state.rechecks === 0) state.began = now();
      if (!needsRecheck(call, state)) return permit;
      // The recheck needs a permit of its own, and there may be only one.
      permit.release("unused");
      if (state.rechecks > 0) {
        checkTime(call, state, state.last ?? notSent(call, "the service repeatedly asked to wait"));
      }
    }
  };

  const begin = async (call: Call<unknown>, state: CallState): Promise<void> => {
    state.began = now();
    await call.beforeSending?.();
    checkCancelled(call, state);
  };

  /** Sends a call once, with a permit. */
  const sendOnce = async <T>(call: Call<T>, state: CallState): Promise<AttemptResult<T>> => {
    const permit = await permitFor(call, state);
    if (permit === null) return { ok: true, value: call.read("") };
    let verdict: RequestVerdict = "other";
    let isHeld = true;
    const release = (): void => {
      if (isHeld) permit.release(verdict);
      isHeld = false;
    };
    try {
      // It may have spent all of its time in the queue.
      if (state.last) checkTime(call, state, state.last);
      checkCancelled(call, state);
      if (state.attempts === 0) await begin(call, state);
      state.attempts += 1;
      const ended = await attempt(call, state, { ...options, secrets }, () => {
        verdict = "ok";
        release();
      });
      verdict = ended.ok ? "ok" : "other";
      if (ended.ok) return ended;
      const next = nextStep(call, ended, state);
      // Before the permit is released, or the next request would still be sent.
      if (ended.retryReason?.kind === "rate-limited") verdict = refusal(call, next);
      return { ...ended, next };
    } catch (error) {
      // The request was still waiting for a connection.
      if (cancelled.aborted && error === cancelled.reason) checkCancelled(call, state);
      throw error;
    } finally {
      release();
    }
  };

  const waitFor = async (
    call: Call<unknown>,
    failed: Failed,
    next: Wait,
    state: CallState,
  ): Promise<void> => {
    const { retryReason, status } = failed;
    if (retryReason === null) return;
    const { method, path } = call;
    emit({
      type: "wait",
      method,
      path,
      attempt: state.attempts,
      status,
      reason: reasonOf(call, retryReason),
      ms: next.ms,
      until: now() + next.ms,
      retryAfter: next.asked,
      leftMs: Math.max(0, state.began + policyOf(call).totalMs - now()),
    });
    if (retryReason.kind === "rate-limited" && call.holdBack) {
      call.holdBack.held();
      state.heldBack = { ...state.heldBack, until: now() + next.ms, holdBack: call.holdBack };
      if (!(await waitForAddress(state.heldBack, options))) throw failed.error;
      return;
    }
    // The limiter pauses all requests for as long, and this one is first in the queue.
    if (retryReason.kind === "rate-limited" && limiter.pausedAfter(now() + next.ms - 1)) return;
    await untilCancelled(call, sleep(next.ms, anySignal(cancelled, call.signal)), cancelled, state.last);
  };

  /** Waits until the next attempt, or throws the final failure. */
  const wait = async (
    call: Call<unknown>,
    failed: Failed,
    state: CallState,
    atLeastMs: number,
  ): Promise<void> => {
    const { error, next = null } = failed;
    if (next === null) throw error;
    if (next.kind === "give-up") throw call.retry ? error : retriesExhausted(error, next.because);
    state.last = error;
    await waitFor(call, failed, { ...next, ms: Math.max(next.ms, atLeastMs) }, state);
  };

  /** Looks up a create of unknown outcome, and again before it is retried; `null` if it was not applied. */
  const lookUpCreate = async <T>(call: Call<T>, failed: Failed, state: CallState): Promise<T | null> => {
    const { error, status } = failed;
    if (!call.recover) throw error;
    const recovered = await call.recover(error);
    if (recovered !== null) return recovered;
    // Without a response, or with a gateway's, the request may still arrive.
    const responded = status !== null && !GATEWAY_STATUSES.has(status);
    // Lists may lag behind: the conflict may be with the result of the previous attempt.
    if (status === 409 && state.isResponseLost) throw conflictOfRepeat(error);
    const reason = responded && error.request?.uncertain ? createNotApplied(error) : error;
    await wait(call, { ...failed, error: reason }, state, responded ? 0 : LATEST_ARRIVAL_MS);
    return responded ? null : call.recover(error);
  };

  return {
    async send<T>(call: Call<T>): Promise<T> {
      for (const secret of call.secrets ?? []) secrets.add(secret);
      const state: CallState = {
        attempts: 0,
        began: now(),
        maybeApplied: false,
        isResponseLost: false,
        recheckedAt: now(),
        rechecks: 0,
      };
      const once = isOnce(call);
      for (;;) {
        const ended = await sendOnce(call, state);
        if (ended.ok) return ended.value;
        const { status, retryReason, error } = ended;
        if (once && (error.request?.uncertain || (state.attempts > 1 && status === 409))) {
          const recovered = await lookUpCreate(call, ended, state);
          if (recovered !== null) return recovered;
        } else await wait(call, ended, state, 0);
        state.isResponseLost ||= retryReason?.kind === "uncertain";
        state.maybeApplied = state.isResponseLost && !once;
      }
    },
  };
}

/** The permit of a request outside the limit. */
const UNLIMITED: Permit = { release: () => undefined };

/** Statuses of gateways that had no response from the service. */
const GATEWAY_STATUSES: ReadonlySet<number> = new Set([502, 504, 520, 522, 524]);

/** Longest time, in ms, until a request without a response takes effect, if it ever does. */
const LATEST_ARRIVAL_MS = 2_000;

/** Maximum age of a recheck to rely on, in ms. */
const RECHECK_MAX_AGE_MS = 5_000;

type Wait = Next & { readonly kind: "wait" };

/** The state of a call. */
interface CallState {
  attempts: number;
  /** Time at which it was first sent, or first had a permit and was rechecked instead. */
  began: number;
  /** An earlier attempt may have been applied. */
  maybeApplied: boolean;
  /** The response of an attempt was lost. */
  isResponseLost: boolean;
  /** Time of the last recheck. */
  recheckedAt: number;
  /** Number of rechecks for the next attempt. */
  rechecks: number;
  /** The failure that made a retry necessary. */
  last?: RolecallError;
  /** Set while its invited address is refused. */
  heldBack?: HeldBack;
}

/** Returns why a request waits, for progress and the log. */
function reasonOf({ address }: Call<unknown>, { kind }: RetryReason): string {
  return kind === "rate-limited" && address !== undefined
    ? `the service asks for fewer invitations of ${address} (429)`
    : REASONS[kind];
}

const REASONS: Readonly<Record<RetryReason["kind"], string>> = {
  "rate-limited": "the service asks for fewer requests (429)",
  "not-sent": "the service could not be reached",
  uncertain: "the service or the connection failed",
};

function refusal({ address }: Call<unknown>, next: Next | null): RequestVerdict {
  const wait = next?.kind === "wait" ? { retryMs: next.ms, asked: next.asked } : { retryMs: 0, asked: true };
  return { ...wait, ...(address !== undefined && { address: address.toLowerCase() }) };
}

/** Rechecks; a failure becomes that of the write if it may have been applied. */
async function recheck(call: Call<unknown>, { maybeApplied, last }: CallState): Promise<"go" | "done"> {
  try {
    return (await call.recheck?.(maybeApplied)) ?? "go";
  } catch (error) {
    if (!maybeApplied || last === undefined || !(error instanceof RolecallError)) throw error;
    throw error.code === "stale" ? changedConcurrently(last, error) : outcomeUnknown(last, error);
  }
}

/** Combines signals; a single one is wrapped too, because Node warns of a leak at many listeners on one signal. */
function anySignal(signal: AbortSignal, other: AbortSignal | undefined): AbortSignal {
  return AbortSignal.any(other ? [signal, other] : [signal]);
}

/** Replaces the rejection of a cancelled wait by the failure that made the wait necessary. */
function untilCancelled<T>(
  call: Call<unknown>,
  waited: Promise<T>,
  cancelled: AbortSignal,
  last: RolecallError | undefined,
): Promise<T> {
  return waited.catch((reason: unknown) => {
    // The signal and another request's failure may end a wait at once.
    throw cancelled.aborted && !(reason instanceof RolecallError) ? (last ?? notSent(call)) : reason;
  });
}

function isWrite({ method }: Call<unknown>): boolean {
  return method !== "GET";
}

/** Returns whether a call must not be repeated blindly: only a create is not idempotent. */
function isOnce(call: { readonly method: string }): boolean {
  return call.method === "POST";
}
