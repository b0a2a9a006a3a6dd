import { describe, expect, test } from "vitest";
import { DocumentInvalid } from "../../../src/sandbox/seed/parse-document.ts";
import { parseSeed } from "../../../src/sandbox/seed/parse-seed.ts";
import { MEMBERS, type MemberBody, START, start } from "../support.ts";

const SEED = `
merchants:
  - code: MC4F7K2P
    name: Harbour Street
    roles:
      - name: Shift Lead
        description: Opens the till
        permissions: [refunds_create]
        metadata: { owner: ops }
      - { name: Pinned, id: role_pinned, created_at: 2025-03-01T00:00:00Z, updated_at: 2025-04-01T02:00:00+02:00 }
    members:
      - { email: ada@example.com, roles: [Shift Lead, role_employee, Manager, role_pinned], mfa: true }
      - { email: bob@example.com, status: pending, metadata: { employee_id: "1" } }
      - { email: bob@example.com, status: expired }
      - { email: till@example.com, managed: { nickname: Till 7 }, status: disabled, id: mem_till }
      - { email: bot@example.com, service_account: true }
      - { email: ida@example.com, user_id: 5C0E1C22-5D3A-4B0F-9A51-0123456789AB }
      - { email: old@example.com, status: pending, expires_at: 2026-01-01T00:00:00Z }
`;

const BASE = "/v0.1/merchants/MC4F7K2P";

describe("a seed", () => {
  test("creates roles with all their fields", async () => {
    const { body } = await start({ seed: SEED }).call("GET", `${BASE}/roles`);
    expect(body.items).toEqual([
      {
        id: expect.stringMatching(/^role_[A-Za-z0-9]{20}$/),
        name: "Shift Lead",
        description: "Opens the till",
        permissions: ["refunds_create"],
        is_predefined: false,
        metadata: { owner: "ops" },
        created_at: "2026-01-05T09:00:00.000Z",
        updated_at: "2026-01-05T09:00:00.000Z",
      },
      {
        id: "role_pinned",
        name: "Pinned",
        permissions: [],
        is_predefined: false,
        created_at: "2025-03-01T00:00:00.000Z",
        updated_at: "2025-04-01T00:00:00.000Z",
      },
    ]);
  });

  test("creates members in every status", async () => {
    const { call } = start({ seed: SEED });
    const { items } = (await call("GET", `${BASE}/members`)).body;
    const statuses = items.map((one: MemberBody) => one.status);
    expect(statuses).toEqual([
      "accepted",
      "pending",
      "expired",
      "disabled",
      "accepted",
      "accepted",
      "expired",
    ]);
    const [ada, pending, expired, till, bot, ida, old] = items;
    const { body: roles } = await call("GET", `${BASE}/roles`);
    expect(ada.roles).toEqual([roles.items[0].id, "role_employee", "role_manager", "role_pinned"]);
    expect(ada.user).toMatchObject({ email: "ada@example.com", mfa_on_login_enabled: true });
    expect(pending.invite).toEqual({
      email: "bob@example.com",
      expires_at: new Date(START + 7 * 86_400_000).toISOString(),
    });
    expect(pending.metadata).toEqual({ employee_id: "1" });
    expect(expired.id).not.toBe(pending.id);
    expect(till).toMatchObject({
      id: "mem_till",
      user: { type: "managed_user", virtual_user: true, nickname: "Till 7", disabled_at: expect.any(String) },
    });
    expect(bot.user).toMatchObject({ type: "service_account", service_account_user: true });
    expect(ida.user.id).toBe("5c0e1c22-5d3a-4b0f-9a51-0123456789ab");
    expect(old.invite.expires_at).toBe("2026-01-01T00:00:00.000Z");
  });

  test("creates members with attributes and deprecated permissions", async () => {
    const seed = `
merchants:
  - code: MC1
    members:
      - { email: a@x.example, roles: [role_owner], attributes: { tier: 2 }, permissions: [legacy_view] }`;
    const { call } = start({ seed });
    const shown = { attributes: { tier: 2 }, permissions: ["legacy_view"] };
    const { items } = (await call("GET", "/v0.1/merchants/MC1/members")).body;
    expect(items[0]).toMatchObject(shown);
    expect(items[0].user.classic.user_id).toBeLessThan(2 ** 31);
    expect((await call("GET", "/v0.1/memberships")).body.items[0]).toMatchObject(shown);
  });

  test("creates an expired invitation as expired, whatever the time", async () => {
    const { call } = start({ seed: SEED, now: () => Date.parse("2001-01-01T00:00:00Z") });
    expect((await call("GET", `${BASE}/members?status=expired`)).body.total_count).toBe(1);
  });

  test("is the same at every start", async () => {
    const all = async () => (await start({ seed: SEED }).call("GET", `${BASE}/members`)).text;
    expect(await all()).toBe(await all());
  });

  test("without keys gives sk_test_sandbox to the first owner", async () => {
    const seed = `
merchants:
  - code: MC1
    members: [{ email: a@x.example }, { email: b@x.example, roles: [role_owner], id: mem_b }]`;
    const { body } = await start({ seed }).call("GET", "/v0.1/memberships");
    expect(body.items.map((one: MemberBody) => one.id)).toEqual(["mem_b"]);
  });

  test("defaults to one merchant with its owner", async () => {
    const { call } = start();
    const { body } = await call("GET", MEMBERS);
    expect(body.total_count).toBe(1);
    expect(body.items[0]).toMatchObject({ status: "accepted", roles: ["role_owner"] });
    const { items } = (await call("GET", "/v0.1/memberships")).body;
    expect(items).toMatchObject([{ resource_id: "MC0DEMO1", resource: { attributes: { sandbox: true } } }]);
  });
});

function problems(text: string): string[] {
  try {
    parseSeed(text);
  } catch (error) {
    if (error instanceof DocumentInvalid) return error.message.split("\n");
    throw error;
  }
  return [];
}

describe("a seed that cannot be used", () => {
  test("is reported with every problem and its location, in order", () => {
    expect(
      problems(
        [
          "merchants:",
          "  - code: MC1",
          "    colour: red",
          "    roles: [{ name: A }, { name: A }]",
          "    members:",
          "      - { email: nonsense, roles: [A] }",
          "      - { roles: [A], status: gone }",
          "keys:",
          "  - { key: of two words, permissions: [roles_paint] }",
        ].join("\n"),
      ),
    ).toEqual([
      '3:5: unknown field "colour"',
      "6:18: email: must be an e-mail address",
      "7:31: status: must be one of accepted, pending, expired, disabled, unknown",
      "9:12: key: must be printable ASCII without spaces",
      expect.stringMatching(/^9:40: permissions: must be one of roles_list, /),
    ]);
  });

  test("is reported in the same way if it contradicts itself", () => {
    expect(
      problems(
        [
          "merchants:",
          "  - code: MC1",
          "    roles: [{ name: A }, { name: A }, { name: B, id: role_owner }]",
          "    members:",
          "      - { email: a@x.example, roles: [A, Cook], id: mem_1 }",
          "      - { email: b@x.example, id: mem_1 }",
          "  - code: MC1",
          "organizations:",
          "  - { id: org_1, members: [{ email: a@x.example, roles: [A] }] }",
          "keys:",
          "  - { key: sk_test_twice, merchants: [MC9] }",
          "  - { key: sk_test_twice }",
        ].join("\n"),
      ),
    ).toEqual([
      "3:34: duplicate role name",
      "3:54: this is the id of a predefined role",
      '5:42: there is no role "Cook"',
      "6:35: duplicate id",
      "7:11: duplicate code",
      '9:58: there is no role "A"',
      "11:39: there is no merchant MC9",
      "12:12: duplicate key",
    ]);
  });

  test("a member needs an address or no_address", () => {
    expect(problems("merchants: [{ code: MC1, members: [{ id: mem_1 }] }]")).toEqual([
      "1:36: email: is required, unless no_address is true",
    ]);
  });

  test.each([
    ["is not YAML", "merchants: [", /^1:\d+: /],
    ["names a key twice", "merchants: [{code: A, code: B}]", /^1:\d+: /],
    ["is empty", "", /^1:1: the file is empty; a seed begins with "merchants:"$/],
    ["is a text", "hello", /^1:1: must be a mapping/],
    ["lacks a code", "merchants: [{ name: A }]", /^1:13: code: is required$/],
    ["lacks all merchants", "keys: []", /^1:1: merchants: is required$/],
    ["has a number for a text", "merchants: [{ code: 7 }]", /^1:21: code: must be text$/],
    ["has a text for a list", "merchants: [{ code: A, roles: B }]", /^1:31: roles: must be a list/],
    [
      "has a text for yes or no",
      "merchants: [{ code: A, sandbox: B }]",
      /^1:33: sandbox: must be true or false$/,
    ],
    ["has no merchant", "merchants: []", /^1:12: /],
  ])("is reported with its location if it %s", (_what, text, expected) => {
    expect(problems(text)[0]).toMatch(expected);
  });

  test("is reported once if it is a merchant's file", () => {
    expect(problems("version: 1\nmerchant: MC1\nroles: [{ name: A }]")).toEqual([
      '2:1: this looks like a merchant\'s file, for validate, plan and apply; a seed begins with "merchants:"',
    ]);
  });

  test("with aliases that multiply is refused before it fills the memory", () => {
    const levels = Array.from({ length: 30 }, (_, i) => `a${i + 1}: &a${i + 1} [*a${i}, *a${i}, *a${i}]`);
    expect(problems(["a0: &a0 [x]", ...levels].join("\n"))).toHaveLength(1);
  });

  test("never shows a key", () => {
    const text = "merchants: [{ code: MC1 }]\nkeys: [{ key: sk_live_1 2 }, { key: sk_prod_3 }]";
    expect(problems(text).join()).not.toMatch(/sk_live_1|sk_prod/);
  });
});
