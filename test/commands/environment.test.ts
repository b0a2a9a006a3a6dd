import { afterEach, describe, expect, test } from "vitest";
import { openShop, type Shop } from "../support/shop.ts";

const seed = (account: string, keys: string) => `merchants:
  - code: MC1
    ${account}
    members:
      - { email: ada@example.com, roles: [role_owner] }
      - { email: eve@example.com, roles: [role_employee] }
      - { email: till@shop.example, roles: [], managed: {} }
keys:
  - ${keys}
`;

const TEST_KEY = "{ key: sk_test_sandbox, owner: ada@example.com }";
const LIVE_ACCOUNT = "sandbox: false";

const file = (head: string) => `version: 1
merchant: MC1
${head}
members:
  - { email: ada@example.com, roles: [role_owner] }
  - { email: till@shop.example, roles: [], managed: { password_env: TILL } }
`;

let shop: Shop;

afterEach(async () => {
  await shop.stop();
});

async function open(account: string, head: string, keys = TEST_KEY): Promise<void> {
  shop = await openShop(seed(account, keys));
  await shop.write("mc1.yaml", file(head));
}

describe("a file of a test account whose merchant code is that of a live one", () => {
  test.each([
    ["plan", "mc1.yaml"],
    ["drift", "mc1.yaml"],
    ["apply", "mc1.yaml", "--yes"],
    ["apply", "mc1.yaml", "--yes", "--rotate-password", "till@shop.example"],
    ["apply", "mc1.yaml", "--yes", "--on-error", "stop"],
  ])("is refused before anything else by %s %s %s %s", async (...args) => {
    await open(LIVE_ACCOUNT, "environment: test");
    const { code, stdout, stderr } = await shop.run(args, { TILL: "long enough" });
    expect(stderr).toContain(
      'The file of MC1 declares "environment: test", but at the service it is a live account.',
    );
    expect(stdout).not.toContain("eve@example.com");
    expect(code).toBe(1);
    expect(await shop.writes()).toEqual([]);
  });

  test("is refused by doctor, which tries nothing there", async () => {
    await open(LIVE_ACCOUNT, "environment: test");
    const { code, stdout } = await shop.run(["doctor", "mc1.yaml"]);
    expect(stdout.replaceAll(/\s+/g, " ")).toContain(
      'Environment The file of MC1 declares "environment: test", but at the service it is a live account.',
    );
    expect(stdout).not.toContain("delete a member");
    expect(code).toBe(1);
    expect(await shop.writes()).toEqual([]);
  });
});

test("without an environment in the file, the key must agree with the service", async () => {
  await open(LIVE_ACCOUNT, "");
  const { code, stderr } = await shop.run(["plan", "mc1.yaml"]);
  expect(stderr).toContain(
    "MC1 would be reached with a test key (ROLECALL_API_KEY), but at the service it is a live account.",
  );
  expect(code).toBe(1);
});

test("a live file of a test account is refused, too", async () => {
  await open("sandbox: true", "environment: live", "{ key: sk_live_sandbox, owner: ada@example.com }");
  const { code, stderr } = await shop.run(["plan", "mc1.yaml"], { ROLECALL_API_KEY: "sk_live_sandbox" });
  expect(stderr).toContain(
    'The file of MC1 declares "environment: live", but at the service it is a test account.',
  );
  expect(code).toBe(1);
});

test("undo is refused, too", async () => {
  await open(
    "sandbox: true",
    "environment: test",
    `${TEST_KEY}\n  - { key: sk_live_own, owner: ada@example.com }`,
  );
  expect((await shop.run(["apply", "mc1.yaml", "--yes"])).code).toBe(0);
  const writes = await shop.writes();
  await shop.write("mc1.yaml", file("environment: live"));
  const { code, stderr } = await shop.run(["undo", "latest", "mc1.yaml", "--yes"], {
    ROLECALL_API_KEY: "sk_live_own",
  });
  expect(stderr).toContain(
    'The file of MC1 declares "environment: live", but at the service it is a test account.',
  );
  expect(code).toBe(1);
  expect(await shop.writes()).toEqual(writes);
});

test.each([
  ["a key that belongs to nobody", LIVE_ACCOUNT, "{ key: sk_test_sandbox }"],
  [
    "a key without the scope",
    LIVE_ACCOUNT,
    "{ key: sk_test_sandbox, owner: ada@example.com, permissions: [merchant_read, members_view, roles_list, roles_view] }",
  ],
  ["an owner without a membership", LIVE_ACCOUNT, "{ key: sk_test_sandbox, owner: nobody@example.com }"],
])("no answer is no disagreement: %s", async (_, account, key) => {
  await open(account, "environment: test", key);
  const { code, stdout } = await shop.run(["plan", "mc1.yaml"]);
  expect(stdout).toContain("eve@example.com");
  expect(code).toBe(0);
});

describe("a service that does not answer at once", () => {
  const LIST = { kind: "status", status: 503, operation: "memberships.list" };

  test("is asked again, like for every read", async () => {
    await open(LIVE_ACCOUNT, "environment: test");
    await shop.control("POST", "/faults", { ...LIST, times: 4 });
    const { code, stderr } = await shop.run(["apply", "mc1.yaml", "--yes"], { TILL: "long enough" }, 0.01);
    expect(stderr).toContain(
      'The file of MC1 declares "environment: test", but at the service it is a live account.',
    );
    expect(code).toBe(1);
    expect(await shop.writes()).toEqual([]);
  });

  test("is named by a plan, and stops an apply before its first write", async () => {
    await open(LIVE_ACCOUNT, "environment: test");
    await shop.control("POST", "/faults", LIST);
    const plan = await shop.run(["plan", "mc1.yaml"], {}, 0.01);
    expect(plan.stdout.replaceAll(/\s+/g, " ")).toContain(
      "The service did not report whether this is a test account, as the file or the key says.",
    );
    expect(plan.code).toBe(0);
    const { code, stderr } = await shop.run(["apply", "mc1.yaml", "--yes"], {}, 0.01);
    const said = stderr.replaceAll(/\s+/g, " ");
    expect(said).toContain(
      'The file of MC1 declares "environment: test", which could not be compared with the account at the service: GET /v0.1/memberships',
    );
    expect(said).toContain(
      'Run the command again later; without "environment" in the file, this is not required.',
    );
    expect(code).toBe(1);
    expect(await shop.writes()).toEqual([]);
  });

  test("does not stop an apply if the file declares no environment", async () => {
    await open(LIVE_ACCOUNT, "");
    await shop.control("POST", "/faults", LIST);
    expect((await shop.run(["apply", "mc1.yaml", "--yes"], {}, 0.01)).code).toBe(0);
    expect(await shop.writes()).toHaveLength(1);
  });
});
