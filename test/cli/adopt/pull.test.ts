import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openShop, type Shop } from "../../support/shop.ts";

const SEED = `merchants:
  - code: MC0DEMO1
    roles:
      - { name: Cashier, id: role_c, permissions: [refunds_create, catalog_view], description: "Sells: at the till" }
      - { name: Lead, id: role_l, permissions: [catalog_view], metadata: { owner: ops } }
      - { name: role_odd, id: role_o, permissions: [] }
    members:
      - { email: owner@example.com, roles: [role_owner] }
      - { email: bob@example.com, roles: [role_admin, Cashier], metadata: { employee_id: "4711" } }
      - { email: exp@example.com, roles: [Lead], status: expired }
      - { email: twin@example.com, id: mem_1, roles: [Lead, role_o] }
      - { email: TWIN@example.com, id: mem_2, roles: [Cashier] }
      - { email: twin@example.com, id: mem_3, roles: [Cashier], status: expired }
      - { email: svc@example.com, roles: [role_admin], service_account: true }
      - { no_address: true, id: mem_4, roles: [Lead] }
      - { email: till7@example.com, roles: [Cashier], managed: { nickname: "Till 7" } }
      - { email: till8@example.com, roles: [], managed: { nickname: "till-7" } }
      - { email: till9@example.com, roles: [], managed: { nickname: "Till\\u202e9" } }
keys:
  - { key: sk_test_sandbox, owner: owner@example.com }
`;

const FILE = `version: 1
merchant: MC0DEMO1
environment: test
ignore:
  roles: [role_o]
  members: [mem_2, mem_3]

roles:
  - name: Cashier
    description: "Sells: at the till"
    permissions: [catalog_view, refunds_create]
  - name: Lead
    permissions: [catalog_view]
    metadata: { owner: ops }
  # - name: role_odd # ignored: a file cannot express its name or address
  #   id: role_o

members:
  - email: bob@example.com
    roles: [Cashier, role_admin] # role_admin: Admin
    metadata: { employee_id: "4711" }
  # The invitation has expired. Without reinvite: false, a plan renews it.
  - email: exp@example.com
    roles: [Lead]
    reinvite: false
  - email: owner@example.com
    roles: [role_owner] # Owner
  - email: till7@example.com
    managed: { nickname: Till 7, password_env: TILL_7_PASSWORD }
    roles: [Cashier]
  - email: till8@example.com
    managed: { nickname: till-7, password_env: TILL_7_2_PASSWORD }
    roles: []
  # Not managed here, since a file cannot express it: nickname.
  - email: till9@example.com
    managed: { password_env: TILL9_PASSWORD }
    roles: []
  # Also has ignored roles: role_odd (role_o).
  - email: twin@example.com
    roles: [Lead]
    id: mem_1
  # - email: TWIN@example.com # ignored: another entry has its name or address
  #   id: mem_2
  # - email: twin@example.com # ignored: its invitation has expired, and another entry has its address
  #   id: mem_3
  # - roles: [Lead] # no address, so no entry can refer to it
  #   id: mem_4
  # - email: svc@example.com # a service account, which plans leave alone
  #   roles: [role_admin] # Admin
`;

let shop: Shop;

beforeAll(async () => {
  shop = await openShop(SEED);
});

afterAll(() => shop.stop());

test("without any file it says how there would be some", async () => {
  const { code, stderr } = await shop.run(["pull", "--check"]);
  expect(code).toBe(1);
  expect(stderr.replaceAll(/\s+/g, " ")).toContain(
    'and "rolecall pull CODE" creates the file of one merchant.',
  );
});

test("without a terminal it shows the patch, and says what to do", async () => {
  const { code, stdout, stderr } = await shop.run(["pull", "MC0DEMO1"]);
  expect(code).toBe(1);
  expect(stdout).toContain("+++ b/access/mc0demo1.yaml\n@@ -0,0 +1,49 @@\n+version: 1\n");
  expect(stderr).toContain("run the command again with --yes");
});

test("writes no section that the project does not allow, and the first file of a glob where it allows all", async () => {
  const rules = (allow: string) =>
    `version: 1\nenforce:\n  - { files: ["access/**"], allow: [${allow}] }\nenforce_all: true\n`;
  await shop.write("rolecall.yaml", rules("members, sync"));
  const { code, stderr } = await shop.run(["pull", "MC0DEMO1", "--yes", "--quiet"]);
  expect(code).toBe(1);
  expect(stderr).toContain('This file must not have "ignore". Enforced by rolecall.yaml:3:29.');
  expect(stderr).toContain('This file must not have "roles". Enforced by rolecall.yaml:3:29.');
  expect(stderr).toContain("The files would have 2 errors, so nothing is written.");
  await shop.write("rolecall.yaml", rules("ignore, roles, members, sync"));
  const allowed = await shop.run(["pull", "MC0DEMO1"]);
  expect(allowed.stdout).toContain("+++ b/access/mc0demo1.yaml\n");
  await rm(join(shop.folder, "rolecall.yaml"));
});

test("writes a new file, whose plan has no changes", async () => {
  const { code, stdout } = await shop.run(["pull", "MC0DEMO1", "--yes", "--quiet"]);
  expect([code, stdout]).toEqual([0, "created access/mc0demo1.yaml\n"]);
  expect(await readFile(join(shop.folder, "access/mc0demo1.yaml"), "utf8")).toBe(FILE);
  const plan = await shop.run(["plan", "--detailed-exitcode"]);
  expect([plan.code, plan.stdout.split("\n").at(-2)]).toEqual([
    0,
    "  Plan: no changes; 9 unchanged, 2 not managed.",
  ]);
  expect((await shop.run(["fmt", "--check"])).code).toBe(0);
  const again = await shop.run(["pull", "--check"]);
  expect([again.code, again.stdout]).toEqual([
    0,
    "The files already match the live state: there is nothing to change.\n",
  ]);
});

test("a file that manages nothing gets nothing, and is told how it would", async () => {
  await shop.write("access/mc0demo1.yaml", "version: 1\nmerchant: MC0DEMO1\n");
  const none = await shop.run(["pull", "--check"]);
  expect([none.code, none.stdout]).toEqual([0, "There is nothing to change.\n"]);
  expect(none.stderr).toContain('Add "roles: []" and "members: []", and pull again.');
  await shop.write("access/mc0demo1.yaml", "version: 1\nmerchant: MC0DEMO1\nroles: []\nmembers: []\n");
  const all = await shop.run(["pull", "--check"]);
  expect(all.code).toBe(2);
  expect(all.stdout).toContain("+  - email: bob@example.com\n");
});

test("a file of another name's merchant is not overwritten", async () => {
  await mkdir(join(shop.folder, "access"), { recursive: true });
  await shop.write("access/mc0other.yaml", "version: 1\nmerchant: MC0ELSE\n");
  const { code, stderr } = await shop.run(["pull", "MC0OTHER", "--yes"]);
  expect(code).toBe(1);
  expect(stderr).toContain(
    "No file declares merchant MC0OTHER, and access/mc0other.yaml exists for MC0ELSE.",
  );
});
