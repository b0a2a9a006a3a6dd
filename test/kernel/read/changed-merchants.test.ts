import { posix } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { changedMerchants } from "../../../src/kernel/read/changed-merchants.ts";
import { loadMerchants } from "../../../src/kernel/read/load-merchants.ts";
import { judgeDeclared } from "../../../src/kernel/rules/judge-rules.ts";
import type { DesiredState } from "../../../src/model/desired.ts";
import { desiredStates, liveStates } from "../../support/arbitrary.ts";
import { planOf } from "../../support/build.ts";
import { runs } from "../../support/property-runs.ts";

type Files = Readonly<Record<string, string>>;

async function statesOf(files: Files): Promise<readonly DesiredState[]> {
  const { merchants, diagnostics } = await loadMerchants(
    Object.keys(files),
    (path, from) => {
      const file = posix.join(from === null ? "" : posix.dirname(from), path);
      const text = files[file];
      return Promise.resolve(
        text === undefined
          ? { ok: false, reason: "missing" }
          : { ok: true, file, text: text.includes("version") ? text : `version: 1\n${text}` },
      );
    },
    { now: Date.UTC(2026, 10, 21), judge: judgeDeclared },
  );
  expect(diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
  return merchants.flatMap(({ state }) => state ?? []);
}

async function compared(head: Files, base: Files): Promise<readonly string[]> {
  return changedMerchants(await statesOf(head), await statesOf(base)).map(
    ({ merchant, change }) => `${change} ${merchant}`,
  );
}

/** A file with an entry of each kind. */
const SHOP = `merchant: A
environment: test
api: { base_url: "https://api.example.com", key_env: SHOP_KEY }
sync: { roles: additive, reinvite: { for: 30d }, replace_roles: true }
ignore: { roles: ["Legacy *", Old], members: ["*@auditor.example"] }
guards:
  max_removals: 10
  protect: { roles: [Cashier, Lead], members: [owner@example.com] }
  min_holders: { role_owner: 1, Lead: 1 }
policies:
  email_domains: [example.com, agency.example]
  separate: [[Cashier, Lead], [Lead, Auditor]]
  max_holders: { Lead: 3, Cashier: 20 }
  require_until: [Auditor]
  require_mfa: [role_admin]
  forbid_permissions: [payouts_edit, stock_edit]
checks:
  - { can: refunds_create, only: [bob@example.com, "role:Lead"] }
  - { can: catalog_view, at_most: 5 }
  - { member: ada@example.com, cannot: [refunds_create, payouts_view] }
roles:
  - { name: Cashier, permissions: [catalog_view, checkouts_create], metadata: { owner: retail, floor: [1, 2] } }
  - { name: Lead, id: role_9, description: Till, permissions: [refunds_create] }
  - { name: Auditor, previously: Reviewer, permissions: [] }
members:
  - { email: ada@example.com, roles: [Cashier], metadata: { employee_id: "7", team: till } }
  - { email: bob@example.com, id: mem_1, roles: [Lead, role_employee], from: 2026-12-31, until: 2027-06-30, suspended: { from: 2027-02-01, until: 2027-03-01 } }
  - { email: till@example.com, roles: [{ role: Auditor, from: 2026-12-24, until: 2027-01-31 }], managed: { nickname: Till, password_env: PW } }
leavers: [{ email: eve@example.com, from: 2027-01-15 }]
`;

describe("merchants whose resolved state is another one", () => {
  test.each<readonly [what: string, from: string, to: string]>([
    ["environment", "environment: test", "environment: live"],
    ["a leaver", "eve@", "eva@"],
    ["what a check counts", "at_most: 5 }", "at_most: 5, reach: true }"],
    ["the beginning of a membership", "from: 2026-12-31", "from: 2027-01-01"],
    ["the beginning of a role", "from: 2026-12-24", "from: 2026-12-25"],
    ["the beginning of a suspension", "2027-02-01", "2027-02-02"],
    ["the end of a suspension", ", until: 2027-03-01 }", " }"],
    ["a suspension", ", suspended: { from: 2027-02-01, until: 2027-03-01 }", ""],
    ["the day on which somebody leaves", "2027-01-15", "2027-01-16"],
    ["service", "https://api.example.com", "https://other.example.com"],
    ["key", "SHOP_KEY", "OTHER_KEY"],
    ["sync of roles", "roles: additive", "roles: authoritative"],
    ["sync of members", "replace_roles: true", "replace_roles: true, members: additive"],
    ["replacing roles", "replace_roles: true", "replace_roles: false"],
    ["renewing invitations", "{ for: 30d }", "{ for: 31d }"],
    ["an ignored role", "Legacy *", "Legacy ?"],
    ["an ignored member", "*@auditor.example", "*@auditors.example"],
    ["the limit of removals", "max_removals: 10", "max_removals: 10%"],
    ["a protected role", "[Cashier, Lead], members", "[Lead], members"],
    ["a protected member", "[owner@example.com]", "[]"],
    ["the fewest holders", "Lead: 1", "Lead: 2"],
    ["an override", "Lead: 1 }", "Lead: 1 }\n  overrides: [max-removals=5@35e43f876462]"],
    ["a domain", ", agency.example", ", agency.example, shop.example"],
    ["roles to keep apart", "[Lead, Auditor]", "[Cashier, Auditor]"],
    ["the most holders", "Lead: 3", "Lead: 4"],
    ["roles that need an end", "require_until: [Auditor]", "require_until: []"],
    ["roles that need an end soon", "require_until: [Auditor]", "require_until: { Auditor: 900d }"],
    ["roles that need MFA", "require_mfa: [role_admin]", "require_mfa: [role_owner]"],
    ["a forbidden permission", "[payouts_edit, stock_edit]", "[payouts_edit]"],
    ["who alone can", '"role:Lead"', '"role:Cashier"'],
    ["how many can", "at_most: 5", "at_most: 6"],
    ["who cannot", "cannot: [refunds_create, payouts_view]", "cannot: [refunds_create]"],
    ["a role's name", "name: Auditor, previously: Reviewer", "name: Auditor"],
    ["one more previous name", "previously: Reviewer", "previously: [Reviewer, Checker]"],
    ["a role's id", "id: role_9", "id: role_8"],
    ["a role's description", "description: Till", "description: till"],
    ["a role without its description", "description: Till, ", ""],
    ["a role's permissions", "permissions: [refunds_create]", "permissions: [refunds_create, payouts_view]"],
    ["a role's permissions, no longer managed", ", permissions: []", ""],
    ["a role's metadata, inside", "floor: [1, 2]", "floor: [2, 1]"],
    ["a role's metadata, a type", "floor: [1, 2]", 'floor: ["1", 2]'],
    ["a member's roles", "roles: [Lead, role_employee]", "roles: [Lead]"],
    ["a member's id", "id: mem_1", "id: mem_2"],
    ["the end of a membership", "until: 2027-06-30", "until: 2027-07-01"],
    ["the end of a grant", "until: 2027-01-31", "until: 2027-01-30"],
    ["a member's metadata", "team: till", "team: office"],
    ["a member's metadata, no longer managed", ', metadata: { employee_id: "7", team: till }', ""],
    ["a nickname", "nickname: Till", "nickname: Till 7"],
    ["the variable of a password", "password_env: PW", "password_env: PW2"],
    ["an address", "ada@example.com, roles", "eve@example.com, roles"],
    ["members that are no longer managed", /^members:\n(?: .*\n)*/m.exec(SHOP)?.[0] ?? "", ""],
    ["members, none", /^members:\n(?: .*\n)*/m.exec(SHOP)?.[0] ?? "", "members: []\n"],
  ])("%s", async (_, from, to) => {
    const head = SHOP.replace(from, to);
    expect(head).not.toBe(SHOP);
    expect(await compared({ "a.yaml": head }, { "a.yaml": SHOP })).toEqual(["changed A"]);
    expect(await compared({ "a.yaml": SHOP }, { "a.yaml": head })).toEqual(["changed A"]);
  });

  test("an include changes every merchant that includes it, directly or not, unless it resolves to the same", async () => {
    const files = {
      "a.yaml": "merchant: A\ninclude: [shared/all.yaml]\n",
      "b.yaml":
        "merchant: B\ninclude: [shared/all.yaml]\nroles:\n  - { name: Cashier, adjust: { add: [refunds_create] } }\n",
      "c.yaml": "merchant: C\nroles: []\n",
      "shared/all.yaml": "include: [roles.yaml]\n",
      "shared/roles.yaml": "roles:\n  - { name: Cashier, permissions: [catalog_view] }\n",
    };
    const roots = ["a.yaml", "b.yaml", "c.yaml"];
    const at = async (all: Files) =>
      (await statesOf(all)).filter(({ origin }) => roots.includes(origin.file));
    const more = {
      ...files,
      "b.yaml": "merchant: B\ninclude: [shared/all.yaml]\n",
      "shared/roles.yaml": "roles:\n  - { name: Cashier, permissions: [catalog_view, refunds_create] }\n",
    };
    // B had the permission before, by its adjustment.
    expect(changedMerchants(await at(more), await at(files))).toEqual([{ merchant: "A", change: "changed" }]);
    const other = {
      ...files,
      "shared/roles.yaml": "roles:\n  - { name: Cashier, permissions: [stock_view] }\n",
    };
    expect(await compared(other, files)).toEqual(["changed A", "changed B"]);
  });

  test("merchants of one version only are named, and all come by code", async () => {
    const of = (...codes: readonly string[]): Files =>
      Object.fromEntries(codes.map((code) => [`${code}.yaml`, `merchant: ${code}\n`]));
    const base = of("D", "C", "A");
    expect(await compared({ ...of("B", "D"), "A.yaml": "merchant: A\nroles: []\n" }, base)).toEqual([
      "changed A",
      "added B",
      "removed C",
    ]);
    expect(await compared(base, base)).toEqual([]);
    expect(await compared({}, {})).toEqual([]);
  });
});

describe("merchants whose files are written in another way", () => {
  test.each<readonly [what: string, head: Files, base: Files]>([
    ["another file name", { "b.yaml": SHOP }, { "a.yaml": SHOP }],
    [
      "a default that is written out",
      {
        "a.yaml":
          "merchant: A\nsync: { roles: authoritative, members: authoritative, reinvite: { for: 30d }, replace_roles: false }\nguards: { max_removals: 25% }\n",
      },
      { "a.yaml": "merchant: A\n" },
    ],
    [
      "another text of the same end",
      { "a.yaml": "merchant: A\nmembers: [{ email: a@example.com, until: 2027-02-01T00:00:00Z }]\n" },
      { "a.yaml": "merchant: A\nmembers: [{ email: a@example.com, until: 2027-01-31 }]\n" },
    ],
    [
      "an entry that moved into an included file",
      {
        "a.yaml": "merchant: A\ninclude: [roles.yaml]\nmembers: [{ email: a@example.com, roles: [Lead] }]\n",
        "roles.yaml": "roles: [{ name: Lead, permissions: [x_view] }]\n",
      },
      {
        "a.yaml":
          "merchant: A\nroles: [{ name: Lead, permissions: [x_view] }]\nmembers: [{ email: a@example.com, roles: [Lead] }]\n",
      },
    ],
    [
      "an adjustment that is written into the role",
      {
        "a.yaml": "merchant: A\nroles: [{ name: Lead, permissions: [y_view, x_view] }]\n",
      },
      {
        "a.yaml": "merchant: A\ninclude: [roles.yaml]\nroles: [{ name: Lead, adjust: { add: [y_view] } }]\n",
        "roles.yaml": "roles: [{ name: Lead, permissions: [x_view] }]\n",
      },
    ],
  ])("%s", async (_, head, base) => {
    expect(await compared(head, base)).toEqual([]);
    expect(await compared(base, head)).toEqual([]);
  });

  const styles = fc.constantFrom(
    {},
    { collectionStyle: "flow" as const },
    { defaultStringType: "QUOTE_SINGLE" as const, indent: 4 },
    { lineWidth: 30, commentString: (text: string) => `# ${text}` },
  );

  test("whatever the style, the comments and the order of keys and entries", async () => {
    const shop = parse(`version: 1\n${SHOP}`) as Readonly<Record<string, unknown>>;
    await fc.assert(
      fc.asyncProperty(fc.infiniteStream(fc.nat()), styles, async (numbers, style) => {
        const next = (): number => numbers.next().value ?? 0;
        const head = `# moved\n${stringify(shuffled(shop, next, true), style)}\n# end\n`;
        expect(await compared({ "x/a.yaml": head }, { "a.yaml": SHOP })).toEqual([]);
      }),
      { numRuns: runs(30) },
    );
  });
});

/** Returns a value with its keys and, except in metadata, its entries in another order. */
function shuffled(value: unknown, next: () => number, lists: boolean): unknown {
  const order = <T>(items: readonly T[]): readonly T[] =>
    items
      .map((item) => ({ item, at: next() }))
      .sort((a, b) => a.at - b.at)
      .map(({ item }) => item);
  if (Array.isArray(value)) {
    const items = value.map((item) => shuffled(item, next, lists));
    return lists ? order(items) : items;
  }
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(
    ([key, inner]) => [key, shuffled(inner, next, lists && key !== "metadata")] as const,
  );
  return Object.fromEntries(order(entries));
}

test("states that count as the same plan the same, whatever is live", () => {
  fc.assert(
    fc.property(
      desiredStates,
      desiredStates,
      fc.infiniteStream(fc.nat()),
      liveStates,
      (want, other, numbers, is) => {
        const next = (): number => numbers.next().value ?? 0;
        const moved = {
          ...want,
          ...(want.roles && { roles: shuffled(want.roles, next, true) as typeof want.roles }),
          ...(want.members && { members: shuffled(want.members, next, true) as typeof want.members }),
        };
        expect(changedMerchants([moved], [want])).toEqual([]);
        for (const one of [moved, other]) {
          if (changedMerchants([one], [want]).length > 0) continue;
          expect(planOf(one, is)).toEqual(planOf(want, is));
        }
      },
    ),
    { numRuns: runs(100) },
  );
});
