import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openShop, type Shop } from "../support/shop.ts";

const CODES = ["MC1", "MC2", "MC3", "MC4"];
const PEOPLE = ["ben", "cleo", "dan", "eve", "finn"].map((name) => `${name}@example.com`);

const SEED = `merchants:
${CODES.map(
  (code) => `  - code: ${code}
    members:
      - { email: ada@example.com, roles: [role_owner] }
${PEOPLE.map((email) => `      - { email: ${email}, roles: [role_employee] }`).join("\n")}
`,
).join("")}keys:
  - { key: sk_test_sandbox, owner: ada@example.com }
`;

let shops: Shop;

beforeEach(async () => {
  shops = await openShop(SEED);
  await mkdir(join(shops.folder, "access"));
  for (const code of CODES) {
    await shops.write(
      `access/${code}.yaml`,
      `version: 1\nmerchant: ${code}\nmembers:\n  - { email: ada@example.com, roles: [role_owner] }\n`,
    );
  }
});

afterEach(() => shops.stop());

test("one override covers identical refusals at all merchants, and no other set of plans", async () => {
  const plan = await shops.run(["plan"]);
  expect(plan.code).toBe(3);
  expect(plan.stdout.match(/guard max-removals/g)).toHaveLength(1);
  const [, override = ""] =
    /^ {4}→ To override: apply --allow (max-removals=5@[0-9a-f]{12})\n/m.exec(plan.stdout) ?? [];
  const wrong = [
    ["apply", "--yes", "-m", "MC1", "--allow", override],
    ["apply", "--yes", "--allow", override.replace("=5", "=4")],
    ["apply", "--yes", "-m", "MC1", "-m", "MC2", "-m", "MC3", "--allow", override],
  ];
  for (const args of wrong) expect((await shops.run(args)).code).not.toBe(0);
  expect(await shops.writes()).toEqual([]);
  const applied = await shops.run(["apply", "--yes", "--allow", override]);
  expect(applied.code).toBe(0);
  expect(applied.stdout.replaceAll(/\s+/g, " ")).toContain(
    "overridden: guard max-removals: In all 4 merchants: 5 of 6 members would be removed",
  );
  expect(await shops.writes()).toHaveLength(20);
});

test("a merchant that is planned alone is overridden as before", async () => {
  const plan = await shops.run(["plan", "-m", "MC3"]);
  const [, override = ""] = /--allow (max-removals=5@[0-9a-f]{12})\n/.exec(plan.stdout) ?? [];
  expect((await shops.run(["apply", "--yes", "-m", "MC3", "--allow", override])).code).toBe(0);
  expect(await shops.writes()).toHaveLength(5);
});

test("an override of the run in a shared file counts for these plans together, and for no others", async () => {
  const plan = await shops.run(["plan"]);
  const [, line = ""] = /include:\s+(overrides: \[max-removals=5@[0-9a-f]{12}\])\n/.exec(plan.stdout) ?? [];
  expect(line).not.toBe("");
  await mkdir(join(shops.folder, "shared"));
  await shops.write("shared/closing.yaml", `version: 1\nguards: { ${line} }\n`);
  for (const code of CODES) {
    await shops.write(
      `access/${code}.yaml`,
      `version: 1\nmerchant: ${code}\ninclude: [../shared/closing.yaml]\nmembers:\n  - { email: ada@example.com, roles: [role_owner] }\n`,
    );
  }
  const again = await shops.run(["plan"]);
  expect(again.code).toBe(0);
  expect(again.stdout.replaceAll(/\s+/g, " ")).toContain(
    "overridden: guard max-removals: In all 4 merchants",
  );
  expect(again.stdout).not.toContain("left over");
  // A part of the merchants is another run.
  const part = await shops.run(["plan", "-m", "MC1", "-m", "MC2"]);
  expect(part.code).toBe(3);
  expect((await shops.run(["apply", "--yes", "-m", "MC1"])).code).toBe(3);
  expect(await shops.writes()).toEqual([]);
  expect((await shops.run(["apply", "--yes"])).code).toBe(0);
  expect(await shops.writes()).toHaveLength(20);
  // It is left over now.
  const after = await shops.run(["plan"]);
  expect(after.code).toBe(0);
  expect(after.stdout).toContain(line.slice("overrides: [".length, -1));
});
