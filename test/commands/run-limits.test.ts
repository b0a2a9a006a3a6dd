import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import {
  applyPlan,
  judgeRun,
  loadMerchants,
  openService,
  type Plan,
  planMerchant,
  type RemoteService,
} from "../../src/index.ts";
import { cashierFiles, cashierSeed, SHARED, sharedRole } from "../support/cashiers.ts";
import { openShop, type Shop } from "../support/shop.ts";

const DANGEROUS = ["api_keys_create", "members_update", "payouts_edit"];
const GAINS =
  "This run would give 360 people new access to sensitive permissions (api_keys_create, members_update, payouts_edit) at 40 merchants; the limit for the run is 20.";
const REMOVALS =
  "This run would remove 120 members, or take roles from them, at 40 merchants; the limit for the run is 22.";

let shops: Shop;

afterEach(() => shops.stop());

async function open(live: number, files: Readonly<Record<string, string>>): Promise<void> {
  shops = await openShop(cashierSeed(live));
  for (const folder of ["access", "shared"]) await mkdir(join(shops.folder, folder));
  for (const [file, text] of Object.entries(files)) await writeFile(join(shops.folder, file), text);
}

const spaced = (text: string): string => text.replaceAll(/\s+/g, " ");

describe("one line in a shared file that gives 360 people sensitive permissions", () => {
  const files = { ...cashierFiles(9), [SHARED]: sharedRole(...DANGEROUS) };

  test("is refused by the program, until exactly these people and permissions are allowed", async () => {
    await open(9, files);
    const plan = await shops.run(["plan"]);
    expect(plan.code).toBe(3);
    expect(spaced(plan.stdout)).toContain(`guard run-gains: In all 40 merchants: ${GAINS}`);
    expect((await shops.run(["apply", "--yes"])).code).toBe(3);
    expect(await shops.writes()).toEqual([]);
    const [, override = ""] =
      /--allow (run-gains=sensitive:[0-9a-f]{12}@[0-9a-f]{12})/.exec(plan.stdout) ?? [];
    await shops.write(SHARED, sharedRole(...DANGEROUS, "refunds_create"));
    expect((await shops.run(["apply", "--yes", "--allow", override])).code).toBe(3);
    expect(await shops.writes()).toEqual([]);
    await shops.write(SHARED, sharedRole(...DANGEROUS));
    expect((await shops.run(["apply", "--yes", "--allow", override])).code).toBe(0);
    expect(await shops.writes()).toHaveLength(40);
  });

  test("is refused by the library", async () => {
    await open(9, files);
    const { judged, applied } = await throughLibrary();
    expect(judged.flatMap(({ refusals }) => refusals.map(({ message }) => message))).toEqual(
      judged.map(() => GAINS),
    );
    expect(applied).toMatchObject({ status: "refused", reasons: [GAINS] });
    expect(await shops.writes()).toEqual([]);
  });

  test("is allowed by another limit or list of sensitive permissions of the project", async () => {
    await open(9, files);
    const codes: unknown[] = [];
    for (const line of ["run: { max_gains: { sensitive: 360 } }", "sensitive: [refunds_create]"]) {
      await shops.write("rolecall.yaml", `version: 1\n${line}\n`);
      const plan = await shops.run(["plan"]);
      codes.push(plan.code);
      expect(plan.stdout.includes("gain sensitive permissions")).toBe(line.startsWith("run"));
    }
    expect(codes).toEqual([0, 0]);
  });
});

test("dates that give 40 people sensitive permissions keep no access that has ended", async () => {
  const dated = Object.entries(cashierFiles(2)).map(([file, text]) => {
    const given = text.replace(/(c1@\S+ roles: \[Cashier)/, "$1, { role: role_manager, from: 2001-01-01 }");
    return [file, given.replace(/(c2@.*) }/, "$1, until: 2001-01-31 }")] as const;
  });
  await open(2, { ...Object.fromEntries(dated), [SHARED]: sharedRole() });
  expect((await shops.run(["plan"])).code).toBe(3);
  const { code, stdout } = await shops.run(["apply", "--yes", "--only", "due"]);
  expect(code).toBe(0);
  expect(stdout).toContain("40 changes done.");
  expect((await shops.writes()).map((line) => line.split(" ")[0])).toEqual(dated.map(() => "DELETE"));
  const left = spaced((await shops.run(["plan", "--only", "due", "-m", "MC1", "-m", "MC2"])).stdout);
  expect(left).toContain("2 to update");
  const all = spaced((await shops.run(["plan", "--only", "due"])).stdout);
  expect(all).toContain(
    "Access that a date would give c1@mc1.example.com is left out: This run would give 40 people new access",
  );
});

test("an undo that gives 120 people sensitive permissions again needs an override", async () => {
  await open(3, { ...cashierFiles(3), [SHARED]: sharedRole("refunds_create") });
  const given = /--allow (\S+@[0-9a-f]{12})/.exec((await shops.run(["plan"])).stdout)?.[1] ?? "";
  expect((await shops.run(["apply", "--yes", "--allow", given])).code).toBe(0);
  await shops.write(SHARED, sharedRole());
  expect((await shops.run(["apply", "--yes"])).code).toBe(0);
  const before = (await shops.writes()).length;
  const refused = await shops.run(["undo", "latest", "--yes"]);
  expect(refused.code).toBe(3);
  expect(spaced(refused.stdout)).toContain("This run would give 120 people new access");
  expect(await shops.writes()).toHaveLength(before);
  const [, override = ""] = /--allow (restored-violations\S+)/.exec(refused.stdout + refused.stderr) ?? [];
  expect((await shops.run(["undo", "latest", "--yes", "--allow", override])).code).toBe(0);
  expect((await shops.writes()).length).toBe(before + 40);
});

describe("three of ten members removed at each of 40 merchants", () => {
  const files = { ...cashierFiles(7), [SHARED]: sharedRole() };

  test("are refused by the program, until so many are allowed", async () => {
    await open(10, files);
    const plan = await shops.run(["plan"]);
    expect(plan.code).toBe(3);
    expect(spaced(plan.stdout)).toContain(`guard run-removals: In all 40 merchants: ${REMOVALS}`);
    expect((await shops.run(["apply", "--yes"])).code).toBe(3);
    expect(await shops.writes()).toEqual([]);
    const [, line = ""] = /(overrides: \[run-removals=120@[0-9a-f]{12}\])/.exec(plan.stdout) ?? [];
    await shops.write(SHARED, `${sharedRole()}guards: { ${line} }\n`);
    expect((await shops.run(["apply", "--yes"])).code).toBe(0);
    expect(await shops.writes()).toHaveLength(120);
  });

  test("are refused by the library", async () => {
    await open(10, files);
    const { judged, applied } = await throughLibrary();
    expect(judged.flatMap(({ refusals }) => refusals.map(({ message }) => message))).toEqual(
      judged.map(() => REMOVALS),
    );
    expect(applied).toMatchObject({ status: "refused", reasons: [REMOVALS] });
    expect(await shops.writes()).toEqual([]);
  });
});

/** Plans all merchants with the library, judges them as one run, and applies the first one. */
async function throughLibrary(): Promise<{ readonly judged: readonly Plan[]; readonly applied: object }> {
  const { merchants: states } = await loadMerchants(["access"], { cwd: shops.folder });
  const service: RemoteService = openService({ cwd: shops.folder, env: shops.sandbox.env });
  try {
    const planned = await Promise.all(states.map((state) => planMerchant(service, state)));
    const judged = judgeRun(planned.map(({ plan, desired: files, live }) => ({ plan, files, live })));
    const [[state, plan] = []] = states.map((one, at) => [one, judged[at]] as const);
    if (state === undefined || plan === undefined) throw new Error("nothing is planned");
    return { judged, applied: await applyPlan(service, state, plan) };
  } finally {
    await service.close();
  }
}

test("files that init writes, and merchants without managed members, are exempt from the limits on gains", async () => {
  shops = await openShop(
    cashierSeed(15).replaceAll("permissions: [catalog_view]", `permissions: [${DANGEROUS.join(", ")}]`),
  );
  expect((await shops.run(["init", "MC1", "MC2"])).code).toBe(0);
  const written = await shops.run(["plan", "--detailed-exitcode"]);
  expect([written.code, written.stdout]).toEqual([0, expect.stringContaining("no changes")]);
  const names = await readdir(join(shops.folder, "access"));
  const files = await Promise.all(
    names.map(async (name) => ({
      path: `access/${name}`,
      text: await readFile(join(shops.folder, "access", name), "utf8"),
    })),
  );
  const widen = async (edit: (text: string) => string): Promise<readonly string[]> => {
    for (const { path, text } of files)
      await shops.write(path, edit(text.replace("payouts_edit", "payouts_edit, refunds_create")));
    const { plans } = JSON.parse((await shops.run(["plan", "--format", "json"])).stdout);
    return plans.flatMap(({ refusals }: Plan) => refusals.map(({ code }) => code));
  };
  expect(await widen((text) => text)).toEqual(["max-gains", "run-gains", "max-gains", "run-gains"]);
  expect(await widen((text) => text.slice(0, text.indexOf("\nmembers:")))).toEqual([]);
});
