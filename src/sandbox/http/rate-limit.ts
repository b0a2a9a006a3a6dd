/** Counts a request; returns how long to wait before a retry, in ms, or null if it may pass. */
export type RateLimiter = (client: string, now: number) => number | null;

/** Algorithms: a fixed window of a second, or a token bucket. */
export const RATE_LIMIT_KINDS = ["window", "bucket"] as const;

/** Forms of the `retry-after` header of a 429. */
export const RETRY_AFTER_FORMS = ["seconds", "date", "none"] as const;

/** A limit on the requests of each client. */
export interface RateLimit {
  /** Requests per second; null: unlimited. */
  readonly rateLimit: number | null;
  readonly rateLimitKind: (typeof RATE_LIMIT_KINDS)[number];
  /** Capacity of a bucket; null: the requests of a second. */
  readonly rateLimitBurst: number | null;
  readonly retryAfter: (typeof RETRY_AFTER_FORMS)[number];
}

const WINDOW_MS = 1000;

function fixedWindow(perSecond: number): RateLimiter {
  let window = Number.NaN;
  let counts = new Map<string, number>();
  return (client, now) => {
    const current = Math.floor(now / WINDOW_MS);
    if (current !== window) {
      window = current;
      counts = new Map();
    }
    const count = counts.get(client) ?? 0;
    if (count >= perSecond) return (current + 1) * WINDOW_MS - now;
    counts.set(client, count + 1);
    return null;
  };
}

interface Bucket {
  readonly tokens: number;
  readonly at: number;
}

function tokenBucket(perSecond: number, burst: number): RateLimiter {
  const buckets = new Map<string, Bucket>();
  return (client, now) => {
    const { tokens, at } = buckets.get(client) ?? { tokens: burst, at: now };
    // Setting the clock back does not remove tokens.
    const filled = Math.min(burst, tokens + (Math.max(0, now - at) * perSecond) / 1000);
    const passes = filled >= 1;
    buckets.set(client, { tokens: passes ? filled - 1 : filled, at: now });
    return passes ? null : Math.ceil(((1 - filled) * 1000) / perSecond);
  };
}

/** Creates a limiter that counts each client separately; `null` if unlimited. */
export function createRateLimiter({
  rateLimit,
  rateLimitKind,
  rateLimitBurst,
}: RateLimit): RateLimiter | null {
  if (rateLimit === null) return null;
  switch (rateLimitKind) {
    case "window":
      return fixedWindow(rateLimit);
    case "bucket":
      return tokenBucket(rateLimit, rateLimitBurst ?? rateLimit);
    default:
      return rateLimitKind satisfies never;
  }
}

/** Returns the `retry-after` header, rounded up to whole seconds. */
export function retryAfterHeaders(
  form: RateLimit["retryAfter"],
  waitMs: number,
  now: number,
): Readonly<Record<string, string>> {
  switch (form) {
    case "seconds":
      return { "retry-after": `${Math.ceil(waitMs / 1000)}` };
    case "date":
      return { "retry-after": new Date(Math.ceil((now + waitMs) / 1000) * 1000).toUTCString() };
    case "none":
      return {};
    default:
      return form satisfies never;
  }
}

/** A limit on the invitations of an address; the window is in seconds. */
export interface InvitationLimit {
  readonly limit: number;
  readonly window: number;
  /** The only address to limit; absent: every address. */
  readonly email?: string | undefined;
}

/** Counts invitations by address; times in ms. */
export interface InvitationLimiter {
  /** Returns how long to wait before the address can be invited again; `null` if it can be now. */
  wait(email: string, now: number): number | null;
  /** Counts a sent invitation. */
  sent(email: string, now: number): void;
}

/** Creates a limiter with empty counters. */
export function createInvitationLimiter({ limit, window, email: only }: InvitationLimit): InvitationLimiter {
  const sent = new Map<string, readonly number[]>();
  const isCounted = (email: string): boolean => only === undefined || keyOf(only) === keyOf(email);
  return {
    wait(email, now) {
      if (!isCounted(email)) return null;
      const times = (sent.get(keyOf(email)) ?? []).filter((time) => time > now - window * 1000);
      if (times.length < limit) return null;
      return (times.at(-limit) ?? now) + window * 1000 - now;
    },
    sent(email, now) {
      sent.set(keyOf(email), [...(sent.get(keyOf(email)) ?? []), now]);
    },
  };
}

function keyOf(email: string): string {
  return email.toLowerCase();
}
