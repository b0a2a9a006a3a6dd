import { describe, expect, test } from "vitest";
import { createSandbox } from "../../src/sandbox/create-sandbox.ts";
import { createClock } from "../support/clock.ts";
import { connectToFetch, failureOf } from "./support.ts";

const KEY = "sk_test_sandbox";
const MERCHANT = "MC0DEMO1";

interface Options {
  readonly generate?: number;
  readonly seed?: string;
  readonly rules?: readonly object[];
  readonly key?: string;
}

async function start({ rules = [], key = KEY, ...options }: Options = {}) {
  const { now, sleep } = createClock();
  const sandbox = createSandbox({ now, sleep, ...options });
  const set = await sandbox.fetch(
    new Request("http://127.0.0.1/_sandbox/faults", {
      method: "PUT",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ seed: 7, rules }),
    }),
  );
  expect(set.status).toBe(200);
  return connectToFetch(sandbox.fetch, { key });
}

/** An owner of more merchants than fit on one page, and a key that is nobody's. */
const CHAIN = JSON.stringify({
  merchants: Array.from({ length: 30 }, (_, index) => ({
    code: `MC${index}`,
    members: [
      { email: "other@example.com", roles: ["role_owner"] },
      ...(index === 7 ? [] : [{ email: "owner@example.com", roles: ["role_employee"] }]),
    ],
  })),
  keys: [
    { key: "sk_test_owner", owner: "owner@example.com" },
    { key: "sk_test_nobody", permissions: ["roles_list", "roles_view", "merchant_read"] },
  ],
});

describe("against the sandbox", () => {
  test("the key's own member is known at each of many merchants, and asked for once besides that of the first", async () => {
    const { reader, events } = await start({ seed: CHAIN, key: "sk_test_owner" });
    const states = await Promise.all(["MC0", "MC29", "MC7"].map((code) => reader.read(code, [])));
    for (const { members, callerId } of states.slice(0, 2)) {
      const own = members.find(({ user }) => user?.email === "owner@example.com");
      expect(own).toBeDefined();
      expect(callerId).toBe(own?.id);
    }
    expect(states[2]?.callerId).toBeNull();
    const asked = events.filter((event) => event.type === "request" && event.path.includes("memberships"));
    expect(asked).toHaveLength(3);
    expect(events.map(({ type }) => type)).not.toContain("caller-unknown");
  });

  test.each([
    ["with both", []],
    ["without the booleans", ["user.virtual_user", "user.service_account_user"]],
    ["without the type", ["user.type"]],
  ])("user types are the same from responses %s", async (_, fields) => {
    const seed = JSON.stringify({
      merchants: [
        {
          code: MERCHANT,
          members: [
            { email: "ada@example.com", roles: ["role_owner"] },
            { email: "till@example.com", managed: {} },
            { email: "bot@example.com", service_account: true },
          ],
        },
      ],
    });
    const rules = fields.length > 0 ? [{ kind: "without-fields", fields }] : [];
    const { reader } = await start({ seed, rules });
    const { members } = await reader.read(MERCHANT, []);
    expect(members.map(({ user }) => user?.type)).toEqual(["user", "managed_user", "service_account"]);
  });

  test("a user type that nobody knows is read as it is, whatever the booleans say", async () => {
    const seed = JSON.stringify({
      merchants: [{ code: MERCHANT, members: [{ email: "bot@example.com", type: "robot" }] }],
    });
    const { members } = await (await start({ seed, key: "sk_test_sandbox" })).reader.read(MERCHANT, []);
    expect(members[0]?.user?.type).toBe("robot");
  });

  test("a user without type and booleans has an unknown type", async () => {
    const fields = ["user.type", "user.virtual_user", "user.service_account_user"];
    const { reader } = await start({ rules: [{ kind: "without-fields", fields }] });
    const { members } = await reader.read(MERCHANT, []);
    expect(members.map(({ user }) => user?.type)).toEqual(["unknown"]);
  });

  test.each(["not-found", "other-id"])(
    "a predefined role is taken as it stands where it is %s",
    async (answer) => {
      const { reader, writer } = await start({ rules: [{ kind: "predefined-role", answer }] });
      const named = ["role_cashier", "role_typo"];
      const { roles } = await reader.read(MERCHANT, named);
      expect(roles.map(({ id, idOnly }) => [id, idOnly])).toEqual([
        ["role_cashier", true],
        ["role_owner", true],
      ]);
      await writer(MERCHANT).createMember({ email: "ada@example.com", roles: ["role_cashier"] });
      const { members } = await reader.read(MERCHANT, named);
      expect(members.map((member) => member.roles)).toEqual([["role_owner"], ["role_cashier"]]);
    },
  );

  test("a key without a user can read, which is reported once", async () => {
    const { reader, events } = await start({ seed: CHAIN, key: "sk_test_nobody" });
    const states = await Promise.all(["MC0", "MC1"].map((code) => reader.read(code, [])));
    expect(states.map(({ callerId, members }) => [callerId, members.length])).toEqual([
      [null, 2],
      [null, 2],
    ]);
    const told = events.flatMap((event) => (event.type === "caller-unknown" ? [event.reason] : []));
    expect(told).toHaveLength(1);
    expect(told[0]).toMatch(/403 Forbidden.*user\.profile or user\.profile_readonly to list memberships/);
  });

  test("what is written is what is read", async () => {
    const { reader, writer } = await start();
    const write = writer(MERCHANT);
    const { id: role } = await write.createRole({
      name: "Cashier",
      permissions: ["catalog_view"],
      metadata: { a: { b: [1] } },
    });
    await write.updateRole(role, { description: "Sells", permissions: ["catalog_view", "refunds_create"] });
    const { id: member } = await write.createMember({
      email: "ada@example.com",
      roles: [role, "role_employee"],
      metadata: { k: "v" },
    });
    await write.updateMember(member, { roles: ["role_employee"], metadata: {} });
    const live = await reader.read(MERCHANT, ["role_manager", "role_nowhere"]);
    expect(live.roles.find(({ id }) => id === role)).toMatchObject({
      name: "Cashier",
      description: "Sells",
      metadata: { a: { b: [1] } },
    });
    expect(live.roles.filter(({ predefined }) => predefined).map(({ id }) => id)).toEqual(
      expect.arrayContaining(["role_employee", "role_manager"]),
    );
    expect(live.members.find(({ id }) => id === member)).toMatchObject({
      status: "pending",
      roles: ["role_employee"],
      metadata: {},
      invite: { email: "ada@example.com" },
    });
    await write.deleteMember(member);
    await write.deleteRole(role);
    const after = await reader.read(MERCHANT, []);
    expect([...after.members, ...after.roles].map(({ id }) => id)).not.toEqual(
      expect.arrayContaining([member]),
    );
  });

  test("a conflict comes with the sandbox's own Problem", async () => {
    const { writer } = await start();
    await writer(MERCHANT).createRole({ name: "Cashier", permissions: [] });
    const failure = await failureOf(writer(MERCHANT).createRole({ name: "Cashier", permissions: [] }));
    expect(failure).toMatchObject({ code: "conflict", request: { status: 409, problem: { status: 409 } } });
  });

  test("a large merchant is read whole through transient faults of every kind", async () => {
    const { reader } = await start({
      generate: 2000,
      rules: [
        { kind: "status", status: 503, probability: 0.1 },
        { kind: "status", status: 429, probability: 0.1, wait: 1 },
        { kind: "reset-before", probability: 0.05 },
        { kind: "truncate", probability: 0.05 },
        { kind: "partial-json", probability: 0.05 },
        { kind: "unknown-fields", probability: 0.5 },
      ],
    });
    const { members } = await reader.read(MERCHANT, []);
    expect(new Set(members.map(({ id }) => id)).size).toBe(2001);
  });

  test("a delete whose responses are lost is applied once", async () => {
    const { reader, writer } = await start({
      rules: [{ kind: "reset-after", operation: "roles.delete", times: 1 }],
    });
    const { id: role } = await writer(MERCHANT).createRole({ name: "Cashier", permissions: [] });
    await writer(MERCHANT).deleteRole(role);
    expect((await reader.read(MERCHANT, [])).roles.map(({ id }) => id)).not.toContain(role);
  });

  test.each([
    { kind: "reset-after" },
    { kind: "reset-before" },
    { kind: "truncate" },
    { kind: "partial-json" },
    { kind: "html", effect: "before" },
    { kind: "html", effect: "after" },
    { kind: "status", status: 503, effect: "before" },
    { kind: "status", status: 424, effect: "after" },
    { kind: "stall", ms: 1000 },
  ])("a create whose response is lost is applied once (%j)", async (rule) => {
    const { reader, writer } = await start({
      rules: ["members.create", "roles.create"].map((operation) => ({ ...rule, operation, times: 2 })),
    });
    const role = await writer(MERCHANT).createRole({
      name: "Cashier",
      permissions: ["refunds_create", "catalog_view"],
      metadata: { owner: { team: "retail", since: 1 } },
    });
    const ada = { email: "ada@example.com", roles: [role.id, "role_employee"], metadata: { a: 1, b: 2 } };
    const till = {
      email: "till@example.com",
      roles: [],
      managed: { nickname: "Till", password: "correct horse" },
    };
    const made = await Promise.all([ada, till].map((draft) => writer(MERCHANT).createMember(draft)));
    const { members, roles } = await reader.read(MERCHANT, []);
    expect(roles.filter(({ name }) => name === "Cashier").map(({ id }) => id)).toEqual([role.id]);
    for (const [index, { email }] of [ada, till].entries()) {
      const there = members.filter(({ user, invite }) => (user ?? invite)?.email === email);
      expect(there.map(({ id }) => id)).toEqual([made[index]?.id]);
    }
  });
});
