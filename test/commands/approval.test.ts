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

const flat = (text: string): string => text.replace(/\s+/g, " ");

async function edit(change: (plan: string) => string): Promise<void> {
  await shop.write("plan.json", change(await readFile(join(shop.folder, "plan.json"), "utf8")));
}

test("what is saved without a plan is said to have none", async () => {
  await shop.write("mc1.yaml", "version: 1\nmerchant: 1\n");
  const one = await shop.run(["plan", "mc1.yaml", "--out", "plan.json"]);
  expect(one.code).toBe(1);
  expect(one.stderr).toContain("Saved as plan.json: no plan, only what failed.\n");
  const both = await shop.run(["plan", "mc1.yaml", "mc2.yaml", "--out", "plan.json"]);
  expect(both.stderr).toContain("Saved as plan.json, with what failed.\n");
});

test("what was reviewed and saved is applied", async () => {
  const apply = await shop.run(APPLY);
  expect(apply.stderr).toBe("");
  expect(apply.stdout).toMatch(
    /\n✓ Apply complete at MC1: 3 changes done\. .*\n.*\n {2}journal: \S+-MC1\.jsonl\n$/,
  );
  expect(apply.code).toBe(0);
});

test("of several saved plans, the last one that shows an item decides, and a lost change is told once", async () => {
  const shared = (members: string): Promise<void> => shop.write("shared.yaml", `version: 1\n${members}`);
  await shared("");
  await shop.write(
    "mc1.yaml",
    "version: 1\nmerchant: MC1\ninclude: [shared.yaml]\nmembers: [{ email: ada@example.com, roles: [role_owner] }]\n",
  );
  await shop.run(["plan", "mc1.yaml", "--out", "remove.json"]);
  await shared("members: [{ email: ben@example.com, roles: [role_employee] }]\n");
  await shop.run(["plan", "mc1.yaml", "--out", "keep.json"]);
  await shop.run(["plan", "mc2.yaml", "--out", "other.json"]);
  const plans = ["remove.json", "keep.json", "other.json"].flatMap((name) => ["--approved", name]);
  const apply = await shop.run(["apply", "mc1.yaml", "mc2.yaml", "--yes", ...plans]);
  expect(apply.code).toBe(3);
  expect(flat(apply.stderr)).toContain(
    "refused at MC1: approved, but no longer planned: remove member ben@example.com: ben@example.com is still there (shared.yaml:2).",
  );
  expect(flat(apply.stderr)).toContain("Merchants: 1 applied, 1 refused.");
});

test("the saved plan is what plan --format json prints", async () => {
  const { stdout } = await shop.run(["plan", "mc1.yaml", "--format", "json"]);
  const saved = await readFile(join(shop.folder, "plan.json"), "utf8");
  expect(withoutTimes(saved)).toBe(withoutTimes(stdout));
});

async function changeSince(): Promise<void> {
  await shop.write("mc1.yaml", file("MC1").replace("[catalog_view]", "[catalog_view, refunds_create]"));
  await shop.control("POST", "/v0.1/merchants/MC1/members", {
    email: "dan@example.com",
    roles: ["role_employee"],
  });
}

test("new changes since are named and refused, and only what was approved is made", async () => {
  await changeSince();
  const apply = await shop.run(APPLY);
  expect(apply.code).toBe(3);
  expect(apply.stderr.replace(/2026\S+/g, "RUN")).toBe(
    [
      "",
      "✗ Apply incomplete at MC1: 1 change done.",
      "",
      "refused at MC1: not approved: create role Cashier: the role Cashier would grant",
      "  refunds_create, but plan.json shows something else.",
      "refused at MC1: not approved: create member cleo@example.com: cleo@example.com",
      "  would get refunds_create through Cashier, which no review shows.",
      "refused at MC1: not approved: delete member dan@example.com: dan@example.com",
      "  would be removed, which no review shows.",
      "",
      'Completed changes remain. To continue, save the remaining changes with "rolecall',
      'plan --out", get that plan approved, and apply it.',
      "To undo it: rolecall undo RUN",
      "journal: .rolecall/runs/RUN",
      "",
    ].join("\n"),
  );
  expect(await shop.writes()).toEqual([expect.stringMatching(/^DELETE \S+\/members\/mem_/)]);
});

test("with --on-error stop, new changes since keep everything from being made", async () => {
  await changeSince();
  const apply = await shop.run([...APPLY, "--on-error", "stop"]);
  expect(apply.code).toBe(3);
  expect(apply.stderr).toContain("✗ Apply refused at MC1: nothing was changed.");
  expect(await shop.writes()).toEqual([]);
});

const TEAM = `version: 1
merchant: MC1
sync: { roles: additive }
roles:
  - { name: Cashier, permissions: [catalog_view] }
members:
  - { email: ada@example.com, roles: [role_owner] }
  - { email: ben@example.com, roles: [Cashier] }
  - { email: h@example.com, roles: [Helper] }
`;

test("a role that was widened after the review gives nobody more", async () => {
  const roles = "/v0.1/merchants/MC1/roles";
  const helper = { name: "Helper", permissions: ["catalog_view"] };
  const { id } = (await shop.control("POST", roles, helper)) as { readonly id: string };
  await shop.write("mc1.yaml", TEAM);
  await shop.run(["plan", "mc1.yaml", "--out", "plan.json"]);
  const wider = { name: "Helper", permissions: ["catalog_view", "payouts_edit", "members_update"] };
  await shop.control("PATCH", `${roles}/${id}`, wider);
  const apply = await shop.run([...APPLY, "--format", "json"]);
  expect(apply.code).toBe(3);
  expect(flat(apply.stderr)).toContain(
    "not approved: create member h@example.com: h@example.com would get members_update and payouts_edit through Helper, which no review shows",
  );
  const events = apply.stdout.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
  expect(events.find(({ type }) => type === "compared")).toMatchObject({
    merchant: "MC1",
    refused: [{ change: { kind: "create", name: "h@example.com" } }],
    account: [
      { does: "create", name: "Cashier", verdict: "covered" },
      { does: "update", name: "ben@example.com", verdict: "covered" },
      { does: "create", name: "h@example.com", verdict: "refused" },
    ],
  });
  expect(await shop.writes()).not.toContainEqual(expect.stringMatching(/^POST \S+\/members/));
});

test("an approved removal that an included file takes back is reported with its line", async () => {
  const ben = "  - { email: ben@example.com, roles: [role_employee] }\n";
  const head = "version: 1\nmerchant: MC1\ninclude: [shared.yaml]\nmembers:\n";
  const ada = "  - { email: ada@example.com, roles: [role_owner] }\n";
  await shop.write("shared.yaml", "version: 1\nmembers: []\n");
  await shop.write("mc1.yaml", head + ada);
  await shop.run(["plan", "mc1.yaml", "--out", "plan.json"]);
  await shop.write("shared.yaml", `version: 1\nmembers:\n${ben}`);
  const apply = await shop.run(APPLY);
  expect(apply.code).toBe(3);
  expect(flat(apply.stderr)).toContain(
    "approved, but no longer planned: remove member ben@example.com: ben@example.com is still there (shared.yaml:3).",
  );
  expect(await shop.writes()).toEqual([]);
});

test("an approved new member whom the files no longer list is named", async () => {
  const file = (members: string): string =>
    `version: 1\nmerchant: MC1\nsync: { members: additive }\nmembers: [${members}]\n`;
  await shop.write("mc1.yaml", file("{ email: q@example.com, roles: [role_employee] }"));
  await shop.run(["plan", "mc1.yaml", "--out", "plan.json"]);
  await shop.write("mc1.yaml", file("{ email: evil@example.com, roles: [role_employee] }"));
  const apply = await shop.run([...APPLY, "--format", "json"]);
  expect(apply.code).toBe(3);
  expect(flat(apply.stderr)).toContain(
    "approved, but no longer planned: create member q@example.com: the files do not list q@example.com.",
  );
  const events = apply.stdout.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
  expect(events.find(({ type }) => type === "compared").account).toContainEqual(
    expect.objectContaining({ does: "create", name: "q@example.com", verdict: "dropped" }),
  );
  expect(await shop.writes()).toEqual([]);
});

test("changes already made drop out, so that an apply that stopped half-way can be run again", async () => {
  await shop.control("PUT", "/faults", {
    // The first request asks for the permission.
    rules: [{ kind: "status", status: 422, operation: "members.delete", nth: 2 }],
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

test("an edited plan approves nothing", async () => {
  await edit((plan) => plan.replaceAll("cleo@example.com", "mallory@example.com"));
  await shop.write("mc1.yaml", file("MC1").replace("cleo@", "mallory@"));
  const apply = await shop.run(APPLY);
  expect(apply.code).toBe(3);
  expect(apply.stderr).toContain("refused: the approved plan was edited");
  expect(await shop.writes()).toEqual([]);
});

test("the plan of one merchant approves nothing at another", async () => {
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
  [".", "it is a folder, not a file"],
  ["none.json", "there is no such file or folder"],
])("%s is no approved plan, and says why", async (path, reason) => {
  const { code, stderr } = await shop.run(["apply", "mc1.yaml", "--yes", "--approved", path]);
  expect(stderr).toContain(`error: ${path} cannot be read: ${reason}`);
  expect(code).toBe(1);
});
