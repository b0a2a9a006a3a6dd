import { expect, test } from "vitest";
import { parse } from "yaml";
import { resolveConnection } from "../../../src/app/session/connection.ts";
import { buildPlan } from "../../../src/kernel/plan/build-plan.ts";
import { loadMerchants } from "../../../src/kernel/read/load-merchants.ts";
import { judgeDeclared } from "../../../src/kernel/rules/judge-rules.ts";
import { merchantJsonSchema } from "../../../src/kernel/saved/json-schemas.ts";
import { invited, live, liveMember, liveRole, matches, NOW } from "../../support/build.ts";

/** What is live for every case. */
const LIVE = live(
  [
    liveRole("role_1", "Cashier", {
      permissions: ["sell", "refund"],
      description: "Till",
      metadata: { owner: "a" },
    }),
    liveRole("role_2", "Team Lead", { permissions: ["sell"] }),
    liveRole("role_3", "Legacy", { permissions: ["old"] }),
    liveRole("role_owner", "Owner", { predefined: true, permissions: ["all"] }),
  ],
  [
    liveMember("mem_1", "owner@example.com", { roles: ["role_owner"] }),
    liveMember("mem_2", "ada@example.com", { roles: ["role_1"], metadata: { badge: "1" } }),
    liveMember("mem_3", "bob@example.com", { roles: ["role_1", "role_2"] }),
    invited("mem_4", "late@example.com", { status: "expired", roles: ["role_1"] }),
    liveMember("mem_5", "till@example.com", {
      user: {
        id: "u",
        email: "till@example.com",
        mfaOnLogin: false,
        type: "managed_user",
        nickname: "T",
      },
    }),
  ],
);

const BASE = `version: 1
merchant: MC1
roles:
  - { name: Cashier, permissions: [sell, refund] }
  - { name: Team Lead, permissions: [sell] }
  - { name: Legacy }
members:
  - { email: owner@example.com, roles: [role_owner] }
  - { email: ada@example.com, roles: [Cashier] }
  - { email: bob@example.com, roles: [Cashier, Team Lead] }
  - { email: late@example.com, roles: [Cashier] }
  - { email: till@example.com }
`;

const INCLUDING = `${BASE}include: [more.yaml]\n`;

function adjusted(adjust: string): string {
  return INCLUDING.replace("  - { name: Legacy }\n", `$&  - { name: Included, adjust: ${adjust} }\n`);
}

/** A file whose check counts what somebody can reach through a permission that he has. */
function reaching(escalation: string): string {
  return `${BASE}checks: [{ can: anything, at_most: 0, reach: true }]\npolicies: { escalation: ${escalation} }\n`;
}

/** Key → the base file, changed in that key alone. */
const CASES: Readonly<Record<string, string>> = {
  merchant: BASE.replace("merchant: MC1", "merchant: MC2"),
  environment: `${BASE}environment: test\n`,
  api: `${BASE}api: { base_url: "https://other.example" }\n`,
  "api.base_url": `${BASE}api: { base_url: "https://other.example" }\n`,
  "api.key_env": `${BASE}api: { key_env: OTHER_KEY }\n`,
  include: `${BASE}include: [more.yaml]\n`,
  sync: `${BASE.replace("  - { name: Legacy }\n", "")}sync: { roles: additive }\n`,
  "sync.roles": `${BASE.replace("  - { name: Legacy }\n", "")}sync: { roles: additive }\n`,
  "sync.members": `${BASE.replace("  - { email: till@example.com }\n", "")}sync: { members: additive }\n`,
  "sync.reinvite": `${BASE}sync: { reinvite: false }\n`,
  "sync.reinvite.for": `${BASE}sync: { reinvite: { for: 10d } }\n`,
  "sync.replace_roles": `${BASE.replace("refund] }", "refund], metadata: { owner: b } }")}sync: { replace_roles: true }\n`,
  ignore: `${BASE.replace("  - { name: Legacy }\n", "")}ignore: { roles: ["Leg*"] }\n`,
  "ignore.roles": `${BASE.replace("  - { name: Legacy }\n", "")}ignore: { roles: ["Leg*"] }\n`,
  "ignore.members": `${BASE.replace("  - { email: till@example.com }\n", "")}ignore: { members: ["till@*"] }\n`,
  guards: `${BASE}guards: { max_removals: 0 }\n`.replace("  - { name: Legacy }\n", ""),
  "guards.max_removals": `${BASE}guards: { max_removals: 0 }\n`.replace("  - { name: Legacy }\n", ""),
  "guards.max_gains": `${BASE.replace("[sell, refund]", "[sell, refund, void]")}guards: { max_gains: { void: 0 } }\n`,
  "guards.max_gains.at_most": `${BASE.replace("[sell, refund]", "[sell, refund, void]")}guards: { max_gains: { void: { at_most: 0, reach: true } } }\n`,
  "guards.max_gains.reach": `${BASE.replace("[sell, refund]", "[sell, refund, void]")}guards: { max_gains: { void: { at_most: 0, reach: true } } }\n`,
  "guards.protect": `${BASE}guards: { protect: { roles: [Legacy] } }\n`.replace("  - { name: Legacy }\n", ""),
  "guards.protect.roles": `${BASE}guards: { protect: { roles: [Legacy] } }\n`.replace(
    "  - { name: Legacy }\n",
    "",
  ),
  "guards.protect.members": `${BASE}guards: { protect: { members: [late@example.com] } }\n`,
  "guards.min_holders": `${BASE}guards: { min_holders: { role_owner: 2 } }\n`,
  "guards.overrides": `${BASE}guards: { overrides: [max-removals=5@35e43f876462] }\n`,
  policies: `${BASE}policies: { forbid_permissions: [refund] }\n`,
  "policies.email_domains": `${BASE}policies: { email_domains: [example.org] }\n`,
  "policies.separate": `${BASE}policies: { separate: [[Cashier, Team Lead]] }\n`,
  "policies.max_holders": `${BASE}policies: { max_holders: { Cashier: 1 } }\n`,
  "policies.require_until": `${BASE}policies: { require_until: [Cashier] }\n`,
  "policies.require_mfa": `${BASE}policies: { require_mfa: [role_owner] }\n`,
  "policies.forbid_permissions": `${BASE}policies: { forbid_permissions: [refund] }\n`,
  "policies.escalation": reaching("{ edit: [refund] }"),
  "policies.escalation.assign": reaching("{ assign: [refund], edit: [refund] }"),
  "policies.escalation.edit": reaching("{ edit: [refund] }"),
  "policies.escalation.create": reaching("{ assign: [refund], create: [refund] }"),
  "checks.reach": reaching("{ edit: [refund] }"),
  checks: `${BASE}checks: [{ can: refund, at_most: 1 }]\n`,
  "checks.can": `${BASE}checks: [{ can: refund, at_most: 1 }]\n`,
  "checks.at_most": `${BASE}checks: [{ can: refund, at_most: 1 }]\n`,
  "checks.only": `${BASE}checks: [{ can: refund, only: [ada@example.com] }]\n`,
  "checks.member": `${BASE}checks: [{ member: ada@example.com, cannot: [refund] }]\n`,
  "checks.cannot": `${BASE}checks: [{ member: ada@example.com, cannot: [refund] }]\n`,
  roles: BASE.replace("  - { name: Legacy }\n", ""),
  "roles.name": BASE.replace("name: Legacy", "name: New, permissions: []"),
  "roles.description": BASE.replace("{ name: Legacy }", "{ name: Legacy, description: Old }"),
  "roles.permissions": BASE.replace("{ name: Legacy }", "{ name: Legacy, permissions: [] }"),
  "roles.metadata": BASE.replace("refund] }", "refund], metadata: {} }"),
  "roles.previously": BASE.replace("{ name: Legacy }", "{ name: Modern, previously: Legacy }"),
  "roles.id": BASE.replace("{ name: Legacy }", "{ name: Modern, id: role_3 }"),
  members: BASE.replace(/members:\n(?: {2}- \{ email.*\n)+/, ""),
  "roles.adjust": adjusted("{ add: [sell] }"),
  "roles.adjust.add": adjusted("{ add: [sell] }"),
  "roles.adjust.remove": adjusted("{ remove: [view] }"),
  "members.email": BASE.replace("ada@example.com", "eve@example.com"),
  "members.previously": BASE.replace(
    "ada@example.com, roles",
    "eve@example.com, previously: ada@example.com, roles",
  ),
  "members.id": BASE.replace(
    "{ email: till@example.com }",
    "{ email: new@example.com, id: mem_5, roles: [Cashier] }",
  ),
  "members.roles": BASE.replace(
    "{ email: till@example.com }",
    "{ email: till@example.com, roles: [Cashier] }",
  ),
  "members.roles.role": BASE.replace(
    "ada@example.com, roles: [Cashier]",
    "ada@example.com, roles: [{ role: Team Lead }]",
  ),
  "members.roles.until": BASE.replace(
    "bob@example.com, roles: [Cashier,",
    "bob@example.com, roles: [{ role: Cashier, until: 2026-01-31 },",
  ),
  "members.until": BASE.replace("ada@example.com, roles", "ada@example.com, until: 2026-01-31, roles"),
  "members.roles.from": BASE.replace(
    "bob@example.com, roles: [Cashier,",
    "bob@example.com, roles: [{ role: Cashier, from: 2099-01-31 },",
  ),
  "members.from": BASE.replace("ada@example.com, roles", "ada@example.com, from: 2099-01-31, roles"),
  "members.suspended": BASE.replace("ada@example.com, roles", "ada@example.com, suspended: true, roles"),
  "members.suspended.from": BASE.replace(
    "ada@example.com, roles",
    "ada@example.com, suspended: { from: 2026-01-31 }, roles",
  ),
  "members.suspended.until": BASE.replace(
    "ada@example.com, roles",
    "ada@example.com, suspended: { until: 2099-01-31 }, roles",
  ),
  "members.reinvite": BASE.replace("late@example.com, roles", "late@example.com, reinvite: false, roles"),
  "members.metadata": BASE.replace("ada@example.com, roles", "ada@example.com, metadata: {}, roles"),
  "members.managed": BASE.replace(
    "{ email: till@example.com }",
    "{ email: till@example.com, managed: { nickname: Till, password_env: P } }",
  ),
  "members.managed.nickname": BASE.replace(
    "{ email: till@example.com }",
    "{ email: till@example.com, managed: { nickname: Till, password_env: P } }",
  ),
  "members.managed.password_env": BASE.replace(
    "{ email: till@example.com }",
    "{ email: new@example.com, roles: [], managed: { password_env: P } }",
  ),
  leavers: `${BASE}leavers: [{ email: ada@example.com, from: 2026-01-31 }]\n`,
  "leavers.email": `${BASE}leavers: [{ email: ada@example.com, from: 2026-01-31 }]\n`,
  "leavers.from": `${BASE}leavers: [{ email: ada@example.com, from: 2026-01-31 }]\n`,
};

const MORE = "version: 1\nroles: [{ name: Included, permissions: [view] }]\n";
const ENV = { ROLECALL_BASE_URL: "https://one.example", ROLECALL_API_KEY: "k1", OTHER_KEY: "k2" };

/** Everything that the program makes of a file: where it connects, with which key, and what it would do. */
async function outcome(text: string): Promise<unknown> {
  const read = async (path: string) => ({
    ok: true as const,
    file: path,
    text: path === "more.yaml" ? MORE : text,
  });
  const { merchants, diagnostics } = await loadMerchants(["shop.yaml"], read, {
    now: NOW,
    judge: judgeDeclared,
  });
  const errors = diagnostics.filter(({ severity, refusal }) => severity === "error" && !refusal);
  const state = merchants[0]?.state;
  if (!state || errors.length > 0) return { errors: errors.map(({ code, message }) => [code, message]) };
  const { key, baseUrl } = resolveConnection(state, undefined, ENV);
  const at = NOW - 20 * 86_400_000;
  const renewal = { committed: new Map([["late@example.com", { at, day: "2026-05-26" }]]) };
  const input = { desired: state, live: LIVE, service: baseUrl, now: NOW, matches, renewal };
  return { key, plan: buildPlan(input) };
}

test.each(Object.entries(CASES))("the key %s changes what is done", async (key, text) => {
  const [before, after] = await Promise.all([outcome(withoutKey(key, text)), outcome(text)]);
  expect(after).not.toHaveProperty("errors");
  expect(after).not.toEqual(before);
});

/** The same file without the key, where a case had to change something else as well to let it show. */
function withoutKey(key: string, text: string): string {
  if (key.startsWith("roles.adjust")) return INCLUDING;
  const top = key.split(".")[0] ?? key;
  if (["roles", "members", "merchant"].includes(top)) return BASE;
  return text.replace(new RegExp(`^${top}: .*\\n`, "m"), "");
}

test("every key of the schema has its case", () => {
  const keys = new Set(keysOf(merchantJsonSchema()));
  keys.delete("version");
  expect([...keys].filter((key) => !(key in CASES))).toEqual([]);
});

test("the version is checked", async () => {
  expect(await outcome(BASE.replace("version: 1", "version: 2"))).toHaveProperty("errors");
  expect(parse(BASE)).toHaveProperty("version", 1);
});

/** The paths of all properties in a JSON Schema; lists and alternatives add nothing to a path. */
function keysOf(schema: unknown, path = ""): readonly string[] {
  if (Array.isArray(schema)) return schema.flatMap((one) => keysOf(one, path));
  if (typeof schema !== "object" || schema === null) return [];
  const { properties, items, anyOf, oneOf, allOf } = schema as Record<string, unknown>;
  const named = Object.entries(Object(properties)).flatMap(([name, one]) => {
    const below = path === "" ? name : `${path}.${name}`;
    return [below, ...keysOf(one, below)];
  });
  return [...named, ...[items, anyOf, oneOf, allOf].flatMap((one) => keysOf(one, path))];
}
