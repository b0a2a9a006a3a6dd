import { describe, expect, test } from "vitest";
import { INVITATION_MS } from "../../src/sandbox/routes/member-operations.ts";
import { type Harness, MEMBERS, ROLES, START, start } from "./support.ts";

const CONTROL = "/_sandbox/merchants/MC0DEMO1/members";

async function invited(options: Parameters<typeof start>[0] = {}): Promise<Harness & { id: string }> {
  const harness = start(options);
  const { body } = await harness.call("POST", MEMBERS, { body: { email: "bob@x.example", roles: [] } });
  return { ...harness, id: body.id };
}

const control = { key: null };

const DEFAULT_SETTINGS = {
  rate_limit: null,
  rate_limit_kind: "window",
  rate_limit_burst: null,
  retry_after: "seconds",
  latency_ms: 0,
  jitter_ms: 0,
  request_log: 1000,
  strict: false,
};

test.each(["/_sandbox", "/_sandbox/"])("GET %s says which merchants there are", async (path) => {
  const { status, body } = await start().call("GET", path, control);
  expect(status).toBe(200);
  expect(body.merchants).toMatchObject([{ code: "MC0DEMO1", members: 1 }]);
});

describe("an invitation", () => {
  test("that is accepted becomes a user", async () => {
    const { call, clock, id } = await invited();
    clock.now += 1000;
    const got = await call("POST", `${CONTROL}/${id}/accept`, control);
    expect(got.status).toBe(200);
    expect(got.body).toMatchObject({ id, status: "accepted", user: { email: "bob@x.example" } });
    expect(got.body).not.toHaveProperty("invite");
    expect(got.body.updated_at).toBe(new Date(clock.now).toISOString());
    expect((await call("GET", `${MEMBERS}/${id}`)).body).toEqual(got.body);
  });

  test("of the same address is the same user in every merchant", async () => {
    const seed = `
merchants:
  - { code: MC1, members: [{ email: Bob@x.example, id: mem_1 }] }
  - { code: MC2, members: [{ email: bob@X.example, id: mem_2, status: pending }] }`;
    const { call } = start({ seed });
    const one = await call("GET", "/v0.1/merchants/MC1/members/mem_1");
    const two = await call("POST", "/_sandbox/merchants/MC2/members/mem_2/accept", control);
    expect(two.body.user.id).toBe(one.body.user.id);
  });

  test("expires by the clock, to the millisecond, without a change of its own", async () => {
    const { call, clock, id } = await invited();
    clock.now = START + INVITATION_MS - 1;
    expect((await call("GET", `${MEMBERS}/${id}`)).body.status).toBe("pending");
    clock.now += 1;
    const { body } = await call("GET", `${MEMBERS}/${id}`);
    expect(body.status).toBe("expired");
    expect(body.updated_at).toBe(body.created_at);
    expect((await call("POST", `${CONTROL}/${id}/accept`, control)).status).toBe(409);
  });

  test("can be expired before its time, once", async () => {
    const { call, id } = await invited();
    const got = await call("POST", `${CONTROL}/bob@X.example/expire`, control);
    expect(got.body).toMatchObject({ id, status: "expired", invite: { email: "bob@x.example" } });
    expect((await call("POST", `${CONTROL}/${id}/expire`, control)).status).toBe(409);
  });
});

describe("by hand", () => {
  test("an accepted member can be disabled, a pending one cannot", async () => {
    const { call, id } = await invited();
    expect((await call("POST", `${CONTROL}/${id}/disable`, control)).status).toBe(409);
    await call("POST", `${CONTROL}/${id}/accept`, control);
    const { body } = await call("POST", `${CONTROL}/${id}/disable`, control);
    expect(body.status).toBe("disabled");
    // Only of users that the merchant manages the contract says when.
    expect(body.user).not.toHaveProperty("disabled_at");
  });

  test("a disabled managed user says since when, until it is enabled", async () => {
    const { call, clock } = start();
    const managed = { email: "t@x.example", roles: [], is_managed_user: true, password: "12345678" };
    const { body } = await call("POST", MEMBERS, { body: managed });
    clock.now += 60_000;
    const disabled = await call("POST", `${CONTROL}/${body.id}/disable`, control);
    expect(disabled.body.user.disabled_at).toBe(new Date(clock.now).toISOString());
    const status = { ...control, body: { status: "accepted" } };
    const enabled = await call("PUT", `${CONTROL}/${body.id}/status`, status);
    expect(enabled.body.user).not.toHaveProperty("disabled_at");
  });

  test.each(["accepted", "pending", "expired", "disabled", "unknown"])(
    "a member can be %s",
    async (status) => {
      const { call, id } = await invited();
      const got = await call("PUT", `${CONTROL}/${id}/status`, { ...control, body: { status } });
      expect(got.body.status).toBe(status);
      expect((await call("GET", `${MEMBERS}?status=${status}&email=bob`)).body.total_count).toBe(1);
    },
  );

  test("there is no other status, no other member and no other merchant", async () => {
    const { call, id } = await invited();
    const gone = { ...control, body: { status: "gone" } };
    expect((await call("PUT", `${CONTROL}/${id}/status`, gone)).status).toBe(400);
    expect((await call("POST", `${CONTROL}/mem_none/accept`, control)).status).toBe(404);
    expect((await call("POST", `/_sandbox/merchants/MC9/members/${id}/accept`, control)).status).toBe(404);
  });

  test("a member without an address cannot be invited", async () => {
    const seed = "merchants: [{ code: MC0DEMO1, members: [{ id: mem_x, no_address: true }] }]";
    const { call } = start({ seed });
    const got = await call("PUT", `${CONTROL}/mem_x/status`, { ...control, body: { status: "pending" } });
    expect(got.status).toBe(409);
  });
});

describe("as somebody else", () => {
  test("any request can be made without a key, and is marked in the log", async () => {
    const { call, id } = await invited();
    const path = `/_sandbox${MEMBERS}/${id}`;
    expect((await call("PUT", path, { ...control, body: { roles: ["role_admin"] } })).status).toBe(200);
    expect((await call("GET", `${MEMBERS}/${id}`)).body.roles).toEqual(["role_admin"]);
    const created = await call("POST", `/_sandbox${ROLES}`, {
      ...control,
      body: { name: "A", permissions: [] },
    });
    expect(created.status).toBe(201);
    expect((await call("DELETE", `/_sandbox${ROLES}/${created.body.id}`, control)).status).toBe(200);
    expect((await call("PUT", `/_sandbox${ROLES}`, control)).status).toBe(405);
    const { body } = await call("GET", "/_sandbox/requests", control);
    const marks = body.items.map((entry: { somebody_else: boolean }) => entry.somebody_else);
    expect(marks).toEqual([false, true, false, true, true, false]);
  });

  test("limits and faults do not count", async () => {
    const { call } = start({ rateLimit: 1, latency: 50 });
    await call("PUT", "/_sandbox/faults", { ...control, body: { rules: [{ kind: "status", status: 500 }] } });
    for (let i = 0; i < 5; i += 1) {
      expect((await call("GET", `/_sandbox${ROLES}`, control)).status).toBe(200);
    }
  });
});

describe("the request log", () => {
  test("has method, path, status, time, and only the end of the key", async () => {
    const { call } = start();
    await call("GET", `${MEMBERS}?limit=3`);
    await call("GET", ROLES, { key: "sk_test_wrongkey" });
    const { body, text } = await call("GET", "/_sandbox/requests", control);
    expect(body.items).toEqual([
      {
        number: 1,
        time: new Date(START).toISOString(),
        method: "GET",
        operation: "members.list",
        merchant: "MC0DEMO1",
        resource: null,
        name: null,
        committed: false,
        state: 0,
        path: `${MEMBERS}?limit=3`,
        status: 200,
        key: "sk_test_…box",
        somebody_else: false,
        ms: 0,
        faults: [],
      },
      expect.objectContaining({ number: 2, status: 401, key: null }),
    ]);
    expect(text).not.toContain("sk_test_sandbox");
    expect(text).not.toContain("wrongkey");
  });

  test("is bounded, and can be cleared", async () => {
    const { call } = start();
    for (let i = 0; i < 2500; i += 1) await call("GET", "/none", control);
    const { items } = (await call("GET", "/_sandbox/requests", control)).body;
    expect(items).toHaveLength(1000);
    expect(items.at(-1).number).toBe(2500);
    expect((await call("GET", "/_sandbox/requests/1", control)).status).toBe(404);
    await call("DELETE", "/_sandbox/requests", control);
    expect((await call("GET", "/_sandbox/requests", control)).body.items).toHaveLength(1);
  });

  test("gives one line for each request, which cannot write to a terminal", async () => {
    const { call, lines } = start();
    await call("GET", MEMBERS);
    await call("GET", "/v0.1/%1b[31m%0a\u009b");
    expect(lines[0]).toBe(`GET ${MEMBERS} 200 0ms`);
    expect(lines).toHaveLength(2);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what must not be there.
    expect(lines.join("")).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
  });
});

describe("the request log, for proofs,", () => {
  test("has the resource of each write, its new id, and whether it took effect", async () => {
    const { call } = start();
    const bob = { email: "bob@x.example", roles: [], is_managed_user: true, password: "secret-12" };
    const created = await call("POST", MEMBERS, { body: bob });
    const again = await call("POST", MEMBERS, { body: bob });
    expect([created.status, again.status]).toEqual([201, 409]);
    const role = await call("POST", ROLES, { body: { name: "Till", permissions: [] } });
    await call("PATCH", `${ROLES}/${role.body.id}`, { body: { name: "Tills" } });
    await call("DELETE", `${MEMBERS}/${created.body.id}`);
    await call("DELETE", `${MEMBERS}/${created.body.id}`);
    await call("PUT", `${MEMBERS}/mem_none`, { body: { user: { password: "secret-34" } } });
    await call("GET", `${ROLES}/${role.body.id}`);
    const { body, text } = await call("GET", "/_sandbox/requests", control);
    const fields = ["operation", "merchant", "resource", "name", "committed", "state"];
    const rows = body.items.map((entry: Record<string, unknown>) => fields.map((field) => entry[field]));
    const [mem, id] = [created.body.id, role.body.id];
    expect(rows).toEqual([
      ["members.create", "MC0DEMO1", mem, "bob@x.example", true, 1],
      ["members.create", "MC0DEMO1", null, "bob@x.example", false, null],
      ["roles.create", "MC0DEMO1", id, "Till", true, 2],
      ["roles.update", "MC0DEMO1", id, null, true, 3],
      ["members.delete", "MC0DEMO1", mem, null, true, 4],
      ["members.delete", "MC0DEMO1", mem, null, false, null],
      ["members.update", "MC0DEMO1", "mem_none", null, false, null],
      ["roles.retrieve", "MC0DEMO1", id, null, false, 4],
    ]);
    expect(text).not.toMatch(/secret-|sk_test_sandbox/);
  });

  test("marks changes by control routes, too", async () => {
    const { call, id } = await invited();
    await call("POST", `${CONTROL}/bob@x.example/accept`, control);
    await call("POST", `${CONTROL}/${id}/accept`, control);
    const { items } = (await call("GET", "/_sandbox/requests", control)).body;
    expect(items.slice(1)).toMatchObject([
      { operation: null, resource: id, somebody_else: true, committed: true, state: 2 },
      { operation: null, resource: null, somebody_else: true, committed: false, state: null },
    ]);
  });

  test("can be read from a request onwards, and enlarged", async () => {
    const { call } = start();
    const since = async (number: string) => call("GET", `/_sandbox/requests?since=${number}`, control);
    const put = { ...control, body: { request_log: 3000 } };
    expect((await call("PUT", "/_sandbox/settings", put)).body.request_log).toBe(3000);
    for (let i = 0; i < 1500; i += 1) await call("GET", "/none", control);
    expect((await since("0")).body.items).toHaveLength(1501);
    expect((await since("1500")).body.items.map(({ number }: { number: number }) => number)).toEqual([
      1501, 1502,
    ]);
    expect((await since("x")).status).toBe(400);
    const none = { ...control, body: { request_log: 0 } };
    await call("PUT", "/_sandbox/settings", none);
    expect((await since("0")).body.items).toEqual([]);
  });
});

describe("a rate limit", () => {
  async function passed(harness: Harness, count: number): Promise<number> {
    let passes = 0;
    for (let i = 0; i < count; i += 1) passes += (await harness.call("GET", ROLES)).status === 200 ? 1 : 0;
    return passes;
  }

  test("from a bucket allows a burst, then its rate", async () => {
    const harness = start({ rateLimit: 10, rateLimitKind: "bucket", rateLimitBurst: 4 });
    expect(await passed(harness, 9)).toBe(4);
    harness.clock.now += 99;
    expect(await passed(harness, 3)).toBe(0);
    harness.clock.now += 1;
    expect(await passed(harness, 3)).toBe(1);
    harness.clock.now += 200;
    expect(await passed(harness, 9)).toBe(2);
    harness.clock.now += 3_600_000;
    expect(await passed(harness, 9)).toBe(4);
  });

  test("of a window allows twice as many at its edge, one of a bucket does not", async () => {
    for (const [rateLimitKind, both] of [
      ["window", 10],
      ["bucket", 5],
    ] as const) {
      const harness = start({ rateLimit: 5, rateLimitKind });
      harness.clock.now = START + 999;
      const before = await passed(harness, 5);
      harness.clock.now = START + 1000;
      expect(before + (await passed(harness, 5))).toBe(both);
    }
  });

  test.each([
    ["seconds", "1"],
    ["date", new Date(START + 1000).toUTCString()],
    ["none", null],
  ])("sends Retry-After as %s", async (retry_after, expected) => {
    const { call, clock } = start();
    const body = { rate_limit: 1, rate_limit_kind: "bucket", rate_limit_burst: 1, retry_after };
    expect((await call("PUT", "/_sandbox/settings", { ...control, body })).status).toBe(200);
    await call("GET", ROLES);
    clock.now += 100;
    const limited = await call("GET", ROLES);
    expect(limited.status).toBe(429);
    expect(limited.headers.get("retry-after")).toBe(expected);
  });

  test("allows the next request after Retry-After, in both forms and kinds", async () => {
    for (const rateLimitKind of ["window", "bucket"] as const) {
      for (const retryAfter of ["seconds", "date"] as const) {
        for (let late = 0; late < 1000; late += 137) {
          const { call, clock } = start({ rateLimit: 3, rateLimitKind, retryAfter });
          clock.now = START + late;
          for (let i = 0; i < 3; i += 1) await call("GET", ROLES);
          const text = (await call("GET", ROLES)).headers.get("retry-after") ?? "";
          clock.now = retryAfter === "date" ? Date.parse(text) : clock.now + Number(text) * 1000;
          expect((await call("GET", ROLES)).status).toBe(200);
        }
      }
    }
  });

  test.each([
    { rate_limit_kind: "leaky" },
    { rate_limit_burst: 0 },
    { retry_after: "soon" },
    { jitter_ms: -1 },
    { request_log: 1.5 },
  ])("and the other settings refuse %o", async (body) => {
    expect((await start().call("PUT", "/_sandbox/settings", { ...control, body })).status).toBe(400);
  });
});

describe("settings", () => {
  test("limit the rate of each key, with Retry-After", async () => {
    const seed = "merchants: [{ code: MC0DEMO1 }]\nkeys: [{ key: sk_test_sandbox }, { key: sk_test_other }]";
    const { call, clock } = start({ seed, rateLimit: 2 });
    clock.now = START + 250;
    expect((await call("GET", ROLES)).status).toBe(200);
    expect((await call("GET", ROLES)).status).toBe(200);
    const limited = await call("GET", ROLES);
    expect(limited.status).toBe(429);
    expect(limited.body.type).toBe("https://rolecall.invalid/problem/too-many-requests");
    expect(limited.headers.get("retry-after")).toBe("1");
    expect((await call("GET", ROLES, { key: "sk_test_other" })).status).toBe(200);
    clock.now = START + 1000;
    expect((await call("GET", ROLES)).status).toBe(200);
  });

  test("can be changed and read while it runs", async () => {
    const { call, waits } = start();
    const put = (body: object) => call("PUT", "/_sandbox/settings", { ...control, body });
    const changed = { ...DEFAULT_SETTINGS, rate_limit: 1, latency_ms: 70 };
    expect((await put({ rate_limit: 1, latency_ms: 70 })).body).toEqual(changed);
    await call("GET", ROLES);
    expect((await call("GET", ROLES)).status).toBe(429);
    expect(waits).toEqual([70, 70]);
    expect((await put({ rate_limit: null })).body).toEqual({ ...changed, rate_limit: null });
    expect((await call("GET", ROLES)).status).toBe(200);
    expect((await call("GET", "/_sandbox/settings", control)).body.rate_limit).toBe(null);
    expect((await put({ rate_limit: 0 })).status).toBe(400);
    expect((await put({ latency: 1 })).status).toBe(400);
  });

  test("limit guesses of keys without using up a real key's budget", async () => {
    const { call } = start({ rateLimit: 1 });
    expect((await call("GET", ROLES, { key: "sk_test_guess" })).status).toBe(401);
    expect((await call("GET", ROLES, { key: null })).status).toBe(429);
    expect((await call("GET", ROLES)).status).toBe(200);
  });
});

describe("a reset", () => {
  test("restores the initial members, ids, settings, faults and log", async () => {
    const { call } = start({ generate: 3, rateLimit: 100 });
    const all = () => call("GET", `/_sandbox${MEMBERS}`, control);
    const before = (await all()).body;
    const first = await call("POST", MEMBERS, { body: { email: "bob@x.example", roles: [] } });
    await call("PUT", "/_sandbox/settings", { ...control, body: { rate_limit: 5, latency_ms: 5 } });
    await call("POST", "/_sandbox/faults", { ...control, body: { kind: "status", status: 500 } });
    const got = await call("POST", "/_sandbox/reset", control);
    expect(got.body).toEqual({
      merchants: [{ code: "MC0DEMO1", name: "Demo Merchant", roles: 0, members: 4 }],
    });
    expect((await all()).body).toEqual(before);
    expect((await call("GET", "/_sandbox/faults", control)).body.rules).toEqual([]);
    const settings = { ...DEFAULT_SETTINGS, rate_limit: 100 };
    expect((await call("GET", "/_sandbox/settings", control)).body).toEqual(settings);
    const again = await call("POST", MEMBERS, { body: { email: "bob@x.example", roles: [] } });
    expect(again.body.id).toBe(first.body.id);
  });
});

describe("web pages", () => {
  const routes = [
    "/_sandbox",
    "/_sandbox/",
    "/_sandbox/requests",
    `/_sandbox${MEMBERS}`,
    MEMBERS,
    "/v0.1/none",
  ];

  test.each(routes)("neither a web page nor a foreign host name gets an answer: %s", async (path) => {
    const { call } = start();
    const ask = (headers: Record<string, string>) => call("GET", path, { headers });
    expect((await ask({ origin: "http://evil.example" })).status).toBe(403);
    expect((await ask({ origin: "null" })).status).toBe(403);
    expect((await ask({ "sec-fetch-site": "cross-site" })).status).toBe(403);
    expect((await ask({ "sec-fetch-site": "none" })).status).not.toBe(403);
    for (const host of [
      "evil.example",
      "evil.example:4010",
      "127.0.0.1.evil.example",
      "localhost.evil.example",
    ]) {
      expect((await ask({ host })).status).toBe(403);
    }
    for (const host of ["127.0.0.1:4010", "localhost", "LOCALHOST:1", "[::1]:4010", "127.1.2.3"]) {
      expect((await ask({ host })).status).not.toBe(403);
    }
  });

  test("get no answer from a sandbox that was opened to the network, and every host name does", async () => {
    const { call } = start({ anyHost: true });
    const headers = { host: "sandbox.internal:4010" };
    expect((await call("GET", "/_sandbox", { ...control, headers })).status).toBe(200);
    const page = { ...headers, origin: "http://sandbox.internal:4010" };
    expect((await call("GET", "/_sandbox", { ...control, headers: page })).status).toBe(403);
  });
});

test("a control route that does not exist is a 404 Problem", async () => {
  expect((await start().call("GET", "/_sandbox/none", control)).status).toBe(404);
});
