import { execFileSync } from "node:child_process";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { withoutTimes } from "../support/reviews.ts";
import { openShop, type Shop } from "../support/shop.ts";

const SEED = `merchants:
  - code: MC1
    members:
      - { id: mem_ada, email: ada@example.com, roles: [role_owner] }
      - { id: mem_ben, email: ben@example.com, roles: [role_manager], metadata: { desk: 1 }, status: expired }
keys:
  - { key: sk_test_sandbox, owner: ada@example.com }
`;

const FILE = `version: 1
merchant: MC1
members:
  - { email: ada@example.com, roles: [role_owner] }
  - { email: ben@example.com }
`;

const MORE = `${FILE}  - { email: new@example.com, roles: [role_employee] }
`;

/** It takes no second invitation beside an expired one, and refuses the one after its removal. */
const FAULTS = [
  { kind: "expired-invitation", answer: "conflict" },
  { kind: "status", status: 429, operation: "members.create", nth: 2 },
];

let shop: Shop;

beforeEach(async () => {
  shop = await openShop(SEED);
  await shop.write("mc1.yaml", FILE);
});

afterEach(async () => {
  await shop.stop();
});

/** The text without its line breaks. */
const flat = (text: string): string => text.replaceAll(/\s+/g, " ");

async function members(): Promise<readonly unknown[]> {
  const got = await shop.control("GET", "/v0.1/merchants/MC1/members");
  return (got as { readonly items: readonly object[] }).items;
}

async function faults(rules: readonly object[]): Promise<void> {
  await shop.control("PUT", "/faults", { rules });
}

async function halfDone(): Promise<void> {
  await shop.run(["plan", "mc1.yaml", "--out", "plan.json"]);
  await faults(FAULTS);
  const apply = await shop.run(["apply", "mc1.yaml", "--yes", "--retry-for", "0"]);
  await faults([]);
  expect(apply.stdout).toContain("member ben@example.com unfinished: ");
  expect(apply.stderr).toContain("Apply incomplete at MC1: 1 unfinished.");
  expect(apply.stderr).toContain("The expired invitation was deleted, and no new one was sent.");
  expect(apply.stderr).toContain("It held: roles Manager (role_manager); metadata desk: 1.");
  const told = flat(apply.stderr);
  expect(told).toMatch(/"rolecall undo \S+Z" invites them with all of this; "rolecall apply" invites them/);
  expect(apply.code).toBe(4);
}

const RENEWED = { status: "pending", roles: ["role_manager"], metadata: { desk: 1 } };

describe("an expired invitation that could not be renewed once it was removed", () => {
  beforeEach(halfDone);

  test("is listed by its run with what it held", async () => {
    const { stdout } = await shop.run(["runs", "latest"]);
    expect(flat(stdout)).toContain(
      "ben@example.com at MC1: roles Manager (role_manager); metadata desk: 1 → To invite them",
    );
    const all = await shop.run(["runs", "latest", "--format", "json"]);
    expect(all.stdout).toContain('"desk": 1');
  });

  test("is sent by the next apply with what the file lists", async () => {
    await shop.write(
      "mc1.yaml",
      FILE.replace("ben@example.com }", "ben@example.com, roles: [role_cashier] }"),
    );
    const apply = await shop.run(["apply", "mc1.yaml", "--yes"]);
    expect(apply.code).toBe(0);
    expect(await members()).toMatchObject([{}, { status: "pending", roles: ["role_cashier"] }]);
  });

  test("is sent by undo with what it held", async () => {
    const undo = await shop.run(["undo", "latest", "mc1.yaml", "--yes"]);
    expect(flat(undo.stdout)).toContain("a new invitation with the same content is sent");
    expect(undo.code).toBe(0);
    expect(await members()).toMatchObject([{}, RENEWED]);
  });

  test("is a finding where the file lists no roles, and everything else is done", async () => {
    await shop.write("mc1.yaml", MORE);
    const apply = await shop.run(["apply", "mc1.yaml", "--yes"]);
    expect(flat(apply.stdout)).toContain("the file declares no roles for");
    expect(apply.code).toBe(0);
    expect(await members()).toMatchObject([{}, { invite: { email: "new@example.com" } }]);
  });

  test("a journal changes no plan, whoever wrote it, and is not read once git tracks it", async () => {
    const planned = () => shop.run(["plan", "mc1.yaml", "--format", "json"]);
    const before = await planned();
    expect(before.stdout).not.toContain("role_manager");
    execFileSync("git", ["init", "--quiet"], { cwd: shop.folder });
    execFileSync("git", ["add", "--force", ".rolecall/runs"], { cwd: shop.folder });
    const after = await planned();
    expect(withoutTimes(after.stdout)).toBe(withoutTimes(before.stdout));
    expect(flat(after.stderr)).toMatch(
      /a journal is not read: .rolecall\/runs\/\S+-MC1.jsonl: git tracks it/,
    );
    expect((await shop.run(["runs"])).stdout).toMatch(/unreadable +- +.rolecall\/runs\/\S+: git tracks it/);
    const undo = await shop.run(["undo", "latest", "mc1.yaml", "--yes"]);
    expect(undo.stderr).toContain("git tracks it");
    expect(undo.code).toBe(1);
    await rm(join(shop.folder, ".rolecall"), { recursive: true });
    expect(withoutTimes((await planned()).stdout)).toBe(withoutTimes(before.stdout));
  });
});

describe("an expired invitation whose entry was committed long ago", () => {
  beforeEach(async () => {
    const date = "2020-05-17T08:00:00Z";
    const env = {
      PATH: process.env["PATH"],
      GIT_COMMITTER_DATE: date,
      GIT_AUTHOR_DATE: date,
      HOME: shop.folder,
    };
    const git = (...args: readonly string[]) =>
      execFileSync("git", args, { cwd: shop.folder, env, stdio: "ignore" });
    git("init", "--quiet");
    git("add", "mc1.yaml");
    git("-c", "user.name=T", "-c", "user.email=t@example.com", "commit", "--quiet", "-m", "shop");
  });

  test("is reported, and renewed once with --reinvite", async () => {
    const plan = await shop.run(["plan", "mc1.yaml", "--detailed-exitcode", "--verbose"]);
    expect(flat(plan.stdout)).toContain(
      "ben@example.com has not accepted an invitation since the entry was last changed, on 2020-05-17",
    );
    expect(plan.code).toBe(0);
    const apply = await shop.run(["apply", "mc1.yaml", "--yes", "--reinvite", "Ben@example.com"]);
    expect(apply.code).toBe(0);
    expect(await members()).toMatchObject([{}, RENEWED]);
  });

  test("is renewed when the entry changes, and without git", async () => {
    const changes = async () => (await shop.run(["plan", "mc1.yaml", "--detailed-exitcode"])).code;
    await shop.write(
      "mc1.yaml",
      FILE.replace("ben@example.com }", "ben@example.com, metadata: { desk: 1 } }"),
    );
    expect(await changes()).toBe(2);
    await shop.write("mc1.yaml", FILE);
    expect(await changes()).toBe(0);
    await rm(join(shop.folder, ".git"), { recursive: true });
    expect(await changes()).toBe(2);
  });

  test("--reinvite of somebody without an expired invitation has no effect, and says so", async () => {
    const args = ["plan", "mc1.yaml", "--reinvite", "ada@example.com"];
    const { stderr, code } = await shop.run(args);
    expect(stderr).toContain(
      "warning: --reinvite ada@example.com has no effect: this address has no expired invitation.\n",
    );
    expect(code).toBe(0);
    expect((await shop.run([...args, "-q"])).stderr).not.toContain("warning");
    expect((await shop.run(["plan", "mc1.yaml", "--reinvite", "ben@example.com"])).stderr).not.toContain(
      "has no effect",
    );
  });

  test("--reinvite takes listed addresses only", async () => {
    const plan = await shop.run(["plan", "mc1.yaml", "--reinvite", "bne@example.com"]);
    expect(plan.stderr).toContain("--reinvite bne@example.com: no file lists this address.");
    expect(plan.code).toBe(1);
  });
});
