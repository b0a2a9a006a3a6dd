import { spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { parse } from "yaml";
import { openShop, type Shop } from "../support/shop.ts";

const SEED = `merchants:
  - code: MC1
    members:
      - { email: ada@example.com, roles: [role_owner] }
      - { email: till-1@shop.example, roles: [], managed: { nickname: Till 1 } }
      - { email: till-2@shop.example, roles: [], managed: { nickname: Till 2 } }
      - { email: till-3@shop.example, roles: [], managed: { nickname: Till 3 }, status: disabled }
  - code: MC2
    members:
      - { email: ada@example.com, roles: [role_owner] }
      - { email: till-4@shop.example, roles: [], managed: { nickname: Till 4 } }
keys:
  - { key: sk_test_sandbox, owner: ada@example.com }
`;

const FILE = `version: 1
merchant: MC1
roles:
  - { name: New, permissions: [catalog_view] }
members:
  - { email: ada@example.com, roles: [role_owner, New] }
${[1, 2, 3].map((n) => `  - { email: till-${n}@shop.example, roles: [], managed: { nickname: Till ${n}, password_env: TILL_${n} } }`).join("\n")}
`;

const PASSWORDS = { TILL_1: "first-pass-1", TILL_2: "first-pass-2", TILL_3: "first-pass-3" };

const WORKFLOW = resolve(import.meta.dirname, "../../examples/github/rolecall-passwords.yml");

let shop: Shop;

beforeEach(async () => {
  shop = await openShop(SEED);
  await shop.write("mc1.yaml", FILE);
});

afterEach(async () => {
  await shop.stop();
});

const rotate = (pattern: string, more: readonly string[] = [], env: Readonly<Record<string, string>> = {}) =>
  shop.run(["apply", "mc1.yaml", "--yes", "--rotate-password", pattern, ...more], { ...PASSWORDS, ...env });

const fail = (rule: object): Promise<unknown> => shop.control("PUT", "/faults", { rules: [rule] });

async function statusOf(email: string): Promise<string> {
  const { items } = (await shop.control("GET", "/v0.1/merchants/MC1/members")) as {
    readonly items: readonly { readonly status: string; readonly user: { readonly email: string } }[];
  };
  return items.find(({ user }) => user.email === email)?.status ?? "";
}

test("a pattern sets passwords and nothing else, and leaves out disabled users, by name", async () => {
  const { code, stdout, stderr } = await rotate("till-*");
  expect(stderr).toBe("");
  expect(stdout).toContain("Skipped, since a new password would enable them: 1 disabled user");
  expect(stdout).toContain("(till-3@shop.example).");
  expect(stdout).toContain("Apply complete at MC1: 2 changes done. Verified: every user's status is as");
  expect(code).toBe(0);
  const writes = await shop.writes();
  expect(writes).toHaveLength(2);
  expect(writes.every((one) => one.startsWith("PUT "))).toBe(true);
  expect(await statusOf("till-3@shop.example")).toBe("disabled");
});

test("the workflow that GitHub runs by hand sets passwords, whatever dates the files bring", async () => {
  const dated = `${FILE}  - { email: eve@example.com, roles: [role_admin], from: 2020-01-15 }\n`;
  await shop.write(
    "mc1.yaml",
    dated.replace("email: till-3@shop.example,", "email: till-3@shop.example, until: 2020-01-15,"),
  );
  const workflow = await readFile(WORKFLOW, "utf8");
  const [, command = ""] = /rolecall (apply .*) "\$\{options\[@\]\}"/.exec(workflow) ?? [];
  const args = [...command.split(" "), "mc1.yaml", "--rotate-password", "till-*"];
  expect((await shop.run(args, PASSWORDS)).code).toBe(0);
  const writes = await shop.writes();
  expect(writes).toHaveLength(2);
  expect(writes.every((one) => one.startsWith("PUT "))).toBe(true);
});

test("the workflow without a user runs nothing", async () => {
  const { jobs } = parse(await readFile(WORKFLOW, "utf8")) as {
    readonly jobs: { readonly passwords: { readonly steps: readonly { readonly run?: string }[] } };
  };
  const script = jobs.passwords.steps.at(-1)?.run ?? "";
  // A PATH without npx: the script has to end before it runs anything.
  const { status, stdout } = spawnSync("/bin/bash", ["-e", "-c", script], {
    env: { USERS: " ", PATH: "" },
    encoding: "utf8",
  });
  expect(stdout).toBe("::error::Give at least one address or pattern.\n");
  expect(status).toBe(1);
});

test("a disabled user who is named is enabled only with the override that the refusal prints", async () => {
  const refused = await rotate("till-3@shop.example");
  expect(refused.code).toBe(3);
  expect(refused.stderr).toContain("guard password-enables: till-3@shop.example is disabled, and a new");
  expect(await shop.writes()).toEqual([]);
  const [override = ""] = /password-enables=\S+@[0-9a-f]{12}/.exec(refused.stderr) ?? [];
  const allowed = await rotate("till-3@shop.example", ["--allow", override]);
  expect(allowed).toMatchObject({ code: 0, stderr: "" });
  expect(await statusOf("till-3@shop.example")).toBe("accepted");
});

test("somebody who was enabled in the meantime is noticed by the verification", async () => {
  const path = "/merchants/MC1/members/till-3@shop.example/status";
  await fail({
    kind: "concurrent-edit",
    operation: "members.update",
    times: 1,
    request: { method: "PUT", path, body: { status: "accepted" } },
  });
  const { code, stderr } = await rotate("till-*");
  expect(stderr).toContain("the verification found 1 problem");
  expect(stderr).toContain("till-3@shop.example was disabled when this was planned, and is accepted");
  expect(code).toBe(4);
});

test("a refusal for one user stops nobody else, and a second run skips those who are done", async () => {
  await fail({ kind: "status", status: 403, detail: "Too simple.", operation: "members.update", nth: 1 });
  const first = await rotate("till-*", ["--concurrency", "1"]);
  expect(first.code).toBe(4);
  expect(first.stderr).toContain("1 change done, 1 failed.");
  expect(first.stderr).toContain("again: passwords that are already set are kept.");
  const second = await rotate("till-*");
  expect(second.stdout).toContain("✓ MC1  member till-1@shop.example password set from TILL_1\n");
  expect(second.stdout).toContain(
    "✓ MC1  member till-2@shop.example kept the password: the one in TILL_2 was used before\n",
  );
  expect(second.stdout).toContain("1 change done, 1 password kept.");
  expect(second.code).toBe(0);
});

test("a merchant without its password is told how to go on, which no plan shows", async () => {
  await shop.write(
    "mc2.yaml",
    "version: 1\nmerchant: MC2\nmembers: [{ email: till-4@shop.example, managed: { password_env: TILL_4 } }]\n",
  );
  const { stderr } = await rotate("till-*", ["mc2.yaml"]);
  expect(stderr.replaceAll(/\s+/g, " ")).toContain(
    "failed at MC2: Passwords of --rotate-password come from the environment: TILL_4 is not set. Completed changes remain. To continue, fix the problem, and run the command again: passwords that are already set are kept.",
  );
});

test("a password that ends in a line break is refused before anything is sent", async () => {
  const { code, stderr } = await rotate("till-*", [], { TILL_2: "first-pass-2\n" });
  expect(stderr.replaceAll(/\s+/g, " ")).toContain("TILL_2 has a line break,");
  expect(stderr).not.toContain("first-pass");
  expect(code).toBe(1);
  expect(await shop.writes()).toEqual([]);
});

test.each(["--approved=plan.json", "--interactive", "--only=due", "--reinvite=ada@example.com"])(
  "%s is about a plan, which a rotation has none of",
  async (option) => {
    const { code, stderr } = await rotate("till-*", [option]);
    expect(stderr).toContain("cannot be used with option");
    expect(code).toBe(1);
  },
);
