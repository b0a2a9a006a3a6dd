import { describe, expect, test } from "vitest";
import {
  connectTo,
  failureOf,
  json,
  MEMBERS,
  pageOf,
  problem,
  ROLES,
  type Seen,
  wireMember,
  wireRole,
} from "./support.ts";

const nothing = () => new Response(null, { status: 204 });

describe("writing", () => {
  test("sends what the contract asks for, and nothing else", async () => {
    const { writer, seen } = connectTo(({ method }) =>
      method === "POST" ? json({ id: "new" }, 201) : nothing(),
    );
    const write = writer("MC1");
    await write.createRole({ name: "A", permissions: ["p"], description: "D", metadata: { a: 1 } });
    await write.updateRole("role_a/b", { permissions: ["q"] });
    await write.deleteRole("role_a");
    await write.createMember({ email: "a@example.com", roles: ["role_a"] });
    await write.createMember({
      email: "t@example.com",
      roles: [],
      metadata: { k: "v" },
      managed: { nickname: "T", password: "12345678" },
    });
    await write.updateMember("mem_a", { roles: ["role_a"], metadata: {} });
    await write.updateMember("mem_a", { roles: [], metadata: { k: 1 }, nickname: "N" });
    await write.deleteMember("mem_a");
    expect(seen.map(({ method, path, body }) => [method, path, body])).toEqual([
      ["POST", ROLES, { name: "A", permissions: ["p"], description: "D", metadata: { a: 1 } }],
      ["PATCH", `${ROLES}/role_a%2Fb`, { permissions: ["q"] }],
      ["DELETE", `${ROLES}/role_a`, undefined],
      ["POST", MEMBERS, { email: "a@example.com", roles: ["role_a"] }],
      [
        "POST",
        MEMBERS,
        {
          email: "t@example.com",
          roles: [],
          metadata: { k: "v" },
          is_managed_user: true,
          nickname: "T",
          password: "12345678",
        },
      ],
      ["PUT", `${MEMBERS}/mem_a`, { roles: ["role_a"], metadata: {} }],
      ["PUT", `${MEMBERS}/mem_a`, { roles: [], metadata: { k: 1 }, user: { nickname: "N" } }],
      ["DELETE", `${MEMBERS}/mem_a`, undefined],
    ]);
    expect(seen.map(({ headers }) => headers.get("content-type"))).toEqual(
      seen.map(({ body }) => (body === undefined ? null : "application/json")),
    );
  });

  test("omits fields that the service would not accept", async () => {
    const { writer, seen } = connectTo(({ method }) =>
      method === "POST" ? json({ id: "new" }, 201) : nothing(),
    );
    const stray = { attributes: { a: 1 }, id: "x", updatedAt: "y" };
    const write = writer("MC1");
    const patch = { description: "", metadata: { a: 1 }, ...stray };
    const draft = { name: "A", permissions: [], ...stray };
    const managed = { nickname: "T", password: "12345678", ...stray };
    await write.updateRole("role_a", patch);
    await write.createRole(draft);
    await write.createMember({ email: "a@example.com", roles: [], managed });
    expect(seen.map(({ body }) => body)).toEqual([
      { description: "" },
      { name: "A", permissions: [] },
      { email: "a@example.com", roles: [], is_managed_user: true, nickname: "T", password: "12345678" },
    ]);
  });

  test.each([200, 201, 202, 204])(
    "accepts %i as success, whatever the content type of an empty body",
    async (status) => {
      const empty = () => new Response(null, { status, headers: { "content-type": "text/html" } });
      const { writer } = connectTo(empty);
      await writer("MC1").updateRole("role_a", { name: "A" });
      await writer("MC1").deleteMember("mem_a");
    },
  );

  test("never addresses another resource", async () => {
    const { writer, seen } = connectTo(nothing);
    for (const id of ["", ".", ".."]) {
      await expect(async () => writer("MC1").deleteRole(id)).rejects.toMatchObject({ code: "bad-response" });
      await expect(async () => writer("MC1").deleteMember(id)).rejects.toMatchObject({
        code: "bad-response",
      });
    }
    expect(seen).toEqual([]);
  });
});

describe("a create whose response has no id", () => {
  const answers: readonly [string, () => Response][] = [
    ["nothing", nothing],
    ["half of it", () => new Response('{"id": "role_', { status: 201 })],
    ["something else", () => json({ ok: true })],
  ];

  test.each(answers)("finds the role by its exact name (%s)", async (_, created) => {
    const roles = [wireRole("role_1", { name: "Cashier 2" }), wireRole("role_2", { name: "Cashier" })];
    const { writer } = connectTo(({ method }) => (method === "POST" ? created() : json({ items: roles })));
    expect(await writer("MC1").createRole({ name: "Cashier", permissions: ["catalog_view"] })).toEqual({
      id: "role_2",
      adopted: false,
    });
  });

  test.each(answers)(
    "finds the member by the exact address, through all pages and past expired invitations (%s)",
    async (_, created) => {
      const longer = Array.from({ length: 30 }, (_item, index) => wireMember(`mem_${index}`));
      const invite = { email: "Ada@example.com", expires_at: "2026-01-01T00:00:00Z" };
      const members = [
        ...longer,
        wireMember("mem_old", { user: undefined, invite, status: "expired" }),
        wireMember("mem_new", { user: undefined, invite, status: "pending" }),
      ];
      const { writer, seen } = connectTo((one) =>
        one.method === "POST" ? created() : json(pageOf(members, one)),
      );
      expect(await writer("MC1").createMember({ email: "ada@EXAMPLE.com", roles: [] })).toEqual({
        id: "mem_new",
        adopted: false,
      });
      expect(seen.slice(1).map(({ query }) => [query.get("email"), query.get("offset")])).toEqual([
        ["ada@EXAMPLE.com", "0"],
        ["ada@EXAMPLE.com", "25"],
      ]);
    },
  );

  test("finds the member in pages of any size", async () => {
    const members = Array.from({ length: 40 }, (_, index) => wireMember(`mem_${index}`));
    const { writer } = connectTo((one) =>
      one.method === "POST" ? nothing() : json({ items: pageOf(members, one, 10).items }),
    );
    expect(await writer("MC1").createMember({ email: "mem_33@example.com", roles: [] })).toEqual({
      id: "mem_33",
      adopted: false,
    });
  });

  test("leaves it unknown where it is not listed or cannot be looked up", async () => {
    const lookUps = [
      () => json({ items: [], total_count: 0 }),
      () => problem(403),
      ({ path }: Seen) => json({ items: path === MEMBERS ? [wireMember("mem_x")] : [] }),
    ];
    for (const lookedUp of lookUps) {
      const { writer } = connectTo((one) => (one.method === "POST" ? nothing() : lookedUp(one)));
      const role = await failureOf(writer("MC1").createRole({ name: "A", permissions: [] }));
      const member = await failureOf(writer("MC1").createMember({ email: "a@example.com", roles: [] }));
      for (const failure of [role, member]) {
        expect(failure.request).toMatchObject({ uncertain: true });
        expect(failure.message).toMatch(
          /^The service reported that it created the (role "A"|member a@example\.com), /,
        );
      }
    }
  });
});
