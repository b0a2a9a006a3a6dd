import { afterEach, beforeEach, expect, test } from "vitest";
import { openShop, type Shop } from "../support/shop.ts";

const SEED = `merchants:
  - code: MC1
    roles:
      - { id: role_old, name: Old, permissions: [a] }
      - { id: role_kept, name: Kept, permissions: [a] }
    members:
      - { id: mem_ada, email: ada@example.com, roles: [role_owner] }
      - { id: mem_bob, email: bob@example.com, roles: [role_old] }
      - { id: mem_old, email: old@example.com, roles: [role_old] }
keys:
  - { key: sk_test_sandbox, owner: ada@example.com }
`;

const FILE = `version: 1
merchant: MC1
roles:
  - { name: Kept, permissions: [a, b] }
  - { name: New, permissions: [c] }
members:
  - { email: ada@example.com, roles: [role_owner] }
  - { email: bob@example.com, roles: [Kept] }
  - { email: new@example.com, roles: [New] }
`;

let shop: Shop;

beforeEach(async () => {
  shop = await openShop(SEED);
  await shop.write("mc1.yaml", FILE);
});

afterEach(async () => {
  await shop.stop();
});

const OPERATIONS = [
  "roles.list",
  "members.list",
  "members.retrieve",
  "roles.create",
  "roles.update",
  "roles.delete",
  "members.create",
  "members.update",
  "members.delete",
];

test.each(["garbage", "bad-header", "bad-chunk", "both-lengths"])(
  "an answer that is no HTTP (%s) is a lost answer to every request of an apply",
  async (answer) => {
    const rules = ["before", "after"].flatMap((effect, index) =>
      OPERATIONS.map((operation) => ({ kind: "not-http", answer, effect, operation, nth: index + 1 })),
    );
    await shop.control("PUT", "/faults", { rules });
    const apply = await shop.run(["apply", "--yes", "mc1.yaml"], {}, 0.01);
    expect([apply.code, apply.stderr]).toEqual([0, expect.not.stringContaining("bug")]);
    expect(apply.stdout).toContain("MC1: 6 changes done.");
    await shop.control("DELETE", "/faults");
    const names = (await shop.control("GET", "/requests")) as {
      readonly items: readonly {
        readonly method: string;
        readonly committed: boolean;
        readonly name: string | null;
        readonly faults: readonly string[];
      }[];
    };
    const created = names.items.filter(({ method, committed }) => method === "POST" && committed);
    expect(created.map(({ name }) => name).sort()).toEqual(["New", "new@example.com"]);
    expect(names.items.filter(({ faults }) => faults.length > 0).length).toBeGreaterThan(OPERATIONS.length);
    expect((await shop.run(["plan", "--detailed-exitcode", "mc1.yaml"])).code).toBe(0);
  },
);

test("a service that never speaks HTTP is a network error", async () => {
  await shop.control("PUT", "/faults", { rules: [{ kind: "not-http" }] });
  const plan = await shop.run(["plan", "mc1.yaml", "--retry-for", "0"]);
  expect(plan.code).toBe(1);
  expect(plan.stderr + plan.stdout).toContain("did not respond with HTTP");
});
