import { describe, expect, test } from "vitest";
import { connectTo, failureOf, type Handler, json, MEMBERSHIPS, page, pageOf, problem } from "./support.ts";

const membership = (id: string, merchant: string, more: object = {}): object => ({
  id,
  resource_id: merchant,
  type: "merchant",
  roles: [],
  permissions: [],
  status: "accepted",
  resource: { id: merchant, type: "merchant", name: "A shop", attributes: { sandbox: true } },
  ...more,
});

const belongingTo =
  (...memberships: readonly object[]): Handler =>
  (seen) =>
    json(pageOf(memberships, seen));

const readWith = async (memberships: Handler) => {
  const harness = connectTo(() => json({ items: [], total_count: 0 }), { memberships });
  const state = await harness.reader.read("MC1", []);
  const asked = harness.seen.filter(({ path }) => path === MEMBERSHIPS);
  const told = harness.events.flatMap((event) => (event.type === "caller-unknown" ? [event.reason] : []));
  return { ...harness, state, asked, told };
};

describe("the member that the key belongs to", () => {
  test("is the one whose membership is in the merchant that is read", async () => {
    const memberships = belongingTo(membership("mem_other", "MC2"), membership("mem_own", "MC1"));
    const { state, asked, told, reader } = await readWith(memberships);
    expect(state.callerId).toBe("mem_own");
    expect(asked.map(({ query }) => Object.fromEntries(query))).toEqual([
      { offset: "0", limit: "25", "resource.type": "merchant", "resource.id": "MC1" },
    ]);
    expect((await reader.read("MC2", [])).callerId).toBe("mem_other");
    expect((await reader.read("MC3", [])).callerId).toBeNull();
    expect(told).toEqual([]);
  });

  test("is found with one request where the service filters, and by paging only where it does not", async () => {
    const many = Array.from({ length: 120 }, (_, index) => membership(`mem_${index}`, `MC${index}`));
    const filtering: Handler = (seen) => {
      const id = seen.query.get("resource.id");
      const all = many.filter((_, index) => id === null || id === `MC${index}`);
      return json(pageOf(all, seen));
    };
    const refusing =
      (status: number, ...filters: readonly string[]): Handler =>
      (seen) =>
        filters.some((filter) => seen.query.has(filter))
          ? problem(status, { detail: "No such filter." })
          : filtering(seen, 1);
    for (const [handler, requests] of [
      [filtering, 1],
      [belongingTo(...many), 5],
      [refusing(400, "resource.id"), 6],
      [refusing(422, "resource.id"), 6],
      [refusing(404, "resource.id"), 6],
      [refusing(400, "resource.id", "resource.type"), 7],
    ] as const) {
      const { state, asked, told } = await readWith(handler);
      expect([state.callerId, asked.length, told]).toEqual(["mem_1", requests, []]);
    }
  });

  test("is asked for once more where there are other merchants, for all of them", async () => {
    const all = belongingTo(...["MC1", "MC2", "MC3"].map((code) => membership(`mem of ${code}`, code)));
    const { reader, seen } = await readWith(all);
    for (const code of ["MC2", "MC3", "MC1"])
      expect((await reader.read(code, [])).callerId).toBe(`mem of ${code}`);
    expect(seen.filter(({ path }) => path === MEMBERSHIPS)).toHaveLength(2);
  });

  test("is the accepted one where an old invitation stands beside it", async () => {
    const old = membership("mem_old", "MC1", { status: "expired" });
    const { state } = await readWith(belongingTo(old, membership("mem_own", "MC1")));
    expect(state.callerId).toBe("mem_own");
    expect((await readWith(belongingTo(old))).state.callerId).toBe("mem_old");
  });

  test.each<[string, number, Handler]>([
    ["says no", 1, () => problem(403, { detail: "The API key does not belong to a user." })],
    ["does not know the question", 3, () => problem(404)],
    ["does not implement it", 3, () => problem(501)],
  ])("stays unknown if the service %s, which is reported once and soon", async (_, attempts, memberships) => {
    const { state, asked, told, clock, reader } = await readWith(memberships);
    expect(state).toEqual({ merchant: "MC1", callerId: null, callerUnknown: true, roles: [], members: [] });
    expect((await reader.read("MC2", [])).callerUnknown).toBe(true);
    expect(asked).toHaveLength(attempts);
    expect(told).toHaveLength(1);
    expect(clock.slept.reduce((sum, ms) => sum + ms, 0)).toBeLessThan(2000);
  });

  test.each<[string, number, Handler]>([
    ["gives a web page", 1, () => page()],
    ["gives something else", 1, () => json({ items: [{}] })],
    ["does not accept the key", 1, () => problem(401)],
    ["fails", 10, () => problem(503)],
    ["is busy", 20, () => problem(429)],
    ["is busy for long", 1, () => problem(429, {}, { "retry-after": "601" })],
    ["gives half an answer", 10, () => new Response('{"items": [')],
    ["shifts its list", 3, () => json({ items: [], total_count: 9 })],
  ])("is no answer if the service %s, which is asked like every read", async (_, attempts, memberships) => {
    const { state, asked, told, reader } = await readWith(memberships);
    expect(state).toMatchObject({ callerId: null, callerUnknown: true, members: [] });
    expect(state.sandboxFailure?.message).toContain("memberships");
    expect((await reader.read("MC2", [])).sandboxFailure).toEqual(state.sandboxFailure);
    expect(asked).toHaveLength(attempts);
    expect(told).toHaveLength(1);
  });

  test.each<[string, number, Handler]>([
    ["asks for a wait", 1, () => problem(429, {}, { "retry-after": "60" })],
    ["is busy", 4, () => problem(429)],
    ["fails", 4, () => problem(503)],
  ])("is waited for if the service %s at first", async (_, times, failing) => {
    const own = belongingTo(membership("mem_own", "MC1"));
    const { state, told } = await readWith((seen, count) => (count <= times ? failing : own)(seen, count));
    expect(state).toEqual({
      merchant: "MC1",
      merchantName: "A shop",
      callerId: "mem_own",
      sandbox: true,
      roles: [],
      members: [],
    });
    expect(told).toEqual([]);
  });

  test("is reported as unknown, with the missing scope", async () => {
    const { told } = await readWith(() => problem(403, { detail: "The API key does not belong to a user." }));
    expect(told).toEqual([
      "GET /v0.1/memberships?offset=0&limit=25&resource.type=merchant&resource.id=MC1 returned 403 Forbidden: " +
        "The API key does not belong to a user. " +
        "Fix what the detail describes, then run the command again.",
    ]);
  });

  test("does not delay a failed read, and is not reported after it", async () => {
    let answer = (_: Response): void => undefined;
    const late = new Promise<Response>((resolve) => {
      answer = resolve;
    });
    const { reader, events, close } = connectTo(() => problem(401), { memberships: () => late });
    expect(await failureOf(reader.read("MC1", []))).toMatchObject({ code: "unauthorized" });
    await close();
    answer(problem(403));
    await new Promise(setImmediate);
    expect(events.map(({ type }) => type)).not.toContain("caller-unknown");
  });
});

describe("whether a merchant is a test account", () => {
  const bare = { resource: { id: "MC1", type: "merchant", name: "A shop" } };
  const sandboxOf = async (memberships: Handler) => (await readWith(memberships)).state.sandbox;

  test.each([true, false])("is what the response says: %s", async (sandbox) => {
    const resource = { id: "MC1", type: "merchant", name: "A shop", attributes: { sandbox } };
    expect(await sandboxOf(belongingTo(membership("mem_1", "MC1", { resource })))).toBe(sandbox);
  });

  test.each([true, false])(
    "is asked for with the filter where the response does not say: %s",
    async (sandbox) => {
      const filtering: Handler = (seen) => {
        const wanted = seen.query.get("resource.attributes.sandbox") ?? `${sandbox}`;
        return json(pageOf(wanted === `${sandbox}` ? [membership("mem_1", "MC1", bare)] : [], seen));
      };
      expect(await sandboxOf(filtering)).toBe(sandbox);
    },
  );

  test.each<[string, (query: URLSearchParams) => boolean]>([
    ["by merchant", (query) => query.has("resource.id")],
    [
      "by merchant together with it",
      (query) => query.has("resource.id") && query.has("resource.attributes.sandbox"),
    ],
  ])("is asked for where the service refuses the filter %s", async (_, isRefused) => {
    const filtering: Handler = (seen) =>
      isRefused(seen.query)
        ? problem(400)
        : json(
            pageOf(
              seen.query.get("resource.attributes.sandbox") === "true"
                ? []
                : [membership("mem_1", "MC1", bare)],
              seen,
            ),
          );
    expect(await sandboxOf(filtering)).toBe(false);
  });

  test.each<[string, Handler]>([
    ["the filter is ignored", belongingTo(membership("mem_1", "MC1", bare))],
    [
      "the filter is refused",
      (seen) =>
        seen.query.has("resource.attributes.sandbox")
          ? problem(400)
          : json(pageOf([membership("mem_1", "MC1", bare)], seen)),
    ],
    ["there is no membership", belongingTo()],
    ["memberships are refused", () => problem(403)],
  ])("is unknown where %s", async (_, memberships) => {
    const { state } = await readWith(memberships);
    expect(state.sandbox).toBeUndefined();
    expect(state.sandboxFailure).toBeUndefined();
  });

  test("is no answer if the service fails to filter by it, though the member is known", async () => {
    const { state } = await readWith((seen) =>
      seen.query.has("resource.attributes.sandbox")
        ? problem(503)
        : json(pageOf([membership("mem_1", "MC1", bare)], seen)),
    );
    expect(state).toMatchObject({ callerId: "mem_1", sandboxFailure: { code: "service-failed" } });
    expect(state).not.toHaveProperty("callerUnknown");
  });
});
