import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
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

test("apply --on-error stop changes nothing anywhere when one merchant cannot be read", async () => {
  const apply = await shop.run(["apply", "--yes", "--on-error", "stop", ...files(["MC1", "MC404"])]);
  expect(apply.stderr).toContain("Nothing was changed: fix the problems above first.");
  expect(apply.code).toBe(1);
  expect(await shop.writes()).toEqual([]);
});

describe("apply at several merchants, of which some cannot be applied", () => {
  const PEOPLE = ["a", "b", "c", "d", "e"].map((name) => `${name}@example.com`);
  const owned = (code: string, more = ""): string =>
    `  - { code: ${code}, roles: [{ name: Lead, permissions: [] }], members: [{ email: ada@example.com, roles: [role_owner] }${more}] }\n`;
  const SEED = `merchants:
${owned("MC1")}${owned("MC2", PEOPLE.map((email) => `, { email: ${email}, roles: [Lead] }`).join(""))}${owned("MC3")}${owned("MC4")}${owned("MC5")}`;
  const invite = "  - { email: temp@example.com, roles: [role_employee] }\n";
  const head = (code: string, more: string): string =>
    `version: 1\nmerchant: ${code}\nmembers:\n  - { email: ada@example.com, roles: [role_owner] }\n${more}`;
  const FILES: Readonly<Record<string, string>> = {
    "access/mc1.yaml": head("MC1", invite),
    // The guard: five removals of six.
    "access/mc2.yaml": head("MC2", ""),
    // No key.
    "access/mc3.yaml": `${head("MC3", invite)}api: { key_env: NO_SUCH_KEY }\n`,
    // Nothing to do.
    "access/mc4.yaml": head("MC4", ""),
    // No password.
    "access/mc5.yaml": head(
      "MC5",
      "  - { email: till@example.com, managed: { password_env: NO_PASSWORD }, roles: [role_employee] }\n",
    ),
  };
  let several: Shop;

  beforeEach(async () => {
    several = await openShop(SEED);
    await mkdir(join(several.folder, "access"));
    for (const [file, text] of Object.entries(FILES)) await several.write(file, text);
  });

  afterEach(() => several.stop());

  const written = async (): Promise<readonly string[]> =>
    (await several.writes()).map((write) => write.split("/").slice(0, 4).join("/"));

  test("applies the others, and says at the end which were not and why", async () => {
    const { code, stdout, stderr } = await several.run(["apply", "--yes"]);
    expect(await written()).toEqual(["POST /v0.1/merchants/MC1"]);
    expect(stderr).toContain("MC2: 5 of 6 members would be removed or lose something");
    expect(stderr).toContain("MC3 could not be planned.");
    expect(stderr).toContain("MC5 cannot be applied.");
    expect(stderr).toContain("Nothing is changed at MC2, MC3, MC5; the apply continues at 1 other merchant.");
    expect(stdout).not.toContain("✗");
    const ending = stderr
      .slice(stderr.lastIndexOf("\n✗"))
      .replace(/(?<=To undo it: )[\s\S]*/, "…")
      .replace(/@[0-9a-f]{12}/, "@…");
    expect(ending).toBe(
      [
        "",
        "✗ Apply incomplete at 5 merchants: 1 change done.",
        "  Merchants: 1 applied, 1 without changes, 1 refused, 2 failed.",
        "",
        "refused at MC2: guard max-removals: 5 of 6 members would be removed or lose",
        "  something; the limit is 3.",
        "  → To override: apply --allow max-removals=5@…",
        "failed at MC3: There is no API key for MC3.",
        "failed at MC5: First passwords of managed users come from the environment:",
        "  NO_PASSWORD is not set.",
        "",
        'Completed changes remain. To continue, fix the problem, then run "rolecall plan"',
        "to see what remains, and apply again.",
        "To undo it: …",
      ].join("\n"),
    );
    expect(code).toBe(4);
  });

  test("as events it names them too, and the summary has every merchant", async () => {
    const { code, stdout } = await several.run(["apply", "--yes", "--format", "json"]);
    const events = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(events.find(({ type }) => type === "refused")).toMatchObject({ merchants: ["MC2"] });
    expect(events.filter(({ type }) => type === "failed").map(({ merchant }) => merchant)).toEqual([
      "MC3",
      "MC5",
    ]);
    const summary = events.at(-1);
    expect(summary).toMatchObject({ type: "summary", status: "partial", exitCode: 4, merchants: 1 });
    expect(
      summary.results.map(({ merchant, status }: Record<string, string>) => `${merchant} ${status}`),
    ).toEqual(["MC1 applied", "MC2 refused", "MC3 failed", "MC4 unchanged", "MC5 failed"]);
    expect(code).toBe(4);
  });

  test("asks for what will be done, and no more", async () => {
    const { code, stderr } = await several.run(["apply"]);
    expect(stderr).toContain("the apply continues at 1 other merchant.");
    expect(stderr).toContain("Confirmation is required");
    expect(await written()).toEqual([]);
    expect(code).toBe(1);
  });

  test("what was applied can be undone, with the run's journal", async () => {
    await several.run(["apply", "--yes"]);
    const undo = await several.run(["undo", "latest", "--yes"]);
    expect(undo.code).toBe(0);
    expect(await written()).toEqual(["POST /v0.1/merchants/MC1", "DELETE /v0.1/merchants/MC1"]);
  });

  test("where nothing is left to apply, exits as the rest says: 3 if it is refused, 1 if anything failed", async () => {
    const apply = (...codes: readonly string[]) =>
      several.run(["apply", "--yes", ...codes.flatMap((code) => ["-m", code])]);
    const refused = await apply("MC2", "MC4");
    expect(refused.code).toBe(3);
    expect(refused.stderr).toContain("✗ Apply refused at MC2: nothing was changed.\n");
    const failed = await apply("MC2", "MC3", "MC4");
    expect(failed.code).toBe(1);
    expect(failed.stderr).toContain("✗ Apply refused at 2 merchants: nothing was changed.\n");
    const missing = await apply("MC5");
    expect(missing.code).toBe(1);
    expect(missing.stderr).toContain("Give each variable at least 8 characters, on one line.");
    expect(await written()).toEqual([]);
  });

  test("an approved plan that lacks a merchant refuses that merchant alone", async () => {
    await several.run(["plan", "-m", "MC1", "--out", "plan.json"]);
    await several.write("access/mc4.yaml", head("MC4", invite));
    const apply = await several.run(["apply", "--yes", "-m", "MC1", "-m", "MC4", "--approved", "plan.json"]);
    expect(apply.stderr).toContain("MC4: this merchant is not in the approved plan.");
    expect(apply.code).toBe(4);
    expect(await written()).toEqual(["POST /v0.1/merchants/MC1"]);
  });

  test("a file with an error keeps all of them from being applied", async () => {
    await several.write("access/mc6.yaml", "version: 1\nmerchant: MC6\nnonsense: true\n");
    const apply = await several.run(["apply", "--yes"]);
    expect(apply.code).toBe(1);
    expect(apply.stderr).toContain("Nothing was changed: fix the problems above first.");
    expect(await written()).toEqual([]);
  });
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
