import { describe, expect, test } from "vitest";
import { applyPlan } from "../../../src/kernel/apply/apply-plan.ts";
import type { Plan } from "../../../src/model/plan.ts";
import { LostResponse } from "../../../src/service/http/transport.ts";
import {
  connectTo,
  type Handler,
  json,
  problem,
  type Seen,
  wireMember,
  wireRole,
} from "../../service/support.ts";
import { applyPorts } from "../../support/apply-ports.ts";
import { desired, invited, live, liveRole, member, planOf, role } from "../../support/build.ts";
import { memoryJournal } from "../../support/memory-journal.ts";

const PLANNED = { name: "Cashier", permissions: ["a"] };
const WANTED = { name: "Cashier", permissions: ["a", "b"] };
const EDITED = { name: "Cashier", permissions: ["x"] };

const UPDATE = planOf(desired({ merchant: "MC1", roles: [role("Cashier", { permissions: ["a", "b"] })] }), {
  ...live([liveRole("role_1", "Cashier", { permissions: ["a"] })]),
  merchant: "MC1",
});

const refused = () => problem(429, {}, { "retry-after": "60" });
const lost = (): never => {
  throw new LostResponse("timeout", "it took too long", true);
};

/** One role: `looks` are what is found at each look, the last one from then on; `write` answers what would change it. */
function serving(looks: readonly object[], write: Handler): Handler {
  return (seen, count) =>
    seen.method === "GET"
      ? json(wireRole("role_1", looks[Math.min(count, looks.length) - 1]))
      : write(seen, count);
}

async function apply(plan: Plan, handler: Handler, stop = new AbortController(), recheck = true) {
  const { writer, lookup, seen, clock } = connectTo(handler, { concurrency: 1, signal: stop.signal });
  const journal = memoryJournal();
  const ports = applyPorts(
    { writer: writer("MC1"), lookup: lookup("MC1") },
    { journal, stop: stop.signal, recheck },
  );
  const result = await applyPlan(plan, ports);
  const told = journal.entries.filter(({ type }) => type === "outcome");
  const intents = journal.entries.filter(({ type }) => type === "intent");
  return { result, outcome: result.outcomes[0], told, intents, sent: seen.map(line), clock };
}

const line = ({ method, path }: Seen): string => `${method} ${path.split("/").at(-1)}`;

describe("a change that had to wait for a minute", () => {
  test("is stale if it was edited meanwhile, and is not sent again", async () => {
    const { result, outcome, told, sent } = await apply(UPDATE, serving([PLANNED, EDITED], refused));
    expect(outcome).toMatchObject({
      status: "stale",
      failure: {
        code: "stale",
        message: "role Cashier has changed since it was planned: permissions: now also x and no longer a.",
      },
    });
    expect(sent).toEqual(["GET role_1", "PATCH role_1", "GET role_1"]);
    expect(told).toMatchObject([{ status: "stale" }]);
    expect(result).toMatchObject({ status: "stopped", writes: 0 });
  });

  test("is done if somebody else has made it, and the journal says that nothing was sent", async () => {
    const { result, outcome, told, intents } = await apply(UPDATE, serving([PLANNED, WANTED], refused));
    expect(outcome).toMatchObject({ status: "done", already: true });
    expect(intents).toHaveLength(1);
    expect(told).toMatchObject([{ status: "done", already: true }]);
    expect(result).toMatchObject({ status: "done", writes: 0 });
  });

  test("is sent if nothing has changed, with one intent", async () => {
    const handler = serving([PLANNED], (_, count) => (count === 1 ? refused() : json({})));
    const { outcome, told, intents, sent } = await apply(UPDATE, handler);
    expect(outcome).not.toHaveProperty("already");
    expect(sent).toEqual(["GET role_1", "PATCH role_1", "GET role_1", "PATCH role_1"]);
    expect([intents.length, told.length]).toEqual([1, 1]);
    expect(told[0]).not.toHaveProperty("already");
  });

  test("fails if the recheck fails", async () => {
    const handler: Handler = (seen, count) =>
      seen.method === "GET" && count === 2 ? problem(403) : serving([PLANNED], refused)(seen, count);
    const { outcome, result } = await apply(UPDATE, handler);
    expect(outcome).toMatchObject({
      status: "failed",
      failure: {
        code: "forbidden",
        message: expect.stringMatching(/^The recheck before the write failed: GET /),
        hint: expect.stringContaining("--no-recheck"),
      },
    });
    expect(result.writes).toBe(0);
  });

  test("is not started if the run is stopped during the recheck", async () => {
    const stop = new AbortController();
    const handler: Handler = (seen, count) => {
      if (seen.method !== "GET" || count === 1) return serving([PLANNED], refused)(seen, count);
      setImmediate(() => stop.abort());
      return problem(503);
    };
    const { outcome } = await apply(UPDATE, handler, stop);
    expect(outcome).toMatchObject({ status: "not-started" });
  });

  test("is sent without a recheck with --no-recheck", async () => {
    const handler = serving([EDITED], (_, count) => (count === 1 ? refused() : json({})));
    const { outcome, sent } = await apply(UPDATE, handler, new AbortController(), false);
    expect(outcome).toMatchObject({ status: "done" });
    expect(sent).toEqual(["PATCH role_1", "PATCH role_1"]);
  });
});

describe("a change whose responses were lost", () => {
  test("is done if the recheck finds it applied, and counts as written", async () => {
    const { outcome, told, result } = await apply(UPDATE, serving([PLANNED, WANTED], lost));
    expect(outcome).toMatchObject({ status: "done" });
    expect(outcome).not.toHaveProperty("already");
    expect(told).toMatchObject([{ status: "done" }]);
    expect(result.writes).toBe(1);
  });

  test("is unknown, never stale, if somebody else has edited it", async () => {
    const { outcome, told, result } = await apply(UPDATE, serving([PLANNED, EDITED], lost));
    expect(outcome).toMatchObject({
      status: "unknown",
      failure: { code: "timeout", message: expect.stringContaining("permissions: now also x") },
    });
    expect(told).toMatchObject([{ status: "unknown" }]);
    expect(result.writes).toBe(1);
  });

  test("is unknown without rechecks", async () => {
    const { outcome, sent } = await apply(UPDATE, serving([WANTED], lost), new AbortController(), false);
    expect(outcome).toMatchObject({ status: "unknown" });
    expect(new Set(sent)).toEqual(new Set(["PATCH role_1"]));
  });

  test("counts as the removal of an expired invitation that is gone, and the new one is sent", async () => {
    const plan = planOf(desired({ merchant: "MC1", members: [member("ada@example.com")] }), {
      ...live([], [invited("mem_1", "ada@example.com", { status: "expired" })]),
      merchant: "MC1",
    });
    const invite = { email: "ada@example.com", expires_at: "2026-01-01T00:00:00Z" };
    const { outcome, sent } = await apply(plan, ({ method }, count) => {
      if (method === "POST") return json({ id: "mem_2" }, 201);
      if (method === "DELETE") return lost();
      return count === 1
        ? json(wireMember("mem_1", { user: undefined, invite, status: "expired" }))
        : problem(404);
    });
    expect(outcome).toMatchObject({ status: "done", id: "mem_2" });
    expect(sent.filter((one) => one.startsWith("POST"))).toEqual(["POST members"]);
  });
});
