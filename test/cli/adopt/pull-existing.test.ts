import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openShop, type Shop } from "../../support/shop.ts";

const SEED = `merchants:
  - code: MC0A
    roles:
      - { name: Cashier, id: role_c, permissions: [catalog_view, refunds_create, stock_edit], description: Till }
      - { name: Night, id: role_n, permissions: [catalog_view] }
      - { name: Added, id: role_a, permissions: [catalog_view] }
    members:
      - { email: owner@example.com, roles: [role_owner] }
      - { email: bob@example.com, roles: [role_admin, Added], metadata: { employee_id: "9", team: x } }
      - { email: new@example.com, id: mem_new, roles: [Cashier, role_employee] }
  - code: MC0B
    roles:
      - { name: Cashier, id: role_cb, permissions: [catalog_view, refunds_create] }
    members:
      - { email: owner@example.com, roles: [role_owner, Cashier] }
  - code: MC0C
    roles:
      - { name: Cashier, permissions: [catalog_view, refunds_create] }
      - { name: Extra, permissions: [] }
keys:
  - { key: sk_test_sandbox, owner: owner@example.com }
`;

const SHARED = `version: 1
# What every shop has.
roles:
  - name: Cashier   # at the till
    permissions: [refunds_create, catalog_view]
`;

const A = `# The shop at the harbour.
version: 1
merchant: MC0A
include: [../shared/retail.yaml]

roles:
  # Nights only.
  - {name: 'Late', id: role_n, permissions: [catalog_view]}
  - name: Gone
    permissions: []   # nothing

members:
  - email: "owner@example.com"
    roles: [role_owner]

  # Bob came back.
  - email: bob@example.com
    roles:
      - role_admin # keep
      - role: Late # for the nights
        until: 2099-01-01
    metadata: { employee_id: "4711" }
  - email: left@example.com
    roles: [Cashier]
  # the end
`;

const B = `version: 1
merchant: MC0B
include: [../shared/retail.yaml]
members:
  - email: owner@example.com
    roles: [role_owner, Cashier]
`;

let shop: Shop;

beforeEach(async () => {
  shop = await openShop(SEED);
  await mkdir(join(shop.folder, "access"));
  await mkdir(join(shop.folder, "shared"));
  await shop.write("shared/retail.yaml", SHARED);
  await shop.write("access/a.yaml", A);
  await shop.write("access/b.yaml", B);
});

afterEach(() => shop.stop());

const read = (file: string): Promise<string> => readFile(join(shop.folder, file), "utf8");

test("changes only what differs, and adjusts a shared role in the merchant's own file", async () => {
  const { code, stdout, stderr } = await shop.run(["pull", "--yes"]);
  expect(stderr).toBe("");
  expect([code, stdout.split("\n").at(-2)]).toEqual([0, "changed access/a.yaml"]);
  expect(await read("shared/retail.yaml")).toBe(SHARED);
  expect(await read("access/b.yaml")).toBe(B);
  expect(await read("access/a.yaml")).toMatchInlineSnapshot(`
    "# The shop at the harbour.
    version: 1
    merchant: MC0A
    include: [../shared/retail.yaml]

    roles:
      # Nights only.
      - {name: 'Night', id: role_n, permissions: [catalog_view], previously: Late}
      - name: Cashier
        adjust:
          add: [stock_edit]
      - name: Added
        permissions: [catalog_view]

    members:
      - email: "owner@example.com"
        roles: [role_owner]

      # Bob came back.
      - email: bob@example.com
        roles:
          - role_admin # keep
          - Added
        metadata: { employee_id: "9", team: x }
      - email: new@example.com
        roles: [Cashier, role_employee] # role_employee: Employee
      # the end
    "
  `);
  const plan = await shop.run(["plan", "--detailed-exitcode"]);
  expect(plan.code).toBe(0);
  expect((await shop.run(["pull", "--check"])).code).toBe(0);
});

test("a renamed role keeps the previous names that are nobody's, and of several live roles takes one", async () => {
  const roles = (previously: string) =>
    `version: 1\nmerchant: MC0A\nroles:\n  - name: Store\n    previously: ${previously}\n    permissions: []\n`;
  await shop.write("access/a.yaml", roles("[Depot, Night] # since 2025"));
  expect((await shop.run(["pull", "MC0A", "--yes", "--only", "roles"])).code).toBe(0);
  expect(await read("access/a.yaml")).toContain(
    "- name: Night\n    previously: [Store, Depot] # since 2025\n    permissions: [catalog_view]\n",
  );
  await shop.write("access/a.yaml", roles("[Added, Night]"));
  expect((await shop.run(["plan", "access/a.yaml"])).stdout).toContain(
    'Several live roles have previous names of "Store": "Added" (role_a),',
  );
  expect((await shop.run(["pull", "MC0A", "--yes", "--only", "roles"])).code).toBe(0);
  expect(await read("access/a.yaml")).toContain(
    "- name: Added\n    previously: Store\n    permissions: [catalog_view]\n    id: role_a\n",
  );
  expect((await shop.run(["plan", "access/a.yaml", "--detailed-exitcode"])).code).toBe(0);
});

test("a shared file is changed if all of its merchants agree", async () => {
  for (const id of ["role_c", "role_cb"]) {
    const merchant = id === "role_c" ? "MC0A" : "MC0B";
    await shop.control("PATCH", `/v0.1/merchants/${merchant}/roles/${id}`, {
      permissions: ["catalog_view", "payouts_view"],
    });
  }
  const { code, stdout } = await shop.run(["pull", "--only", "roles", "--check"]);
  expect(code).toBe(2);
  expect(stdout).toContain("+++ b/shared/retail.yaml");
  expect(stdout).toContain("+    permissions: [catalog_view, payouts_view]");
});

test("--check --format json has the patch of each file, and what is not pulled", async () => {
  await shop.write("shared/retail.yaml", SHARED.replace("  - name", "  - description: Other\n    name"));
  const { code, stdout } = await shop.run(["pull", "MC0A", "--check", "--format", "json"]);
  expect(code).toBe(2);
  const { files, ...rest } = JSON.parse(stdout);
  expect(rest).toEqual({
    format: 1,
    notPulled: [expect.stringContaining("MC0A: role Cashier stays as it is")],
    notes: [],
    failures: [],
  });
  expect(files).toEqual([
    { file: "access/a.yaml", patch: expect.stringMatching(/^--- a\/access\/a.yaml\n/) },
  ]);
  await shop.write("access/b.yaml", "version: 1\nmerchant: MC0B\nroles: nothing\n");
  const broken = await shop.run(["pull", "--check", "--format", "json"]);
  expect(JSON.parse(broken.stdout).failures).toMatchObject([{ code: "wrong-type" }]);
  expect(broken.stderr).toContain("Files with errors are not pulled: correct them, and pull again.");
  const writing = await shop.run(["pull", "--yes", "--format", "json"]);
  expect([writing.code, writing.stdout]).toEqual([1, ""]);
  expect(writing.stderr).toContain("--format json needs --check.");
});

test("what several merchants share and differ in stays, and is named", async () => {
  await shop.write("shared/retail.yaml", SHARED.replace("  - name", "  - description: Other\n    name"));
  const { code, stderr } = await shop.run(["pull", "MC0A", "--yes"]);
  expect(code).toBe(1);
  expect(stderr).toContain(
    "not pulled: MC0A: role Cashier stays as it is: shared/retail.yaml is shared with MC0B",
  );
  expect(await read("shared/retail.yaml")).toContain("description: Other");
});

test("all merchants that want a change of a shared file are named", async () => {
  await shop.write("shared/retail.yaml", `${SHARED}  - { name: Extra, permissions: [] }\n`);
  await shop.write("access/c.yaml", "version: 1\nmerchant: MC0C\ninclude: [../shared/retail.yaml]\n");
  const { code, stderr } = await shop.run(["pull", "--check"]);
  expect(code).toBe(2);
  expect(stderr).toContain(
    "not pulled: MC0A, MC0B: role Extra stays as it is: shared/retail.yaml is shared with MC0C,",
  );
});

test("one member is taken over with the roles that it needs, and nobody else", async () => {
  const { code } = await shop.run(["pull", "MC0A", "--yes", "--member", "NEW@example.com"]);
  expect(code).toBe(0);
  const expected = A.replace(
    "  # the end",
    "  - email: new@example.com\n    roles: [Cashier, role_employee] # role_employee: Employee\n  # the end",
  );
  expect(await read("access/a.yaml")).toBe(expected);
});

test("an address of an include with an error is not called unknown", async () => {
  await shop.write(
    "shared/retail.yaml",
    `${SHARED}members:\n  - { email: eve@example.com, rolez: [Cashier] }\n`,
  );
  const { code, stderr } = await shop.run(["pull", "--check", "--member", "eve@example.com"]);
  expect(code).toBe(1);
  expect(stderr).toContain('A member has no key "rolez".');
  expect(stderr).toContain("Files with errors are not pulled: correct them, and pull again.");
  expect(stderr).not.toContain("No member has the address");
});

test("a field whose live value no file can hold is no longer declared, which is said", async () => {
  const members = (await shop.control("GET", "/v0.1/merchants/MC0A/members")) as {
    readonly items: readonly { readonly id: string; readonly user?: { readonly email: string } }[];
  };
  const bob = members.items.find(({ user }) => user?.email === "bob@example.com");
  const metadata = { note: `sk_live_${"a".repeat(24)}` };
  await shop.control("PUT", `/v0.1/merchants/MC0A/members/${bob?.id}`, { metadata });
  const { stderr } = await shop.run(["pull", "MC0A", "--check", "--member", "bob@example.com"]);
  expect(stderr).toContain(
    "MC0A: bob@example.com: metadata is no longer declared, since a file cannot express the live value.",
  );
});

test("a merchant whose files would have errors does not stop the others", async () => {
  const rule = '{ files: ["access/a.yaml"], allow: [include, roles, members] }';
  await shop.write("rolecall.yaml", `version: 1\nenforce: [${rule}]\n`);
  await shop.control("POST", "/v0.1/merchants/MC0A/roles", { name: "role_odd", permissions: [] });
  await shop.control("POST", "/v0.1/merchants/MC0B/members", { email: "cy@example.com", roles: ["role_cb"] });
  const { code, stdout, stderr } = await shop.run(["pull", "--yes"]);
  expect(code).toBe(1);
  expect(stderr).toContain('This file must not have "ignore". Enforced by rolecall.yaml:2:39.');
  expect(stderr).toContain("The files would have 1 error, so MC0A is not pulled.");
  expect(stderr).not.toContain("the next plan");
  expect(stdout).toMatch(/\nchanged access\/b\.yaml\n$/);
  expect(await read("access/a.yaml")).toBe(A);
  expect(await read("access/b.yaml")).toContain("cy@example.com");
});

test("an expired invitation turns off the renewal of its entry alone", async () => {
  const { id } = (await shop.control("POST", "/v0.1/merchants/MC0A/members", {
    email: "late@example.com",
    roles: ["role_a"],
  })) as { readonly id: string };
  await shop.control("POST", `/merchants/MC0A/members/${id}/expire`);
  expect((await shop.run(["pull", "MC0A", "--yes"])).code).toBe(0);
  expect(await read("access/a.yaml")).not.toContain("sync");
  expect(await read("access/a.yaml")).toMatch(
    /# The invitation has expired\. Without reinvite: false, a plan renews it\.\n {2}- email: late@example\.com\n.*\n {4}reinvite: false\n/,
  );
});

test("what is pulled, but does not fit what is left out, is refused with the way on", async () => {
  await shop.write(
    "access/b.yaml",
    `${B.replace("include: [../shared/retail.yaml]\n", "")}${SHARED.slice(11)}  - { name: Old, permissions: [] }\n`,
  );
  const held = (await read("access/b.yaml")).replace("[role_owner, Cashier]", "[role_owner, Cashier, Old]");
  await shop.write("access/b.yaml", held);
  const { code, stderr } = await shop.run(["pull", "MC0B", "--only", "roles", "--yes"]);
  expect(code).toBe(1);
  expect(stderr.replaceAll(/\s+/g, " ")).toContain(
    'so nothing is written. → The parts that are left out do not match those that are pulled. Pull both with "rolecall pull MC0B", or change the files first.',
  );
  expect(await read("access/b.yaml")).toBe(held);
  expect((await shop.run(["pull", "MC0B", "--yes"])).code).toBe(0);
});

test("a path is no code of a merchant, and is told which are its merchants, or what to do", async () => {
  await mkdir(join(shop.folder, "other"));
  await shop.write("other/x.yaml", B);
  const told = async (path: string) => {
    const { code, stderr } = await shop.run(["pull", path, "--check"]);
    expect(code).toBe(1);
    return stderr.replaceAll(/\s+/g, " ");
  };
  expect(await told("access/a.yaml")).toContain("by code: rolecall pull MC0A ");
  expect(await told("shared/retail.yaml")).toContain("by code: rolecall pull MC0A MC0B ");
  expect(await told("access")).toContain('"rolecall pull" without a code updates every file in access.');
  expect(await told("other/x.yaml")).toContain(
    "Move the files there, or run pull in the folder that contains",
  );
  expect(await told("nothing/x.yaml")).toContain("Specify merchants by code, such as MC4F7K2P.");
  expect(await told("a")).toContain('For that merchant, run "rolecall pull MC0A"');
});

test("a patch for which files have errors is not said to be empty", async () => {
  await shop.write("access/b.yaml", "version: 1\n");
  const { code, stdout, stderr } = await shop.run(["drift", "access/b.yaml", "--patch"]);
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).not.toContain("The patch is empty");
});
