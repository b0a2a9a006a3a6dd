const WINDOW_MS = 1000;

/** Where in the second a service's windows may begin; 50 ms apart. */
const PHASES = 20;

/** Fits what was measured: times are those of sending, and a few arrive in another order. */
const TOLERANCE = 1.03;

/** Which of the limits that are possible is taken, from the lowest: too high is found out soon, too low only later. */
const LIKELY = 0.7;

/** Longest that an answer matters to an estimate: the window of the refusal, and the two before it. */
const MEMORY_MS = 3 * WINDOW_MS;

/** Learns from successes and refusals how many requests a second a service allows. */
export interface RateEstimate {
  /** A request that was sent then was answered well. */
  ok(sentAt: number): void;
  /** How many requests a second the service seems to allow, by a refusal of one that was sent then; 0 where nothing tells. */
  after(refusedAt: number): number;
}

/**
 * Takes the service to count in windows of a second that begin nobody knows when.
 * For each beginning that is possible, what passed in the window of the refusal is the limit, unless an earlier window
 * passed more; each refusal rules some beginnings out, and the estimate is among what is left.
 */
export function createRateEstimate(): RateEstimate {
  let passed: number[] = [];
  /** The limit by each beginning that is still possible; at first all are, and nothing is known. */
  let limits: ReadonlyMap<number, number> = new Map();

  const limitAt = (phase: number, refusedAt: number): number | null => {
    const windowOf = (at: number): number => Math.floor((at - phase) / WINDOW_MS);
    const counts = new Map<number, number>();
    for (const at of passed) counts.set(windowOf(at), (counts.get(windowOf(at)) ?? 0) + 1);
    const limit = counts.get(windowOf(refusedAt)) ?? 0;
    return Math.max(0, ...counts.values()) <= limit * TOLERANCE + 1 ? limit : null;
  };

  return {
    ok(sentAt) {
      passed.push(sentAt);
      // Cut in bulk: cutting off one at each answer would copy the list each time.
      const oldest = sentAt - MEMORY_MS;
      if ((passed[0] ?? sentAt) < oldest - MEMORY_MS) passed = passed.filter((at) => at >= oldest);
    },
    after(refusedAt) {
      passed = passed.filter((at) => at >= refusedAt - MEMORY_MS);
      const fresh = new Map<number, number>();
      for (let index = 0; index < PHASES; index += 1) {
        const phase = (index * WINDOW_MS) / PHASES;
        const limit = limitAt(phase, refusedAt);
        if (limit !== null) fresh.set(phase, limit);
      }
      const agreed = new Map([...fresh].filter(([phase, limit]) => agree(limit, limits.get(phase))));
      limits = agreed.size > 0 ? agreed : fresh;
      const all = [...limits.values()].sort((one, other) => one - other);
      const inLastSecond = passed.filter((at) => at > refusedAt - WINDOW_MS).length;
      return all[Math.floor(all.length * LIKELY)] ?? inLastSecond;
    },
  };
}

function agree(limit: number, before: number | undefined): boolean {
  return before !== undefined && Math.abs(limit - before) <= Math.max(1, before * (TOLERANCE - 1));
}
