import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
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

const who = (...args: readonly string[]) => rolecall(["who", ...args], { cwd, now });

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), "rolecall-who-"));
});

afterEach(() => rm(cwd, { recursive: true }));

const SHOP = `version: 1
merchant: MCA
roles:
  - name: Shift Lead
    permissions: [catalog_view, refunds_create]
    previously: Team Lead
  - name: Cashier
    permissions: [catalog_view]
members:
  - email: ada@example.com
    roles: [Shift Lead, role_employee]
  - email: bob@example.com
    roles: [{ role: Shift Lead, until: 2026-06-30 }]
  - email: cy@example.com
    roles: [{ role: Shift Lead, until: 2026-05-31 }, Cashier]
`;

describe("who, of one merchant's file", () => {
  beforeEach(() => put({ "access/a.yaml": SHOP }));

  test("can names the people with the role, its end and the line", async () => {
    const { stdout, stderr, code } = await who("can", "refunds_create");
    expect(stdout).toMatchInlineSnapshot(`
      "refunds_create: 2 people at MCA
        Who              Role        Status            Where
        ada@example.com  Shift Lead  active            access/a.yaml:11
        bob@example.com  Shift Lead  until 2026-06-30  access/a.yaml:13

      1 grant is not in force: --verbose shows all.
      The files do not say what these roles grant; --live does: role_employee (1
        person).
      The answer lacks service accounts that no file lists, and members without an
        address; --live includes them.
      "
    `);
    expect(stderr).toBe("");
    expect(code).toBe(0);
  });

  test("can with a glob has a section for each permission that others may use", async () => {
    expect((await who("can", "*_*", "--verbose")).stdout).toMatchInlineSnapshot(`
      "catalog_view: 3 people at MCA
        Who              Role        Status            Where
        ada@example.com  Shift Lead  active            access/a.yaml:11
        bob@example.com  Shift Lead  until 2026-06-30  access/a.yaml:13
        cy@example.com   Shift Lead  ended 2026-05-31  access/a.yaml:15
                         Cashier     active            access/a.yaml:15

      refunds_create: 2 people at MCA
        Who              Role        Status            Where
        ada@example.com  Shift Lead  active            access/a.yaml:11
        bob@example.com  Shift Lead  until 2026-06-30  access/a.yaml:13
        cy@example.com   Shift Lead  ended 2026-05-31  access/a.yaml:15

      The files do not say what these roles grant; --live does: role_employee (1
        person).
      The answer lacks service accounts that no file lists, and members without an
        address; --live includes them.
      "
    `);
  });

  test("has finds a role by its previous name", async () => {
    const { stdout } = await who("has", "team lead");
    expect(stdout).toMatch(/^Shift Lead: 2 people at MCA\n/);
  });

  test("is and why find a member by a previous address", async () => {
    await put({ "access/a.yaml": SHOP.replace("email: bob@", "previously: Old@example.com\n    $&") });
    expect((await who("is", "old@example.com")).stdout).toMatch(/^bob@example\.com: 1 role at MCA\n/);
    const why = await rolecall(["why", "old@example.com", "can", "refunds_create"], { cwd, now });
    expect(why.stdout).toMatch(/^bob@example\.com can refunds_create/);
  });

  test("is shows everything of a member, also what has ended", async () => {
    expect((await who("is", "cy@example.com")).stdout).toMatchInlineSnapshot(`
      "cy@example.com: 2 roles at MCA
        Role        Status            Where
        Shift Lead  ended 2026-05-31  access/a.yaml:15
        Cashier     active            access/a.yaml:15
        can:
          catalog_view
      "
    `);
  });

  test("a misspelt name is no answer, and gets a suggestion", async () => {
    expect((await who("can", "refund_create")).stdout).toContain(
      "No role of MCA is known to grant refund_create in the files. Did you mean\n  refunds_create?",
    );
    expect((await who("has", "Shift Leed")).stdout).toBe(
      "There is no role Shift Leed in the files of MCA. Did you mean Shift Lead?\n",
    );
    expect((await who("is", "ada@exampel.com")).stdout).toBe(
      "ada@exampel.com is not a member in the files of MCA. Did you mean\n  ada@example.com?\n",
    );
  });

  test("somebody who has left holds nothing, and an absence to come is an end", async () => {
    await put({
      "access/a.yaml": `${SHOP}leavers:\n  - { email: ADA@example.com, from: 2026-06-01 }\n  - { email: bob@example.com, from: 2026-06-20 }\n`,
    });
    const { stdout } = await who("can", "refunds_create", "--verbose");
    expect(stdout).toContain("ada@example.com  Shift Lead  left 2026-06-01    access/a.yaml:11\n");
    expect(stdout).toContain("bob@example.com  Shift Lead  leaves 2026-06-20  access/a.yaml:13\n");
    expect(stdout).toMatch(/^refunds_create: 1 person at MCA\n/);
  });

  test("access to come is no access, and says when it begins", async () => {
    await put({
      "access/a.yaml": SHOP.replace("until: 2026-06-30", "from: 2026-06-16").replace(
        "roles: [Shift Lead, role_employee]",
        "from: 2026-06-20\n    roles: [{ role: Shift Lead, from: 2026-06-17 }]",
      ),
    });
    const { stdout } = await who("can", "refunds_create", "--verbose");
    expect(stdout).toContain("ada@example.com  Shift Lead  from 2026-06-20   access/a.yaml:12\n");
    expect(stdout).toContain("bob@example.com  Shift Lead  from 2026-06-16   access/a.yaml:14\n");
    expect(stdout).toMatch(/^refunds_create: 0 people at MCA\n/);
  });

  test("JSON has every grant, also those that have ended", async () => {
    const { stdout } = await who("can", "refunds_create", "--format", "json");
    const { answers, unknown, ...rest } = JSON.parse(stdout);
    expect(rest).toEqual({
      format: 1,
      ignored: [],
      question: { kind: "can", name: "refunds_create", source: "declared", at: null },
      merchants: ["MCA"],
      incomplete: [],
      failures: [],
    });
    expect(unknown).toEqual([
      { merchant: "MCA", reason: "role-permissions", role: "role_employee", members: ["ada@example.com"] },
    ]);
    expect(answers.map((one: { status: string; effective: boolean }) => [one.status, one.effective])).toEqual(
      [
        ["active", true],
        ["ends", true],
        ["ended", false],
      ],
    );
    expect(answers[1]).toEqual({
      merchant: "MCA",
      environment: null,
      member: { name: "bob@example.com", email: "bob@example.com", id: null, status: "declared" },
      role: {
        name: "Shift Lead",
        id: null,
        predefined: false,
        declaredAt: { file: "access/a.yaml", line: 4, column: 5 },
      },
      permissions: ["refunds_create"],
      status: "ends",
      effective: true,
      from: null,
      end: { by: "grant", text: "2026-06-30", ends: Date.parse("2026-07-01T00:00:00Z") },
      suspended: null,
      since: null,
      grantedAt: [{ file: "access/a.yaml", line: 13, column: 13 }],
      statusAt: [],
    });
  });

  test("a file that breaks its own rules answers all the same, without a word of them", async () => {
    await put({ "access/a.yaml": `${SHOP}policies: { email_domains: [other.example] }\n` });
    expect(await who("has", "Cashier")).toMatchObject({
      code: 0,
      stderr: "",
      stdout: expect.stringContaining("cy@example.com"),
    });
  });

  test("an invalid file is reported, and the others are answered from", async () => {
    await put({ "access/b.yaml": "version: 1\nmerchant: MCB\nnonsense: 1\n" });
    const { stdout, stderr, code } = await who("has", "Cashier");
    expect(stdout).toContain("cy@example.com");
    expect(stderr).toContain('The file has no key "nonsense".');
    expect(code).toBe(1);
  });
});

test("one person with one role at many merchants is one line, and every line with --verbose", async () => {
  const codes = Array.from({ length: 60 }, (_, index) => `MC${100 + index}`);
  await put({
    "shared/all.yaml":
      "version: 1\nroles: [{ name: Auditor, permissions: [reports_view] }]\nmembers:\n  - email: eve@example.com\n    roles: [Auditor]\n",
    ...Object.fromEntries(
      codes.map((code) => [
        `access/${code}.yaml`,
        `version: 1\nmerchant: ${code}\ninclude: [../shared/all.yaml]\nmembers:\n  - email: ada@example.com\n    roles: [Auditor]\n`,
      ]),
    ),
  });
  expect((await who("can", "reports_view")).stdout).toMatchInlineSnapshot(`
    "reports_view: 2 people at 60 merchants
      Who              Role     Merchant      Where
      ada@example.com  Auditor  60 merchants  access/MC100.yaml:6 and 59 more
      eve@example.com  Auditor  60 merchants  shared/all.yaml:5

    The answer lacks service accounts that no file lists, and members without an
      address; --live includes them.
    "
  `);
  const verbose = await who("can", "reports_view", "--verbose");
  expect(verbose.stdout.split("\n").filter((line) => line.includes("shared/all.yaml:5"))).toHaveLength(60);
  // A shared file stands for the merchants that include it.
  const reached = await who("is", "eve@example.com", "shared/all.yaml", "--shard", "1/60");
  expect(reached).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("shared/all.yaml affects 60 merchants: "),
  });
  const none = await who("is", "eve@example.com", "--shard", "9/99999");
  expect(none.stdout).toBe("No merchant is selected.\n");
});

test("names from files are shown without control characters", async () => {
  await put({
    "access/a.yaml":
      'version: 1\nmerchant: MCA\nroles: [{ name: "Lead \\u202e::x", permissions: [a_b] }]\nmembers: [{ email: a@b.co, roles: ["Lead \\u202e::x"] }]\n',
  });
  const { stdout } = await who("has", "Lead*");
  expect(stdout).not.toMatch(/\u202e|(?<!\S)::/);
});

test("the retail example is answered from", async () => {
  const { stdout } = await rolecall(["who", "can", "refunds_create"], { cwd: RETAIL, now });
  expect(stdout).toMatchInlineSnapshot(`
    "refunds_create: 1 person at MC4F7K2P
      tomasz.kowalczyk@example.com
        Refund Approver  MC4F7K2P  access/harbour-street.yaml:53

    The files do not say what these roles grant; --live does: role_owner (1 person),
      role_accountant (1 person), role_manager (2 people), Holiday Kiosk (1 person).
    The files leave the roles of nadia.rahimi@example.com as they are; --live shows
      them.
    The answer lacks service accounts that no file lists, and members without an
      address; --live includes them.
    Not in this answer, because the files ignore them (MC4F7K2P, MC9Q3T8X): member
      *@auditor.example. --live includes their access.
    "
  `);
});

test("what is live is answered from at the service, with the lines of the files", async () => {
  const sandbox = await startSandbox(["--seed", join(RETAIL, "live.yaml")]);
  const live = (...args: readonly string[]) =>
    rolecall(["who", ...args, "--live"], { cwd: RETAIL, env: sandbox.env });
  try {
    const owners = await live("has", "role_owner");
    expect(owners.stdout).toMatchInlineSnapshot(`
      "Owner (role_owner): 1 person at 2 merchants
        Who              Merchant  Where
        ada@example.com  MC4F7K2P  access/harbour-street.yaml:46
                         MC9Q3T8X  access/station-road.yaml:23

      Left alone by plans, because the files ignore them (MC4F7K2P): member
        year-end@auditor.example.
      "
    `);
    // In no file, of a status, and through a predefined role.
    const { stdout } = await live("can", "refunds_create");
    expect(stdout).toMatch(/bernd\.hoffmann@example\.com\n +Cashier +MC4F7K2P +accepted +not in the files/);
    expect(stdout).toMatch(
      /oisin\.byrne@example\.com\n +Cashier +MC4F7K2P +pending +access\/harbour-street\.yaml:86/,
    );
    expect(stdout).toMatch(/marco\.silva@example\.com\n +Manager \(role_manager\) /);
    expect((await live("is", "nadia.rahimi@example.com")).stdout).toMatch(
      /^nadia\.rahimi@example\.com: 2 roles at 2 merchants\n/,
    );
    const unread = await rolecall(["who", "has", "Cashier", "--live"], {
      cwd: RETAIL,
      env: { ...sandbox.env, ROLECALL_API_KEY: "sk_test_wrong" },
    });
    expect(unread.code).toBe(1);
    expect(unread.stderr).toContain("MC4F7K2P");
  } finally {
    await sandbox.stop();
  }
});

test("live roles with one name have a section each", async () => {
  await put({
    "access/a.yaml": "version: 1\nmerchant: MCA\n",
    "seed.yaml": `merchants:
  - code: MCA
    roles:
      - { id: role_t1, name: Till, permissions: [checkouts_create] }
      - { id: role_t2, name: Till, permissions: [payouts_edit] }
    members:
      - { email: ada@example.com, roles: [role_t1] }
      - { email: bob@example.com, roles: [role_t1, role_t2] }
`,
  });
  const sandbox = await startSandbox(["--seed", join(cwd, "seed.yaml")]);
  try {
    const ask = (...args: readonly string[]) =>
      rolecall(["who", ...args, "--live"], { cwd, env: sandbox.env });
    expect((await ask("has", "Till")).stdout).toMatchInlineSnapshot(`
      "Till (role_t1): 2 people at MCA
        Who              Where
        ada@example.com  not in the files
        bob@example.com  not in the files

      Till (role_t2): 1 person at MCA
        Who              Where
        bob@example.com  not in the files
      "
    `);
    expect((await ask("is", "bob@example.com")).stdout).toMatchInlineSnapshot(`
      "bob@example.com: 2 roles at MCA
        Role            Where
        Till (role_t1)  not in the files
        Till (role_t2)  not in the files
        can:
          checkouts_create, payouts_edit
      "
    `);
  } finally {
    await sandbox.stop();
  }
});

test("no answer from files that ignore a role says that nobody has its access", async () => {
  const folder = await mkdtemp(join(tmpdir(), "rolecall-ignored-"));
  await writeFile(
    join(folder, "live.yaml"),
    `merchants:
  - code: MC0DEMO1
    roles:
      - { name: Payer, permissions: [payouts_edit] }
    members:
      - { email: owner@example.com, roles: [role_owner] }
      - { email: pat@example.com, roles: [Payer] }
`,
  );
  await writeFile(
    join(folder, "shop.yaml"),
    `version: 1
merchant: MC0DEMO1
ignore: { roles: [Pay*] }
roles: [{ name: Editor, permissions: [payouts_edit] }]
members: [{ email: owner@example.com, roles: [role_owner] }]
`,
  );
  const sandbox = await startSandbox(["--seed", join(folder, "live.yaml")]);
  try {
    const run = (...args: readonly string[]) =>
      rolecall([...args, "shop.yaml"], { cwd: folder, env: sandbox.env });
    const declared = await run("who", "can", "payouts_edit");
    expect(declared.stdout).not.toContain("Nobody");
    expect(declared.stdout.replaceAll(/\s+/g, " ")).toMatch(
      /Not in this answer, because the files ignore them \(MC0DEMO1\): role Pay\*\. --live includes/,
    );
    const json = await run("who", "has", "Payer", "--live", "--format", "json");
    expect(JSON.parse(json.stdout)).toMatchObject({
      ignored: [
        { merchant: "MC0DEMO1", roles: [expect.stringMatching(/^Payer \(role_\w+\)$/)], members: [] },
      ],
    });
    for (const asked of [["check"], ["lint"], ["report", "--declared", "--output", "report.html"]]) {
      expect((await run(...asked)).stderr).toContain("Not in this answer, because the files ignore them");
    }
    const live = /Left alone by plans, because the files ignore them \(MC0DEMO1\): role Payer \(role_\w+\)\./;
    for (const asked of ["check", "lint"]) {
      expect((await run(asked, "--live")).stderr.replaceAll(/\s+/g, " ")).toMatch(live);
    }
    await run("report", "--output", "live.html");
    expect(await readFile(join(folder, "live.html"), "utf8")).toMatch(live);
    expect(await readFile(join(folder, "report.html"), "utf8")).toContain("Not in this answer");
    expect(JSON.parse((await run("check", "--format", "json")).stdout)).toMatchObject({
      ignored: [{ merchant: "MC0DEMO1", roles: ["Pay*"], members: [] }],
    });
    expect((await run("expiring")).stdout).toContain("Not in this answer");
    expect((await run("why", "owner@example.com", "can", "payouts_edit")).stdout).toContain(
      "Not in this answer",
    );
    const gone = await run("offboard", "x@example.com", "--declared", "--check");
    expect(gone.stderr).toContain("Not in this answer");
  } finally {
    await sandbox.stop();
    await rm(folder, { recursive: true });
  }
});

test("who is live past the day of leaving is said to have left by the files", async () => {
  const sandbox = await startSandbox(["--seed", join(RETAIL, "live.yaml")]);
  await put({
    "access/a.yaml": `version: 1
merchant: MC9Q3T8X
leavers: [{ email: karim.benali@example.com, from: 2026-11-01 }]
members:
  - { email: books@ledger.example, roles: [role_accountant], until: 2026-11-20 }
  - { email: nadia@new.example, previously: Nadia.Rahimi@example.com, roles: [{ role: role_manager, until: 2026-11-20 }] }
`,
  });
  const is = (email: string) =>
    rolecall(["who", "is", email, "--live"], {
      cwd,
      env: sandbox.env,
      now: () => Date.parse("2026-11-22T12:00:00Z"),
    });
  try {
    expect((await is("karim.benali@example.com")).stdout).toContain("accepted, though left 2026-11-01");
    expect((await is("books@ledger.example")).stdout).toContain("accepted, though ended 2026-11-20");
    for (const email of ["nadia@new.example", "nadia.rahimi@example.com"]) {
      const { stdout } = await is(email);
      expect(stdout).toMatch(/^nadia\.rahimi@example\.com: /);
      expect(stdout).toMatch(/accepted, though ended 2026-11-20 +access\/a\.yaml:6/);
    }
    expect((await is("nobody@example.com")).stdout).toContain(
      "nobody@example.com is not a live member of MC9Q3T8X.",
    );
  } finally {
    await sandbox.stop();
  }
});

test("who is suspended is shown with the end of that, and JSON with its line", async () => {
  await put({
    "access/a.yaml": `version: 1
merchant: MCA
include: [../shared/away.yaml]
roles: [{ name: A, permissions: [a_b] }]
members: [{ email: dora@example.com, roles: [A] }]
`,
    "shared/away.yaml":
      "version: 1\nmembers:\n  - { email: dora@example.com, suspended: { until: 2026-12-10 } }\n",
  });
  expect((await who("is", "dora@example.com")).stdout).toContain("suspended until 2026-12-10");
  const { answers } = JSON.parse((await who("is", "dora@example.com", "--format", "json")).stdout);
  expect(answers[0]).toMatchObject({
    suspended: { until: { text: "2026-12-10" } },
    statusAt: [{ file: "shared/away.yaml", line: 3 }],
  });
  const { stdout } = await rolecall(["why", "dora@example.com", "can", "a_b"], { cwd, now });
  expect(stdout).toContain("    suspended at  shared/away.yaml:3\n");
});

test("CSV has a row for each grant, and no cell that a spreadsheet treats as a formula", async () => {
  await put({
    "access/a.yaml":
      'version: 1\nmerchant: MCA\nroles: [{ name: \'=HYPERLINK("http://x.example","y")\', permissions: [a_b, c_d] }, { name: "Ru, \\"Chef\\"", permissions: [a_b] }]\nmembers:\n  - { email: +49@x.example, roles: [\'=HYPERLINK("http://x.example","y")\'] }\n  - { email: bob@x.example, roles: [{ role: "Ru, \\"Chef\\"", until: 2026-12-31 }] }\n',
  });
  expect((await who("can", "*", "--format", "csv")).stdout).toMatchInlineSnapshot(`
    "merchant,environment,member,member_id,role,role_id,permissions,status,effective,from,end,since,granted_at,declared_at
    MCA,,'+49@x.example,,"'=HYPERLINK(""http://x.example"",""y"")",,"a_b c_d",active,true,,,,access/a.yaml:5,access/a.yaml:3
    MCA,,bob@x.example,,"Ru, ""Chef""",,a_b,ends,true,,2026-12-31,,access/a.yaml:6,access/a.yaml:3
    "
  `);
  const why = await rolecall(["why", "*@x.example", "can", "c_d", "--format", "csv"], { cwd, now });
  expect(why.stdout).toMatchInlineSnapshot(`
    "merchant,environment,member,permission,can,role,role_id,status,end,granted_at,permitted_at
    MCA,,'+49@x.example,c_d,true,"'=HYPERLINK(""http://x.example"",""y"")",,active,,access/a.yaml:5,access/a.yaml:3
    MCA,,bob@x.example,c_d,false,,,,,,
    "
  `);
});

test("one person whose address is written in different case has one section", async () => {
  const shop = (code: string, email: string): string =>
    `version: 1\nmerchant: ${code}\nroles: [{ name: A, permissions: [c_d, a_b] }]\nmembers: [{ email: ${email}, roles: [A] }]\n`;
  await put({
    "access/a.yaml": shop("MCA", "Ada@example.com"),
    "access/b.yaml": shop("MCB", "ada@example.com"),
  });
  expect((await who("is", "ADA@example.com")).stdout).toMatchInlineSnapshot(`
    "Ada@example.com: 1 role at 2 merchants
      Role  Merchant  Where
      A     MCA       access/a.yaml:4
      A     MCB       access/b.yaml:4
      can:
        a_b, c_d
    "
  `);
  const { answers } = JSON.parse((await who("is", "ada@example.com", "--format", "json")).stdout);
  expect(answers[0].permissions).toEqual(["a_b", "c_d"]);
});

test("beside a sheet it says what is missing in it", async () => {
  await put({ "access/a.yaml": SHOP });
  const { stdout, stderr } = await who("can", "*", "--format", "csv");
  expect(stdout).not.toContain("role_employee");
  expect(stderr).toBe(
    "The files do not say what these roles grant; --live does: role_employee (1\n  person).\nThe answer lacks service accounts that no file lists, and members without an\n  address; --live includes them.\n",
  );
  const markdown = await who("can", "*", "--format", "markdown");
  expect(markdown.stdout).toMatch(/^\| merchant \| member \| role .*\n\| --- \| --- \|/);
  expect(markdown.stdout).toMatch(/\n\nThe files do not say what these roles grant.*1 person/);
  expect(markdown.stderr).toBe("");
});

test("a merchant that could not be read is named, and missing in the answer", async () => {
  await put({ "access/a.yaml": SHOP });
  const { code, stdout, stderr } = await rolecall(["who", "is", "*", "--live"], { cwd, now, env: {} });
  expect({ code, stdout }).toEqual({ code: 1, stdout: "No merchant is selected.\n" });
  expect(stderr).toContain("MCA could not be read.\n");
});

test.each([
  ["who", "has", ""],
  ["who", "is", " "],
  ["why", "", "can", "catalog_view"],
  ["why", "ada@example.com", "can", ""],
])("an empty name is refused: %s %s %s", async (...args) => {
  await put({ "access/a.yaml": SHOP });
  expect(await rolecall(args, { cwd, now })).toEqual({
    code: 1,
    stdout: "",
    stderr: "error: The name in the question is empty.\n  → Use '*' for all.\n",
  });
});

test("a failure in JSON has the file and the place in it apart", async () => {
  await put({ "access/a.yaml": SHOP, "access/b.yaml": "version: 1\nmerchant: MCB\nroles: 1\n" });
  const { failures } = JSON.parse((await who("is", "*", "--format", "json")).stdout);
  expect(failures).toMatchObject([{ merchant: null, file: "access/b.yaml", line: 3, column: 8 }]);
});
