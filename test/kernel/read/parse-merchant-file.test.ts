import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parseMerchantFile } from "../../../src/index.ts";
import { processorTime } from "../../support/processor-time.ts";

const FULL = `version: 1
merchant: MC4F7K2P
environment: live
api:
  base_url: https://api.example.com
  key_env: RETAIL_API_KEY
sync: { members: additive, reinvite: false, replace_roles: true }
ignore:
  roles: ["Legacy *"]
  members: ["*@auditor.example"]
guards:
  max_removals: 25%
  protect: { roles: [Shift Lead], members: [owner@example.com] }
  min_holders: { role_owner: 1 }
  overrides: [max-removals=5@35e43f876462]
policies:
  email_domains: [example.com, "*.example.com", shop.example]
  separate: [[Cashier, role_admin]]
  max_holders: { role_admin: 3 }
  require_until: [Cashier]
  require_mfa: [role_admin]
  forbid_permissions: [payouts_edit]
checks:
  - { can: refunds_create, only: [ada@example.com, "role: Shift Lead"] }
  - { can: payouts_view, at_most: 2 }
  - { member: till-7@shop.example, cannot: [refunds_create] }
roles:
  - name: Shift Lead
    description: Opens and closes the till
    permissions: [catalog_view, refunds_create]
    metadata: { owner: retail-ops, levels: [1, 2.5, null, true, { deep: "yes" }] }
    previously: Team Lead
    id: role_7Kq2
  - name: Cashier
members:
  - email: ada@example.com
    roles: [Shift Lead, { role: Cashier, until: 2027-01-31 }, { role: role_employee }]
    until: 2027-06-30T12:00:00+02:00
    metadata: { employee_id: "4711" }
    id: mem_1
  - email: till-7@shop.example
    managed: { nickname: Till 7, password_env: TILL_7_PASSWORD }
    roles: []
`;

const HEAD = "version: 1\nmerchant: MC4F7K2P\n";

function parse(text: string) {
  return parseMerchantFile("access/retail.yaml", text);
}

function codes(text: string): readonly string[] {
  return parse(text).diagnostics.map(({ code }) => code);
}

const RENEWED = { text: "30d", ms: 30 * 86_400_000 };

describe("a file without mistakes", () => {
  test("becomes the state that it describes, each entry with its origin", () => {
    const file = "access/retail.yaml";
    expect(parse(FULL)).toEqual({
      diagnostics: [],
      state: {
        merchant: "MC4F7K2P",
        environment: "live",
        baseUrl: "https://api.example.com",
        keyEnv: "RETAIL_API_KEY",
        sync: { roles: "authoritative", members: "additive", reinvite: false, replaceRoles: true },
        ignore: { roles: ["Legacy *"], members: ["*@auditor.example"] },
        guards: {
          maxRemovals: { percent: 25 },
          protect: { roles: ["Shift Lead"], members: ["owner@example.com"] },
          minHolders: { role_owner: 1 },
          overrides: ["max-removals=5@35e43f876462"],
        },
        policies: {
          emailDomains: ["example.com", "*.example.com", "shop.example"],
          separate: [["Cashier", "role_admin"]],
          maxHolders: { role_admin: 3 },
          requireUntil: { Cashier: null },
          requireMfa: ["role_admin"],
          forbidPermissions: ["payouts_edit"],
        },
        checks: [
          {
            kind: "only",
            can: "refunds_create",
            only: ["ada@example.com", "role:Shift Lead"],
            origin: { file, path: ["checks", 0] },
          },
          { kind: "at-most", can: "payouts_view", atMost: 2, origin: { file, path: ["checks", 1] } },
          {
            kind: "cannot",
            member: "till-7@shop.example",
            cannot: ["refunds_create"],
            origin: { file, path: ["checks", 2] },
          },
        ],
        roles: [
          {
            name: "Shift Lead",
            id: "role_7Kq2",
            previously: ["Team Lead"],
            description: "Opens and closes the till",
            permissions: ["catalog_view", "refunds_create"],
            metadata: { owner: "retail-ops", levels: [1, 2.5, null, true, { deep: "yes" }] },
            origin: { file, path: ["roles", 0] },
          },
          { name: "Cashier", origin: { file, path: ["roles", 1] } },
        ],
        members: [
          {
            email: "ada@example.com",
            id: "mem_1",
            roles: [
              { role: "Shift Lead" },
              { role: "Cashier", until: { text: "2027-01-31", ends: Date.UTC(2027, 1, 1) } },
              { role: "role_employee" },
            ],
            until: { text: "2027-06-30T12:00:00+02:00", ends: Date.UTC(2027, 5, 30, 10) },
            metadata: { employee_id: "4711" },
            origin: { file, path: ["members", 0] },
          },
          {
            email: "till-7@shop.example",
            roles: [],
            managed: { nickname: "Till 7", passwordEnv: "TILL_7_PASSWORD" },
            origin: { file, path: ["members", 1] },
          },
        ],
        origin: { file, path: [] },
      },
    });
  });

  test("leaves absent sections unmanaged, without undefined fields", () => {
    expect(parse(HEAD).state).toStrictEqual({
      merchant: "MC4F7K2P",
      sync: { roles: "authoritative", members: "authoritative", reinvite: RENEWED, replaceRoles: false },
      ignore: { roles: [], members: [] },
      guards: { protect: { roles: [], members: [] } },
      policies: {
        separate: [],
        maxHolders: {},
        requireUntil: {},
        requireMfa: [],
        forbidPermissions: [],
      },
      checks: [],
      origin: { file: "access/retail.yaml", path: [] },
    });
    const { state } = parse(`${HEAD}roles: [{ name: A }]\nmembers: [{ email: a@b.co }]\n`);
    expect(Object.keys(state?.roles?.[0] ?? {})).toEqual(["name", "origin"]);
    expect(Object.keys(state?.members?.[0] ?? {})).toEqual(["email", "origin"]);
  });

  test.each([
    ["guards: { min_holders: {} }", { guards: { minHolders: {} } }],
    ["guards: { max_removals: 0 }", { guards: { maxRemovals: { count: 0 } } }],
    ["guards: { max_removals: 0% }", { guards: { maxRemovals: { percent: 0 } } }],
    ["guards: { protect: {} }", { guards: { protect: { roles: [], members: [] } } }],
    ["policies: { email_domains: [] }", { policies: { emailDomains: [] } }],
    ["checks: [{ can: x, only: [] }]", { checks: [{ kind: "only", only: [] }] }],
    ["checks: [{ can: x, at_most: 0 }]", { checks: [{ kind: "at-most", atMost: 0 }] }],
    ["checks: [{ member: a@b.co, cannot: [] }]", { checks: [{ kind: "cannot", cannot: [] }] }],
    ["sync: {}\nignore: {}\nguards: {}\npolicies: {}\nchecks: []\ninclude: []", { checks: [] }],
    ["members: [{ email: a@b.co, roles: [], metadata: {} }]", { members: [{ roles: [], metadata: {} }] }],
  ])("manages an empty section: %s", (text, state) => {
    expect(parse(`${HEAD}${text}\n`)).toMatchObject({ diagnostics: [], state });
  });

  test("means none by an empty list", () => {
    expect(parse(`${HEAD}roles: []\nmembers: []\n`).state).toMatchObject({ roles: [], members: [] });
  });

  test("keeps empty fields apart from absent ones", () => {
    const { state } = parse(`${HEAD}roles: [{ name: A, description: "", permissions: [], metadata: {} }]\n`);
    expect(state?.roles?.[0]).toMatchObject({ description: "", permissions: [], metadata: {} });
  });

  test("may have Windows line ends, a byte order mark, comments, anchors and a document marker", () => {
    const text = `\uFEFF---\n# access\n${HEAD}roles:\n  - name: A\n    metadata: &m { a: 1 }\n  - name: B\n    metadata: *m\n`;
    const { state, diagnostics } = parse(text.replaceAll("\n", "\r\n"));
    expect(diagnostics).toEqual([]);
    expect(state?.roles?.map(({ metadata }) => metadata)).toEqual([{ a: 1 }, { a: 1 }]);
  });

  test("means the same whatever YAML version it claims: yes stays text", () => {
    const { state } = parse(
      `%YAML 1.1\n---\n${HEAD}roles: [{ name: yes, metadata: { no: no, at: 2026-01-01 } }]\n`,
    );
    expect(state?.roles?.[0]).toMatchObject({ name: "yes", metadata: { no: "no", at: "2026-01-01" } });
  });

  test("takes names like constructor and toString for ordinary metadata", () => {
    const { state } = parse(`${HEAD}roles: [{ name: A, metadata: { constructor: 1, toString: x } }]\n`);
    expect(Object.entries(state?.roles?.[0]?.metadata ?? {})).toEqual([
      ["constructor", 1],
      ["toString", "x"],
    ]);
  });

  test.each(["a@b.co", "o'neil+x@mail.example.co.uk", "jörg@bücher.example", "a@xn--p1ai.xn--p1ai"])(
    "takes %s for an address",
    (email) => {
      expect(codes(`${HEAD}members: [{ email: "${email}" }]\n`)).toEqual([]);
    },
  );

  test("may talk about keys as long as it holds none", () => {
    expect(
      codes(`# live keys begin with sk_live_ or sk_live_…\n${HEAD}roles: [{ name: task_live_view }]\n`),
    ).toEqual([]);
  });
});

describe("a file of many members", () => {
  // MEMBERS=100000 npx vitest run --project sources test/config/parse-merchant-file
  const count = Number(process.env["MEMBERS"] ?? 5000);
  const members = Array.from(
    { length: count },
    (_, i) =>
      `  - email: user-${i}@example.com\n    roles: [Cashier, { role: role_employee, until: 2099-01-31 }]\n    metadata: { employee_id: "${i}" }\n`,
  );
  const text = `${HEAD}roles: [{ name: Cashier, permissions: [catalog_view] }]
policies: { email_domains: [example.com], require_until: [role_employee], separate: [[Cashier, role_owner]] }
checks: [{ can: catalog_view, only: ["role:Cashier"] }, { can: catalog_view, at_most: ${count} }]
members:
${members.join("")}`;

  test("is read whole", () => {
    const { state, diagnostics } = parse(text);
    expect(diagnostics).toEqual([]);
    expect(state?.members).toHaveLength(count);
  }, 120_000);

  test("has its one mistake reported at its location", () => {
    const { diagnostics } = parse(text.replace("user-4321@", "user 4321@"));
    expect(diagnostics).toMatchObject([{ code: "bad-email", span: { line: 7 + 4321 * 3, column: 12 } }]);
  }, 120_000);
});

describe("a file with warnings only", () => {
  test("still gives a state, where what is written twice counts once", () => {
    const { state, diagnostics } = parse(
      `${HEAD}roles: [{ name: A, permissions: [x, y, x] }]\nmembers: [{ email: a@b.co, roles: [A, A] }]\n`,
    );
    expect(diagnostics.map(({ severity }) => severity)).toEqual(["warning", "warning"]);
    expect(state?.roles?.[0]?.permissions).toEqual(["x", "y"]);
    const places = [0, 1].map((index) => ({
      file: state?.origin.file,
      path: ["members", 0, "roles", index],
    }));
    expect(state?.members?.[0]?.roles).toEqual([{ role: "A", origins: places }]);
  });
});

describe("a file with mistakes", () => {
  test("has five diagnostics for five mistakes, each at its place, in order", () => {
    const text = `${HEAD}environment: life
roles:
  - name: Cashier
    permissions: [catalog_view, ""]
members:
  - email: ada@example
    roles: [Casheer]
  - email: bob@example.com
    managd: { password_env: BOB_PASSWORD }
`;
    const { state, diagnostics } = parse(text);
    expect(state).toBeNull();
    expect(diagnostics.map(({ code, span }) => [code, span?.line, span?.column, span?.endColumn])).toEqual([
      ["wrong-value", 3, 14, 18],
      ["blank-text", 6, 33, 35],
      ["bad-email", 8, 12, 23],
      ["unknown-role", 9, 13, 20],
      ["unknown-key", 11, 5, 11],
    ]);
  });

  test("does not report unknown roles if a role's name could not be read", () => {
    const text = `${HEAD}roles: [{ nmae: Cashier }]\nmembers: [{ email: a@b.co, roles: [Cashier] }]\n`;
    expect(codes(text)).toEqual(["unknown-key"]);
  });

  test("does not report unknown roles if others may exist", () => {
    const members = "members: [{ email: a@b.co, roles: [Elsewhere] }]\n";
    expect(codes(`${HEAD}${members}`)).toEqual([]);
    expect(codes(`${HEAD}sync: { roles: additive }\nroles: []\n${members}`)).toEqual([]);
    expect(codes(`${HEAD}roles: []\n${members}`)).toEqual(["unknown-role"]);
  });

  test("has a diagnostic for each of twelve mistakes and more, each at its line and column", () => {
    const text = readFileSync(new URL("./err/twelve-mistakes.yaml", import.meta.url), "utf8");
    const { diagnostics } = parse(text);
    expect(diagnostics.map(({ code, span }) => [code, span?.line, span?.column])).toEqual([
      ["wrong-value", 3, 14],
      ["wrong-type", 4, 19],
      ["bad-limit", 5, 25],
      ["too-few-roles", 7, 14],
      ["check-form", 9, 5],
      ["unknown-member", 9, 36],
      ["unknown-key", 12, 5],
      ["bad-role-id", 14, 9],
      ["number-form", 15, 23],
      ["bad-email", 17, 12],
      ["unknown-role", 18, 13],
      ["bad-until", 20, 40],
      ["missing-key", 22, 14],
      ["null-value", 23, 5],
    ]);
  });

  test("has no policy broken by somebody whose every grant has ended", () => {
    const member = "{ email: cy@agency.example, roles: [{ role: role_admin, until: 2020-01-31 }] }";
    const text = `${HEAD}policies: { email_domains: [example.com] }\nmembers: [${member}]\n`;
    const { diagnostics } = parseMerchantFile("x.yaml", text, { now: Date.parse("2026-06-15T12:00:00Z") });
    expect(diagnostics.map(({ code }) => code)).not.toContain("policy-email-domain");
  });

  test("still gives a state where only its own policies and checks refuse it", () => {
    const { state, diagnostics } = parse(
      `${HEAD}policies: { forbid_permissions: [x] }\nroles: [{ name: A, permissions: [x] }]\n`,
    );
    expect(state?.roles).toHaveLength(1);
    expect(diagnostics).toMatchObject([
      { code: "policy-forbidden-permission", severity: "error", refusal: true },
    ]);
  });

  test("reports past ends only if the time is given", () => {
    const text = `${HEAD}members: [{ email: a@b.co, until: 2020-01-01 }]\n`;
    expect(codes(text)).toEqual([]);
    const { state, diagnostics } = parseMerchantFile("x.yaml", text, { now: Date.UTC(2020, 0, 2) });
    expect(diagnostics.map(({ code }) => code)).toEqual(["until-past"]);
    expect(state?.members).toHaveLength(1);
    expect(parseMerchantFile("x.yaml", text, { now: Date.UTC(2020, 0, 2) - 1 }).diagnostics).toEqual([]);
  });

  test("may have as many permissions and properties as the service takes, and not one more", () => {
    const role = (count: number) =>
      `  - name: A${count}\n    permissions: [${Array.from({ length: count }, (_, i) => `p${i}`).join(", ")}]\n`;
    const tagged = (count: number) =>
      `  - name: B${count}\n    metadata: {${Array.from({ length: count }, (_, i) => `p${i}: 1`).join(", ")}}\n`;
    expect(codes(`${HEAD}roles:\n${role(100)}${tagged(64)}`)).toEqual([]);
    expect(codes(`${HEAD}roles:\n${role(101)}${tagged(65)}`)).toEqual([
      "too-many-permissions",
      "too-many-metadata",
    ]);
  });

  test("reports the first thousand problems, and the number of the others", () => {
    const { diagnostics } = parse(`${HEAD}${Array.from({ length: 2500 }, (_, i) => `k${i}: 1\n`).join("")}`);
    expect(diagnostics).toHaveLength(1001);
    expect(diagnostics[0]).toMatchObject({ code: "too-many-problems", severity: "warning" });
    expect(diagnostics[0]?.message).toContain("1,500 more problems");
  });
});

describe("secrets", () => {
  const KEY = "sk_live_4eC39HqLyjWDarjtT1zdp7dc";

  test.each([
    ["a comment", `# ${KEY}\n${HEAD}`],
    ["a value", `${HEAD}api: { key_env: ${KEY} }\n`],
    ["a key", `${HEAD}${KEY}: 1\n`],
    ["a list's entry", `${HEAD}roles: []\nmembers: [{ email: a@b.co, roles: [${KEY}, ${KEY}] }]\n`],
    ["a duplicate name", `${HEAD}roles: [{ name: ${KEY} }, { name: ${KEY} }]\n`],
    ["an anchor", `${HEAD}roles: &${KEY} []\n`],
    ["an unknown alias", `${HEAD}roles: *${KEY}\n`],
    ["a tag", `${HEAD}roles: !${KEY} []\n`],
    ["broken YAML", `${HEAD}roles: [${KEY}\nx: "${KEY}`],
    ["the merchant", `version: 1\nmerchant: ${KEY}.\n`],
    ["an e-mail address", `${HEAD}members: [{ email: ${KEY} }]\n`],
    ["a longer word", `${HEAD}environment: live${KEY}\n`],
    ["the environment", `${HEAD}environment: ${KEY}\n`],
    ["the middle of a long word", `${HEAD}environment: ${"x".repeat(68)}${KEY}\n`],
    ["upper case", `${HEAD}environment: ${KEY.toUpperCase()}\n`],
    [
      "a name spelled with escapes",
      `${HEAD}roles: [{ name: "${KEY.replace("_", "\\u005f")}" }, {name: 1}]\n`,
    ],
  ])("an API key in %s is refused and never shown", (_, text) => {
    const { state, diagnostics } = parse(text);
    expect(state).toBeNull();
    expect(diagnostics.map(({ code }) => code)).toContain("literal-key");
    expect(JSON.stringify(diagnostics)).not.toMatch(/4eC39HqL|4EC39HQL/);
  });

  test.each([
    `managed: { password: hunter22 }`,
    `managed: { password_env: hunter22! }`,
    `managed: { password_env: [hunter22] }`,
    `managed: { passwort: hunter22 }`,
    `password: hunter22`,
    `secret: { a: hunter22 }`,
  ])("what looks like a password is not shown: %s", (member) => {
    const { diagnostics } = parse(`${HEAD}members:\n  - email: a@b.co\n    ${member}\n  - email: x\n`);
    expect(diagnostics.length).toBeGreaterThan(1);
    expect(JSON.stringify(diagnostics)).not.toContain("hunter22");
  });

  test("credentials in the base URL are not shown", () => {
    const { diagnostics } = parse(`${HEAD}api: { base_url: "https://ada:hunter22@api.example.com" }\n`);
    expect(diagnostics.map(({ code }) => code)).toEqual(["bad-base-url"]);
    expect(JSON.stringify(diagnostics)).not.toContain("hunter22");
  });
});

describe("hostile text", () => {
  test.each([
    ["brackets", "[".repeat(50_000)],
    ["dashes", "- ".repeat(20_000)],
    ["mappings", "{a: ".repeat(20_000)],
    ["indentation", Array.from({ length: 2000 }, (_, depth) => `${" ".repeat(depth)}a:\n`).join("")],
    ["closing brackets", "]".repeat(1_000_000)],
    ["commas", `a: [${",".repeat(300_000)}]`],
    ["tags", `a: ${"! ".repeat(200_000)}`],
    ["documents", "---\n".repeat(300_000)],
    ["closed brackets", `a: ${"[".repeat(3000)}${"]".repeat(3000)}`],
  ])("nested %s end in a diagnostic", (_, text) => {
    const { state, diagnostics } = parse(text);
    expect(state).toBeNull();
    expect(diagnostics[0]?.code).toMatch(/^yaml-/);
    expect(diagnostics.length).toBeLessThan(1002);
  });

  test.each([
    ["aliases of one value, far below it", `x: &a [[1, { a: b }]]\nroles: [${"*a, ".repeat(5_000)}]`],
    ["wrong values behind one alias", `roles: &r [{ name: 1 }]\n${"k: 1\n".repeat(500)}members: *r`],
    ["an address without an end", `members: [{ email: "a@${"a.".repeat(200_000)}" }]`],
    ["a domain without an end", `policies: { email_domains: ["${"a-".repeat(200_000)}"] }`],
    ["a path without an end", `include: ["${"a.yaml".repeat(100_000)}/"]`],
    [
      "names that are all alike",
      `roles: [${Array.from({ length: 1500 }, (_, i) => `{ name: A long name ${i} }`).join(", ")}]\nmembers: [{ email: a@b.co, roles: [${Array.from({ length: 1500 }, (_, i) => `A longname ${i}`).join(", ")}] }]`,
    ],
  ])("%s, are judged in bounded time", (_, text) => {
    const started = processorTime();
    expect(parse(`${HEAD}${text}\n`).state).toBeNull();
    expect(processorTime() - started).toBeLessThan(10_000);
  });

  test("a very long word does not make a very long message", () => {
    const { diagnostics } = parse(
      `${HEAD}roles: ${"x".repeat(100_000)}\nmembers: [${"y".repeat(100_000)}]\n`,
    );
    expect(diagnostics).toHaveLength(2);
    expect(JSON.stringify(diagnostics).length).toBeLessThan(5000);
  });

  test("too large a file is refused before it is read", () => {
    expect(codes(" ".repeat(32 * 1024 * 1024 + 1))).toEqual(["file-too-large"]);
  });

  test("a prototype cannot be set by metadata", () => {
    expect(codes(`${HEAD}roles: [{ name: A, metadata: { x: [{ __proto__: { admin: true } }] } }]\n`)).toEqual(
      ["unsafe-key"],
    );
    expect(codes(`${HEAD}__proto__: { roles: [] }\n`)).toEqual(["unknown-key"]);
    expect("admin" in {}).toBe(false);
  });
});
