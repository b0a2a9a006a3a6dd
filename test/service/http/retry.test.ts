import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  DEFAULT_RETRY,
  nextWait,
  parseRetryAfter,
  type RetryPolicy,
  type RetryReason,
  retryFor,
  type Spent,
} from "../../../src/service/http/retry.ts";

const policy = {
  attempts: 5,
  rateLimitAttempts: 7,
  connectAttempts: 3,
  baseMs: 100,
  maxMs: 1000,
  maxRetryAfterMs: 60_000,
  totalMs: 90_000,
  endingMs: 10_000,
};
const limited: RetryReason = { kind: "rate-limited", retryAfterMs: null };
const uncertain: RetryReason = { kind: "uncertain", retryAfterMs: null };
const notSent: RetryReason = { kind: "not-sent" };
const first = { attempts: 1, ms: 0 };

/** The wait, or why there is none. */
const waitOf = (by: RetryPolicy, retryReason: RetryReason, spent: Spent, random: number): number | string => {
  const next = nextWait(by, retryReason, spent, random);
  return next.kind === "wait" ? next.ms : next.because.kind;
};

describe("the wait before the next attempt", () => {
  test("is anything up to a ceiling that doubles and then stays", () => {
    const ceilings = [1, 2, 3, 4, 5, 6].map((attempts) =>
      waitOf(policy, limited, { attempts, ms: 0 }, 0.999999),
    );
    expect(ceilings).toEqual([100, 200, 400, 800, 1000, 1000]);
    expect(waitOf(policy, limited, { attempts: 6, ms: 0 }, 0)).toBe(0);
  });

  test("never leaves its bounds", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 60 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (attempts, random) => {
          const wait = waitOf(
            { ...DEFAULT_RETRY, rateLimitAttempts: 100 },
            limited,
            { attempts, ms: 0 },
            random,
          );
          return (
            typeof wait === "number" &&
            wait >= 0 &&
            wait <= Math.min(DEFAULT_RETRY.maxMs, DEFAULT_RETRY.baseMs * 2 ** (attempts - 1))
          );
        },
      ),
    );
  });

  test("is what the service asks for, up to the longest that is honoured", () => {
    const asking = (retryAfterMs: number): RetryReason => ({ kind: "rate-limited", retryAfterMs });
    expect(waitOf(policy, asking(7000), first, 0.5)).toBe(7000);
    expect(waitOf(policy, asking(60_000), first, 0.5)).toBe(60_000);
    expect(waitOf(policy, asking(60_001), first, 0.5)).toBe("asked-too-much");
  });

  test("is not zero if the service sends Retry-After: 0", () => {
    expect(waitOf(policy, { kind: "rate-limited", retryAfterMs: 0 }, first, 0.5)).toBe(50);
  });
});

describe("giving up", () => {
  test.each<[string, RetryReason, number]>([
    ["rate limited", limited, 7],
    ["failing", uncertain, 5],
    ["unreachable", notSent, 3],
  ])("comes after the last attempt at a service that is %s", (_, retryReason, attempts) => {
    expect(waitOf(policy, retryReason, { attempts: attempts - 1, ms: 0 }, 0.5)).toBeTypeOf("number");
    expect(waitOf(policy, retryReason, { attempts, ms: 0 }, 0.5)).toBe("attempts");
  });

  test("comes where the wait would end after the total time", () => {
    const asking: RetryReason = { kind: "uncertain", retryAfterMs: 10_000 };
    expect(waitOf(policy, asking, { attempts: 1, ms: 80_000 }, 0)).toBe(10_000);
    expect(waitOf(policy, asking, { attempts: 1, ms: 80_001 }, 0)).toBe("time");
  });

  test("is due within five minutes by default", () => {
    expect(DEFAULT_RETRY.totalMs).toBe(300_000);
  });

  test("comes later, and after more attempts, with a larger --retry-for", () => {
    const patient = retryFor(3_600_000);
    expect(waitOf(patient, uncertain, { attempts: 100, ms: 3_000_000 }, 0.5)).toBe(10_000);
    expect(waitOf(patient, uncertain, { attempts: 100, ms: 3_595_000 }, 0.5)).toBe("time");
    expect(waitOf(retryFor(0), uncertain, { attempts: 1, ms: 0 }, 0.5)).toBe("time");
    expect(waitOf(retryFor(10_000), uncertain, { attempts: 9, ms: 0 }, 0.5)).toBe(10_000);
  });
});

describe("Retry-After", () => {
  const now = Date.parse("2026-06-01T12:00:00Z");
  test.each<[string | undefined, number | null]>([
    ["7", 7000],
    [" 0 ", 0],
    ["Mon, 01 Jun 2026 12:00:30 GMT", 30_000],
    ["Monday, 01-Jun-26 12:00:30 GMT", 30_000],
    ["Mon Jun  1 12:00:30 2026 GMT", 30_000],
    ["Mon, 01 Jun 2026 11:00:00 GMT", 0],
    [undefined, null],
    ["", null],
    ["-5", null],
    ["1.5", null],
    ["soon", null],
    ["2026", 2_026_000],
  ])("%j is read as %j", (header, ms) => {
    expect(parseRetryAfter(header, now)).toBe(ms);
  });
});
