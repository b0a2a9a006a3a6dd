import { describe, expect, test } from "vitest";
import { type Allowance, fixedWindow, lcg, tokenBucket, type Work, workAt } from "./rate-limited-service.ts";

const LATENCY_MS = 20;
const CONCURRENCY = 10;
const ASKED_MS = 1000;

function work(requests: number, more: Partial<Work> = {}): Work {
  return {
    concurrency: CONCURRENCY,
    latencyMs: LATENCY_MS,
    jitter: 0.2,
    until: { requests },
    retryAfter: "seconds",
    seed: 7,
    ...more,
  };
}

/** How long so many requests take where nothing is refused. */
const unlimited = (requests: number): number => (requests * LATENCY_MS) / CONCURRENCY;

/** Refuses so many of a hundred requests, whatever their rate. */
function strays(percent: number, seed: number): Allowance {
  const random = lcg(seed);
  return () => (100 * random() < percent ? 1 : null);
}

describe.each(["seconds", "none"] as const)("Retry-After: %s", (retryAfter) => {
  test("one early refusal costs no more than its own wait", async () => {
    let count = 0;
    const { ms } = await workAt(() => (++count === 2 ? 1 : null), work(400, { retryAfter }));
    expect(ms).toBeLessThan(1.1 * unlimited(400) + ASKED_MS);
  });

  test.each([1, 2, 5])("%i %% of stray refusals only hold back what was refused", async (percent) => {
    const { ms } = await workAt(strays(percent, percent), work(4_000, { retryAfter }));
    // The last ones may be refused, and wait; now and then somebody is refused twice.
    expect(ms).toBeLessThan(1.5 * unlimited(4_000) + ASKED_MS);
  });

  test.each([5, 50, 500])(
    "%i requests a second are used up, from a window or a bucket",
    async (perSecond) => {
      const requests = perSecond * 30;
      const limitMs = Math.max(unlimited(requests), ((requests - perSecond) / perSecond) * 1000);
      for (const allowance of [fixedWindow(perSecond, 370), tokenBucket(perSecond)]) {
        const { ms } = await workAt(allowance, work(requests, { retryAfter, latencyMs: 10 }));
        expect(ms).toBeLessThan(1.5 * limitMs);
      }
    },
  );

  test.each([50, 500])(
    "another client that takes most of %i a second for a while is forgotten soon",
    async (perSecond) => {
      const requests = perSecond * 20;
      const share = 0.6;
      const seconds = 4;
      const neighbour = (ms: number): number =>
        ms > 2_000 && ms < 2_000 + seconds * 1000 ? share * perSecond : 0;
      const limitMs = (requests / perSecond - 1 + share * seconds) * 1000;
      const done = await workAt(
        fixedWindow(perSecond, 370),
        work(requests, { retryAfter, latencyMs: 10, neighbour }),
      );
      expect(done.ms).toBeLessThan(1.5 * limitMs);
    },
  );
});
