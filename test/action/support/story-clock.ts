/** A clock that stands still until somebody advances it or waits by it. */
export interface StoryClock {
  /** Milliseconds since the epoch. */
  now(): number;
  advance(ms: number): void;
  /** Waits by this clock; a wait that can be aborted is of real time, so that no ticker spins. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const MINUTE = 60_000;

/** Starts a clock, by default at noon of a Monday. */
export function storyClock(start = Date.parse("2026-11-02T12:00:00Z")): StoryClock {
  let time = start;
  return {
    now: () => time,
    advance: (ms) => {
      time += ms;
    },
    sleep: async (ms, signal) => {
      if (signal !== undefined) return realSleep(ms, signal);
      // Waits that run side by side end together.
      const end = time + ms;
      await new Promise((resolve) => setImmediate(resolve));
      time = Math.max(time, end);
    },
  };
}

function realSleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, ms);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}
