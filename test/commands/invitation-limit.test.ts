import { afterEach, beforeEach, expect, test } from "vitest";
import { openShop, type Shop } from "../support/shop.ts";

const SEED = `merchants:
  - code: MC1
    members:
      - { id: mem_ada, email: ada@example.com, roles: [role_owner] }
      - { id: mem_old, email: old@example.com, roles: [role_manager] }
  - code: MC2
    members:
      - { id: mem_two, email: ada@example.com, roles: [role_owner] }
keys:
  - { key: sk_test_sandbox, owner: ada@example.com }
`;

const FILE = `version: 1
merchant: MC1
members:
  - { email: ada@example.com, roles: [role_owner] }
  - { email: ben@example.com, roles: [role_employee] }
  - { email: cy@example.com, roles: [role_employee] }
`;

const OTHER = `version: 1
merchant: MC2
members:
  - { email: ada@example.com, roles: [role_owner] }
  - { email: di@example.com, roles: [role_employee] }
`;

let shop: Shop;

beforeEach(async () => {
  shop = await openShop(SEED);
  await shop.write("mc1.yaml", FILE);
  await shop.write("mc2.yaml", OTHER);
});

afterEach(async () => {
  await shop.stop();
});

async function limit(rule: object): Promise<void> {
  await shop.control("PUT", "/faults", { rules: [{ kind: "invitation-limit", ...rule }] });
}

async function addresses(merchant: string): Promise<readonly string[]> {
  const got = await shop.control("GET", `/v0.1/merchants/${merchant}/members`);
  const { items } = got as {
    readonly items: readonly { readonly user?: { email: string }; readonly invite?: { email: string } }[];
  };
  return items.flatMap(({ user, invite }) => (user ?? invite)?.email ?? []).sort();
}

const TOLD =
  /ben@example\.com: too many invitations were sent to this address; try again after [\d-, :]+ UTC/;

test("whose address is limited for an hour delays nobody else, and is listed with the time to retry", async () => {
  await limit({ limit: 0, email: "ben@example.com" });
  const apply = await shop.run(["apply", "--yes", "mc1.yaml", "mc2.yaml"]);
  expect(apply.code).toBe(4);
  expect(apply.stdout).toMatch(TOLD);
  expect(apply.stderr).toContain(
    "Apply incomplete at 2 merchants: 3 changes done, 1 failed.\n  Merchants: 1 applied, 1 partly applied.",
  );
  expect(apply.stderr).toContain("detail   Too many invitations were sent to ben@example.com.");
  expect(await addresses("MC1")).toEqual(["ada@example.com", "cy@example.com"]);
  expect(await addresses("MC2")).toEqual(["ada@example.com", "di@example.com"]);

  const run = await shop.run(["runs", "latest"]);
  expect(run.stdout).toMatch(TOLD);
  expect(run.stdout).toContain("incomplete");
  expect(run.stdout).toContain("Changes: 2 done, 1 failed.");
  expect(run.stdout).toContain("create member ben@example.com");

  await limit({ limit: 1 });
  expect((await shop.run(["apply", "--yes", "mc1.yaml"])).code).toBe(0);
  expect(await addresses("MC1")).toEqual(["ada@example.com", "ben@example.com", "cy@example.com"]);
});

test("events have the refused address and the time to retry", async () => {
  await limit({ limit: 0, email: "ben@example.com" });
  const apply = await shop.run(["apply", "--yes", "mc1.yaml", "--format", "json"]);
  const events = apply.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(events.find(({ outcome }) => outcome?.status === "failed")).toMatchObject({
    type: "change-ended",
    outcome: {
      failure: {
        code: "invitation-limited",
        message: expect.stringMatching(TOLD),
        retryAt: expect.any(String),
      },
    },
  });
  expect(events.find(({ type }) => type === "verified")).toMatchObject({ remaining: [], refused: 1 });
  expect(events.at(-1)).toMatchObject({
    type: "summary",
    status: "partial",
    exitCode: 4,
    changes: { done: 2, failed: 1, "not-started": 0 },
  });
});

test("whose address is limited for a second is invited in the same run", async () => {
  await limit({ limit: 0, email: "ben@example.com", window: 1, times: 1 });
  const apply = await shop.run(["apply", "--yes", "mc1.yaml"]);
  expect(apply.code).toBe(0);
  expect(await addresses("MC1")).toContain("ben@example.com");
});

test("reports no changes if the only one is refused", async () => {
  await limit({ limit: 0 });
  const apply = await shop.run(["apply", "--yes", "mc2.yaml"]);
  expect(apply.code).toBe(1);
  expect(apply.stderr).toContain("Apply incomplete at MC2: 0 changes done, 1 failed.");
});
