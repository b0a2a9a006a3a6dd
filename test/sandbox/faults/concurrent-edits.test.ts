import { describe, expect, test } from "vitest";
import { EDITS, editFits } from "../../../src/sandbox/faults/concurrent-edits.ts";
import { CONTRACT_OPERATIONS } from "../../../src/sandbox/routes/authorize.ts";
import { type Harness, MEMBERS, type MemberBody, ROLES, start } from "../support.ts";

const SEED = `
merchants:
  - code: MC0DEMO1
    roles:
      - { id: role_held, name: Held, permissions: [a] }
      - { id: role_free, name: Free, permissions: [a] }
    members:
      - { id: mem_owner, email: owner@example.com, roles: [role_owner] }
      - { id: mem_bob, email: bob@example.com, roles: [role_held], metadata: { team: blue } }
      - { id: mem_inv, email: inv@example.com, roles: [role_held], status: pending }
`;

const control = { key: null };

async function withRules(rules: readonly object[], seed = 1, seedFile = SEED): Promise<Harness> {
  const harness = start({ seed: seedFile });
  const got = await harness.call("PUT", "/_sandbox/faults", { ...control, body: { seed, rules } });
  expect(got.status).toBe(200);
  return harness;
}

interface Entry {
  readonly operation: string | null;
  readonly resource: string | null;
  readonly somebody_else: boolean;
  readonly committed: boolean;
  readonly path: string;
}

async function bySomebodyElse({ call }: Harness): Promise<readonly Entry[]> {
  const { items } = (await call("GET", "/_sandbox/requests", control)).body;
  return items.filter((entry: Entry) => entry.somebody_else && entry.committed);
}

describe("somebody else edits what a request is about, just before it", () => {
  const edit = (what: string) => ({ kind: "concurrent-edit", edit: what, nth: 1 });

  test.each([
    ["roles", "mem_bob", (now: MemberBody) => expect(now.roles).not.toEqual(["role_held"])],
    [
      "metadata",
      "mem_bob",
      (now: MemberBody) =>
        expect(now.metadata).toEqual({ team: "blue", edited_in_request: expect.any(Number) }),
    ],
    ["accept", "mem_inv", (now: MemberBody) => expect(now.status).toBe("accepted")],
    ["expire", "mem_inv", (now: MemberBody) => expect(now.status).toBe("expired")],
    ["disable", "mem_bob", (now: MemberBody) => expect(now.status).toBe("disabled")],
  ])("%s of member %s", async (what, id, holds) => {
    const harness = await withRules([edit(what)]);
    const { body } = await harness.call("GET", `${MEMBERS}/${id}`);
    holds(body);
    expect(await bySomebodyElse(harness)).toMatchObject([{ resource: id }]);
  });

  test.each([
    ["name", { name: expect.stringMatching(/^Free \(\d+\)$/) }],
    ["description", { description: expect.stringContaining("Edited") }],
    ["permissions", { permissions: ["a", "edited_by_somebody_else"] }],
  ])("%s of a role", async (what, expected) => {
    const { call } = await withRules([edit(what)]);
    expect((await call("GET", `${ROLES}/role_free`)).body).toMatchObject(expected);
  });

  test("deletes it, so that it is not there", async () => {
    const { call } = await withRules([edit("delete")]);
    expect((await call("GET", `${MEMBERS}/mem_bob`)).status).toBe(404);
    const roles = await withRules([edit("delete")]);
    const patched = await roles.call("PATCH", `${ROLES}/role_free`, { body: { description: "x" } });
    expect(patched.status).toBe(404);
  });

  test("creates it first, so that its name or address is taken", async () => {
    const member = { email: "new@example.com", roles: ["role_free"] };
    const harness = await withRules([edit("create")]);
    expect((await harness.call("POST", MEMBERS, { body: member })).status).toBe(409);
    const found = await harness.call("GET", `${MEMBERS}?email=new@`);
    expect(found.body.items).toMatchObject([{ roles: ["role_free"] }]);
    const roles = await withRules([edit("create")]);
    const role = { name: "New", permissions: [] };
    expect((await roles.call("POST", ROLES, { body: role })).status).toBe(409);
  });

  test("picks one of a list, by chance that repeats, and never the owner", async () => {
    const picked = async (seed: number): Promise<string | null | undefined> => {
      const harness = await withRules([edit("metadata")], seed);
      await harness.call("GET", MEMBERS);
      return (await bySomebodyElse(harness))[0]?.resource;
    };
    const all: unknown[] = [];
    for (let seed = 0; seed < 12; seed += 1) all.push(await picked(seed));
    expect(new Set(all)).toEqual(new Set(["mem_bob", "mem_inv"]));
    expect(await picked(7)).toBe(all[7]);
  });

  test("happens between a recheck and its write", async () => {
    const { call } = await withRules([{ ...edit("roles"), operation: "members.update" }]);
    const before = (await call("GET", `${MEMBERS}/mem_bob`)).body;
    const got = await call("PUT", `${MEMBERS}/mem_bob`, { body: { metadata: {} } });
    expect(got.status).toBe(200);
    expect(got.body.roles).not.toEqual(before.roles);
  });

  test("can be any request, also to a control route", async () => {
    const request = { method: "POST", path: "/merchants/MC0DEMO1/members/mem_inv/accept" };
    const { call } = await withRules([{ kind: "concurrent-edit", request, nth: 1 }]);
    expect((await call("GET", `${MEMBERS}/mem_inv`)).body.status).toBe("accepted");
  });

  test("every edit is possible in some operation, and refused in the others", async () => {
    const { call } = start();
    for (const what of EDITS) {
      expect(CONTRACT_OPERATIONS.some(({ name }) => editFits(what, name))).toBe(true);
      for (const { name } of CONTRACT_OPERATIONS) {
        const body = { kind: "concurrent-edit", edit: what, operation: name };
        const got = await call("POST", "/_sandbox/faults", { ...control, body });
        await call("DELETE", "/_sandbox/faults", control);
        expect(got.status).toBe(editFits(what, name) ? 200 : 400);
      }
    }
  });

  test("unrelated requests do not count", async () => {
    const { call } = await withRules([edit("accept")]);
    await call("GET", ROLES);
    await call("GET", "/v0.1/memberships");
    expect((await call("GET", `${MEMBERS}/mem_inv`)).body.status).toBe("accepted");
  });
});

describe("a listing that shifts while it is paged", () => {
  const MANY = `merchants: [{ code: MC0DEMO1, members: [{ email: owner@example.com, roles: [role_owner], id: mem_00 }, ${Array.from(
    { length: 11 },
    (_, i) => `{ email: m${i}@example.com, id: mem_${String(i + 1).padStart(2, "0")} }`,
  ).join(", ")}] }]`;
  const all = Array.from({ length: 12 }, (_, i) => `mem_${String(i).padStart(2, "0")}`);

  /** Pages as a naive client does. */
  async function paged({ call }: Harness): Promise<{ ids: string[]; totals: number[] }> {
    const ids: string[] = [];
    const totals: number[] = [];
    for (let offset = 0; ; offset += 4) {
      const { body } = await call("GET", `${MEMBERS}?limit=4&offset=${offset}`);
      ids.push(...body.items.map((one: MemberBody) => one.id));
      totals.push(body.total_count);
      if (body.items.length < 4) return { ids, totals };
    }
  }

  const shifted = (change: string, seed = 1): Promise<Harness> =>
    withRules([{ kind: "shift", change, nth: 1 }], seed, MANY);

  test("skips a member after a removal, which the count reveals", async () => {
    const harness = await shifted("remove");
    const { ids, totals } = await paged(harness);
    const [removed] = await bySomebodyElse(harness);
    expect(removed).toMatchObject({ operation: "members.delete" });
    const skipped = all.filter((id) => !ids.includes(id));
    expect(skipped).toEqual(["mem_04"]);
    expect(skipped).not.toContain(removed?.resource);
    expect(totals).toEqual([12, 11, 11]);
  });

  test("repeats a member after an addition, which the count reveals", async () => {
    const harness = await shifted("add");
    const { ids, totals } = await paged(harness);
    expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual(["mem_03"]);
    expect(totals).toEqual([12, 13, 13, 13]);
    expect((await bySomebodyElse(harness)).map(({ path }) => path.split("/").at(-1))).toEqual([
      "members",
      "to-front",
    ]);
  });

  test("skips one member and repeats another after a move, which only distinct ids reveal", async () => {
    const { ids, totals } = await paged(await shifted("move"));
    expect(totals).toEqual([12, 12, 12, 12]);
    expect(ids).toHaveLength(12);
    expect(new Set(ids).size).toBe(11);
  });

  test.each(["remove", "add", "move"])("is the same with the same seed: %s", async (change) => {
    const one = await paged(await shifted(change, 5));
    expect(await paged(await shifted(change, 5))).toEqual(one);
  });

  test("leaves first pages, filtered lists and other operations alone", async () => {
    const harness = await withRules([{ kind: "shift", change: "remove" }], 1, MANY);
    await harness.call("GET", MEMBERS);
    await harness.call("GET", `${MEMBERS}?offset=2&email=m`);
    await harness.call("GET", ROLES);
    expect(await bySomebodyElse(harness)).toEqual([]);
    await harness.call("GET", `${MEMBERS}?offset=2&scroll=true`);
    expect(await bySomebodyElse(harness)).toHaveLength(1);
  });

  test("persists after a restart from the saved state", async () => {
    let state = "";
    const harness = start({
      seed: MANY,
      save: async (text) => {
        state = text;
      },
      append: async (lines) => {
        state += lines;
      },
    });
    await harness.call("POST", "/_sandbox/merchants/MC0DEMO1/members/mem_07/to-front", control);
    await harness.call("POST", "/_sandbox/merchants/MC0DEMO1/members/m2@example.com/to-front", control);
    const ids = async ({ call }: Harness): Promise<string[]> =>
      (await call("GET", `${MEMBERS}?limit=5`)).body.items.map((one: MemberBody) => one.id);
    expect(await ids(harness)).toEqual(["mem_03", "mem_07", "mem_00", "mem_01", "mem_02"]);
    expect(await ids(start({ state }))).toEqual(await ids(harness));
  });
});
