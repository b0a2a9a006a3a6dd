import { describe, expect, test } from "vitest";
import { LostResponse } from "../../src/service/http/transport.ts";
import { connectTo, failureOf, json, problem } from "./support.ts";

const refused = (retryAfter?: string) =>
  problem(429, {}, retryAfter === undefined ? {} : { "retry-after": retryAfter });

describe("how long a request is tried for", () => {
  test("is bounded, and the failure names the bound", async () => {
    const { writer, clock } = connectTo(() => refused("20"), { retryForMs: 90_000 });
    const began = clock.now();
    const failure = await failureOf(writer("MC1").deleteRole("role_a"));
    expect(clock.now() - began).toBe(80_000);
    expect(failure).toMatchObject({ code: "rate-limited", request: { attempts: 5 } });
    expect(failure.hint).toBe(
      "The service asks for a wait of 20 s, but a request is retried for 90 s in total; use --retry-for to allow more.",
    );
  });

  test("is named where nothing was asked for", async () => {
    const { writer } = connectTo(() => problem(503), { retryForMs: 2_000 });
    const failure = await failureOf(writer("MC1").deleteRole("role_a"));
    expect(failure.hint).toMatch(/It was retried for 2 s; use --retry-for to allow more\.$/);
  });

  test("can be a single attempt", async () => {
    const { writer, seen } = connectTo(() => problem(503), { retryForMs: 0 });
    await failureOf(writer("MC1").deleteRole("role_a"));
    expect(seen).toHaveLength(1);
  });

  test("does not stretch to a wait longer than any", async () => {
    const { writer, seen } = connectTo(() => refused("3600"), { retryForMs: 24 * 3_600_000 });
    const failure = await failureOf(writer("MC1").deleteRole("role_a"));
    expect(failure.hint).toMatch(
      /The service asks for a wait of 60 min; a single wait is limited to 10 min, regardless of --retry-for\. Run the command again after that\.$/,
    );
    expect(seen).toHaveLength(1);
  });

  test("ends even if other requests cause the wait", async () => {
    // One is refused again and again, and each time everybody waits; the other was lost once, and waits with it.
    const { writer, clock } = connectTo(
      ({ path }, count) => {
        if (path.endsWith("role_a")) return refused("50");
        if (count === 1) throw new LostResponse("network", "it broke", true);
        return json({});
      },
      { retryForMs: 120_000, concurrency: 4 },
    );
    const began = clock.now();
    const both = [writer("MC1").deleteRole("role_a"), writer("MC1").deleteRole("role_b")];
    await Promise.allSettled(both);
    expect(clock.now() - began).toBeLessThanOrEqual(150_000);
  });

  test("is shared if the service refuses all requests, not counted one after the other", async () => {
    const { writer, clock } = connectTo(() => refused("30"), { retryForMs: 120_000, concurrency: 1 });
    const began = clock.now();
    const all = Array.from({ length: 50 }, (_, index) =>
      failureOf(writer("MC1").deleteRole(`role_${index}`)),
    );
    const failures = await Promise.all(all);
    expect(new Set(failures.map(({ code }) => code))).toEqual(new Set(["rate-limited"]));
    expect(clock.now() - began).toBeLessThanOrEqual(150_000);
  });

  test.each([-3_600_000, 3_600_000])(
    "does not depend on a wall clock that is set by %i ms meanwhile",
    async (step) => {
      let wall = Date.parse("2026-06-01T12:00:00Z");
      const { writer, seen, clock } = connectTo(
        (_, count) => {
          if (count > 2) return json({});
          wall += step;
          return refused("20");
        },
        { now: () => wall },
      );
      const began = clock.now();
      await writer("MC1").deleteRole("role_a");
      expect(clock.now() - began).toBe(40_000);
      expect(seen).toHaveLength(3);
    },
  );

  test("takes a date from the service by the service's own clock", async () => {
    const { writer, clock } = connectTo((_, count) =>
      count > 1
        ? json({})
        : problem(
            429,
            {},
            { date: "Mon, 01 Jan 2024 00:00:00 GMT", "retry-after": "Mon, 01 Jan 2024 00:00:30 GMT" },
          ),
    );
    const began = clock.now();
    await writer("MC1").deleteRole("role_a");
    expect(clock.now() - began).toBe(30_000);
  });
});
