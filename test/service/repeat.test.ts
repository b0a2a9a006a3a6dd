import { describe, expect, test } from "vitest";
import { LostResponse } from "../../src/service/http/transport.ts";
import { connectTo, failureOf, holding, json, MEMBERS, problem, wireMembers, wireRole } from "./support.ts";

const broken = (): never => {
  throw new Error("reset");
};

describe("a rate limit", () => {
  test("pauses all for as long as the service asks, and is reported as a wait", async () => {
    const answer = holding(wireMembers(200));
    let limits = 0;
    const at: number[] = [];
    const harness = connectTo((seen, count) => {
      at.push(harness.clock.now());
      if (seen.query.get("offset") === "100" && limits++ === 0)
        return problem(429, {}, { "retry-after": "7" });
      return answer(seen, count);
    });
    const began = harness.clock.now();
    expect((await harness.reader.read("MC1", [])).members).toHaveLength(200);
    // From then on at the pace that the service seems to allow.
    expect(at.filter((time) => time > began && time < began + 7000)).toEqual([]);
    expect(at).toContain(began + 7000);
    expect(harness.events).toContainEqual({
      type: "wait",
      method: "GET",
      path: `${MEMBERS}?offset=100&limit=25`,
      attempt: 1,
      status: 429,
      reason: "the service asks for fewer requests (429)",
      ms: 7000,
      until: began + 7000,
      retryAfter: true,
      leftMs: 300_000,
    });
  });

  test("may be a date", async () => {
    const { reader, clock } = connectTo((seen, count) =>
      count === 1 && seen.path === MEMBERS
        ? problem(429, {}, { "retry-after": "Mon, 01 Jun 2026 12:00:20 GMT" })
        : json({ items: [], total_count: 0 }),
    );
    await reader.read("MC1", []);
    expect(clock.now()).toBe(Date.parse("2026-06-01T12:00:20Z"));
  });

  test("without a time is retried with a growing backoff", async () => {
    const { writer, clock } = connectTo((_, count) => (count < 5 ? problem(429) : json({})));
    await writer("MC1").deleteRole("role_a");
    expect(clock.slept).toEqual([125, 250, 500, 1000]);
  });

  test("allows a create to be retried, since it was not applied", async () => {
    const { writer, seen } = connectTo((_, count) =>
      count === 1 ? problem(429) : json({ id: "role_new" }, 201),
    );
    expect(await writer("MC1").createRole({ name: "A", permissions: [] })).toEqual({
      id: "role_new",
      adopted: false,
    });
    expect(seen).toHaveLength(2);
  });

  test("does not use up the retry time of queued requests", async () => {
    // Twenty requests, a pause of 100 seconds for each: half an hour in all, five minutes for each request.
    const limited = new Set<string>();
    const answer = holding(wireMembers(500));
    const { reader } = connectTo(
      (seen, count) => {
        const line = seen.path + seen.query.toString();
        if (limited.has(line)) return answer(seen, count);
        limited.add(line);
        return problem(429, {}, { "retry-after": "100" });
      },
      { concurrency: 1 },
    );
    expect((await reader.read("MC1", [])).members).toHaveLength(500);
  });
});

describe("a lost response", () => {
  test("is retried when reading, updating and deleting", async () => {
    const { writer, reader, seen } = connectTo((one, count) => {
      if (count === 1) return broken();
      return one.method === "GET" ? json({ items: [], total_count: 0 }) : json({});
    });
    await reader.read("MC1", []);
    await writer("MC1").updateRole("role_a", { description: "A" });
    await writer("MC1").updateMember("mem_a", { roles: [], metadata: {} });
    await writer("MC1").deleteMember("mem_b");
    expect(seen).toHaveLength(10);
  });

  test("of a delete makes a 404 a success", async () => {
    const { writer } = connectTo((_, count) => (count === 1 ? broken() : problem(404)));
    await writer("MC1").deleteRole("role_a");
  });

  test("leaves a 404 a failure where nothing can have been deleted", async () => {
    for (const first of [
      () => problem(429),
      () => {
        throw new LostResponse("network", "nothing listens", false);
      },
    ]) {
      const { writer } = connectTo((_, count) => (count === 1 ? first() : problem(404)));
      expect(await failureOf(writer("MC1").deleteRole("role_a"))).toMatchObject({ code: "not-found" });
    }
  });

  test("of an update keeps its effect unknown, whatever comes after", async () => {
    const { writer } = connectTo((_, count) => (count === 1 ? broken() : problem(409)));
    const failure = await failureOf(writer("MC1").updateRole("role_a", { name: "A" }));
    expect(failure).toMatchObject({ code: "conflict", request: { uncertain: true, attempts: 2 } });
  });
});

describe("a service that is down", () => {
  test("is given up after four attempts, with a certain outcome", async () => {
    const { writer, seen } = connectTo(() => {
      throw new LostResponse("network", "nothing is listening at 127.0.0.1", false);
    });
    const failure = await failureOf(writer("MC1").createRole({ name: "A", permissions: [] }));
    expect(failure).toMatchObject({ code: "network", request: { attempts: 4 } });
    expect(failure.request).not.toHaveProperty("uncertain");
    expect(failure.message).toBe(
      "POST /v0.1/merchants/MC1/roles got no response: nothing is listening at 127.0.0.1.",
    );
    expect(seen).toHaveLength(4);
  });

  test.each(["untrusted", "refused", "too-large"] as const)(
    "in a way that stays so is not asked again (%s)",
    async (kind) => {
      const { reader, seen } = connectTo(() => {
        throw new LostResponse(kind, "it is so", false);
      });
      await failureOf(reader.read("MC1", []));
      expect(seen).toHaveLength(2);
    },
  );
});

test("reports a request, its response and its wait as they happen, without header or body", async () => {
  const { writer, events, clock } = connectTo((_, count) =>
    count === 1 ? problem(503) : json(wireRole("role_a")),
  );
  await writer("MC1").updateRole("role_a", { name: "A" });
  const line = { method: "PATCH", path: "/v0.1/merchants/MC1/roles/role_a" };
  expect(events).toEqual([
    { type: "request", ...line, attempt: 1 },
    { type: "response", ...line, status: 503, ms: 0 },
    {
      type: "wait",
      ...line,
      attempt: 1,
      status: 503,
      reason: "the service or the connection failed",
      ms: 125,
      until: clock.now(),
      retryAfter: false,
      leftMs: 300_000,
    },
    { type: "request", ...line, attempt: 2 },
    { type: "response", ...line, status: 200, ms: 0 },
  ]);
});
