import { RolecallError } from "../model/errors.ts";
import { type AttemptOptions, type AttemptResult, attempt, type Call, type Failed } from "./call.ts";
import type { Limiter, Permit, Verdict } from "./limiter.ts";
import {
  changedConcurrently,
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
  waitBeside,
} from "./retry.ts";

/** What a client is made with. */
export interface ClientOptions extends Omit<AttemptOptions, "secrets"> {
  readonly limiter: Limiter;
  readonly retry: RetryPolicy;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly random: () => number;
  /**
   * Once aborted, nothing is waited for any more: what would have to be sent again ends with the failure it had, and no
   * write leaves that has not left yet.
   */
  readonly cancelled: AbortSignal;
}

/** Sends calls to one service: in turn, repeated where that is safe, every failure worded. Throws RolecallError. */
export interface Client {
  send<T>(call: Call<T>): Promise<T>;
}

/** A client for one service and key. */
export function createClient(options: ClientOptions): Client {
  const { limiter, retry, now, sleep, random, emit, cancelled, key } = options;
  // Anything else could not be a header, and the error about it would show the key.
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new RolecallError("key-malformed", `The key in ${options.keySource} is empty or holds spaces.`, {
      hint: "Set it again, without quotes, spaces or line breaks.",
    });
  }

  /** Grows with each password that is sent: any later answer may repeat it. */
  const secrets = new Set([key]);

  const policyOf = (call: Call<unknown>): RetryPolicy => call.retry?.(retry) ?? retry;

  const whatNext = (call: Call<unknown>, { retryReason }: Failed, state: CallState): Next | null => {
    if (retryReason === null || cancelled.aborted) return null;
    // Where the service refuses everyone, each in its turn would be tried for the whole of the time.
    const since = Math.min(state.began, limiter.refusedSince() ?? state.began);
    return nextWait(policyOf(call), retryReason, { attempts: state.attempts, ms: now() - since }, random());
  };

  /** Whether it would be sent on a look of long before. */
  const isBlind = ({ recheck }: Call<unknown>, { lookedAt, looks }: CallState): boolean => {
    if (recheck === undefined || now() - lookedAt <= LOOK_HOLDS_MS) return false;
    // Where a service is so slow that even the next turn takes that long, a second look would be no fresher.
    return looks === 0 || limiter.pausedAfter(lookedAt);
  };

  /** Throws for a write that may not leave any more: it ends with the failure that it had, if it had one. */
  const checkCancelled = (call: Call<unknown>, state: CallState): void => {
    const isStopped = cancelled.aborted || state.heldBack?.holdBack.stop.aborted;
    if (isWrite(call) && isStopped) throw state.last ?? notSent(call);
  };

  const acquire = (call: Call<unknown>, state: CallState): Promise<Permit> => {
    // A look must not get old again behind everybody else.
    const urgent = state.attempts > 0 || call.recheck !== undefined;
    const signal = isWrite(call) ? cancelled : call.signal;
    return untilCancelled(call, limiter.acquire(urgent, signal), cancelled, state.last);
  };

  /** Throws where it was tried for all of its time. */
  const checkTime = (call: Call<unknown>, state: CallState, error: RolecallError): void => {
    const { totalMs } = policyOf(call);
    if (now() - state.began > totalMs)
      throw retriesExhausted(error, { kind: "time", askedMs: null, totalMs });
  };

  /** Waits for its turn with a fresh look at what it is about; null where that says that it is done. */
  const permitFor = async (call: Call<unknown>, state: CallState): Promise<Permit | null> => {
    state.looks = 0;
    for (;;) {
      checkCancelled(call, state);
      if (isBlind(call, state)) {
        if ((await recheck(call, state)) === "done") return null;
        state.looks += 1;
        state.lookedAt = now();
      }
      const permit = await acquire(call, state);
      if (state.attempts + state.looks === 0) state.began = now();
      if (!isBlind(call, state)) return permit;
      // The look needs a turn of its own, and there may be only one.
      permit.release("unused");
      if (state.looks > 0) {
        checkTime(call, state, state.last ?? notSent(call, "the service asked to wait again and again"));
      }
    }
  };

  const begin = async (call: Call<unknown>, state: CallState): Promise<void> => {
    state.began = now();
    await call.beforeSending?.();
    checkCancelled(call, state);
  };

  /** Sends it once, when its turn comes. */
  const turn = async <T>(call: Call<T>, state: CallState): Promise<AttemptResult<T>> => {
    const permit = await permitFor(call, state);
    if (permit === null) return { ok: true, value: call.read("") };
    let verdict: Verdict = "other";
    let isHeld = true;
    const release = (): void => {
      if (isHeld) permit.release(verdict);
      isHeld = false;
    };
    try {
      // Others may have made it wait beyond its time.
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
      const next = whatNext(call, ended, state);
      // Before the permit goes back, or whoever is next would still slip out.
      if (ended.retryReason?.kind === "rate-limited") verdict = refusal(call, next);
      return { ...ended, next };
    } catch (error) {
      // It still waited for its connection.
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
      if (!(await waitBeside(state.heldBack, options))) throw failed.error;
      return;
    }
    // The limiter makes everyone wait as long, and this request is first then.
    if (retryReason.kind === "rate-limited" && limiter.pausedAfter(now() + next.ms - 1)) return;
    await untilCancelled(call, sleep(next.ms, either(cancelled, call.signal)), cancelled, state.last);
  };

  /** Waits until it is time to send it again, or throws the failure that it ends with. */
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

  /** A create that may have been done: looked up, and looked up again before it is sent once more. */
  const makeSure = async <T>(call: Call<T>, failed: Failed, state: CallState): Promise<T | null> => {
    const { error, status } = failed;
    if (!call.recover) throw error;
    const found = await call.recover(error);
    if (found !== null) return found;
    // Without an answer, or with one of a gateway that did not wait for it, it may still be on its way.
    const answered = status !== null && !OF_GATEWAYS.has(status);
    const known = answered && error.request?.uncertain ? createNotApplied(error) : error;
    await wait(call, { ...failed, error: known }, state, answered ? 0 : ARRIVES_WITHIN_MS);
    return answered ? null : call.recover(error);
  };

  return {
    async send<T>(call: Call<T>): Promise<T> {
      for (const secret of call.secrets ?? []) secrets.add(secret);
      const state: CallState = { attempts: 0, began: now(), maybeApplied: false, lookedAt: now(), looks: 0 };
      const once = isOnce(call);
      // Some attempt's answer was lost.
      let someMaybeApplied = false;
      for (;;) {
        const ended = await turn(call, state);
        if (ended.ok) return ended.value;
        const { status, retryReason, error } = ended;
        if (once && (error.request?.uncertain || (someMaybeApplied && status === 409))) {
          const found = await makeSure(call, ended, state);
          if (found !== null) return found;
        } else await wait(call, ended, state, 0);
        someMaybeApplied ||= retryReason?.kind === "uncertain";
        state.maybeApplied = someMaybeApplied && !once;
      }
    },
  };
}

/** What stands between us and the service answers so when it has had no answer itself. */
const OF_GATEWAYS: ReadonlySet<number> = new Set([502, 504, 520, 522, 524]);

/** What was sent and not answered is done by then, if it ever is. */
const ARRIVES_WITHIN_MS = 2_000;

/** For how long what a look has found is taken for what is there. */
const LOOK_HOLDS_MS = 5_000;

type Wait = Next & { readonly kind: "wait" };

/** How far a call has come. */
interface CallState {
  attempts: number;
  /** When it was first sent, or had its first turn and was looked at again instead. */
  began: number;
  /** An earlier attempt may have been carried out. */
  maybeApplied: boolean;
  /** When what it is about was last looked at. */
  lookedAt: number;
  /** How often it was looked at for the attempt to come. */
  looks: number;
  /** Why it has to be sent again. */
  last?: RolecallError;
  /** Its address was refused. */
  heldBack?: HeldBack;
}

/** Why a request waits, for progress and the log. */
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

function refusal({ address }: Call<unknown>, next: Next | null): Verdict {
  const wait = next?.kind === "wait" ? { retryMs: next.ms, asked: next.asked } : { retryMs: 0, asked: true };
  return { ...wait, ...(address !== undefined && { address: address.toLowerCase() }) };
}

/** Looks again; what that ends with is told of a write that may have been done, where one may. */
async function recheck(call: Call<unknown>, { maybeApplied, last }: CallState): Promise<"go" | "done"> {
  try {
    return (await call.recheck?.(maybeApplied)) ?? "go";
  } catch (error) {
    if (!maybeApplied || last === undefined || !(error instanceof RolecallError)) throw error;
    throw error.code === "stale" ? changedConcurrently(last, error) : outcomeUnknown(last, error);
  }
}

/** A signal of its own even for one: dozens of listeners on the same make Node.js warn of a leak. */
function either(one: AbortSignal, other: AbortSignal | undefined): AbortSignal {
  return AbortSignal.any(other ? [one, other] : [one]);
}

/** Makes a wait that is cut short end with the failure that made it necessary. */
function untilCancelled<T>(
  call: Call<unknown>,
  waited: Promise<T>,
  cancelled: AbortSignal,
  last: RolecallError | undefined,
): Promise<T> {
  return waited.catch((reason: unknown) => {
    // A wait may be ended by the signal and by another request's failure at once.
    throw cancelled.aborted && !(reason instanceof RolecallError) ? (last ?? notSent(call)) : reason;
  });
}

function isWrite({ method }: Call<unknown>): boolean {
  return method !== "GET";
}

/** Sent twice, a create could make two of a thing; everything else only says again how it should be. */
function isOnce(call: { readonly method: string }): boolean {
  return call.method === "POST";
}
