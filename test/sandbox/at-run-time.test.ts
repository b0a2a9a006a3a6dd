import { describe, expect, test } from "vitest";
import { MEMBERS, ROLES, START, start } from "./support.ts";

const control = { key: null };

describe("merchants, keys and seeds at run time", () => {
  test("a merchant is added with its roles and members, once", async () => {
    const { call } = start();
    const body = {
      code: "MC2",
      roles: [{ name: "Cashier", permissions: ["catalog_view"] }],
      members: [{ email: "ann@example.com", roles: ["Cashier"] }],
    };
    expect(await call("POST", "/_sandbox/merchants", { ...control, body })).toMatchObject({
      status: 201,
      body: { code: "MC2", roles: 1, members: 1 },
    });
    const { items } = (await call("GET", "/v0.1/merchants/MC2/members")).body;
    const [role] = (await call("GET", "/v0.1/merchants/MC2/roles")).body.items;
    expect(items).toMatchObject([{ user: { email: "ann@example.com" }, roles: [role.id] }]);
    const again = await call("POST", "/_sandbox/merchants", { ...control, body });
    expect([again.status, again.body.detail]).toEqual([409, "There is already a merchant MC2."]);
  });

  test("a key may have any form, and few permissions; the same key again changes what it may do", async () => {
    const { call } = start();
    const add = (permissions: readonly string[]) =>
      call("POST", "/_sandbox/keys", { ...control, body: { key: "rk:restricted/1", permissions } });
    expect((await call("GET", ROLES, { key: "rk:restricted/1" })).status).toBe(401);
    expect((await add(["roles_list"])).status).toBe(201);
    expect((await call("GET", ROLES, { key: "rk:restricted/1" })).status).toBe(200);
    expect((await call("GET", MEMBERS, { key: "rk:restricted/1" })).status).toBe(403);
    await add(["merchant_read"]);
    expect((await call("GET", ROLES, { key: "rk:restricted/1" })).status).toBe(403);
    expect((await call("GET", MEMBERS, { key: "rk:restricted/1" })).status).toBe(200);
  });

  test("a seed replaces everything, and a reset returns to it", async () => {
    const { call } = start();
    const body = { merchants: [{ code: "MC3" }], keys: [{ key: "sk_test_three" }] };
    const planted = await call("PUT", "/_sandbox/seed", { ...control, body });
    expect(planted.body.merchants).toEqual([{ code: "MC3", name: "MC3", roles: 0, members: 0 }]);
    expect((await call("GET", ROLES)).status).toBe(401);
    const roles = "/v0.1/merchants/MC3/roles";
    await call("POST", roles, { key: "sk_test_three", body: { name: "A", permissions: [] } });
    await call("POST", "/_sandbox/reset", control);
    expect((await call("GET", roles, { key: "sk_test_three" })).body.items).toEqual([]);
  });

  test.each([
    ["/_sandbox/merchants", "POST", { code: "MC 2" }, /code: must consist of/],
    [
      "/_sandbox/merchants",
      "POST",
      { code: "MC2", colour: 1, members: [{ email: "a@b", roles: ["Nobody"] }] },
      /colour/,
    ],
    [
      "/_sandbox/merchants",
      "POST",
      { code: "MC2", members: [{ email: "a@b", roles: ["X"] }] },
      /members\.0\.roles\.0: there is no role "X"/,
    ],
    ["/_sandbox/keys", "POST", { key: "a", merchants: ["MC9"] }, /merchants\.0: there is no merchant MC9/],
    ["/_sandbox/keys", "POST", { key: "two words" }, /key: must be printable ASCII/],
    ["/_sandbox/seed", "PUT", { merchants: [] }, /merchants: must have at least one merchant/],
  ])("%s refuses what is not valid, with every problem: %#", async (path, method, body, problem) => {
    const got = await start().call(method, path, { ...control, body });
    expect(got.status).toBe(400);
    expect(got.body.detail).toMatch(problem);
  });

  test("what was added survives a restart with a state file", async () => {
    let saved = "";
    const { call } = start({
      save: async (state) => {
        saved = state;
      },
      append: async (lines) => {
        saved += lines;
      },
    });
    const members = [{ email: "ann@example.com" }];
    await call("POST", "/_sandbox/merchants", { ...control, body: { code: "MC2", members } });
    await call("POST", "/_sandbox/keys", { ...control, body: { key: "other-key" } });
    const created = await call("POST", "/v0.1/merchants/MC2/roles", { body: { name: "A", permissions: [] } });
    expect(created.status).toBe(201);
    const restarted = start({ state: saved });
    const got = await restarted.call("GET", "/v0.1/merchants/MC2/roles", { key: "other-key" });
    expect(got.body.items).toMatchObject([{ name: "A" }]);
  });
});

describe("the clock", () => {
  test("is moved by a duration, so that an invitation expires", async () => {
    const { call } = start();
    const { id } = (await call("POST", MEMBERS, { body: { email: "ann@example.com", roles: [] } })).body;
    await call("PUT", "/_sandbox/clock", { ...control, body: { advance: "6d" } });
    expect((await call("GET", `${MEMBERS}/${id}`)).body.status).toBe("pending");
    const moved = await call("PUT", "/_sandbox/clock", { ...control, body: { advance: "24h" } });
    expect(moved.body).toEqual({ now: new Date(START + 7 * 86_400_000).toISOString() });
    expect((await call("GET", `${MEMBERS}/${id}`)).body.status).toBe("expired");
  });

  test("is set to a time, runs on from there, and is reset", async () => {
    const { call, clock } = start();
    await call("PUT", "/_sandbox/clock", { ...control, body: { now: "2030-01-01T00:00:00+01:00" } });
    clock.now += 1500;
    expect((await call("GET", "/_sandbox/clock", control)).body).toEqual({ now: "2029-12-31T23:00:01.500Z" });
    await call("POST", "/_sandbox/reset", control);
    expect((await call("GET", "/_sandbox/clock", control)).body).toEqual({
      now: new Date(START + 1500).toISOString(),
    });
  });

  test.each([{}, { advance: "-1d" }, { advance: "1 day" }, { now: "tomorrow" }, { now: START }])(
    "refuses %o",
    async (body) => {
      expect((await start().call("PUT", "/_sandbox/clock", { ...control, body })).status).toBe(400);
    },
  );
});

describe("strict mode", () => {
  const unknown = [`${MEMBERS}?limt=25`, `${ROLES}?limit=25`, "/v0.1/memberships?user.id=x"];

  test.each(unknown)("refuses the unknown query parameter of %s", async (path) => {
    const strict = await start({ strict: true }).call("GET", path);
    expect(strict.status).toBe(400);
    expect(strict.body.detail).toMatch(/^The operation has no query parameter "(limt|limit|user\.id)"\.$/);
    expect((await start().call("GET", path)).status).toBe(200);
  });

  test("takes every known query parameter, and can be turned on at run time", async () => {
    const { call } = start();
    await call("PUT", "/_sandbox/settings", { ...control, body: { strict: true } });
    const known = `${MEMBERS}?offset=0&limit=25&scroll=true&email=o&user.type=user&status=accepted&roles=role_owner`;
    expect((await call("GET", known)).body.items).toHaveLength(1);
    expect((await call("DELETE", `${MEMBERS}/mem_x?force=true`)).status).toBe(400);
  });

  test("refuses unknown fields of a body, as always", async () => {
    for (const strict of [true, false]) {
      const body = { name: "A", permissions: [], colour: "red" };
      expect((await start({ strict }).call("POST", ROLES, { body })).status).toBe(400);
    }
  });
});

test.each([
  [256, 200],
  [257, 400],
])("a logo of %i characters gets a %i, as the contract limits it", async (length, status) => {
  const { call } = start();
  const logo = "https://example.com/".padEnd(length, "a");
  const members = [{ email: "owner@example.com" }];
  const body = {
    merchants: [{ code: "MC1", logo, members }],
    keys: [{ key: "k", owner: "owner@example.com" }],
  };
  const planted = await call("PUT", "/_sandbox/seed", { ...control, body });
  expect(planted.status).toBe(status);
  if (status !== 200) return;
  const { items } = (await call("GET", "/v0.1/memberships", { key: "k" })).body;
  expect(items[0].resource.logo).toBe(logo);
});
