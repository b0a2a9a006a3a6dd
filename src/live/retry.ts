import type { HoldBack } from "../model/ports.ts";

/** How long and how often a request is repeated. */
export interface RetryPolicy {
  readonly attempts: number;
  /** More, where the service only asks for patience. */
  readonly rateLimitAttempts: number;
  /** Fewer, where nothing is there to talk to: a wrong address shall be told soon. */
  readonly connectAttempts: number;
  /** First ceiling of the backoff, in milliseconds; it doubles with each attempt. */
  readonly baseMs: number;
  readonly maxMs: number;
  /** Longest `Retry-After` that is honoured, in milliseconds; a longer one ends the request. */
  readonly maxRetryAfterMs: number;
  /** Longest time from the first sending to the last, in milliseconds. */
  readonly totalMs: number;
}

/** What rolecall uses unless told otherwise. */
export const DEFAULT_RETRY: RetryPolicy = {
  attempts: 10,
  rateLimitAttempts: 20,
  connectAttempts: 4,
  baseMs: 250,
  maxMs: 20_000,
  maxRetryAfterMs: 600_000,
  totalMs: 300_000,
};

/** The policy that tries for so long, in milliseconds: whoever wants more patience gets more attempts, too. */
export function retryFor(totalMs: number): RetryPolicy {
  const longer = Math.max(1, totalMs / DEFAULT_RETRY.totalMs);
  return {
    ...DEFAULT_RETRY,
    attempts: Math.ceil(DEFAULT_RETRY.attempts * longer),
    rateLimitAttempts: Math.ceil(DEFAULT_RETRY.rateLimitAttempts * longer),
    totalMs,
  };
}

/** For what is good to know and not worth waiting for. */
export function shortRetry(policy: RetryPolicy): RetryPolicy {
  return {
    ...policy,
    attempts: 3,
    rateLimitAttempts: 3,
    connectAttempts: 1,
    maxMs: 1_000,
    maxRetryAfterMs: 2_000,
    totalMs: Math.min(5_000, policy.totalMs),
  };
}

/** Why a request did not succeed, as far as repeating it depends on it. */
export type RetryReason =
  /** The service has not done it, and says when to come back, if it says anything. */
  | { readonly kind: "rate-limited"; readonly retryAfterMs: number | null }
  /** It did not arrive. */
  | { readonly kind: "not-sent" }
  /** The service may have done it. */
  | { readonly kind: "uncertain"; readonly retryAfterMs: number | null };

/** What a request has used up: attempts, and milliseconds since the first was sent. */
export interface Spent {
  readonly attempts: number;
  readonly ms: number;
}

/** What comes after a request that did not succeed. */
export type Next =
  /** `asked`: the service asked for just this wait. */
  | { readonly kind: "wait"; readonly ms: number; readonly asked: boolean }
  | { readonly kind: "give-up"; readonly because: RetryLimit };

/** Why a request is not sent again. */
export type RetryLimit =
  | { readonly kind: "attempts" }
  /** The wait would end after the total time; `askedMs` is null where the service did not ask for it. */
  | { readonly kind: "time"; readonly askedMs: number | null; readonly totalMs: number }
  /** The service asked for more than is ever waited for. */
  | { readonly kind: "asked-too-much"; readonly askedMs: number; readonly maxMs: number };

/** How long to wait before the next attempt, or why there is none. */
export function nextWait(policy: RetryPolicy, retryReason: RetryReason, spent: Spent, random: number): Next {
  const { maxMs, baseMs, maxRetryAfterMs, totalMs } = policy;
  const giveUp = (because: RetryLimit): Next => ({ kind: "give-up", because });
  const asked = retryReason.kind === "not-sent" ? null : retryReason.retryAfterMs;
  if (asked !== null && asked > maxRetryAfterMs) {
    return giveUp({ kind: "asked-too-much", askedMs: asked, maxMs: maxRetryAfterMs });
  }
  // "Now" as the answer would make a busy loop.
  const isAsked = asked !== null && asked > 0;
  const ceiling = Math.min(maxMs, baseMs * 2 ** (spent.attempts - 1));
  // Full jitter: callers that failed together do not come back together.
  const ms = isAsked ? asked : Math.round(ceiling * random);
  if (spent.ms + ms > totalMs) return giveUp({ kind: "time", askedMs: isAsked ? asked : null, totalMs });
  if (spent.attempts >= attemptsFor(policy, retryReason)) return giveUp({ kind: "attempts" });
  return { kind: "wait", ms, asked: isAsked };
}

function attemptsFor(policy: RetryPolicy, { kind }: RetryReason): number {
  switch (kind) {
    case "rate-limited":
      return policy.rateLimitAttempts;
    case "not-sent":
      return policy.connectAttempts;
    case "uncertain":
      return policy.attempts;
    default:
      return kind satisfies never;
  }
}

/** Reads a `Retry-After` header: seconds, or an HTTP date; in milliseconds from now, null where it says neither. */
export function parseRetryAfter(header: string | undefined, now: number): number | null {
  if (header === undefined) return null;
  const text = header.trim();
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  // A date begins with the name of a day; left to itself, Date.parse reads "-5" and "1.5" as dates, too.
  if (!/^[a-z]{3,9},? /i.test(text)) return null;
  const date = Date.parse(text);
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}

/** Longest that refused invitations are waited for once everything else is done, in ms. */
const LONGEST_ENDING_MS = 10_000;

/** A wait for one address, beside everything else; `endedAt` is when everything else was found done. */
export interface HeldBack {
  readonly until: number;
  readonly holdBack: HoldBack;
  endedAt?: number;
}

/** Waits until an address may be invited again; returns false where it is given up before. */
export async function waitBeside(
  wait: HeldBack,
  {
    now,
    sleep,
    cancelled,
  }: {
    readonly now: () => number;
    readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
    readonly cancelled: AbortSignal;
  },
): Promise<boolean> {
  const { until, holdBack } = wait;
  const { ending, stop } = holdBack;
  for (;;) {
    if (cancelled.aborted || stop.aborted) return false;
    if (ending.aborted) {
      wait.endedAt ??= now();
      if (until > wait.endedAt + LONGEST_ENDING_MS) return false;
    }
    const ms = until - now();
    if (ms <= 0) return true;
    const signals = ending.aborted ? [cancelled, stop] : [cancelled, stop, ending];
    const signal = AbortSignal.any(signals);
    await sleep(ms, signal).catch((reason: unknown) => {
      if (!signal.aborted) throw reason;
    });
  }
}
