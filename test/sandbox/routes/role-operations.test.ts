import { describe, expect, test } from "vitest";
import { kindOf, MEMBERS, ROLES, START, start } from "../support.ts";

const SHIFT_LEAD = { name: "Shift Lead", permissions: ["refunds_create", "catalog_view"] };

describe("creating a role", () => {
  test("answers 201 with the role and a new id", async () => {
    const { call } = start();
    const body = { ...SHIFT_LEAD, description: "Opens the till", metadata: { owner: "ops" } };
    const created = await call("POST", ROLES, { body });
    expect(created.status).toBe(201);
    const now = new Date(START).toISOString();
    expect(created.body).toEqual({
      ...body,
      id: expect.stringMatching(/^role_[A-Za-z0-9]+$/),
      is_predefined: false,
      created_at: now,
      updated_at: now,
    });
    expect((await call("GET", `${ROLES}/${created.body.id}`)).body).toEqual(created.body);
  });

  test("gives the same ids in every run", async () => {
    const ids = await Promise.all(
      [start(), start()].map(async ({ call }) => (await call("POST", ROLES, { body: SHIFT_LEAD })).body.id),
    );
    expect(ids[0]).toBe(ids[1]);
  });

  test("with a taken name is a 409 that names the holder", async () => {
    const { call } = start();
    const { body: first } = await call("POST", ROLES, { body: SHIFT_LEAD });
    const second = await call("POST", ROLES, { body: SHIFT_LEAD });
    expect(second.status).toBe(409);
    expect(kindOf(second)).toBe("conflict");
    expect(second.body.detail).toContain(first.id);
  });

  test.each([
    ["no name", { permissions: [] }, "name"],
    ["an empty name", { name: " ", permissions: [] }, "name"],
    ["no permissions", { name: "A" }, "permissions"],
    ["an empty permission", { name: "A", permissions: [""] }, "permissions.0"],
    ["a permission that is a number", { name: "A", permissions: [1] }, "permissions.0"],
    [
      "101 permissions",
      { name: "A", permissions: Array.from({ length: 101 }, (_, i) => `p${i}`) },
      "permissions",
    ],
    ["metadata that is a list", { name: "A", permissions: [], metadata: [] }, "metadata"],
    ["65 metadata properties", { name: "A", permissions: [], metadata: wide(65) }, "metadata"],
    ["metadata that is nested too deep", { name: "A", permissions: [], metadata: deep(40) }, "metadata"],
    ["a field that does not exist", { name: "A", permissions: [], color: "red" }, "color"],
    ["a null description", { name: "A", permissions: [], description: null }, "description"],
    ["a list as the body", [], "expected object"],
  ])("with %s is a 400 that says so", async (_what, body, named) => {
    const { call } = start();
    const got = await call("POST", ROLES, { body });
    expect(got.status).toBe(400);
    expect(kindOf(got)).toBe("bad-request");
    expect(got.body.detail).toContain(named);
    expect((await call("GET", ROLES)).body.items).toEqual([]);
  });

  test("takes 100 permissions and 64 metadata properties", async () => {
    const { call } = start();
    const permissions = Array.from({ length: 100 }, (_, i) => `p${i}`);
    const got = await call("POST", ROLES, { body: { name: "A", permissions, metadata: wide(64) } });
    expect(got.status).toBe(201);
    expect(got.body.metadata).toEqual(wide(64));
  });
});

describe("listing roles", () => {
  test("gives the custom ones in the order of their creation, without a count", async () => {
    const { call } = start();
    for (const name of ["B", "A", "C"]) await call("POST", ROLES, { body: { name, permissions: [] } });
    const { status, body } = await call("GET", ROLES);
    expect(status).toBe(200);
    expect(Object.keys(body)).toEqual(["items"]);
    expect(body.items.map((role: { name: string }) => role.name)).toEqual(["B", "A", "C"]);
  });
});

describe("retrieving a role", () => {
  test.each(["role_owner", "role_admin", "role_manager", "role_employee", "role_accountant"])(
    "answers for the predefined %s, which is not listed",
    async (id) => {
      const { call } = start();
      const { status, body } = await call("GET", `${ROLES}/${id}`);
      expect(status).toBe(200);
      expect(body).toMatchObject({ id, is_predefined: true });
      expect(body.permissions.length).toBeGreaterThan(2);
      expect((await call("GET", ROLES)).body.items).toEqual([]);
    },
  );

  test("is a 404 where there is none", async () => {
    const got = await start().call("GET", `${ROLES}/role_none`);
    expect(got.status).toBe(404);
    expect(kindOf(got)).toBe("not-found");
  });
});

describe("updating a role", () => {
  test("changes what is sent, leaves the rest, and moves updated_at", async () => {
    const { call, clock } = start();
    const { body: before } = await call("POST", ROLES, { body: { ...SHIFT_LEAD, metadata: { a: 1 } } });
    clock.now += 5000;
    const after = await call("PATCH", `${ROLES}/${before.id}`, { body: { description: "New" } });
    expect(after.status).toBe(200);
    expect(after.body).toEqual({
      ...before,
      description: "New",
      updated_at: new Date(clock.now).toISOString(),
    });
    const renamed = await call("PATCH", `${ROLES}/${before.id}`, { body: { name: "Lead", permissions: [] } });
    expect(renamed.body).toMatchObject({ name: "Lead", permissions: [], description: "New" });
    // The clock stood still, and the change can be told from the one before all the same.
    expect(renamed.body.updated_at > after.body.updated_at).toBe(true);
  });

  test("may send the role's own name", async () => {
    const { call } = start();
    const { body } = await call("POST", ROLES, { body: SHIFT_LEAD });
    const got = await call("PATCH", `${ROLES}/${body.id}`, { body: { name: "Shift Lead" } });
    expect(got.status).toBe(200);
  });

  test("with metadata is a 400, and changes nothing", async () => {
    const { call } = start();
    const { body } = await call("POST", ROLES, { body: SHIFT_LEAD });
    const got = await call("PATCH", `${ROLES}/${body.id}`, { body: { name: "X", metadata: {} } });
    expect(got.status).toBe(400);
    expect(got.body.detail).toContain("metadata");
    expect((await call("GET", `${ROLES}/${body.id}`)).body).toEqual(body);
  });

  test("to another role's name is a 409", async () => {
    const { call } = start();
    await call("POST", ROLES, { body: SHIFT_LEAD });
    const { body } = await call("POST", ROLES, { body: { name: "B", permissions: [] } });
    expect((await call("PATCH", `${ROLES}/${body.id}`, { body: { name: "Shift Lead" } })).status).toBe(409);
  });

  test("is a 422 for a predefined one and a 404 for none", async () => {
    const { call } = start();
    const predefined = await call("PATCH", `${ROLES}/role_admin`, { body: {} });
    expect([predefined.status, kindOf(predefined)]).toEqual([422, "unprocessable-entity"]);
    expect((await call("PATCH", `${ROLES}/role_none`, { body: {} })).status).toBe(404);
  });
});

describe("deleting a role", () => {
  test("answers 200 with an empty body, and the role is gone", async () => {
    const { call } = start();
    const { body } = await call("POST", ROLES, { body: SHIFT_LEAD });
    const got = await call("DELETE", `${ROLES}/${body.id}`);
    expect([got.status, got.text]).toEqual([200, ""]);
    expect((await call("GET", `${ROLES}/${body.id}`)).status).toBe(404);
    expect((await call("DELETE", `${ROLES}/${body.id}`)).status).toBe(404);
    expect((await call("POST", ROLES, { body: SHIFT_LEAD })).status).toBe(201);
  });

  test("is a 409 while a member holds it", async () => {
    const { call } = start();
    const { body: role } = await call("POST", ROLES, { body: SHIFT_LEAD });
    const { body: member } = await call("POST", MEMBERS, {
      body: { email: "a@x.example", roles: [role.id] },
    });
    const held = await call("DELETE", `${ROLES}/${role.id}`);
    expect(held.status).toBe(409);
    expect(held.body.detail).toContain(member.id);
    await call("DELETE", `${MEMBERS}/${member.id}`);
    expect((await call("DELETE", `${ROLES}/${role.id}`)).status).toBe(200);
  });

  test("is a 422 for a predefined one", async () => {
    expect((await start().call("DELETE", `${ROLES}/role_owner`)).status).toBe(422);
  });
});

function wide(count: number): Record<string, number> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`key${index}`, index]));
}

function deep(levels: number): object {
  return levels === 0 ? {} : { inner: deep(levels - 1) };
}
