import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { PREDEFINED_ROLES } from "../../../src/model/live.ts";
import { processorTime } from "../../support/processor-time.ts";
import { type Ended, rolecall, startSandbox } from "../../support/rolecall.ts";

let folder = "";

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "rolecall-check-"));
  await mkdir(join(folder, "access"));
});

afterEach(async () => {
  await rm(folder, { recursive: true });
});

const RULES = ["checks:", "  - { can: payouts_edit, only: [ada@x.example] }"];

describe("check", () => {
  test("says how many rules hold, and with --verbose which", async () => {
    await shop("MC0DEMO1", RULES);
    expect(await check()).toEqual({ code: 0, stdout: "MC0DEMO1: 1 policy or check holds\n", stderr: "" });
    expect((await check("--verbose")).stdout).toContain(
      "  ok  can payouts_edit: only ada@x.example (access/mc0demo1.yaml:10)\n",
    );
  });

  test("counts the rules of several merchants together", async () => {
    for (const code of ["MC1", "MC2", "MC3"]) await shop(code, RULES);
    expect((await check()).stdout).toBe("3 merchants: 3 policies and checks hold\n");
    expect((await check("--verbose")).stdout.split("\n")).toHaveLength(7);
  });

  test("says of a merchant that could not be read just that", async () => {
    await shop("MC0DEMO1", RULES);
    const { code, stderr } = await rolecall(["check", "--live"], { cwd: folder, env: {} });
    expect(code).toBe(1);
    expect(stderr).toContain("MC0DEMO1 could not be read.");
  });

  test("refuses live access that breaks a rule", async () => {
    await shop("MC0DEMO1", ["checks:", "  - { can: members_update, at_most: 0 }"]);
    const sandbox = await startSandbox();
    try {
      const { code, stdout } = await rolecall(["check", "--live"], { cwd: folder, env: sandbox.env });
      expect(code).toBe(3);
      expect(stdout).toContain("MC0DEMO1: 1 of 1 policy or check is broken\n");
      expect(stdout).toMatch(/^ {4}\d members? ha(s|ve) members_update \(/m);
    } finally {
      await sandbox.stop();
    }
  });

  test("judges rules of a role whose rename is not applied yet", async () => {
    await writeFile(
      join(folder, "access/mc1.yaml"),
      "version: 1\nmerchant: MC1\nroles: [{ name: Seller, previously: Cashier, permissions: [catalog_view] }]\npolicies: { max_holders: { Seller: 0 } }\n",
    );
    await writeFile(
      join(folder, "seed.yaml"),
      `merchants:
  - code: MC1
    roles: [{ name: Cashier, permissions: [catalog_view] }]
    members:
      - { email: owner@example.com, roles: [role_owner] }
      - { email: ada@example.com, roles: [Cashier] }
keys:
  - { key: sk_test_sandbox, owner: owner@example.com }
`,
    );
    const sandbox = await startSandbox(["--seed", join(folder, "seed.yaml")]);
    try {
      const { code, stdout } = await rolecall(["check", "--live"], { cwd: folder, env: sandbox.env });
      expect(stdout).toContain('    The role "Seller" has 1 holder (ada@example.com); the limit is 0.\n');
      expect(code).toBe(3);
    } finally {
      await sandbox.stop();
    }
  });

  test("shows what the files break once", async () => {
    await shop("MC0DEMO1", ["checks:", "  - { can: payouts_edit, only: [zoe@x.example] }"]);
    expect(await check()).toEqual({
      code: 3,
      stdout: [
        "MC0DEMO1: 1 of 1 policy or check is broken",
        "  broken  can payouts_edit: only zoe@x.example (access/mc0demo1.yaml:10)",
        "    ada@x.example has payouts_edit, through Payer; a check does not allow this.",
        "",
      ].join("\n"),
      stderr: "",
    });
  });

  test("says of which checks it is not known whether they hold, and because of which roles", async () => {
    const rules = [
      "  - { email: cy@x.example, roles: [role_admin] }",
      "policies: { max_holders: { role_admin: 1 } }",
      "checks:",
      "  - { can: payouts_edit, only: [ada@x.example] }",
      "  - { can: payouts_edit, at_most: 1 }",
      "  - { can: payouts_edit, only: [ada@x.example, role:role_admin] }",
      "  - { member: bob@x.example, cannot: [payouts_edit] }",
    ];
    await shop("MC1", rules);
    expect(await check()).toEqual({
      code: 0,
      stdout: [
        "MC1: 3 of 5 policies and checks hold; 2 are unknown",
        "  unknown  can payouts_edit: only ada@x.example (access/mc1.yaml:12)",
        "  unknown  can payouts_edit: at most 1 (access/mc1.yaml:13)",
        "The files do not say what role_admin grants; use --live.",
        "",
      ].join("\n"),
      stderr: "",
    });
    const [merchant] = JSON.parse((await check("--format", "json")).stdout).merchants;
    expect(merchant.rules).toMatchObject([
      { text: "can payouts_edit: only ada@x.example", holds: null, unknownRoles: ["role_admin"] },
      { holds: null, violations: [] },
      { holds: true, unknownRoles: [] },
      { text: "bob@x.example cannot payouts_edit", holds: true },
      { text: "max_holders role_admin: 1", holds: true, at: { file: "access/mc1.yaml", line: 10 } },
    ]);
    await shop("MC2", RULES);
    expect((await check()).stdout).toBe(
      "2 merchants: 4 of 6 policies and checks hold; 2 are unknown\nThe files do not say what role_admin grants; use --live.\n",
    );
  });

  test("exits 1 if a file is invalid, whatever is broken elsewhere", async () => {
    await shop("MC1", ["checks:", "  - { can: payouts_edit, only: [zoe@x.example] }"]);
    await shop("MC2", ["checks: 1"]);
    const { code, stdout, stderr } = await check();
    expect(code).toBe(1);
    expect(stdout).toContain("MC1: 1 of 1 policy or check is broken\n");
    expect(stderr).toContain("access/mc2.yaml:9:9: error:");
    expect(stderr).not.toContain("payouts_edit");
  });

  test("lists a file with an error as a failure", async () => {
    await shop("MC0DEMO1", ["checks: 1"]);
    const { code, stdout } = await check("--coverage", "--format", "json");
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ merchants: [], failures: [{ code: expect.any(String) }] });
  });
});

describe("check --coverage", () => {
  test("lists what no rule notices, the most sensitive first, with a rule to paste", async () => {
    await shop("MC0DEMO1", RULES);
    const { code, stdout } = await check("--coverage");
    expect(code).toBe(0);
    expect(stdout).toBe(
      [
        "13 of 16 single changes would go unnoticed.",
        "",
        "Administrators",
        "  role_owner given to anybody: 2 members, or somebody new",
        "    policies:  max_holders: { role_owner: 0 }",
        "  role_admin given to anybody: 2 members, or somebody new",
        "    policies:  max_holders: { role_admin: 0 }",
        "",
        "Sensitive permissions",
        "  Payer taken from 1 member (ada@x.example)",
        "    guards:  min_holders: { Payer: 1 }",
        "  1 permission taken from Payer (payouts_edit)",
        "    guards:  protect: { roles: [Payer] }",
        "",
        "Other access",
        "  Cashier given to anybody: 1 member, or somebody new",
        "    policies:  max_holders: { Cashier: 1 }",
        "  sales_view given to 1 role (Payer)",
        "    checks:  - { can: sales_view, only: [bob@x.example] }",
        "  Cashier taken from 1 member (bob@x.example)",
        "    guards:  min_holders: { Cashier: 1 }",
        "  1 permission taken from Cashier (sales_view)",
        "    guards:  protect: { roles: [Cashier] }",
        "",
        "The permissions of predefined roles are not in the files; use --live.",
        "",
      ].join("\n"),
    );
  });

  test("leaves out what mends a broken rule, and says that until then every plan is refused", async () => {
    await shop("MC0DEMO1", ["checks:", "  - { can: payouts_edit, only: [zoe@x.example] }"]);
    const { code, stdout } = await check("--coverage");
    expect(code).toBe(3);
    expect(stdout).toContain(
      [
        "11 of 14 single changes would go unnoticed.",
        "Until the broken rules hold, every plan is refused. The list assumes they hold.",
        "",
      ].join("\n"),
    );
    expect(stdout).not.toContain("Payer taken");
    expect(stdout).not.toContain("taken from Payer");
  });

  test("notices everything once what it suggests is pasted", async () => {
    const pasted = [
      ...RULES,
      "policies:",
      "  max_holders: { role_owner: 0, role_admin: 0, Payer: 1, Cashier: 1 }",
      "guards:",
      "  min_holders: { Payer: 1, Cashier: 1 }",
      "  protect: { roles: [Payer, Cashier] }",
    ];
    await shop("MC0DEMO1", pasted);
    const { stdout } = await check("--coverage");
    expect(stdout).toContain("0 of 16 single changes would go unnoticed");
  });

  test("examines the most sensitive changes of a large merchant, and says how many it left out", async () => {
    const numbers = Array.from({ length: 400 }, (_, index) => index);
    const roles = numbers.map((index) => `  - { name: R${index}, permissions: [p${index}] }\n`);
    const members = numbers.map((index) => `  - { email: m${index}@x.example, roles: [R${index}] }\n`);
    await writeFile(
      join(folder, "access", "mc1.yaml"),
      `version: 1\nmerchant: MC1\nroles:\n${roles.join("")}members:\n${members.join("")}`,
    );
    const begin = processorTime();
    const { code, stdout } = await check("--coverage");
    expect(processorTime() - begin).toBeLessThan(20_000);
    expect(code).toBe(0);
    expect(stdout).toContain("Administrators\n  role_owner given to anybody: 400 members, or somebody new\n");
    const [, changes, rest] =
      /^[\d,]+ of ([\d,]+) single changes would go unnoticed\.\n([\d,]+) less sensitive changes would take too long and were not examined\.\n/.exec(
        stdout,
      ) ?? [];
    const sum = [changes, rest].reduce((total, text = "") => total + Number(text.replaceAll(",", "")), 0);
    // Each of 402 roles is given to or taken from 401 people, and each of 400 permissions edited in each of 400 roles.
    expect(sum).toBe(402 * 401 + 400 * 400);
  });

  test("judges what is live, where the permissions of all roles are known", async () => {
    await shop("MC0DEMO1", RULES);
    const sandbox = await startSandbox();
    try {
      const { stdout } = await rolecall(["check", "--coverage", "--live", "--format", "json"], {
        cwd: folder,
        env: sandbox.env,
      });
      const { source, merchants } = JSON.parse(stdout);
      expect(source).toBe("live");
      const groups: readonly { sensitivity: string; suggestion: { yaml: string } }[] =
        merchants[0].coverage.groups;
      // Administrators may edit payouts, which the check notices.
      expect(groups.filter(({ sensitivity }) => sensitivity === "unknown")).toEqual([]);
      expect(groups.some(({ sensitivity }) => sensitivity === "administrator")).toBe(false);
      // A custom role is named, not by its id.
      const ids = groups.flatMap(({ suggestion }) => suggestion.yaml.match(/role_\w+/g) ?? []);
      expect(ids.filter((id) => !PREDEFINED_ROLES.includes(id))).toEqual([]);
    } finally {
      await sandbox.stop();
    }
  });

  test("reads what administrators may do where nobody is one, once, as a plan would that makes one", async () => {
    const own = ["checks:", "  - { can: roles_update, only: [ada@x.example] }"];
    const members = "[{ email: ada@x.example, roles: [role_manager] }]";
    await writeFile(
      join(folder, "seed.yaml"),
      `merchants:\n  - { code: MC1, members: ${members} }\n  - { code: MC2, members: ${members} }\n`,
    );
    for (const code of ["MC1", "MC2"]) await shop(code, own);
    const sandbox = await startSandbox(["--seed", join(folder, "seed.yaml")]);
    try {
      const live = await rolecall(["check", "--coverage", "--live", "--format", "json"], {
        cwd: folder,
        env: sandbox.env,
      });
      const { merchants } = JSON.parse(live.stdout);
      for (const { coverage } of merchants) {
        const given = coverage.groups.find(
          (one: { readonly change: string; readonly role: { readonly id: string } | null }) =>
            one.change === "role-given" && one.role?.id === "role_admin",
        );
        // Ada may have it.
        expect(given).toMatchObject({ subjects: ["ada@x.example"], toAnybody: false });
      }
      expect(sandbox.log().match(/roles\/role_admin/g)).toHaveLength(1);
    } finally {
      await sandbox.stop();
    }
  });

  test("counts who is suspended, and what has not begun, as if that time was over", async () => {
    await shop("MC1", [
      "  - { email: cy@x.example, roles: [Payer, { role: Cashier, from: 2999-01-01 }], suspended: true }",
      "checks: [{ member: cy@x.example, cannot: [sales_view] }]",
    ]);
    const [merchant] = JSON.parse((await check("--coverage", "--format", "json")).stdout).merchants;
    const given = (role: string) =>
      merchant.coverage.groups.find(
        (one: { readonly change: string; readonly role: { readonly name: string } }) =>
          one.change === "role-given" && one.role.name === role,
      );
    expect(merchant.rules[0].holds).toBe(true);
    expect(given("Payer")).toMatchObject({
      subjects: ["bob@x.example"],
      suggestion: { yaml: "max_holders: { Payer: 2 }" },
    });
    expect(given("Cashier").subjects).toEqual(["ada@x.example"]);
  });

  test("suggests a check that notices what it is for, whatever else its holders have", async () => {
    const suggested = async (): Promise<string | undefined> => {
      const { stdout } = await check("--coverage", "--format", "json");
      const [{ coverage }] = JSON.parse(stdout).merchants;
      return coverage.groups.find((one: { readonly permission: string }) => one.permission === "sales_view")
        ?.suggestion.yaml;
    };
    await shop("MC1", [
      "  - { email: cy@x.example, roles: [Local, Refunder] }",
      "sync: { roles: additive }",
      "checks: []",
    ]);
    const text = await readFile(join(folder, "access", "mc1.yaml"), "utf8");
    const refunder = "  - { name: Refunder, permissions: [refunds_create] }\nmembers:";
    const put = (checks: string) =>
      writeFile(
        join(folder, "access", "mc1.yaml"),
        text.replace("members:", refunder).replace("checks: []", `checks:\n  ${checks}`),
      );
    await put("[]");
    const yaml = await suggested();
    expect(yaml).toBe("- { can: sales_view, only: [bob@x.example] }");
    await put(yaml ?? "");
    expect(await suggested()).toBeUndefined();
  });

  test("joins what several merchants have in common", async () => {
    for (const code of ["MC1", "MC2", "MC3"]) await shop(code, RULES);
    const { stdout } = await check("--coverage");
    expect(stdout).toContain(
      "  Payer taken from 1 member (ada@x.example), at 3 merchants\n    guards:  min_holders: { Payer: 1 }\n",
    );
    expect(stdout).toContain(
      "  role_admin given to anybody: 2 members, or somebody new, at 3 merchants\n    policies:  max_holders: { role_admin: 0 }\n",
    );
  });
});

function shop(merchant: string, lines: readonly string[]): Promise<void> {
  const head = [
    "version: 1",
    `merchant: ${merchant}`,
    "roles:",
    "  - { name: Payer, permissions: [payouts_edit] }",
    "  - { name: Cashier, permissions: [sales_view] }",
    "members:",
    "  - { email: ada@x.example, roles: [Payer] }",
    "  - { email: bob@x.example, roles: [Cashier] }",
  ];
  return writeFile(
    join(folder, "access", `${merchant.toLowerCase()}.yaml`),
    [...head, ...lines, ""].join("\n"),
  );
}

function check(...args: readonly string[]): Promise<Ended> {
  return rolecall(["check", ...args], { cwd: folder });
}
