import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { judgeRun, loadMerchants, openService, planMerchant } from "../../src/index.ts";
import { rolecall } from "../support/rolecall.ts";
import { openShop, type Shop } from "../support/shop.ts";

const SEED = `merchants:
  - code: MCA
    roles: [{ id: role_a, name: Approver, permissions: [refunds_create] }]
    members:
      - { email: owner@example.com, roles: [role_owner] }
      - { email: ada@example.com, roles: [Approver] }
  - code: MCB
    roles: [{ id: role_p, name: Payer, permissions: [payouts_edit] }]
    members:
      - { email: owner@example.com, roles: [role_owner] }
      - { email: bob@example.com, roles: [Payer] }
keys:
  - { key: sk_test_sandbox, owner: owner@example.com }
`;

const PROJECT = `version: 1
across_merchants:
  separate: [[Approver, Payer]]
`;

const fileOf = (merchant: string, role: string, people: readonly string[]): string =>
  `version: 1
merchant: ${merchant}
roles:
  - ${role}
members:
  - { email: owner@example.com, roles: [role_owner] }
${people.map((entry) => `  - { ${entry} }\n`).join("")}`;
const fileA = (...people: readonly string[]): string =>
  fileOf("MCA", "{ name: Approver, permissions: [refunds_create] }", people);
const fileB = (...people: readonly string[]): string =>
  fileOf("MCB", "{ name: Payer, permissions: [payouts_edit] }", people);

const APPROVER = "email: ada@example.com, roles: [Approver]";
const PAYER = "email: bob@example.com, roles: [Payer]";
const BOTH = "email: ada.new@example.com, previously: ada@example.com, roles: [Payer]";
const TOGETHER =
  'ada.new@example.com would hold "Approver" and "Payer" together. Counted across merchants: Approver at MCA; Payer at MCB. Enforced by rolecall.yaml.';

const spaced = (text: string): string => text.replaceAll(/\s+/g, " ");

let shop: Shop;

beforeEach(async () => {
  shop = await openShop(SEED);
  await mkdir(join(shop.folder, "access"));
  await shop.write("rolecall.yaml", PROJECT);
  await shop.write("access/a.yaml", fileA(APPROVER));
  await shop.write("access/b.yaml", fileB(PAYER));
});

afterEach(() => shop.stop());

test("what is in order is planned and applied as without rules across merchants", async () => {
  await shop.write("access/b.yaml", fileB(PAYER, "email: cy@example.com, roles: [Payer]"));
  const plan = await shop.run(["plan"]);
  expect([plan.code, plan.stderr]).toEqual([0, ""]);
  expect((await shop.run(["apply", "--yes"])).code).toBe(0);
  expect((await shop.run(["check"])).stdout).toContain("2 merchants: 1 policy or check holds");
});

describe("somebody who gets a role at one merchant that must not be held with one at another", () => {
  beforeEach(() => shop.write("access/b.yaml", fileB(PAYER, BOTH)));

  test("is refused by the files", async () => {
    for (const paths of [[], ["access/b.yaml"], ["access/b.yaml", "-m", "MCB"]]) {
      const { code, stdout } = await shop.run(["validate", ...paths]);
      expect(code).toBe(3);
      expect(spaced(stdout)).toContain(`rolecall.yaml:3:14: error: ${TOGETHER} [across-merchants]`);
    }
  });

  test("is refused in a plan of all merchants, and of the one that gives it", async () => {
    for (const which of [[], ["access/b.yaml"], ["-m", "MCB"]]) {
      const { code, stdout } = await shop.run(["plan", ...which]);
      expect(code).toBe(3);
      expect(spaced(stdout)).toContain(`across-separate: ${TOGETHER} written at rolecall.yaml:3:13`);
    }
    // The other merchant gives nothing.
    const other = await shop.run(["plan", "-m", "MCA", "--format", "json"]);
    expect(JSON.parse(other.stdout).plans[0].refusals).toEqual([]);
  });

  test("is not applied, and no override is offered", async () => {
    expect((await shop.run(["apply", "--yes"])).code).toBe(3);
    expect((await shop.run(["apply", "--yes", "access/b.yaml"])).code).toBe(3);
    const plan = await shop.run(["plan"]);
    expect(plan.stdout).not.toContain("--allow");
    expect(await shop.writes()).toEqual([]);
  });

  test("is refused by the library", async () => {
    const { merchants, project } = await loadMerchants("access/b.yaml", { cwd: shop.folder });
    expect(project.map(({ merchant }) => merchant)).toEqual(["MCB", "MCA"]);
    const service = openService({ cwd: shop.folder, env: shop.sandbox.env });
    try {
      const planned = await Promise.all(merchants.map((merchant) => planMerchant(service, merchant)));
      const run = planned.map(({ plan, desired: files, live }) => ({ plan, files, live }));
      expect(judgeRun(run, project).flatMap(({ refusals }) => refusals)).toMatchObject([
        { rule: "policy", code: "across-separate", name: "ada.new@example.com", override: null },
      ]);
    } finally {
      await service.close();
    }
  });

  test("is found by drift once it is live, and every plan that leaves it so warns", async () => {
    await shop.write("rolecall.yaml", "version: 1\n");
    expect((await shop.run(["apply", "--yes"])).code).toBe(0);
    await shop.write("rolecall.yaml", PROJECT);
    const drift = await shop.run(["drift"]);
    expect(drift.code).toBe(2);
    const live = TOGETHER.replace("would hold", "holds");
    expect(spaced(drift.stdout)).toContain(live);
    const checked = await shop.run(["check", "--live", "access/b.yaml"]);
    expect(checked.code).toBe(3);
    expect(spaced(checked.stdout)).toContain(`separate: Approver, Payer (rolecall.yaml:3) ${live}`);
    for (const source of [[], ["--declared"]]) {
      const page = await shop.run(["report", ...source]);
      expect(page.stdout).toContain("separate: Approver, Payer");
      expect(page.stdout).toContain("together. Counted across merchants");
    }
    const plan = JSON.parse((await shop.run(["plan", "--format", "json"])).stdout);
    expect(plan.plans.flatMap((one: { refusals: unknown }) => one.refusals)).toEqual([]);
    expect(plan.plans[1].findings).toMatchObject([
      { code: "across-separate", severity: "warning", rules: "rolecall.yaml" },
    ]);
  });
});

test("limits count everybody once, who can reach a permission as well", async () => {
  const rules = (most: number): string => `version: 1
across_merchants:
  max_holders: { role_owner: ${most} }
  checks:
    - { can: payouts_edit, at_most: ${most}, reach: true }
`;
  await shop.write("rolecall.yaml", rules(1));
  // The owner of both merchants is one person.
  const { stdout } = await shop.run(["check", "--live"]);
  expect(spaced(stdout)).toContain("1 of 2 policies and checks is broken");
  expect(spaced(stdout)).toContain(
    "2 members can reach payouts_edit (bob@example.com, owner@example.com); a check allows at most 1. Counted across merchants: payouts_edit at MCA, MCB.",
  );
  await shop.write("rolecall.yaml", rules(2));
  expect((await shop.run(["check", "--live"])).code).toBe(0);
});

test("all merchants of the repository count, wherever the command runs", async () => {
  const nested = async (path: string, text: string): Promise<void> => {
    await mkdir(dirname(join(shop.folder, path)), { recursive: true });
    await shop.write(path, text);
  };
  await mkdir(join(shop.folder, ".git"));
  await nested("team/access/b.yaml", fileB(PAYER, BOTH));
  await nested("elsewhere/access/x.yaml", "version: 1\nmerchant: MCX\nrolls: []\n");
  await rm(join(shop.folder, "access/b.yaml"));
  const outside = await mkdtemp(join(tmpdir(), "rolecall-outside-"));
  try {
    const folders = [shop.folder, "team", "elsewhere", outside].map((one) => resolve(shop.folder, one));
    for (const cwd of folders) {
      for (const command of ["validate", "plan"]) {
        const path = join(shop.folder, "team/access/b.yaml");
        const { code, stdout } = await rolecall([command, path], { cwd, env: shop.sandbox.env });
        expect([command, cwd, code]).toEqual([command, cwd, 3]);
        expect(spaced(stdout)).toContain("Counted across merchants: Approver at MCA; Payer at MCB.");
      }
    }
  } finally {
    await rm(outside, { recursive: true });
  }
});

test("a mistake in a rule is an error at its line", async () => {
  await shop.write(
    "rolecall.yaml",
    "version: 1\nacross_merchants:\n  max_holders: { Payr: 2 }\n  separate: [[Payer]]\n  checks: [{ can: x, only: [] }]\n",
  );
  const wrong = (await shop.run(["validate"])).stdout;
  expect(wrong.match(/^rolecall.*$/gm)).toEqual([
    'rolecall.yaml:4:14: error: A set under "separate" needs at least two roles. [too-few-roles]',
    'rolecall.yaml:5:12: error: An entry of "checks" needs "at_most". [missing-key]',
    'rolecall.yaml:5:22: error: An entry of "checks" has no key "only". [unknown-key]',
  ]);
  await shop.write("rolecall.yaml", "version: 1\nacross_merchants:\n  max_holders: { Payr: 2 }\n");
  const unknown = await shop.run(["validate", "access/a.yaml"]);
  expect(unknown.code).toBe(1);
  expect(unknown.stdout).toContain('rolecall.yaml:3:18: error: No role is called "Payr". [unknown-role]');
  expect(unknown.stdout).toContain('Did you mean "Payer"?');
});

test("a name that no merchant has is reported under the limits of a run and across merchants", async () => {
  const limits = (names: string): string => `version: 1\nrun: { max_gains: { ${names} } }\n`;
  await shop.write("rolecall.yaml", limits("sensitive: 5%, Pyer: 1, Approver: 1, role_admin: 1"));
  const { code, stdout } = await shop.run(["validate", "access/a.yaml"]);
  expect(code).toBe(1);
  expect(stdout).toContain('rolecall.yaml:2:36: error: No role is called "Pyer". [unknown-role]');
  expect(stdout).toContain('Did you mean "Payer"?');
  const warnings = async (): Promise<readonly unknown[]> => {
    const plans = JSON.parse((await shop.run(["plan", "--format", "json"])).stdout).plans;
    return plans[0].findings.map((one: { code: string; name: string }) => [one.code, one.name]);
  };
  await shop.write("rolecall.yaml", limits("payout_edit: 1, role_admn: 1, role_admin: 1, payouts_edit: 1"));
  expect(await warnings()).toEqual([
    ["rule-permission-unknown", "payout_edit"],
    ["rule-role-unknown", "role_admn"],
  ]);
  await shop.write("rolecall.yaml", "version: 1\nacross_merchants: { max_holders: { role_admn: 1 } }\n");
  expect(await warnings()).toEqual([["rule-role-unknown", "role_admn"]]);
  await shop.write("rolecall.yaml", limits("payouts_edit: { at_most: 5%, most: 3 }"));
  expect((await shop.run(["validate"])).stdout).toContain("Known keys: at_most, reach.");
});

test("a merchant whose file has errors is not counted, which a warning says", async () => {
  const WARNING =
    "rolecall.yaml:2:1: warning: These rules do not count the merchants of access/a.yaml, which have errors.";
  await shop.write("access/a.yaml", "version: 1\nmerchant: MCA\nrolls: []\n");
  await shop.write("access/b.yaml", fileB(PAYER, BOTH));
  const { code, stdout } = await shop.run(["validate", "access/b.yaml"]);
  expect(code).toBe(0);
  expect(stdout).toContain(WARNING);
  for (const at of [[], ["--live"]]) {
    const checked = await shop.run(["check", "access/b.yaml", ...at]);
    expect([checked.code, checked.stderr]).toEqual([0, expect.stringContaining(WARNING)]);
  }
});

describe("a role that only one person may hold, and that goes from one merchant to another", () => {
  const RULES =
    "version: 1\nacross_merchants:\n  max_holders: { Payer: 1 }\n  separate: [[Approver, role_owner]]\n";
  const CY = "email: cy@example.com, roles: [Payer]";
  const ROLES_OF_A =
    "{ name: Approver, permissions: [refunds_create] }\n  - { name: Payer, permissions: [payouts_edit] }";
  const giving = (...people: readonly string[]): Promise<void> =>
    shop.write("access/a.yaml", fileOf("MCA", ROLES_OF_A, [APPROVER, CY, ...people]));

  /** Applies, and expects that nobody gets the role while the other one keeps it. */
  const expectsRefusal = async (expected: number, ...args: readonly string[]): Promise<void> => {
    const { code, stdout } = await shop.run(["apply", "--yes", ...args]);
    expect([code, spaced(stdout)]).toEqual([expected, expect.stringContaining("Payer at MCA, MCB")]);
    expect(await shop.writes()).toEqual([]);
  };

  beforeEach(async () => {
    await shop.write("rolecall.yaml", RULES);
    await giving();
    await shop.write("access/b.yaml", fileB());
  });

  test("is given, as everything is applied", async () => {
    expect((await shop.run(["apply", "--yes"])).code).toBe(0);
  });

  test("is not given if the plan that takes it is not approved", async () => {
    expect((await shop.run(["plan", "-m", "MCA", "--out", "a.json"])).code).toBe(0);
    await expectsRefusal(3, "--approved", "a.json");
  });

  test("is not given if the part of its plan that is approved breaks the rule", async () => {
    await shop.write("rolecall.yaml", "version: 1\n");
    await shop.write("access/b.yaml", fileB(PAYER));
    expect((await shop.run(["plan", "--out", "all.json"])).code).toBe(0);
    await shop.write("rolecall.yaml", RULES);
    await giving("email: new@example.com, roles: [Approver]");
    await expectsRefusal(3, "--approved", "all.json");
  });

  test("is not given if the merchant that takes it lacks a password", async () => {
    const till =
      "email: till@example.com, managed: { nickname: T, password_env: TILL }, roles: [role_employee]";
    await shop.write("access/b.yaml", fileB(till));
    await expectsRefusal(1);
  });

  test("is not given if another rule across merchants refuses the plan that takes it", async () => {
    await shop.write("access/b.yaml", fileB("email: ada@example.com, roles: [role_owner]"));
    await expectsRefusal(3);
  });
});

test("a date that will break a rule is announced in every format of a plan", async () => {
  const day = new Date(Date.now() + 10 * 86_400_000).toISOString().slice(0, 10);
  const soon = `email: ada@example.com, roles: [{ role: Payer, from: ${day} }]`;
  await shop.write("access/b.yaml", fileB(PAYER, soon));
  for (const format of ["text", "json", "markdown", "junit"]) {
    const { code, stdout } = await shop.run(["plan", "-m", "MCB", "--format", format]);
    expect([format, code, spaced(stdout).replaceAll("\\", "")]).toEqual([
      format,
      0,
      expect.stringMatching(/across-separate.* would hold/),
    ]);
  }
});

test("an undo that gives back what breaks a rule is refused, unless that is allowed", async () => {
  await shop.write("rolecall.yaml", "version: 1\n");
  await shop.write("access/b.yaml", fileB(PAYER, "email: ada@example.com, roles: [Payer]"));
  expect((await shop.run(["apply", "--yes"])).code).toBe(0);
  await shop.write("access/b.yaml", fileB(PAYER));
  expect((await shop.run(["apply", "--yes"])).code).toBe(0);
  await shop.write("rolecall.yaml", PROJECT);
  const undo = await shop.run(["undo", "latest", "--yes"]);
  expect(undo.code).toBe(3);
  expect(spaced(undo.stdout)).toContain(TOGETHER.replace("ada.new", "ada"));
  const [, override = ""] = /--allow (restored-violations=1@[0-9a-f]+)/.exec(undo.stdout + undo.stderr) ?? [];
  expect((await shop.run(["undo", "latest", "--yes", "--allow", override])).code).toBe(0);
});
