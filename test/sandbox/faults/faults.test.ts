import { describe, expect, test } from "vitest";
import { ConnectionLost } from "../../../src/sandbox/http/response.ts";
import { type Harness, MEMBERS, ROLES, START, start } from "../support.ts";

const BOB = { email: "bob@x.example", roles: [] };

async function withFaults(rules: readonly object[], seed = 1): Promise<Harness> {
  const harness = start();
  const got = await harness.call("PUT", "/_sandbox/faults", { key: null, body: { seed, rules } });
  expect(got.status).toBe(200);
  return harness;
}

/** Looks past the faults. */
async function membersOf({ call }: Harness): Promise<number> {
  return (await call("GET", `/_sandbox${MEMBERS}`, { key: null })).body.total_count;
}

describe("a fault", () => {
  test.each([400, 402, 424, 429, 500, 503, 599])(
    "answers %i with a Problem, and nothing is done",
    async (status) => {
      const harness = await withFaults([{ kind: "status", status, detail: "Because.", wait: 7 }]);
      const got = await harness.call("POST", MEMBERS, { body: BOB });
      expect(got.status).toBe(status);
      expect(got.headers.get("content-type")).toBe("application/problem+json");
      expect(got.headers.get("retry-after")).toBe("7");
      expect(got.body).toMatchObject({ status, detail: "Because." });
      expect(got.body.type).toMatch(/^https:\/\/rolecall\.invalid\/problem\/[a-z-]+$/);
      expect(await membersOf(harness)).toBe(1);
    },
  );

  test.each([
    [{}, 404, undefined],
    [{ answer: "other-id" }, 200, "role_admin_internal"],
  ])("hides predefined roles only (%o)", async (rule, status, id) => {
    const harness = await withFaults([{ kind: "predefined-role", ...rule }]);
    const got = await harness.call("GET", `${ROLES}/role_admin`);
    expect([got.status, got.body.id]).toEqual([status, id]);
    const made = await harness.call("POST", ROLES, { body: { name: "Mine", permissions: [] } });
    expect((await harness.call("GET", `${ROLES}/${made.body.id}`)).body.id).toBe(made.body.id);
  });

  test("refuses to assign an owner or an admin, and leaves those there are", async () => {
    const harness = await withFaults([{ kind: "unassignable-roles" }]);
    const { body } = await harness.call("GET", MEMBERS);
    const [ada] = body.items;
    const held = await harness.call("PUT", `${MEMBERS}/${ada.id}`, {
      body: { roles: [...ada.roles, "role_manager"] },
    });
    expect(held.status).toBe(200);
    const bob = await harness.call("POST", MEMBERS, { body: BOB });
    for (const role of ["role_owner", "role_admin"]) {
      const granted = await harness.call("PUT", `${MEMBERS}/${bob.body.id}`, { body: { roles: [role] } });
      expect([granted.status, granted.body.detail]).toEqual([
        403,
        `The role ${role} cannot be assigned through the API.`,
      ]);
      const body = { email: "eve@x.example", roles: [role] };
      expect((await harness.call("POST", MEMBERS, { body })).status).toBe(403);
    }
  });

  test("omits its fields from lists and from single resources", async () => {
    const fields = ["user.virtual_user", "user.nobody.knows", "created_at"];
    const harness = await withFaults([{ kind: "without-fields", fields }]);
    const { body } = await harness.call("GET", MEMBERS);
    for (const one of [body.items[0], (await harness.call("GET", `${MEMBERS}/${body.items[0].id}`)).body]) {
      expect(one.user).toMatchObject({ type: "user", service_account_user: false });
      expect(one.user).not.toHaveProperty("virtual_user");
      expect(one).not.toHaveProperty("created_at");
    }
  });

  test("can drop the response after the write took effect", async () => {
    const harness = await withFaults([{ kind: "status", status: 503, effect: "after" }]);
    expect((await harness.call("POST", MEMBERS, { body: BOB })).status).toBe(503);
    expect(await membersOf(harness)).toBe(2);
  });

  test.each([
    ["before", 1],
    ["after", 2],
  ])("returns an HTML page instead of JSON, %s the write", async (effect, members) => {
    const harness = await withFaults([{ kind: "html", effect }]);
    const got = await harness.call("POST", MEMBERS, { body: BOB });
    expect(got.status).toBe(200);
    expect(got.headers.get("content-type")).toContain("text/html");
    expect(got.text).toContain("<html>");
    expect(await membersOf(harness)).toBe(members);
  });

  test.each([
    ["reset-before", 1],
    ["reset-after", 2],
    ["truncate", 2],
  ])("breaks the connection: %s", async (kind, members) => {
    const harness = await withFaults([{ kind }]);
    await expect(harness.call("POST", MEMBERS, { body: BOB })).rejects.toThrow(ConnectionLost);
    expect(await membersOf(harness)).toBe(members);
    const { body } = await harness.call("GET", "/_sandbox/requests", { key: null });
    expect(body.items.at(1)).toMatchObject({ status: null, faults: [kind] });
    expect(harness.lines[1]).toContain("connection-lost");
  });

  test("truncates a body with a matching content length", async () => {
    const { call } = await withFaults([{ kind: "partial-json" }]);
    const got = await call("GET", MEMBERS);
    expect(got.status).toBe(200);
    expect(got.text).toMatch(/^\{"items"/);
    expect(() => JSON.parse(got.text)).toThrow(SyntaxError);
  });

  test("waits, or stalls and breaks off", async () => {
    const harness = await withFaults([
      { kind: "latency", ms: 30, nth: 1 },
      { kind: "stall", ms: 90_000, nth: 2 },
    ]);
    expect((await harness.call("GET", ROLES)).status).toBe(200);
    expect(harness.waits).toEqual([30]);
    await expect(harness.call("POST", MEMBERS, { body: BOB })).rejects.toThrow(ConnectionLost);
    expect(harness.waits).toEqual([30, 90_000]);
    expect(await membersOf(harness)).toBe(1);
  });

  test("adds unknown fields to lists and to single resources", async () => {
    const { call } = await withFaults([{ kind: "unknown-fields" }]);
    const extra = { x_flag: true, x_added_later: { nested: [1, null] } };
    const list = await call("GET", MEMBERS);
    expect(list.body).toMatchObject({ ...extra, total_count: 1 });
    expect(list.body.items[0]).toMatchObject({ ...extra, status: "accepted" });
    expect((await call("GET", `${ROLES}/role_owner`)).body).toMatchObject({ ...extra, name: "Owner" });
  });

  test("makes a concurrent edit just before the request", async () => {
    const { call } = start();
    const { body } = await call("POST", MEMBERS, { body: BOB });
    const path = `${MEMBERS}/${body.id}`;
    const request = { method: "PUT", path, body: { metadata: { by: "somebody else" } } };
    const rule = { kind: "concurrent-edit", operation: "members.retrieve", request };
    await call("POST", "/_sandbox/faults", { key: null, body: rule });
    expect((await call("GET", path)).body.metadata).toEqual({ by: "somebody else" });
    const gone = { ...rule, request: { method: "DELETE", path } };
    await call("PUT", "/_sandbox/faults", { key: null, body: { rules: [gone] } });
    expect((await call("GET", path)).status).toBe(404);
  });
});

describe("a fault's aim", () => {
  async function hits(aim: object, count = 12, seed = 1): Promise<string> {
    const { call } = await withFaults([{ kind: "status", status: 500, ...aim }], seed);
    let marks = "";
    for (let i = 0; i < count; i += 1) marks += (await call("GET", ROLES)).status === 500 ? "x" : ".";
    return marks;
  }

  test("is every request, or the nth, or every nth, or so many", async () => {
    expect(await hits({}, 3)).toBe("xxx");
    expect(await hits({ nth: 2 }, 5)).toBe(".x...");
    expect(await hits({ every: 3 }, 7)).toBe("..x..x.");
    expect(await hits({ times: 2 }, 4)).toBe("xx..");
    expect(await hits({ every: 2, times: 2 }, 8)).toBe(".x.x....");
  });

  test("is one operation", async () => {
    const { call } = await withFaults([{ kind: "status", status: 500, operation: "members.list", nth: 1 }]);
    expect((await call("GET", ROLES)).status).toBe(200);
    expect((await call("GET", MEMBERS)).status).toBe(500);
    expect((await call("GET", MEMBERS)).status).toBe(200);
  });

  test("is random, and repeats with its seed", async () => {
    const first = await hits({ probability: 0.5 }, 60);
    expect(await hits({ probability: 0.5 }, 60)).toBe(first);
    expect(await hits({ probability: 0.5 }, 60, 2)).not.toBe(first);
    expect(first.replaceAll(".", "").length).toBeGreaterThan(15);
    expect(first.replaceAll("x", "").length).toBeGreaterThan(15);
    expect(await hits({ probability: 0 }, 5)).toBe(".....");
    expect(await hits({ probability: 1 }, 5)).toBe("xxxxx");
  });
});

describe("the list of faults", () => {
  test("can be read, added to and cleared", async () => {
    const { call } = await withFaults([{ kind: "reset-before", nth: 3 }], 9);
    const control = { key: null };
    const added = await call("POST", "/_sandbox/faults", { ...control, body: { kind: "html" } });
    const html = { kind: "html", effect: "before", status: 200 };
    const all = { seed: 9, rules: [{ kind: "reset-before", nth: 3 }, html] };
    expect(added.body).toEqual(all);
    expect((await call("GET", "/_sandbox/faults", control)).body).toEqual(all);
    await call("DELETE", "/_sandbox/faults", control);
    expect((await call("GET", ROLES)).status).toBe(200);
  });

  test.each([
    [{ wait: 7 }, "7"],
    [{ wait: 7, retry_after: "seconds" }, "7"],
    [{ wait: 7, retry_after: "date" }, new Date(START + 7000).toUTCString()],
    [{ wait: 7, retry_after: "none" }, null],
    [{ retry_after: "seconds" }, "1"],
    [{}, null],
  ])("retry_after has the forms of the settings: %o sends %s", async (fields, expected) => {
    const { call } = await withFaults([{ kind: "status", status: 429, ...fields }]);
    expect((await call("GET", ROLES)).headers.get("retry-after")).toBe(expected);
  });

  test.each([
    { kind: "nonsense" },
    { kind: "status" },
    { kind: "status", status: 200 },
    { kind: "latency" },
    { kind: "html", probability: 2 },
    { kind: "html", operation: "roles.paint" },
    { kind: "html", nth: 0 },
    { kind: "status", status: 500, retry_after: "7" },
    { kind: "concurrent-edit", request: { method: "PUT", path: "/_sandbox/reset" } },
  ])("refuses %o with a 400", async (rule) => {
    const got = await start().call("POST", "/_sandbox/faults", { key: null, body: rule });
    expect(got.status).toBe(400);
  });
});
