import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openShop, type Shop } from "../../support/shop.ts";

const SEED = `merchants:
  - code: MC1
    roles: [{ name: Paid, permissions: [payouts_edit] }]
    members:
      - { email: owner@example.com, roles: [role_owner] }
      - { email: lovelace@new.example, roles: [role_employee], metadata: { badge: "7" } }
      - { email: bob@new.example, roles: [role_employee] }
      - { email: cy@old.example, roles: [role_employee] }
keys:
  - { key: sk_test_sandbox, owner: owner@example.com }
`;

const FILE = `version: 1
merchant: MC1
members:
  - { email: owner@example.com, roles: [role_owner] }
  # Works at the till.
  - email: ada@old.example # a note
    roles: [role_employee]
    metadata: { badge: "7" }
  - { email: bob@old.example, roles: [role_employee] }
  - { email: cy@new.example, previously: cy@old.example, roles: [role_employee] }
`;

let shop: Shop;

beforeEach(async () => {
  shop = await openShop(SEED);
  await mkdir(join(shop.folder, "access"));
  await shop.write("access/mc1.yaml", FILE);
});

afterEach(() => shop.stop());

test("pull renames the entry of somebody who is live under another address, and keeps its comments", async () => {
  const pulled = await shop.run(["pull", "--yes"]);
  expect(pulled.stderr).not.toContain("error");
  expect(pulled.code).toBe(0);
  const text = await readFile(join(shop.folder, "access/mc1.yaml"), "utf8");
  expect(text).toContain("  # Works at the till.\n  - email: lovelace@new.example # a note\n");
  expect(text).toContain("email: bob@new.example");
  expect(text).not.toMatch(/ada@old|bob@old|cy@new/);
  expect((await shop.run(["plan", "--detailed-exitcode"])).code).toBe(0);
});

test("pull says that a plan has changes although no entry needs any, as while a new address is pending", async () => {
  await shop.write(
    "access/mc1.yaml",
    FILE.replaceAll(/(ada|bob)@old/g, "$1@new").replace("ada@new", "lovelace@new"),
  );
  await shop.run(["apply", "--yes"]);
  const { items } = (await shop.control("GET", "/v0.1/merchants/MC1/members?email=cy@old.example")) as {
    readonly items: readonly { readonly id: string }[];
  };
  const roles = ["role_employee", "role_manager"];
  await shop.control("PUT", `/v0.1/merchants/MC1/members/${items[0]?.id}`, { roles });
  expect((await shop.run(["plan"])).stdout).toContain("Plan: 1 to update");
  // Until the new address is accepted, the person has what the old one holds.
  expect((await shop.run(["pull", "--yes"])).code).toBe(0);
  expect(await readFile(join(shop.folder, "access/mc1.yaml"), "utf8")).toContain(
    "{ email: cy@new.example, previously: cy@old.example, roles: [role_employee, role_manager] }",
  );
  expect((await shop.run(["plan"])).stdout).toContain("~ update cy@new.example");
  const pull = await shop.run(["pull", "--check"]);
  expect(pull.stderr).toContain("MC1: no entry needs to change, but the next plan has 1 change.\n");
  expect(pull.stdout).toBe("There is nothing to change.\n");
});

test("a new address is invited, and the old membership goes once it is accepted", async () => {
  const members = async (): Promise<readonly string[]> => {
    const got = (await shop.control("GET", "/v0.1/merchants/MC1/members")) as {
      readonly items: readonly {
        id: string;
        user?: { email: string };
        invite?: { email: string };
        status: string;
      }[];
    };
    return got.items.map(({ user, invite, status }) => `${user?.email ?? invite?.email} ${status}`);
  };
  await shop.write(
    "access/mc1.yaml",
    `version: 1\nmerchant: MC1\nsync: { members: additive }\nmembers:\n${FILE.split("\n").at(-2)}\n`,
  );
  const plan = await shop.run(["plan", "access/mc1.yaml"]);
  expect(plan.stdout).toContain("waits until cy@new.example has accepted");
  const apply = await shop.run(["apply", "access/mc1.yaml", "--yes"]);
  expect(apply.code).toBe(0);
  expect(apply.stdout.replaceAll(/\s+/g, " ")).toContain(
    "delete member cy@old.example: waits until cy@new.example has accepted",
  );
  expect(await members()).toEqual(
    expect.arrayContaining(["cy@old.example accepted", "cy@new.example pending"]),
  );
  const { items } = (await shop.control("GET", "/v0.1/merchants/MC1/members?email=cy@new.example")) as {
    readonly items: readonly { readonly id: string }[];
  };
  await shop.control("POST", `/merchants/MC1/members/${items[0]?.id}/accept`);
  expect((await shop.run(["apply", "access/mc1.yaml", "--yes"])).code).toBe(0);
  expect(await members()).not.toContain("cy@old.example accepted");
  expect((await shop.run(["plan", "access/mc1.yaml", "--detailed-exitcode"])).code).toBe(0);
});

test("pull removes a grant that somebody took away, also where the file names the role as it was called before", async () => {
  const roles = "roles: [{ name: Payouts, previously: Paid, permissions: [payouts_edit] }]";
  const bob = (names: string) => `{ email: bob@new.example, roles: [${names}] }`;
  await shop.write(
    "access/mc1.yaml",
    `version: 1\nmerchant: MC1\n${roles}\nmembers:\n  - ${bob("role_employee, Paid")}\n`,
  );
  await shop.run(["pull", "--member", "bob@new.example", "--yes"]);
  expect(await readFile(join(shop.folder, "access/mc1.yaml"), "utf8")).toContain(bob("role_employee"));
});

test.each([
  ["suspended: true", "[role_employee]", /email: cy@old\.example/],
  ["suspended: { until: 2099-01-01 }", "[role_employee]", /email: cy@old\.example/],
  ["from: 2099-01-01", "[role_employee]", /email: cy@old\.example/],
  ["until: 2020-01-01", "[role_employee]", /email: cy@old\.example/],
  ["suspended: true", "[]", /email: cy@new\.example, previously: cy@old\.example.*suspended: true/],
])(
  "pull takes over who has not moved to a new address yet, whose entry says %s, with %s",
  async (date, held, wanted) => {
    const seed = SEED.replace("cy@old.example, roles: [role_employee]", `cy@old.example, roles: ${held}`);
    await shop.stop();
    shop = await openShop(seed);
    await mkdir(join(shop.folder, "access"));
    await shop.write(
      "access/mc1.yaml",
      FILE.replace(
        "previously: cy@old.example, roles: [role_employee]",
        `previously: cy@old.example, roles: [role_employee], ${date}`,
      ),
    );
    const pulled = await shop.run(["pull", "--yes"]);
    expect(pulled.stderr).not.toContain("error");
    expect(pulled.code).toBe(0);
    const text = await readFile(join(shop.folder, "access/mc1.yaml"), "utf8");
    expect(text).toMatch(wanted);
    expect(text.match(/cy@/g)).toHaveLength(text.includes("cy@new") ? 2 : 1);
    expect((await shop.run(["plan", "--detailed-exitcode"])).code).toBe(0);
  },
);
