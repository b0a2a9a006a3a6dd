import { afterAll, beforeAll, expect, test } from "vitest";
import { openShop, type Shop } from "../support/shop.ts";

const CODES = ["MC1", "MC2", "MC3", "MC4", "MC5", "MC6"];

let shop: Shop;

beforeAll(async () => {
  shop = await openShop(
    `merchants:\n${CODES.map((code) => `  - { code: ${code}, members: [{ email: ada@example.com, roles: [role_owner] }] }`).join("\n")}\n`,
  );
  for (const code of [...CODES, "MC404"]) {
    await shop.write(
      `${code.toLowerCase()}.yaml`,
      `version: 1
merchant: ${code}
members:
  - { email: ada@example.com, roles: [role_owner] }
  - { email: temp@example.com, roles: [{ role: role_employee, until: 2099-01-31 }] }
`,
    );
  }
});

afterAll(async () => {
  await shop.stop();
});

const files = (codes: readonly string[]): readonly string[] =>
  codes.map((code) => `${code.toLowerCase()}.yaml`);

test("apply changes nothing anywhere when one merchant cannot be read", async () => {
  const apply = await shop.run(["apply", "--yes", ...files(["MC1", "MC404"])]);
  expect(apply.stderr).toContain("Nothing was changed: fix the problems above first.");
  expect(apply.code).toBe(1);
  expect(await shop.writes()).toEqual([]);
});

test("--as-of shows what a run on a later day would do: access that has ended by then is gone", async () => {
  const today = await shop.run(["plan", "mc2.yaml"]);
  expect(today.stdout).toContain("+ create temp@example.com");
  const lastDay = await shop.run(["plan", "mc2.yaml", "--as-of", "2099-01-31"]);
  expect(lastDay.stdout).toContain("+ create temp@example.com");
  const after = await shop.run(["plan", "mc2.yaml", "--as-of", "2099-02-01"]);
  expect(after.stdout).not.toContain("temp@example.com");

  await shop.control("POST", "/v0.1/merchants/MC2/members", {
    email: "temp@example.com",
    roles: ["role_employee"],
  });
  const ended = await shop.run(["plan", "mc2.yaml", "--as-of", "2099-02-01"]);
  expect(ended.stdout).toContain("- delete temp@example.com (its end date has passed)");
  expect((await shop.run(["plan", "mc2.yaml", "--as-of", "someday"])).code).toBe(1);
});
