import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Ended, rolecall } from "../support/rolecall.ts";
import { openShop, type Shop } from "../support/shop.ts";

const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index + 1);

/** Six shops with nine cashiers each, and a seventh that has not opened. */
const SHOPS = numbers(7);
const CASHIERS = numbers(9);
const code = (shop: number): string => `MC${shop}`;
const email = (who: string, shop: number): string => `${who}@shop-${shop}.example.com`;
const entry = (address: string, until = ""): string =>
  `  - { email: ${address}, roles: [Cashier]${until} }\n`;

const SEED = `merchants:
${SHOPS.map(
  (shop) => `  - code: ${code(shop)}
    roles: [{ name: Cashier, permissions: [catalog_view] }]
    members:
      - { email: ada@example.com, roles: [role_owner] }
${shop === 7 ? "" : CASHIERS.map((n) => `    ${entry(email(`c${n}`, shop))}`).join("")}`,
).join("")}keys:
  - { key: sk_test_sandbox, owner: ada@example.com }
`;

const SHARED = "shared/group.yaml";
const shared = (...permissions: readonly string[]): string => `version: 1
roles:
  - { name: Cashier, permissions: [${["catalog_view", ...permissions].join(", ")}] }
members:
  - { email: ada@example.com, roles: [role_owner] }
`;

const SEASON = "shared/season.yaml";
const ENDS = Date.parse("2031-01-01T00:00:00Z");
const season = `version: 1
members:
${numbers(6)
  .map((n) => entry(`season-${n}@temps.example.com`, ", until: 2030-12-31"))
  .join("")}`;

const fileOf = (shop: number, hired: readonly string[] = []): Readonly<Record<string, string>> => ({
  [`access/${code(shop)}.yaml`]: `version: 1
merchant: ${code(shop)}
include: [../${SHARED}, ../${SEASON}]
members:
${[...CASHIERS.map((n) => `c${n}`), ...hired].map((who) => entry(email(who, shop))).join("")}`,
});

let shop: Shop;
const overrides: string[] = [];

beforeEach(async () => {
  overrides.length = 0;
  shop = await openShop(SEED);
  for (const folder of ["access", "shared"]) await mkdir(join(shop.folder, folder));
  await write({ [SHARED]: shared(), [SEASON]: "version: 1\n" });
  for (const number of SHOPS.slice(0, 6)) await write(fileOf(number));
});

afterEach(() => shop.stop());

async function write(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [file, text] of Object.entries(files)) await writeFile(join(shop.folder, file), text);
}

const run = (args: readonly string[], now: number): Promise<Ended> =>
  rolecall(args, { cwd: shop.folder, env: shop.sandbox.env, now: () => now });

/** Applies the files as somebody at work would: with the override that the plan prints, if it is refused. */
async function applied(now: number, ...only: readonly string[]): Promise<void> {
  const apply = ["apply", "--yes", ...only];
  const first = await run(apply, now);
  if (first.code === 0) return;
  const [, override = ""] = /--allow (\S+)/.exec(first.stdout + first.stderr) ?? [];
  overrides.push(override.replace(/[:=@][0-9a-f]{12}/g, ""));
  expect((await run([...apply, "--allow", override], now)).code).toBe(0);
}

test("a chain that opens a shop, has a season, gives all cashiers refunds and hires 25 in a week needs one override, for the refunds", async () => {
  const today = Date.parse("2030-11-01T09:00:00Z");
  expect((await run(["plan"], today)).stdout).toContain("6 merchants: no changes");
  await write(fileOf(7));
  await applied(today);
  await write({ [SEASON]: season });
  await applied(today);
  expect((await run(["who", "has", "Cashier", "--live", "--format", "csv"], today)).stdout).toContain(
    "season-6@",
  );
  await write({ [SHARED]: shared("checkouts_create") });
  await applied(today);
  await write({ [SHARED]: shared("checkouts_create", "refunds_create") });
  await applied(today);
  for (const day of numbers(5)) {
    for (const number of numbers(5))
      await write(
        fileOf(
          number,
          numbers(day).map((n) => `hired-${n}`),
        ),
      );
    await applied(today + day * 86_400_000);
  }
  await applied(ENDS, "--only", "due");
  expect((await run(["who", "has", "Cashier", "--live", "--format", "csv"], ENDS)).stdout).not.toContain(
    "season-",
  );
  expect((await run(["plan"], ENDS)).stdout).toContain("7 merchants: no changes");
  expect(overrides).toEqual(["run-gains=sensitive"]);
});
