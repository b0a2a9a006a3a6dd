/** Counts requests; returns after how many seconds to come again, or null when the request may pass. */
export type RateLimiter = (client: string, now: number) => number | null;

const WINDOW_MS = 1000;

/** A limiter that lets each client make so many requests in each second of the clock. */
export function createRateLimiter(perSecond: number): RateLimiter {
  let window = Number.NaN;
  let counts = new Map<string, number>();
  return (client, now) => {
    const current = Math.floor(now / WINDOW_MS);
    if (current !== window) {
      window = current;
      counts = new Map();
    }
    const count = counts.get(client) ?? 0;
    if (count >= perSecond) return Math.ceil(((current + 1) * WINDOW_MS - now) / 1000);
    counts.set(client, count + 1);
    return null;
  };
}
