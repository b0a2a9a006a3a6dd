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
  /** Longest `Retry-After` that is honoured, in milliseconds; a longer one ends the run. */
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
  maxRetryAfterMs: 120_000,
  totalMs: 300_000,
};

/** For what is good to know and not worth waiting for. */
export const BRIEF_RETRY: RetryPolicy = {
  ...DEFAULT_RETRY,
  attempts: 3,
  rateLimitAttempts: 3,
  connectAttempts: 1,
  maxMs: 1_000,
  maxRetryAfterMs: 2_000,
  totalMs: 5_000,
};

/** Why a request did not succeed, as far as repeating it depends on it. */
export type Trouble =
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

/** How long to wait before the next attempt, in milliseconds, or null to give up; `once`: it must not be done twice. */
export function nextWait(
  policy: RetryPolicy,
  trouble: Trouble,
  once: boolean,
  spent: Spent,
  random: number,
): number | null {
  if (trouble.kind === "uncertain" && once) return null;
  if (spent.attempts >= attemptsFor(policy, trouble)) return null;
  const asked = trouble.kind === "not-sent" ? null : trouble.retryAfterMs;
  if (asked !== null && asked > policy.maxRetryAfterMs) return null;
  const ceiling = Math.min(policy.maxMs, policy.baseMs * 2 ** (spent.attempts - 1));
  // Full jitter: callers that failed together do not come back together. "Now" as the answer would make a busy loop.
  const wait = asked || Math.round(ceiling * random);
  return spent.ms + wait > policy.totalMs ? null : wait;
}

function attemptsFor(policy: RetryPolicy, { kind }: Trouble): number {
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
