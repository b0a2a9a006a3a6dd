/** A clock that moves on only when everything else has come to rest. */
export interface Clock {
  readonly now: () => number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** How long was slept, each time. */
  readonly slept: readonly number[];
}

interface Sleeper {
  readonly until: number;
  readonly wake: () => void;
}

/** Makes a clock that begins at `start`, in milliseconds. */
export function createClock(start = Date.parse("2026-06-01T12:00:00.000Z")): Clock {
  const sleepers: Sleeper[] = [];
  const slept: number[] = [];
  let time = start;

  const wakeTheFirst = (): void => {
    sleepers.sort((one, other) => one.until - other.until);
    const first = sleepers.shift();
    if (first === undefined) return;
    time = Math.max(time, first.until);
    first.wake();
  };

  return {
    now: () => time,
    slept,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        signal?.throwIfAborted();
        slept.push(ms);
        const leave = () => reject(signal?.reason);
        signal?.addEventListener("abort", leave, { once: true });
        const wake = () => {
          signal?.removeEventListener("abort", leave);
          resolve();
        };
        sleepers.push({ until: time + ms, wake });
        setImmediate(wakeTheFirst);
      }),
  };
}
