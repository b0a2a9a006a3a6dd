import { describe, expect, test } from "vitest";
import { CONTRACT_OPERATIONS } from "../../../src/sandbox/routes/authorize.ts";
import { kindOf, MEMBERS, ROLES, start } from "../support.ts";

const PERMISSIONS: Readonly<Record<string, string>> = {
  "GET /roles": "roles_list",
  "POST /roles": "roles_create",
  "GET /roles/role_x": "roles_view",
  "PATCH /roles/role_x": "roles_update",
  "DELETE /roles/role_x": "roles_delete",
  "GET /members": "merchant_read",
  "POST /members": "members_create",
  "GET /members/mem_x": "members_view",
  "PUT /members/mem_x": "members_update",
  "DELETE /members/mem_x": "members_delete",
};

function seedWith(permissions: readonly string[]): string {
  return `
merchants:
  - code: MC1
    roles: [{ name: X, id: role_x }]
    members: [{ email: ada@example.com, id: mem_x, roles: [role_admin] }]
  - code: MC2
keys: [{ key: sk_live_some, owner: ada@example.com, merchants: [MC1], permissions: [${permissions}] }]
`;
}

const BODIES: Readonly<Record<string, unknown>> = {
  "POST /roles": { name: "New", permissions: [] },
  "POST /members": { email: "new@x.example", roles: [] },
  "PATCH /roles/role_x": {},
  "PUT /members/mem_x": {},
};

describe("a key", () => {
  test.each(Object.entries(PERMISSIONS))(
    "may %s with %s alone, and not without it",
    async (route, needed) => {
      const [method = "", path = ""] = route.split(" ");
      const ask = { key: "sk_live_some", ...(BODIES[route] !== undefined && { body: BODIES[route] }) };
      const allowed = await start({ seed: seedWith([needed]) }).call(
        method,
        `/v0.1/merchants/MC1${path}`,
        ask,
      );
      expect(allowed.status).toBeLessThan(300);
      const others = [...Object.values(PERMISSIONS), "user.profile"].filter((one) => one !== needed);
      const refused = await start({ seed: seedWith(others) }).call(method, `/v0.1/merchants/MC1${path}`, ask);
      expect([refused.status, kindOf(refused)]).toEqual([403, "forbidden"]);
      expect(refused.body.detail).toContain(needed);
    },
  );

  test.each(Object.keys(PERMISSIONS))("may %s with the scope of its kind", async (route) => {
    const [method = "", path = ""] = route.split(" ");
    const ask = { key: "sk_live_some", ...(BODIES[route] !== undefined && { body: BODIES[route] }) };
    const [own, other] = path.startsWith("/roles") ? ["roles", "members"] : ["members", "roles"];
    const [needed, lesser] = method === "GET" ? ["read", "write"] : ["write", "read"];
    const callWith = (scopes: readonly string[]) =>
      start({ seed: seedWith(scopes) }).call(method, `/v0.1/merchants/MC1${path}`, ask);
    expect((await callWith([`${own}.${needed}`])).status).toBeLessThan(300);
    const refused = await callWith([`${own}.${lesser}`, `${other}.${needed}`]);
    expect([refused.status, refused.body.detail]).toEqual([
      403,
      `The API key lacks the scope ${own}.${needed}.`,
    ]);
  });

  test.each(["user.profile", "user.profile_readonly"])("may list memberships with %s", async (scope) => {
    const { call } = start({ seed: seedWith([scope]) });
    expect((await call("GET", "/v0.1/memberships", { key: "sk_live_some" })).status).toBe(200);
  });

  test("may not list memberships without either scope", async () => {
    const { call } = start({ seed: seedWith(["roles_list"]) });
    const got = await call("GET", "/v0.1/memberships", { key: "sk_live_some" });
    expect(got.status).toBe(403);
    expect(got.body.detail).toContain("user.profile or user.profile_readonly");
  });

  test("cannot tell somebody else's merchant from one that does not exist", async () => {
    const { call } = start({ seed: seedWith(Object.values(PERMISSIONS)) });
    const details: string[] = [];
    for (const code of ["MC2", "MC9"]) {
      const got = await call("GET", `/v0.1/merchants/${code}/members`, { key: "sk_live_some" });
      expect([got.status, kindOf(got)]).toEqual([404, "not-found"]);
      details.push(got.body.detail.replace(code, ""));
    }
    expect(details[0]).toBe(details[1]);
  });

  test("is needed for every operation", async () => {
    const { call } = start();
    for (const { method, path } of CONTRACT_OPERATIONS) {
      const got = await call(method, path.replace(":merchant", "MC0DEMO1"), { key: null });
      expect([got.status, kindOf(got)]).toEqual([401, "unauthorized"]);
      expect(got.headers.get("www-authenticate")).toBe("Bearer");
    }
  });

  test.each([
    ["is unknown", "Bearer sk_test_wrong"],
    ["has no scheme", "sk_test_sandbox"],
    ["has another scheme", "Basic sk_test_sandbox"],
    ["is followed by something", "Bearer sk_test_sandbox x"],
    ["is empty", "Bearer "],
  ])("that %s is a 401 that does not repeat it", async (_what, authorization) => {
    const got = await start().call("GET", ROLES, { key: null, headers: { authorization } });
    expect(got.status).toBe(401);
    expect(got.text).not.toContain("sk_test_");
  });

  test("is checked before the body is read", async () => {
    const { call } = start({ seed: seedWith(["roles_list"]) });
    const ask = { body: "no json", key: "sk_live_some" };
    expect((await call("POST", "/v0.1/merchants/MC1/roles", ask)).status).toBe(403);
    expect((await call("POST", "/v0.1/merchants/MC1/roles", { ...ask, key: null })).status).toBe(401);
  });
});

describe("a request that fits nothing", () => {
  test.each([
    "/",
    "/v0.1",
    "/v0.1/merchants/MC0DEMO1",
    `${ROLES}/`,
    `${MEMBERS}/mem_x/roles`,
    "/v0.2/memberships",
  ])("to %s is a 404 Problem", async (path) => {
    const got = await start().call("GET", path);
    expect([got.status, kindOf(got)]).toEqual([404, "not-found"]);
    expect(got.headers.get("content-type")).toBe("application/problem+json");
  });

  test.each([
    ["PUT", ROLES, "GET, POST"],
    ["PUT", `${ROLES}/role_x`, "GET, PATCH, DELETE"],
    ["PATCH", `${MEMBERS}/mem_x`, "GET, PUT, DELETE"],
    ["DELETE", "/v0.1/memberships", "GET"],
  ])("%s %s is a 405 that allows %s", async (method, path, allow) => {
    const got = await start().call(method, path);
    expect([got.status, kindOf(got)]).toEqual([405, "method-not-allowed"]);
    expect(got.headers.get("allow")).toBe(allow);
  });
});

describe("a body", () => {
  const role = JSON.stringify({ name: "A", permissions: [] });

  test.each(["text/plain", "application/x-www-form-urlencoded", "application/jsonx", ""])(
    "of type %j is a 415",
    async (type) => {
      const got = await start().call("POST", ROLES, { body: role, headers: { "content-type": type } });
      expect([got.status, kindOf(got)]).toEqual([415, "unsupported-media-type"]);
    },
  );

  test("may name its charset", async () => {
    const headers = { "content-type": "Application/JSON; charset=utf-8" };
    expect((await start().call("POST", ROLES, { body: role, headers })).status).toBe(201);
  });

  test.each(["", "{", "undefined", '{"name":"A",}'])("that is %j is a 400", async (body) => {
    const got = await start().call("POST", ROLES, { body });
    expect([got.status, kindOf(got)]).toEqual([400, "bad-request"]);
  });

  test("over a megabyte is a 413, whether it says its length or not", async () => {
    const { call } = start();
    const body = JSON.stringify({ name: "x".repeat(1_048_576), permissions: [] });
    const counted = await call("POST", ROLES, { body });
    expect([counted.status, kindOf(counted)]).toEqual([413, "content-too-large"]);
    const headers = { "content-length": `${body.length}` };
    expect((await call("POST", ROLES, { body, headers })).status).toBe(413);
  });

  test("whose metadata names __proto__ changes nothing but that metadata", async () => {
    const { call } = start();
    const body = '{"name":"A","permissions":[],"metadata":{"__proto__":{"polluted":true}}}';
    const got = await call("POST", ROLES, { body });
    expect(got.status).toBe(201);
    expect(got.text).toContain('"__proto__":{"polluted":true}');
    expect({}).not.toHaveProperty("polluted");
  });
});

describe("every Problem", () => {
  test("says what, why and where", async () => {
    const { call } = start();
    const got = await call("GET", `${ROLES}/role_none`);
    expect(got.body).toEqual({
      type: "https://rolecall.invalid/problem/not-found",
      title: "Not Found",
      status: 404,
      detail: "There is no role role_none.",
      instance: "https://rolecall.invalid/_sandbox/requests/1",
    });
    const entry = await call("GET", new URL(got.body.instance).pathname, { key: null });
    expect(entry.body).toMatchObject({ number: 1, status: 404, path: `${ROLES}/role_none` });
  });
});
