import type { HoldBack } from "../../model/ports.ts";

/** The limits of retrying a request. */
export interface RetryPolicy {
  readonly attempts: number;
  /** Attempts after a 429. */
  readonly rateLimitAttempts: number;
  /** Attempts to connect: fewer, so that a wrong address is reported soon. */
  readonly connectAttempts: number;
  /** First upper bound of the backoff, in ms; it doubles with each attempt. */
  readonly baseMs: number;
  readonly maxMs: number;
  /** Longest `Retry-After` that is honoured, in ms; a longer one ends the request. */
  readonly maxRetryAfterMs: number;
  /** Longest time from the first attempt to the last, in ms. */
  readonly totalMs: number;
  /** Longest wait for a refused invitation once all other work is done, in ms. */
  readonly endingMs: number;
}

/** The default policy. */
export const DEFAULT_RETRY: RetryPolicy = {
  attempts: 10,
  rateLimitAttempts: 20,
  connectAttempts: 4,
  baseMs: 250,
  maxMs: 20_000,
  maxRetryAfterMs: 600_000,
  totalMs: 300_000,
  endingMs: 10_000,
};

/** Returns the policy for a total time in ms, which refused invitations may take as well; attempts grow with it. */
export function retryFor(totalMs: number): RetryPolicy {
  const longer = Math.max(1, totalMs / DEFAULT_RETRY.totalMs);
  return {
    ...DEFAULT_RETRY,
    attempts: Math.ceil(DEFAULT_RETRY.attempts * longer),
    rateLimitAttempts: Math.ceil(DEFAULT_RETRY.rateLimitAttempts * longer),
    totalMs,
    endingMs: totalMs,
  };
}

/** Returns a policy for requests that are optional and not worth waiting for. */
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

/** The kind of failure that a retry depends on. */
export type RetryReason =
  /** The service refused it (429); `retryAfterMs` is `null` without a Retry-After. */
  | { readonly kind: "rate-limited"; readonly retryAfterMs: number | null }
  /** The request was not sent. */
  | { readonly kind: "not-sent" }
  /** The service may have applied it. */
  | { readonly kind: "uncertain"; readonly retryAfterMs: number | null };

/** The attempts so far, and the time since the first in ms. */
export interface Spent {
  readonly attempts: number;
  readonly ms: number;
}

/** The step after a failed attempt. */
export type Next =
  /** `asked`: the service asked for this wait. */
  | { readonly kind: "wait"; readonly ms: number; readonly asked: boolean }
  | { readonly kind: "give-up"; readonly because: RetryLimit };

/** The limit that ends the retries of a request. */
export type RetryLimit =
  | { readonly kind: "attempts" }
  /** The wait would exceed the total time; `askedMs` is `null` if the service did not ask for it. */
  | { readonly kind: "time"; readonly askedMs: number | null; readonly totalMs: number }
  /** The service asked for more than the longest wait. */
  | { readonly kind: "asked-too-much"; readonly askedMs: number; readonly maxMs: number };

/** Returns the wait before the next attempt, or why there is none. */
export function nextWait(policy: RetryPolicy, retryReason: RetryReason, spent: Spent, random: number): Next {
  const { maxMs, baseMs, maxRetryAfterMs, totalMs } = policy;
  const giveUp = (because: RetryLimit): Next => ({ kind: "give-up", because });
  const asked = retryReason.kind === "not-sent" ? null : retryReason.retryAfterMs;
  if (asked !== null && asked > maxRetryAfterMs) {
    return giveUp({ kind: "asked-too-much", askedMs: asked, maxMs: maxRetryAfterMs });
  }
  // A Retry-After of 0 would make a busy loop.
  const isAsked = asked !== null && asked > 0;
  const ceiling = Math.min(maxMs, baseMs * 2 ** (spent.attempts - 1));
  // Full jitter: requests that failed together are not retried together.
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

/** Parses a `Retry-After` header (seconds or an HTTP date) to ms from now; `null` if it is neither. */
export function parseRetryAfter(header: string | undefined, now: number): number | null {
  if (header === undefined) return null;
  const text = header.trim();
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  // An HTTP date begins with a weekday; Date.parse alone would accept "-5" and "1.5" as dates, too.
  if (!/^[a-z]{3,9},? /i.test(text)) return null;
  const date = Date.parse(text);
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}

/** A wait for one address during other work; `endedAt` is when the other work was done. */
export interface HeldBack {
  readonly until: number;
  readonly holdBack: HoldBack;
  endedAt?: number;
}

/** Waits until an address may be invited again; returns `false` if the wait was given up. */
export async function waitForAddress(
  wait: HeldBack,
  {
    retry,
    now,
    sleep,
    cancelled,
  }: {
    readonly retry: Pick<RetryPolicy, "endingMs">;
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
      if (until > wait.endedAt + retry.endingMs) return false;
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
