import { readFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { runs } from "../../support/property-runs.ts";
import { openShop } from "../../support/shop.ts";

const NAMES = ["Cashier", "cashier", "Shift Lead", "Till: 7", "true", "role_odd", "#1", "Ünïcode ✓"];
const metadata = fc.constantFrom(undefined, { team: "a" }, { n: 1, deep: { list: [1, "x: y", null] } });

const roles = fc.subarray(NAMES).chain((names) =>
  fc.tuple(
    ...names.map((name) =>
      fc.record({
        name: fc.constant(name),
        description: fc.constantFrom(undefined, "", "Sells: at the till", "two\nlines"),
        permissions: fc.subarray(["catalog_view", "refunds_create", "payouts_view"]),
        metadata,
      }),
    ),
  ),
);

const members = (names: readonly string[]) =>
  fc.array(
    fc.record({
      email: fc.constantFrom(
        "ada@example.com",
        "ADA@example.com",
        "bob@example.com",
        "cy@example.com",
        "di@example.com",
      ),
      roles: fc.subarray([...names, "role_employee", "role_admin"]),
      status: fc.constantFrom("accepted", "pending", "expired", "disabled", "unknown"),
      kind: fc.constantFrom(
        {},
        {},
        {},
        { managed: { nickname: "Till 7" } },
        { service_account: true },
        { type: "alien" },
      ),
      metadata,
    }),
    { maxLength: 7 },
  );

const seeds = roles.chain((some) =>
  members(some.map(({ name }) => name)).map((all) => ({
    merchants: [
      {
        code: "MC0DEMO1",
        roles: some,
        members: [
          { email: "owner@example.com", roles: ["role_owner"] },
          { no_address: true, roles: ["role_employee"] },
          ...all.map(({ kind, ...member }) => ({ ...member, ...kind })),
        ],
      },
    ],
    keys: [{ key: "sk_test_sandbox", owner: "owner@example.com" }],
  })),
);

test("after a pull, and after a pull of what was changed since, the plan is empty", async () => {
  await fc.assert(
    fc.asyncProperty(seeds, async (seed) => {
      const shop = await openShop(JSON.stringify(seed));
      try {
        const check = async (): Promise<void> => {
          const pull = await shop.run(["pull", "MC0DEMO1", "--yes"]);
          expect([pull.code, pull.stderr]).toEqual([0, ""]);
          const { plans } = JSON.parse((await shop.run(["plan", "--format", "json"])).stdout);
          expect(plans[0].changes).toEqual([]);
          expect(plans[0].refusals).toEqual([]);
          expect((await shop.run(["fmt", "--check"])).code).toBe(0);
          expect((await shop.run(["pull", "--check"])).code).toBe(0);
        };
        await check();
        await shop.control("POST", "/v0.1/merchants/MC0DEMO1/roles", {
          name: "Added",
          permissions: ["payouts_view"],
        });
        await shop.control("POST", "/v0.1/merchants/MC0DEMO1/members", {
          email: "new@example.com",
          roles: ["role_cashier"],
        });
        await check();
        expect(await readFile(join(shop.folder, "access/mc0demo1.yaml"), "utf8")).toContain(
          "email: new@example.com",
        );
      } finally {
        await shop.stop();
      }
    }),
    { numRuns: runs(6) },
  );
}, 60_000);
