import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { withoutTimes } from "../support/reviews.ts";
import { openShop, type Shop } from "../support/shop.ts";

const SEED = `merchants:
  - code: MC1
    members:
      - { email: ada@example.com, roles: [role_owner] }
      - { email: ben@example.com, roles: [role_employee] }
  - code: MC2
    members:
      - { email: ada@example.com, roles: [role_owner] }
keys:
  - { key: sk_test_sandbox, owner: ada@example.com }
`;

const file = (merchant: string): string => `version: 1
merchant: ${merchant}
roles:
  - { name: Cashier, permissions: [catalog_view] }
members:
  - { email: ada@example.com, roles: [role_owner] }
  - { email: cleo@example.com, roles: [Cashier] }
`;

const APPLY = ["apply", "mc1.yaml", "--yes", "--approved", "plan.json"];

let shop: Shop;

beforeEach(async () => {
  shop = await openShop(SEED);
  await shop.write("mc1.yaml", file("MC1"));
  await shop.write("mc2.yaml", file("MC2"));
  const plan = await shop.run(["plan", "mc1.yaml", "--out", "plan.json"]);
  expect(plan.stderr).toBe("Saved as plan.json.\n");
  expect(plan.code).toBe(0);
});

afterEach(async () => {
  await shop.stop();
});

async function edit(change: (plan: string) => string): Promise<void> {
  await shop.write("plan.json", change(await readFile(join(shop.folder, "plan.json"), "utf8")));
}

test("what was reviewed and saved is applied", async () => {
  const apply = await shop.run(APPLY);
  expect(apply.stderr).toBe("");
  expect(apply.stdout).toMatch(
    /\n✓ Apply complete at MC1: 3 changes done\. .*\n.*\n {2}journal: \S+-MC1\.jsonl\n$/,
  );
  expect(apply.code).toBe(0);
});

test("the saved plan is what plan --format json prints", async () => {
  const { stdout } = await shop.run(["plan", "mc1.yaml", "--format", "json"]);
  const saved = await readFile(join(shop.folder, "plan.json"), "utf8");
  expect(withoutTimes(saved)).toBe(withoutTimes(stdout));
});

test("new changes since are named and refused, and nothing is changed", async () => {
  await shop.write("mc1.yaml", file("MC1").replace("[catalog_view]", "[catalog_view, refunds_create]"));
  await shop.control("POST", "/v0.1/merchants/MC1/members", {
    email: "dan@example.com",
    roles: ["role_employee"],
  });
  const apply = await shop.run(APPLY);
  expect(apply.code).toBe(3);
  expect(apply.stderr).toBe(
    [
      "",
      "✗ Apply refused at MC1: nothing was changed.",
      "",
      "refused: not approved: create role Cashier.",
      "refused: not approved: delete member dan@example.com.",
      "",
      "To continue, correct the files, or override or approve what is refused, and",
      "apply again.",
      "",
    ].join("\n"),
  );
  expect(await shop.writes()).toEqual([]);
});

test("changes already made drop out, so that an apply that stopped half-way can be run again", async () => {
  await shop.control("PUT", "/faults", {
    rules: [{ kind: "status", status: 422, operation: "members.delete", times: 1 }],
  });
  const stopped = await shop.run(APPLY);
  expect(stopped.stderr).toContain("2 changes done, 1 failed");
  expect(stopped.code).toBe(4);
  const again = await shop.run(APPLY);
  expect(again.stdout).toContain("1 change done");
  expect(again.code).toBe(0);
  const done = await shop.run(APPLY);
  expect(done.stderr).toBe("Nothing to do.\n");
  expect(done.code).toBe(0);
});

test("a plan that was edited after it was made is no approval", async () => {
  await edit((plan) => plan.replaceAll("cleo@example.com", "mallory@example.com"));
  await shop.write("mc1.yaml", file("MC1").replace("cleo@", "mallory@"));
  const apply = await shop.run(APPLY);
  expect(apply.code).toBe(3);
  expect(apply.stderr).toContain("refused: the approved plan has been edited");
  expect(await shop.writes()).toEqual([]);
});

test("one merchant's plan approves nothing of another's", async () => {
  const apply = await shop.run(["apply", "mc2.yaml", "--yes", "--approved", "plan.json"]);
  expect(apply.code).toBe(3);
  expect(apply.stderr).toContain("refused: this merchant is not in the approved plan.");
  await edit((plan) => plan.replaceAll('"MC1"', '"MC2"'));
  const disguised = await shop.run(["apply", "mc2.yaml", "--yes", "--approved", "plan.json"]);
  expect(disguised.code).toBe(3);
  expect(await shop.writes()).toEqual([]);
});

test("a file of a newer format, or none at all, is no approval, and says what to do", async () => {
  await edit((plan) => plan.replace('"format": 1', '"format": 2'));
  const newer = await shop.run(APPLY);
  expect(newer.stderr).toContain("its format is 2, and this version of rolecall knows format 1");
  expect(newer.stderr).toContain('→ Create it again with "rolecall plan --out".');
  expect(newer.code).toBe(1);
  // The file is read before the service is asked: an address where nobody answers makes no difference.
  const unreachable = ["--base-url", "http://127.0.0.1:9", "--retry-for", "0"];
  const missing = await shop.run([
    "apply",
    "mc1.yaml",
    "--yes",
    "--approved",
    "nowhere.json",
    ...unreachable,
  ]);
  expect(missing.stderr).toContain("nowhere.json cannot be read: there is no such file or folder.");
  expect(missing.code).toBe(1);
  expect(await shop.writes()).toEqual([]);
});

test("an approval does not override a guard", async () => {
  await shop.write(
    "mc1.yaml",
    "version: 1\nmerchant: MC1\nguards: { max_removals: 0 }\nmembers:\n  - { email: ada@example.com, roles: [role_owner] }\n",
  );
  const plan = await shop.run(["plan", "mc1.yaml", "--out", "plan.json"]);
  expect(plan.code).toBe(3);
  expect((await shop.run(APPLY)).code).toBe(3);
  expect(await shop.writes()).toEqual([]);
});

test.each([
  ["/dev/zero", "it is a device, not a file"],
  [".", "EISDIR"],
  ["none.json", "there is no such file or folder"],
])("%s is no approved plan, and says why", async (path, reason) => {
  const { code, stderr } = await shop.run(["apply", "mc1.yaml", "--yes", "--approved", path]);
  expect(stderr).toContain(`error: ${path} cannot be read: ${reason}`);
  expect(code).toBe(1);
});
