import { createPacer } from "./pacer.ts";

/** How a request ended, as far as the pace is concerned. */
export type Verdict =
  | "ok"
  | "rate-limited"
  | "other"
  /** Nothing was sent. */
  | "unused";

/** The right to have one request under way, until it is given back. */
export interface Permit {
  release(verdict: Verdict): void;
}

/** Takes turns at one service: bounds what is under way, and makes everyone wait when the service asks for it. */
export interface Limiter {
  /** Waits for a turn, first come first served, after all who may not be kept waiting (`urgent`); rejects with the signal's reason. */
  acquire(urgent: boolean, signal?: AbortSignal): Promise<Permit>;
  /** Nothing starts before `ms` from now; a longer pause that is on already stays. */
  pause(ms: number): void;
  /** Whether there was a pause after that moment, in milliseconds since the epoch. */
  pausedAfter(time: number): boolean;
  /** How many may be under way now. */
  width(): number;
  /** Since when the service has refused everything, in milliseconds since the epoch; null where its last answer was none of that. */
  refusedSince(): number | null;
}

/** What a limiter is made with. */
export interface LimiterOptions {
  /** Most requests under way at once. */
  readonly concurrency: number;
  readonly now: () => number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Once aborted, nobody is kept waiting for the end of a pause, and whoever has given up with it is told at once. */
  readonly closing?: AbortSignal;
}

interface Waiter {
  readonly signal: AbortSignal | undefined;
  readonly resolve: (permit: Permit) => void;
  readonly reject: (reason: unknown) => void;
}

/** How many requests go out together before the service has answered any: half of what may be, but so many at least. */
const GENTLE_START = 4;

/**
 * One limiter for each service and key.
 * It opens by one with each success, is halved by a 429, and from then on opens by one per full round only,
 * and spreads what goes out over time.
 */
export function createLimiter({ concurrency, now, sleep, closing }: LimiterOptions): Limiter {
  const others: Waiter[] = [];
  const urgent: Waiter[] = [];
  const pacer = createPacer(now);
  let width = Math.min(concurrency, Math.max(GENTLE_START, concurrency / 2));
  let running = 0;
  let careful = false;
  // Counts the halvings: requests that were under way together and all meet a 429 are one sign, not many.
  let era = 0;
  let pausedUntil = 0;
  let waking = false;
  let refusedSince: number | null = null;

  const judge = (verdict: Verdict, grantedIn: number, grantedAt: number): void => {
    if (verdict === "unused") return;
    if (verdict === "ok") {
      width = Math.min(concurrency, width + (careful ? Math.max(1 / width, 1 / 8) : 1));
      pacer.ok(grantedAt);
    }
    if (verdict !== "rate-limited") {
      refusedSince = null;
      return;
    }
    refusedSince ??= now();
    careful = true;
    if (grantedIn !== era) return;
    era += 1;
    width = Math.max(1, width / 2);
    pacer.refused(grantedAt, pausedUntil - now());
  };

  const grant = (): Permit => {
    const grantedIn = era;
    const grantedAt = now();
    running += 1;
    pacer.sent();
    return {
      release(verdict) {
        running -= 1;
        judge(verdict, grantedIn, grantedAt);
        start();
      },
    };
  };

  const start = (): void => {
    while (running < Math.floor(width) && urgent.length + others.length > 0) {
      const pause = pausedUntil - now();
      const wait = pause > 0 ? pause : pacer.due();
      if (wait > 0) {
        wakeAfter(wait);
        return;
      }
      const next = urgent.shift() ?? others.shift();
      // Whoever gave up while waiting takes no turn.
      if (next?.signal?.aborted) next.reject(next.signal.reason);
      else next?.resolve(grant());
    }
  };

  // One sleeper for everyone; a pause that has grown meanwhile is slept again.
  const wakeAfter = (ms: number): void => {
    if (waking) return;
    waking = true;
    sleep(ms, closing).then(
      () => {
        waking = false;
        start();
      },
      (reason: unknown) => {
        waking = false;
        for (const waiter of [...urgent.splice(0), ...others.splice(0)]) waiter.reject(reason);
      },
    );
  };

  closing?.addEventListener("abort", () => {
    for (const queue of [urgent, others]) {
      for (const waiter of queue.splice(0)) {
        if (waiter.signal?.aborted) waiter.reject(waiter.signal.reason);
        else queue.push(waiter);
      }
    }
  });

  return {
    acquire: (isUrgent, signal) =>
      new Promise((resolve, reject) => {
        (isUrgent ? urgent : others).push({ signal, resolve, reject });
        start();
      }),
    pause(ms) {
      pausedUntil = Math.max(pausedUntil, now() + ms);
    },
    pausedAfter: (time) => pausedUntil > time,
    width: () => Math.floor(width),
    refusedSince: () => refusedSince,
  };
}
