import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { runs } from "../../support/property-runs.ts";
import { type Harness, kindOf, type MemberBody, start } from "../support.ts";

const SEED = `
merchants:
  - code: MC1
    roles: [{ name: Shift Lead, id: role_lead, permissions: [refunds_create] }]
    members:
      - { email: Ada@example.com, roles: [role_owner], id: mem_ada }
      - { email: adam@example.com, roles: [Shift Lead], id: mem_adam, status: pending }
      - { email: bob@example.com, roles: [role_employee, Shift Lead], id: mem_bob, status: expired }
      - { email: eve@example.com, roles: [role_employee], id: mem_eve, status: disabled }
      - { id: mem_ghost, no_address: true, roles: [role_admin], status: unknown }
      - { email: till@example.com, roles: [Shift Lead], id: mem_till, managed: { nickname: Till } }
`;

let sandbox: Harness;

beforeAll(() => {
  sandbox = start({ seed: SEED });
});

async function listed(query: string): Promise<string> {
  const { status, body } = await sandbox.call("GET", `/v0.1/merchants/MC1/members${query}`);
  expect(status).toBe(200);
  return body.items.map((member: MemberBody) => member.id.replace("mem_", "")).join(" ");
}

describe("listing members", () => {
  test.each([
    ["", "ada adam bob eve ghost till"],
    ["?limit=2", "ada adam"],
    ["?limit=2&offset=1", "adam bob"],
    ["?offset=5", "till"],
    ["?offset=6", ""],
    ["?offset=999999999999", ""],
    ["?email=ada", "ada adam"],
    ["?email=ADA%40", "ada"],
    ["?email=example", ""],
    ["?status=accepted", "ada till"],
    ["?status=pending", "adam"],
    ["?status=expired", "bob"],
    ["?status=disabled", "eve"],
    ["?status=unknown", "ghost"],
    ["?roles=role_lead", "adam bob till"],
    ["?roles=role_owner&roles=role_admin", "ada ghost"],
    ["?roles=role_none", ""],
    ["?roles=role_lead&status=accepted", "till"],
    ["?roles=role_lead&limit=1&offset=1", "bob"],
    ["?email=adam&roles=role_owner", ""],
    ["?user.type=managed_user", "till"],
    ["?user.type=user", "ada eve"],
    ["?user.type=system_account", ""],
  ])("with %s gives: %s", async (query, expected) => {
    expect(await listed(query)).toBe(expected);
  });

  test("finds a member by its user's id, in either case", async () => {
    const { body } = await sandbox.call("GET", "/v0.1/merchants/MC1/members/mem_ada");
    expect(await listed(`?user.id=${body.user.id}`)).toBe("ada");
    expect(await listed(`?user.id=${body.user.id.toUpperCase()}`)).toBe("ada");
    expect(await listed("?user.id=00000000-0000-4000-8000-000000000000")).toBe("");
  });

  test("counts everything that matches, not only the page", async () => {
    const count = async (query: string) =>
      (await sandbox.call("GET", `/v0.1/merchants/MC1/members${query}`)).body.total_count;
    expect(await count("?limit=1")).toBe(6);
    expect(await count("?roles=role_lead&limit=1&offset=2")).toBe(3);
    expect(await count("?email=nobody")).toBe(0);
    expect(await count("?scroll=false")).toBe(6);
  });

  test("leaves the count out with scroll=true, and gives the same page", async () => {
    for (const query of ["?limit=2&offset=1", "?limit=2&roles=role_lead"]) {
      const { body } = await sandbox.call("GET", `/v0.1/merchants/MC1/members${query}&scroll=true`);
      expect(body).not.toHaveProperty("total_count");
      expect(body.items.map((one: MemberBody) => one.id.slice(4)).join(" ")).toBe(await listed(query));
    }
  });

  test("gives 10 by default and 25 at most", async () => {
    const { call } = start({ generate: 40 });
    const path = "/v0.1/merchants/MC0DEMO1/members";
    expect((await call("GET", path)).body.items).toHaveLength(10);
    expect((await call("GET", `${path}?limit=25`)).body.items).toHaveLength(25);
  });

  test("has no user and no invitation for a member without an address", async () => {
    const { body } = await sandbox.call("GET", "/v0.1/merchants/MC1/members/mem_ghost");
    expect(body).not.toHaveProperty("user");
    expect(body).not.toHaveProperty("invite");
  });

  test.each([
    ["limit=0", "limit"],
    ["limit=26", "limit"],
    ["limit=ten", "limit"],
    ["limit=1.5", "limit"],
    ["limit=", "limit"],
    ["limit=1&limit=2", "limit"],
    ["offset=-1", "offset"],
    ["offset=1e3", "offset"],
    ["scroll=yes", "scroll"],
    ["status=gone", "status"],
    ["status=accepted&status=pending", "status"],
    ["user.id=17", "user.id"],
    ["email=a&email=b", "email"],
  ])("with %s is a 400 that names the parameter", async (query, named) => {
    const got = await sandbox.call("GET", `/v0.1/merchants/MC1/members?${query}`);
    expect([got.status, kindOf(got)]).toEqual([400, "bad-request"]);
    expect(got.body.detail).toContain(named);
  });
});

test("a prefix finds the same members as a scan, in the list's order, after any changes", async () => {
  const letters = fc.stringMatching(/^[ab]{1,4}$/);
  const step = fc.record({ email: letters, how: fc.constantFrom("add", "remove", "front", "look") });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), letters, async (steps, prefix) => {
      const { call } = start();
      const path = "/v0.1/merchants/MC0DEMO1/members";
      const all = async (): Promise<readonly MemberBody[]> =>
        (await call("GET", `${path}?limit=25`)).body.items;
      const addressOf = ({ user, invite }: MemberBody) => String(user?.["email"] ?? invite?.email);
      const look = async () => {
        const found = (await call("GET", `${path}?limit=25&email=${prefix}`)).body;
        const expected = (await all()).filter((one) => addressOf(one).startsWith(prefix));
        expect(found.items).toEqual(expected);
        expect(found.total_count).toBe(expected.length);
      };
      for (const { email, how } of steps) {
        const address = `${email}@x.example`;
        const there = (await all()).find((one) => addressOf(one) === address);
        if (how === "add") await call("POST", path, { body: { email: address, roles: [] } });
        if (how === "remove" && there) await call("DELETE", `${path}/${there.id}`);
        if (how === "front") {
          await call("POST", `/_sandbox/merchants/MC0DEMO1/members/${address}/to-front`, { key: null });
        }
        if (how === "look") await look();
      }
      await look();
    }),
    { numRuns: runs(60) },
  );
});

test("a prefix that too many addresses have is found all the same", async () => {
  const { call } = start({ generate: 1500 });
  const { body } = await call("GET", "/v0.1/merchants/MC0DEMO1/members?email=member-&limit=3&offset=1200");
  expect(body.total_count).toBe(1500);
  expect(body.items.map((one: MemberBody) => one.metadata)).toMatchObject([{ employee_id: "1201" }, {}, {}]);
});
