import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createLimiter } from "../../src/service/http/limiter.ts";
import { createClock } from "../support/clock.ts";
import { runs } from "../support/property-runs.ts";
import { type Allowance, fixedWindow, tokenBucket, type Worked, workAt } from "./rate-limited-service.ts";

const SECONDS = 40;
const SETTLED = 10;

/** The share of what is allowed that passed, and the share of the requests that were refused, from a second on. */
function shares({ passed, refused }: Worked, perSecond: number, from: number) {
  const since = (times: readonly number[]): number =>
    times.filter((at) => at >= from * 1000 && at < SECONDS * 1000).length;
  return {
    used: since(passed) / (perSecond * (SECONDS - from)),
    refused: since(refused) / (since(refused) + since(passed)),
  };
}

/** Enough to reach the limit one and a half times, as far as the command line allows. */
const enough = (perSecond: number, latencyMs: number): number =>
  Math.min(64, Math.max(10, Math.ceil((perSecond * latencyMs * 1.6) / 1000)));

const KINDS: readonly [string, (perSecond: number) => Allowance][] = [
  ["a window that begins with the second", (perSecond) => fixedWindow(perSecond, 0)],
  ["a window that begins somewhere", (perSecond) => fixedWindow(perSecond, 620)],
  ["a bucket", (perSecond) => tokenBucket(perSecond)],
];

describe.each(KINDS)("a service that counts in %s", (_, allowing) => {
  test.each([
    [10, 5],
    [10, 100],
    [25, 30],
    [50, 5],
    [100, 20],
    [200, 5],
    [200, 100],
    [500, 5],
    [500, 100],
  ])(
    "and allows %i requests a second is used to at least 90 %%, with at most 3 %% refused (%i ms)",
    async (perSecond, latencyMs) => {
      const concurrency = enough(perSecond, latencyMs);
      const worked = await workAt(allowing(perSecond), {
        concurrency,
        latencyMs,
        jitter: 0.2,
        until: { ms: SECONDS * 1000 },
        retryAfter: "seconds",
      });
      const settled = shares(worked, perSecond, SETTLED);
      expect(settled.used).toBeGreaterThanOrEqual(0.9);
      // Of few requests a second, the few that find out about a limit are a larger share.
      expect(settled.refused).toBeLessThanOrEqual(perSecond < 25 ? 0.06 : 0.03);
      const whole = shares(worked, perSecond, 0);
      expect(whole.used).toBeGreaterThanOrEqual(0.8);
      expect(worked.mostUnderWay).toBeLessThanOrEqual(concurrency);
    },
  );
});

test("a service that refuses nothing is never slowed down", async () => {
  const worked = await workAt(() => null, {
    concurrency: 10,
    latencyMs: 10,
    jitter: 0,
    until: { ms: 10_000 },
    retryAfter: "seconds",
  });
  expect(worked.passed.length).toBeGreaterThan(9_900);
});

test("a limit that was estimated much too low is corrected later", async () => {
  // A small bucket looks like a low limit: it is empty after ten requests.
  const worked = await workAt(tokenBucket(100, 10), {
    concurrency: 10,
    latencyMs: 10,
    jitter: 0.2,
    until: { ms: 80_000 },
    retryAfter: "seconds",
  });
  const last = worked.passed.filter((at) => at >= 60_000).length / 20;
  expect(last).toBeGreaterThan(60);
  expect(worked.refused.length / worked.passed.length).toBeLessThan(0.02);
});

test("adapts to a limit that is lowered or raised during the work", async () => {
  const [early, late] = [fixedWindow(100, 0), fixedWindow(40, 0)];
  const began = createClock().now();
  const lowered = await workAt((now) => (now - began < 15_000 ? early(now) : late(now)), {
    concurrency: 10,
    latencyMs: 10,
    jitter: 0.2,
    until: { ms: SECONDS * 1000 },
    retryAfter: "seconds",
  });
  const after = shares(lowered, 40, 22);
  expect(after.used).toBeGreaterThan(0.85);
  expect(after.refused).toBeLessThan(0.02);
});

describe("whatever the responses and their delays", () => {
  const request = fc.record({
    tookMs: fc.integer({ min: 0, max: 300 }),
    verdict: fc.constantFrom("ok" as const, "ok" as const, "other" as const, "rate-limited" as const),
    pauseMs: fc.integer({ min: 0, max: 3000 }),
    comesAfterMs: fc.integer({ min: 0, max: 200 }),
    again: fc.boolean(),
  });

  test("never exceeds the bound, and serves every request", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 12 }),
        fc.array(request, { minLength: 1, maxLength: 40 }),
        async (concurrency, requests) => {
          const { now, sleep } = createClock();
          const limiter = createLimiter({ concurrency, now, sleep });
          let underWay = 0;
          const one = async ({
            tookMs,
            verdict,
            pauseMs,
            comesAfterMs,
            again,
          }: (typeof requests)[number]) => {
            await sleep(comesAfterMs);
            const permit = await limiter.acquire(again);
            underWay += 1;
            expect(underWay).toBeLessThanOrEqual(concurrency);
            await sleep(tookMs);
            underWay -= 1;
            permit.release(
              verdict === "rate-limited" ? { retryMs: pauseMs, asked: pauseMs % 2 === 0 } : verdict,
            );
          };
          await Promise.all(requests.map(one));
          expect(underWay).toBe(0);
        },
      ),
      { numRuns: runs(200) },
    );
  });
});
