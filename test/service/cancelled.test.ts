import { describe, expect, test } from "vitest";
import { LostResponse } from "../../src/service/http/transport.ts";
import { connectTo, failureOf, holding, json, problem, wireMembers } from "./support.ts";

const ANN = { email: "ann@example.com", roles: [] };

/** Stops the run as soon as the client has something to wait for. */
function stoppedAtFirstWait(answer: () => Response) {
  const stop = new AbortController();
  const harness = connectTo(
    (_, count) => {
      if (count > 1) return json({ id: "role_new" }, 201);
      setImmediate(() => stop.abort());
      return answer();
    },
    { signal: stop.signal },
  );
  return { ...harness, stop };
}

describe("a run that is stopped", () => {
  test.each<[string, () => Response, object]>([
    [
      "for as long as the service asks",
      () => problem(429, {}, { "retry-after": "100" }),
      { code: "rate-limited", request: { status: 429, attempts: 1 } },
    ],
    [
      "before an update is sent again",
      () => problem(503),
      { code: "service-failed", request: { status: 503, attempts: 1, uncertain: true } },
    ],
    [
      "for a service that is not there",
      () => {
        throw new LostResponse("network", "nothing listens", false);
      },
      { code: "network", request: { attempts: 1 } },
    ],
  ])("does not wait %s, and ends with the last failure", async (_, answer, expected) => {
    const { writer, seen, clock } = stoppedAtFirstWait(answer);
    const began = clock.now();
    expect(await failureOf(writer("MC1").updateRole("role_a", { name: "A" }))).toMatchObject(expected);
    expect(seen).toHaveLength(1);
    expect(clock.now()).toBe(began);
  });

  test("ends a recheck that waits for a retry with its last failure, not with the signal's error", async () => {
    const { lookup, stop } = stoppedAtFirstWait(() => problem(503));
    const look = lookup("MC1").getRole("role_a", AbortSignal.any([stop.signal]));
    expect(await failureOf(look)).toMatchObject({ code: "service-failed", request: { status: 503 } });
  });

  test("reports unsent writes as not sent", async () => {
    const { writer } = stoppedAtFirstWait(() => problem(429, {}, { "retry-after": "100" }));
    const first = failureOf(writer("MC1").createRole({ name: "A", permissions: [] }));
    const ids = ["b", "c", "d", "e", "f"];
    const rest = ids.map((id) => failureOf(writer("MC1").deleteRole(id)));
    expect((await first).code).toBe("rate-limited");
    const failures = await Promise.all(rest);
    expect(failures.at(-1)?.message).toBe(
      "DELETE /v0.1/merchants/MC1/roles/f was not sent: the run was stopped first.",
    );
    expect(failures.at(-1)?.request).toEqual({
      method: "DELETE",
      path: "/v0.1/merchants/MC1/roles/f",
      attempts: 0,
    });
  });

  test.each([1, 8])(
    "sends none of sixty merchants' writes that wait for their turn, %i at once",
    async (concurrency) => {
      const stop = new AbortController();
      const { writer, reader, seen, clock } = connectTo(
        async (one, count) => {
          await clock.sleep(200);
          if (seen.length === concurrency) stop.abort();
          return one.method === "GET" ? holding(wireMembers(1))(one, count) : json({ id: "mem_new" }, 201);
        },
        { concurrency, signal: stop.signal },
      );
      const merchants = Array.from({ length: 60 }, (_, index) => writer(`MC${index}`));
      const ended = await Promise.allSettled(
        merchants.flatMap((one) => [
          one.createMember({ email: "a@example.com", roles: [] }),
          one.updateRole("role_a", { name: "A" }, { recheck: async () => "go" }),
          one.deleteMember("mem_b"),
        ]),
      );
      const done = ended.filter(({ status }) => status === "fulfilled").length;
      expect(seen).toHaveLength(done);
      expect(done).toBeLessThan(2 * concurrency);
      const attempts = ended.flatMap((one) => (one.status === "rejected" ? one.reason.request.attempts : []));
      expect(new Set(attempts)).toEqual(new Set([0]));
      expect((await reader.read("MC1", [])).members).toHaveLength(1);
    },
  );

  test("sends no write whose recheck ends meanwhile: it is not applied", async () => {
    const stop = new AbortController();
    const { writer, seen } = connectTo(
      (one, count) => {
        if (one.method === "POST") return problem(503);
        stop.abort();
        return holding([])(one, count);
      },
      { signal: stop.signal },
    );
    const failure = await failureOf(writer("MC1").createMember({ email: "a@example.com", roles: [] }));
    expect(failure).toMatchObject({ code: "service-failed", request: { status: 503, attempts: 1 } });
    expect(failure.request?.uncertain).toBeUndefined();
    expect(seen.map(({ method }) => method)).toEqual(["POST", "GET"]);
  });

  test.each([
    ["nothing else is in flight", []],
    ["the service has asked to wait", ["429"]],
  ])("still sends once what completes a change that is begun, where %s", async (_, before) => {
    const stop = new AbortController();
    const { writer, seen, clock } = connectTo(
      (one) => (one.method === "POST" ? problem(503) : problem(429, {}, { "retry-after": "100" })),
      { signal: stop.signal },
    );
    const client = writer("MC1");
    const waiting = before.map(() => failureOf(client.deleteRole("role_a")));
    await new Promise(setImmediate);
    const began = clock.now();
    const late = before.length > 0 ? client.createMember(ANN, { finishes: true }) : null;
    stop.abort();
    await Promise.all(waiting);
    const failure = await failureOf(late ?? client.createMember(ANN, { finishes: true }));
    expect(failure).toMatchObject({ code: "service-failed", request: { attempts: 1 } });
    expect(seen.filter(({ method }) => method === "POST")).toHaveLength(1);
    expect(clock.now()).toBe(began);
  });

  test("finishes requests in flight, and can still read", async () => {
    const stop = new AbortController();
    const { writer, reader } = connectTo(
      (seen, count) => {
        stop.abort();
        return seen.method === "POST" ? json({ id: "role_new" }, 201) : holding(wireMembers(60))(seen, count);
      },
      { signal: stop.signal },
    );
    expect(await writer("MC1").createRole({ name: "A", permissions: [] })).toEqual({
      id: "role_new",
      adopted: false,
    });
    expect((await reader.read("MC1", [])).members).toHaveLength(60);
  });

  test("causes no warning of a leak, however many requests wait", async () => {
    const warnings: Error[] = [];
    const warned = (warning: Error): void => void warnings.push(warning);
    process.on("warning", warned);
    const stop = new AbortController();
    const { writer } = connectTo((_, count) => (count < 3 ? problem(503) : json({})), {
      concurrency: 50,
      signal: stop.signal,
    });
    await Promise.all(Array.from({ length: 50 }, (_, index) => writer("MC1").deleteRole(`role_${index}`)));
    await new Promise(setImmediate);
    process.off("warning", warned);
    expect(warnings).toEqual([]);
  });
});
