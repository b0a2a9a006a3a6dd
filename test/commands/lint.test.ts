import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { lintTable } from "../../src/ask/lint/lint-access.ts";
import { rolecall, startSandbox } from "../support/rolecall.ts";

const now = () => Date.parse("2026-06-15T12:00:00Z");
const RETAIL = join(import.meta.dirname, "../../examples/retail");

let cwd = "";

async function put(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [file, text] of Object.entries(files)) {
    await mkdir(dirname(join(cwd, file)), { recursive: true });
    await writeFile(join(cwd, file), text);
  }
}

const lint = (...args: readonly string[]) => rolecall(["lint", ...args], { cwd, now });

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), "rolecall-lint-"));
});

afterEach(() => rm(cwd, { recursive: true }));

const SHOP = `version: 1
merchant: MCA
guards: { max_removals: 100% }
roles:
  - name: Lead
    permissions: [catalog_view, checkouts_create, checkouts_view]
  - name: Desk
    permissions: [catalog_view]
members:
  - email: ada@example.com
    roles: [Lead, Desk, { role: Desk, until: 2026-05-31 }]
`;

describe("lint", () => {
  test("finds one thing in the retail example: a grant that gives nothing", async () => {
    const { code, stdout, stderr } = await rolecall(["lint", "access"], { cwd: RETAIL, now });
    expect({ code, stderr: stderr.replaceAll(/\s+/g, " ").trim() }).toEqual({
      code: 0,
      stderr:
        "Not in this answer, because the files ignore them (MC4F7K2P, MC9Q3T8X): member *@auditor.example. --live also looks at their access.",
    });
    expect(stdout).toMatchInlineSnapshot(`
      "access/station-road.yaml:36:25: warning: This member also holds "Shift Lead", which grants everything that "Parcel Desk" does. [redundant-grant]
          34 |     metadata: { employee_id: "5105" }
          35 |   - email: yuki.tanaka@example.com
        > 36 |     roles: [Shift Lead, Parcel Desk]
             |                         ^^^^^^^^^^^
          37 |     metadata: { employee_id: "5108" }
        → Without "Parcel Desk", they can do the same.

      1 warning
      "
    `);
  });

  test("shows a thousand findings of a file, and how many more there are", async () => {
    const equal = Array.from({ length: 1100 }, (_, index) => `  - { name: R${index}, permissions: [a] }\n`);
    await put({ "access/a.yaml": `version: 1\nmerchant: MCA\nroles:\n${equal.join("")}` });
    const { stdout } = await lint();
    expect(stdout.match(/\[equal-roles\]/g)).toHaveLength(1000);
    expect(stdout).toContain("99 more problems are not shown.");
  });

  test("shows the warnings of validate, too, and exits 2 with --strict only", async () => {
    await put({ "access/a.yaml": SHOP.replace("Lead, Desk, {", "Lead, {") });
    const { code, stdout } = await lint("--format", "json");
    const { diagnostics } = JSON.parse(stdout);
    expect(
      diagnostics.map((one: { code: string; severity: string; span: { line: number; column: number } }) => [
        one.code,
        one.severity,
        one.span.line,
        one.span.column,
      ]),
    ).toEqual([
      ["idle-guard", "warning", 3, 25],
      ["until-past", "warning", 11, 40],
    ]);
    expect(code).toBe(0);
    expect((await lint("--strict")).code).toBe(2);
  });

  test("shows what many files have in common once", async () => {
    for (const code of ["A", "B", "C", "D"]) {
      const text = SHOP.replace("MCA", `MC${code}`).replace(", { role: Desk, until: 2026-05-31 }", "");
      await put({ [`access/${code}.yaml`]: text.replace("ada@", `${code}@`) });
    }
    const { stdout } = await lint();
    expect(stdout.match(/warning: .*/g)).toEqual([
      "warning: A limit of 100% lets a plan remove everything. [idle-guard]",
      'warning: 4 files declare "Lead" and 1 more role identically: access/A.yaml, access/B.yaml, access/C.yaml and 1 more file. [shareable-roles]',
      'warning: This member also holds "Lead", which grants everything that "Desk" does. [redundant-grant]',
    ]);
    expect(stdout).toContain("  Also at access/B.yaml:11:19, access/C.yaml:11:19, access/D.yaml:11:19.\n");
  });

  test("says so if there is nothing, and fails for a file with an error", async () => {
    await put({ "access/a.yaml": "version: 1\nmerchant: MCA\n" });
    expect(await lint("--strict")).toMatchObject({ code: 0, stdout: "Nothing found in 1 file.\n" });
    await put({ "access/a.yaml": "version: 1\nmerchant: MCA\nroles: 1\n" });
    expect(await lint()).toMatchObject({ code: 1, stdout: expect.stringContaining("[wrong-type]") });
  });

  test("writes the formats of validate, with its own rules", async () => {
    await put({ "access/a.yaml": SHOP.replace(", { role: Desk, until: 2026-05-31 }", "") });
    const github = (await lint("--format", "github")).stdout;
    expect(github).toContain("::warning file=access/a.yaml,line=11,endLine=11,col=19");
    const { runs } = JSON.parse((await lint("--format", "sarif")).stdout);
    const rules = runs[0].tool.driver.rules.map(({ id }: { id: string }) => id);
    expect(rules).toEqual(expect.arrayContaining(lintTable().map(({ code }) => code)));
    expect(runs[0].results.map(({ ruleId }: { ruleId: string }) => ruleId)).toEqual([
      "idle-guard",
      "redundant-grant",
    ]);
    const junit = (await lint("--format", "junit")).stdout;
    expect(junit).toContain("redundant-grant");
    expect(junit).toContain('<testsuites name="rolecall lint"');
    expect(JSON.parse((await lint("--format", "gitlab")).stdout)).toHaveLength(2);
  });

  test("judges a shared file by all merchants that include it, whichever are selected", async () => {
    const shop = (code: string, domain: string) =>
      `version: 1\nmerchant: ${code}\ninclude: [../shared.yaml]\nmembers:\n  - email: ada@${domain}\n    roles: [role_owner]\n`;
    await put({
      "shared.yaml": "version: 1\npolicies: { email_domains: [a.example, b.example, c.example] }\n",
      "access/a.yaml": shop("MCA", "a.example"),
      "access/b.yaml": shop("MCB", "b.example"),
    });
    const { stdout } = await lint("-m", "MCA", "--format", "json");
    expect(JSON.parse(stdout).diagnostics).toMatchObject([
      { code: "unused-domain", file: "shared.yaml", message: expect.stringContaining('"c.example"') },
    ]);
  });

  test("reports the files of the selected merchants only, also with --shard", async () => {
    const ended = "members:\n  - { email: a@x.example, roles: [role_employee], until: 2026-01-01 }\n";
    const codes = ["MCA", "MCB", "MCC", "MCD", "MCE", "MCF", "MCG", "SHOP1", "SHOP2"];
    for (const code of codes) {
      await put({ [`access/${code}.yaml`]: `version: 1\nmerchant: ${code}\n${ended}` });
    }
    const filesOf = async (...args: readonly string[]): Promise<readonly string[]> => {
      const { diagnostics } = JSON.parse((await lint("--format", "json", ...args)).stdout);
      return diagnostics.map(({ file }: { file: string }) => file);
    };
    expect(await filesOf("-m", "MCB")).toEqual(["access/MCB.yaml"]);
    const [one, other] = [await filesOf("--shard", "1/2"), await filesOf("--shard", "2/2")];
    expect([...one, ...other].sort()).toEqual(codes.map((code) => `access/${code}.yaml`));
    expect(one.length * other.length).toBeGreaterThan(0);
  });

  test("--live reads invitations, MFA and predefined roles; a merchant that cannot be read fails", async () => {
    const sandbox = await startSandbox(["--seed", join(RETAIL, "live.yaml")]);
    try {
      const env = { ROLECALL_API_KEY: "sk_test_sandbox", ROLECALL_BASE_URL: sandbox.url };
      const run = (...args: readonly string[]) =>
        rolecall(["lint", "access", "--live", ...args], { cwd: RETAIL, env });
      const { code, stdout } = await run("--format", "json");
      const codes = JSON.parse(stdout).diagnostics.map((one: { code: string }) => one.code);
      expect({ code, codes: codes.toSorted() }).toEqual({
        code: 0,
        // Nine people may give refunds without a second factor.
        codes: [
          "expiring-invitation",
          ...Array.from({ length: 9 }, () => "no-mfa"),
          "redundant-grant",
          "sole-holder",
          "sole-holder",
        ],
      });
      const failed = await rolecall(["lint", "access", "--live"], {
        cwd: RETAIL,
        env: { ...env, ROLECALL_API_KEY: "sk_wrong" },
      });
      expect(failed).toMatchObject({ code: 1, stdout: expect.stringContaining("redundant-grant") });
    } finally {
      await sandbox.stop();
    }
  });

  test("every code is in the reference", async () => {
    const page = await readFile(join(import.meta.dirname, "../../docs/file.md"), "utf8");
    for (const { code } of lintTable()) expect(page).toContain(`\`${code}\``);
  });
});

const GROUP = `version: 1
ignore:
  members: ["*@auditor.example", "*@auditor.example"]
roles:
  - name: Lead
    permissions: [catalog_view, checkouts_create, catalog_view] # twice
`;

const ENDED = `version: 1
merchant: MCA
include: [../group.yaml]
members:
  # The boss
  - email: ada@example.com
    roles: [Lead, { role: role_employee, until: 2026-05-31 }, Lead]
  - { email: temp@example.com, roles: [{ role: Lead, until: 2026-05-31 }] } # ended
  - email: back@example.com
    suspended: { until: 2026-03-01 }
    roles: [Lead]
`;

const ADDITIVE = `version: 1
merchant: MCB
include: [../group.yaml]
sync: { members: additive }
members:
  - email: ada@example.com
    roles: [Lead, { role: role_employee, until: 2026-05-31 }]
  - { email: gone@example.com, roles: [Lead], until: 2026-04-01 }
`;

describe("lint --fix", () => {
  const read = (file: string) => readFile(join(cwd, file), "utf8");

  test("removes what has no effect, and nothing else", async () => {
    await put({ "group.yaml": GROUP, "access/a.yaml": ENDED, "access/b.yaml": ADDITIVE });
    const { code, stderr } = await lint("--fix", "--yes");
    // An apply that has not run yet would no more remove somebody who is in no file.
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: [
        "Not fixed, since plans could change:",
        "  access/b.yaml:8 gone@example.com: without it, the plan of MCB would differ.",
        'If ended access may still be live, run "rolecall apply" first: once its entry is',
        "  removed, apply --only due does not end it.",
        "",
      ].join("\n"),
    });
    expect(await read("group.yaml")).toBe(
      GROUP.replace(', "*@auditor.example"', "").replace(", catalog_view]", "]"),
    );
    expect(await read("access/a.yaml")).toBe(
      ENDED.replace(", { role: role_employee, until: 2026-05-31 }, Lead]", "]")
        .replace(/ {2}- \{ email: temp.*\n/, "")
        .replace(/ +suspended.*\n/, ""),
    );
    expect(await read("access/b.yaml")).toBe(
      ADDITIVE.replace(", { role: role_employee, until: 2026-05-31 }", ""),
    );
  });

  test("shows the patch and writes nothing with --check, or if nobody confirms", async () => {
    await put({ "access/a.yaml": SHOP });
    const checked = await lint("--fix", "--check");
    expect(checked).toMatchObject({ code: 1, stderr: expect.stringContaining("[conflicting-grant]") });
    const text = SHOP.replace("Lead, Desk, {", "Lead, {");
    await put({ "access/a.yaml": text });
    expect(await lint("--fix", "--check")).toMatchObject({
      code: 2,
      stdout: expect.stringContaining("+    roles: [Lead]\n"),
    });
    expect((await lint("--fix")).code).toBe(1);
    expect(await read("access/a.yaml")).toBe(text);
  });

  test("edits only files of selected merchants, and proves them for all", async () => {
    const own =
      "version: 1\nmerchant: MCC\nmembers:\n  - { email: x@example.com, roles: [role_employee, role_employee] }\n";
    await put({ "group.yaml": GROUP, "access/a.yaml": ENDED, "access/c.yaml": own });
    // Nothing has ended there that could still be live.
    expect(await lint("access/c.yaml", "--fix", "-y")).toMatchObject({ code: 0, stderr: "" });
    expect(await read("access/c.yaml")).toContain("roles: [role_employee] }");
    expect(await read("access/a.yaml")).toBe(ENDED);
    expect(await read("group.yaml")).toBe(GROUP);
  });

  test("judges and proves a shared file for merchants that are not named, too", async () => {
    const shared =
      "version: 1\npolicies: { email_domains: [a.example, b.example] }\nmembers:\n  - { email: left@a.example, roles: [role_employee], until: 2026-01-01 }\n";
    const shop = (code: string, domain: string, more = "") =>
      `version: 1\nmerchant: ${code}\ninclude: [../group.yaml]\n${more}members:\n  - { email: x@${domain}.example, roles: [role_employee] }\n`;
    await put({
      "group.yaml": shared,
      "access/a.yaml": shop("MCA", "a"),
      "access/b.yaml": shop("MCB", "b", "sync: { members: additive }\n"),
    });
    const { stdout } = await lint("access/a.yaml");
    expect(stdout).toContain("[until-past]");
    expect(stdout).not.toContain("[unused-domain]");
    expect(await lint("access/a.yaml", "--fix", "--check")).toEqual({
      code: 0,
      stdout: "",
      stderr:
        "Not fixed, since plans could change:\n  group.yaml:4 left@a.example: without it, the plan of MCB would differ.\n",
    });
    // Of a merchant with errors, nothing can be proved.
    await put({ "access/b.yaml": "version: 1\nmerchant: MCB\ninclude: [../group.yaml]\nroles: 1\n" });
    expect((await lint("access/a.yaml", "--fix", "--check")).code).toBe(0);
    await put({ "access/b.yaml": shop("MCB", "b") });
    expect((await lint("access/a.yaml", "--fix", "--check")).code).toBe(2);
  });

  test("proves a shared file for merchants outside the named and the default folder", async () => {
    await put({
      "shared/s.yaml":
        "version: 1\nmembers:\n  - { email: z@x.example, roles: [{ role: role_employee, until: 2026-01-01 }] }\n",
      "shared/more.yaml": "version: 1\ninclude: [s.yaml]\n",
      "access/a.yaml":
        "version: 1\nmerchant: MCA\ninclude: [../shared/s.yaml]\nmembers:\n  - { email: q@x.example, roles: [role_owner] }\n",
    });
    for (const args of [[], ["access/a.yaml"], ["access"]]) {
      await put({
        "other/.deep/b.yml":
          "version: 1\nmerchant: MCB\ninclude: [../../shared/more.yaml]\nsync: { members: additive }\n",
      });
      const why = "  shared/s.yaml:3 z@x.example: without it, the plan of MCB would differ.\n";
      expect(await lint(...args, "--fix", "--check")).toMatchObject({
        code: 0,
        stderr: `Not fixed, since plans could change:\n${why}`,
      });
      await put({ "other/.deep/b.yml": "merchant: MCB\ninclude: [../../shared/more.yaml]\nroles: 1\n" });
      expect(await lint(...args, "--fix", "--check")).toMatchObject({
        code: 0,
        stderr: expect.stringContaining(
          "shared/s.yaml:3 z@x.example: a file that may include it has errors.\n",
        ),
      });
      await rm(join(cwd, "other"), { recursive: true });
      expect((await lint(...args, "--fix", "--check")).code).toBe(2);
    }
  });

  test("has nothing to do in the retail example, and needs --fix for its options", async () => {
    const { code, stdout } = await rolecall(["lint", "access", "--fix"], { cwd: RETAIL, now });
    expect({ code, stdout }).toEqual({ code: 0, stdout: "There is nothing to fix.\n" });
    await put({ "access/a.yaml": ENDED });
    for (const args of [["--check"], ["--yes"], ["--fix", "--format", "json"], ["--fix", "--live"]]) {
      expect((await lint(...args)).code).toBe(1);
    }
  });
});

describe("lint --fix after a rename", () => {
  const shared = (name: string, text: string) => put({ [`shared/${name}`]: text });
  const shop = (name: string, text: string) => put({ [`access/${name}`]: text });
  const sharedText = (name: string) => readFile(join(cwd, "shared", name), "utf8");
  const get = (name: string) => readFile(join(cwd, "access", name), "utf8");
  const ROLES = `version: 1
roles:
  - name: Shift Lead
    previously: Lead
    permissions: [catalog_view]
`;

  beforeEach(() => shared("roles.yaml", ROLES));

  test("writes the current name in every file, wherever a role is named, and keeps comments", async () => {
    await shared(
      "group.yaml",
      `version: 1
guards:
  min_holders: { "Lead": 1 } # at least one
policies:
  separate: [[Lead, role_admin]]
  max_holders:
    Lead: 30 # Lead of a shift
  require_mfa: ['Lead']
checks:
  - can: catalog_view
    only: ["role:Lead", "role: Leader"]
`,
    );
    const textOf = (code: string, role: string) => `version: 1
merchant: ${code}
include: [../shared/roles.yaml, ../shared/group.yaml]
guards:
  protect:
    roles: [${role}, "Lead*"]
roles:
  - name: ${role}
    adjust:
      add: [catalog_edit]
  - name: Leader
    permissions: []
members:
  # Lead until spring
  - email: ada@example.com
    roles:
      - ${role} # for now
      - Leader
    metadata:
      title: Lead
  - email: bob@example.com
    roles:
      - role: ${role}
        until: 2099-01-31
`;
    await shop("a.yaml", textOf("MCA", "Lead"));
    await shop("b.yaml", textOf("MCB", "Lead"));
    await shop("c.yaml", textOf("MCC", "Shift Lead"));
    expect((await lint("--fix", "--check")).code).toBe(2);
    expect(await get("a.yaml")).toBe(textOf("MCA", "Lead"));
    expect(await lint("--fix", "--yes")).toMatchObject({ code: 0, stderr: "" });
    expect(await get("a.yaml")).toBe(textOf("MCA", "Shift Lead"));
    expect(await get("b.yaml")).toBe(textOf("MCB", "Shift Lead"));
    expect(await sharedText("group.yaml")).toBe(`version: 1
guards:
  min_holders: { Shift Lead: 1 } # at least one
policies:
  separate: [[Shift Lead, role_admin]]
  max_holders:
    Shift Lead: 30 # Lead of a shift
  require_mfa: ['Shift Lead']
checks:
  - can: catalog_view
    only: ["role:Shift Lead", "role: Leader"]
`);
    expect(await sharedText("roles.yaml")).toBe(ROLES);
    expect((await lint("--fix")).stdout).toBe("There is nothing to fix.\n");
  });

  test("writes the current name for each of several previous ones", async () => {
    const roles = ROLES.replace("previously: Lead", "previously: [Lead, Supervisor] # until 2026");
    await shared("roles.yaml", roles);
    const textOf = (code: string, role: string) =>
      `version: 1\nmerchant: ${code}\ninclude: [../shared/roles.yaml]\nmembers:\n  - email: ada@example.com\n    roles: [${role}]\n`;
    await shop("a.yaml", textOf("MCA", "Lead"));
    await shop("b.yaml", textOf("MCB", "Supervisor"));
    expect(await lint("--fix", "--yes")).toMatchObject({ code: 0 });
    expect(await get("a.yaml")).toBe(textOf("MCA", "Shift Lead"));
    expect(await get("b.yaml")).toBe(textOf("MCB", "Shift Lead"));
    expect(await sharedText("roles.yaml")).toBe(roles);
  });

  test("leaves a shared name alone that is another role to another merchant, and what it cannot write", async () => {
    const group = "version: 1\npolicies:\n  require_mfa: [Lead]\n";
    await shared("group.yaml", group);
    await shop(
      "a.yaml",
      "version: 1\nmerchant: MCA\ninclude: [../shared/roles.yaml, ../shared/group.yaml]\n",
    );
    await shop(
      "b.yaml",
      "version: 1\nmerchant: MCB\ninclude: [../shared/group.yaml]\nroles:\n  - name: Lead\n    permissions: []\n",
    );
    const twice = (role: string) =>
      `version: 1\nmerchant: MCC\ninclude: [../shared/roles.yaml]\npolicies:\n  max_holders: { Lead: 2, Shift Lead: 2 }\n  require_mfa: [${role}]\n`;
    await shop("c.yaml", twice("Lead"));
    await lint("--fix", "--yes");
    expect([await sharedText("group.yaml"), await get("c.yaml")]).toEqual([group, twice("Shift Lead")]);
  });

  test("quotes a name that needs it, and writes only the files of the given paths", async () => {
    await shared("roles.yaml", ROLES.replace("Shift Lead", '"Lead: #1"'));
    const text = "version: 1\nmerchant: MCA\ninclude: [../shared/roles.yaml]\nmembers:\n";
    await shop("a.yaml", `${text}  - email: ada@example.com\n    roles: [Lead]\n`);
    await shop("b.yaml", `${text.replace("MCA", "MCB")}  - email: ada@example.com\n    roles: [Lead]\n`);
    await lint("--fix", "--yes", "access/a.yaml");
    expect(await get("a.yaml")).toContain('roles: ["Lead: #1"]');
    expect(await get("b.yaml")).toContain("roles: [Lead]");
  });

  test("keeps a previous name where the plan of a merchant that is not named would change", async () => {
    const group = "version: 1\npolicies:\n  require_mfa: [Lead]\n";
    await shared("group.yaml", group);
    const include = "include: [../shared/roles.yaml, ../shared/group.yaml]\n";
    await shop("a.yaml", `version: 1\nmerchant: MCA\n${include}guards: { protect: { roles: [Lead] } }\n`);
    const own =
      "version: 1\nmerchant: MCB\ninclude: [../shared/group.yaml]\nroles: [{ name: Lead, permissions: [] }]\n";
    await put({ "other/b.yaml": own });
    expect(await lint("--fix", "--yes")).toMatchObject({
      code: 0,
      stderr:
        "Not fixed, since plans could change:\n  shared/group.yaml previous names: with current ones, the plan of MCB would\n    differ.\n",
    });
    expect(await sharedText("group.yaml")).toBe(group);
    expect(await get("a.yaml")).toContain("roles: [Shift Lead]");
  });
});
