import { createLimiter } from "../../src/live/limiter.ts";
import { createClock } from "../support/clock.ts";

/** Lets a request pass that arrives now, or says after how many seconds to come again. */
export type Allowance = (now: number) => number | null;

/** So many requests in each second, which begins `phaseMs` after the clock's. */
export function fixedWindow(perSecond: number, phaseMs: number): Allowance {
  let window = Number.NaN;
  let count = 0;
  return (now) => {
    const current = Math.floor((now - phaseMs) / 1000);
    if (current !== window) {
      window = current;
      count = 0;
    }
    if (count >= perSecond) return 1;
    count += 1;
    return null;
  };
}

/** A bucket that holds so many requests and is filled evenly. */
export function tokenBucket(perSecond: number, capacity = perSecond): Allowance {
  let tokens = capacity;
  let filledAt: number | null = null;
  return (now) => {
    tokens = Math.min(capacity, tokens + ((now - (filledAt ?? now)) * perSecond) / 1000);
    filledAt = now;
    if (tokens < 1) return Math.max(1, Math.ceil((1 - tokens) / perSecond));
    tokens -= 1;
    return null;
  };
}

/** What work of a while came to. */
export interface Worked {
  /** When each request that passed was answered, in milliseconds from the beginning. */
  readonly passed: readonly number[];
  /** When each request that was refused was answered. */
  readonly refused: readonly number[];
  readonly mostUnderWay: number;
}

/** Works at a service as hard as the limiter allows for so long; answers take `latencyMs`, more or less by `jitter`. */
export async function workAt(
  allowance: Allowance,
  options: {
    readonly concurrency: number;
    readonly latencyMs: number;
    readonly jitter: number;
    readonly forMs: number;
  },
): Promise<Worked> {
  const { concurrency, latencyMs, jitter, forMs } = options;
  const { now, sleep } = createClock();
  const limiter = createLimiter({ concurrency, now, sleep });
  const random = lcg(latencyMs + concurrency);
  const began = now();
  const passed: number[] = [];
  const refused: number[] = [];
  let underWay = 0;
  let mostUnderWay = 0;
  const worker = async (): Promise<void> => {
    let again = false;
    while (now() - began < forMs) {
      const permit = await limiter.acquire(again);
      underWay += 1;
      mostUnderWay = Math.max(mostUnderWay, underWay);
      const took = latencyMs * (1 + jitter * (2 * random() - 1));
      await sleep(took / 2);
      const retryAfter = allowance(now());
      await sleep(took / 2);
      underWay -= 1;
      again = retryAfter !== null;
      (again ? refused : passed).push(now() - began);
      if (retryAfter !== null) limiter.pause(retryAfter * 1000);
      permit.release(again ? "rate-limited" : "ok");
    }
  };
  await Promise.all(Array.from({ length: 2 * concurrency }, worker));
  return { passed, refused, mostUnderWay };
}

/** Numbers from 0 to 1, the same ones each time. */
function lcg(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
