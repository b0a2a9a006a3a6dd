import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Ended, type RunningSandbox, rolecall, startSandbox } from "../../support/rolecall.ts";

const STATION = "access/station-road.yaml";
const NOW = Date.parse("2026-06-15T22:30:00.000Z");

let folder = "";
let sandbox: RunningSandbox | null = null;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "rolecall-access-"));
  await cp("examples/retail", folder, { recursive: true });
});

afterEach(async () => {
  await sandbox?.stop();
  sandbox = null;
  await rm(folder, { recursive: true });
});

test("grant shows the patch, the plan that follows and what dates bring, and writes with --yes alone", async () => {
  sandbox = await startSandbox(["--seed", "examples/retail/live.yaml"]);
  const { env } = sandbox;
  const asked = ["grant", "lucia.gomez@example.com", "Shift Lead", "-m", "MC9Q3T8X", "--until", "+7d"];
  const unasked = await rolecall(asked, { cwd: folder, env, now: () => NOW });
  expect(unasked.code).toBe(1);
  expect(unasked.stderr).toContain("there is no terminal to ask on");
  expect(unasked.stdout).toContain(
    "+    roles: [Cashier, Holiday Kiosk, { role: Shift Lead, until: 2026-06-22 }]\n",
  );
  expect(unasked.stdout).toMatch(/~ update lucia\.gomez@example\.com\n +roles +\+ Shift Lead\n/);
  expect(unasked.stdout).toContain("after 2026-06-22: MC9Q3T8X lucia.gomez@example.com loses Shift Lead\n");
  expect(await text(STATION)).not.toContain("2026-06-22");
  const written = await rolecall([...asked, "--yes"], { cwd: folder, env, now: () => NOW });
  expect(written).toMatchObject({ code: 0, stdout: expect.stringContaining(`changed ${STATION}\n`) });
  expect(await text(STATION)).toContain("{ role: Shift Lead, until: 2026-06-22 }");
});

test("shows which rules the plan would break, and writes nothing if a merchant cannot be read", async () => {
  sandbox = await startSandbox(["--seed", "examples/retail/live.yaml"]);
  const { env } = sandbox;
  const asked = ["revoke", "ada@example.com", "-m", "MC9Q3T8X", "--yes"];
  const { stdout } = await rolecall([...asked, "--check"], { cwd: folder, env });
  expect(stdout).toMatch(/protect/);
  const before = await text(STATION);
  const down = await rolecall([...asked, "--retry-for", "0"], {
    cwd: folder,
    env: { ...env, ROLECALL_BASE_URL: "http://127.0.0.1:1" },
  });
  expect(down.code).toBe(1);
  expect(down.stderr).toContain("Nothing was written.");
  expect(await text(STATION)).toBe(before);
});

describe("where the entry goes", () => {
  const own = (code: string, members = "members: []\n"): string =>
    `version: 1\nmerchant: ${code}\ninclude: [../shared/all.yaml]\n${members}`;
  const shared =
    "version: 1\nroles: [{ name: Cashier, permissions: [sales_view] }]\nmembers:\n  - { email: ada@example.com, roles: [role_owner] }\n";

  beforeEach(async () => {
    await rm(join(folder, "access"), { recursive: true });
    await rm(join(folder, "shared"), { recursive: true });
    await put({ "access/a.yaml": own("MCA"), "access/b.yaml": own("MCB"), "shared/all.yaml": shared });
  });

  test("a person whom only a shared file lists is ambiguous, and --file decides", async () => {
    const asked = ["grant", "ada@example.com", "Cashier", "-m", "MCA"];
    const { code, stderr } = await run(...asked);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr:
        "error: The grant at MCA can go to access/a.yaml (only MCA) or shared/all.yaml (also 1 other merchant).\n  → Choose one with --file, such as --file access/a.yaml\n",
    });
    expect((await run(...asked, "--file", "./access/a.yaml")).code).toBe(0);
    expect(await text("access/a.yaml")).toContain(
      "members:\n  - email: ada@example.com\n    roles: [Cashier]\n",
    );
    expect((await run(...asked, "--file", "access/b.yaml")).stderr).toContain(
      "error: access/b.yaml is not a file of MCA.\n",
    );
  });

  test("a new person goes to the merchant's own file, at each of several merchants", async () => {
    expect((await run("grant", "bo@example.com", "Cashier", "-m", "MCA", "-m", "MCB")).code).toBe(0);
    const entry = "members:\n  - email: bo@example.com\n    roles: [Cashier]\n";
    expect([await text("access/a.yaml"), await text("access/b.yaml")]).toEqual([
      own("MCA", entry),
      own("MCB", entry),
    ]);
  });

  test("a revocation of what a shared file gives says where it comes from", async () => {
    const { code, stderr } = await run("revoke", "ada@example.com", "role_owner", "-m", "MCA");
    expect(code).toBe(1);
    expect(stderr).toBe(
      "error: ada@example.com at MCA is a member through shared/all.yaml:4, which also applies to MCB.\n  → To change it at all of them, add --file shared/all.yaml.\n",
    );
    const both = await run("revoke", "ada@example.com", "-m", "MCA", "-m", "MCB");
    expect(both.code).toBe(0);
    expect(await text("shared/all.yaml")).toContain("members: []\n");
  });

  test("the end of a shared entry stays if another merchant's own file grants more", async () => {
    const files = {
      "shared/all.yaml": shared.replace("roles: [role_owner]", "until: 2026-01-31, roles: [role_employee]"),
      "access/b.yaml": own("MCB", "members: [{ email: ada@example.com, roles: [role_admin] }]\n"),
    };
    await put(files);
    const asked = ["grant", "ada@example.com", "Cashier", "-m", "MCA", "--file", "shared/all.yaml"];
    const { code, stderr } = await run(...asked);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining(
        "error: ada@example.com would also get role_admin at MCB, since the files share an entry.\n",
      ),
    ]);
    expect(await text("shared/all.yaml")).toBe(files["shared/all.yaml"]);
    await put({
      "access/b.yaml": own("MCB", "members: [{ email: ada@example.com, roles: [Cashier] }]\n"),
    });
    expect((await run(...asked)).code).toBe(0);
  });

  test("a revocation in a shared file ends no limit of another merchant's own grant", async () => {
    await put({
      "shared/all.yaml": shared.replace("roles: [role_owner]", "until: 2099-01-31, roles: [role_owner]"),
      "access/b.yaml": own("MCB", "members: [{ email: ada@example.com, roles: [Cashier] }]\n"),
    });
    const { code, stderr } = await run("revoke", "ada@example.com", "-m", "MCA", "--file", "shared/all.yaml");
    expect([code, stderr]).toEqual([1, expect.stringContaining("would also get Cashier at MCB")]);
  });

  test("without -m, the merchants to choose from are named", async () => {
    const { stderr } = await run("grant", "bo@example.com", "Cashier");
    expect(stderr).toContain("error: Specify the merchant with -m.\n  → The files declare MCA or MCB.");
  });

  test("members that no file manages are not begun with one entry", async () => {
    await put({ "access/a.yaml": "version: 1\nmerchant: MCA\nroles: []\n" });
    const { stderr } = await run("grant", "bo@example.com", "role_employee", "-m", "MCA");
    expect(stderr).toContain("error: The files of MCA do not manage members.\n");
  });
});

describe("what is in the file already", () => {
  const shop = (member: string, rest = ""): string =>
    `version: 1\nmerchant: MC1\n${rest}roles: [{ name: Cashier, permissions: [] }, { name: Lead, previously: Boss, permissions: [] }]\nmembers:\n  - ${member}\n`;

  const granted = async (
    member: string,
    args: readonly string[],
    rest = "",
  ): Promise<Ended & { readonly entry: string }> => {
    await rm(join(folder, "access"), { recursive: true });
    await put({ "access/mc1.yaml": shop(member, rest) });
    const ended = await run(...args, "-m", "MC1");
    return { ...ended, entry: (await text("access/mc1.yaml")).slice(shop("", rest).length - 1).trim() };
  };
  const ada = (rest: string): string => `{ email: ada@example.com, ${rest} }`;
  const grant = (...args: readonly string[]): readonly string[] => ["grant", "ADA@example.com", ...args];

  test.each([
    [
      "is extended",
      "roles: [{ role: Lead, until: 2026-06-20 }]",
      ["Lead", "--until", "2026-07-01"],
      "roles: [{ role: Lead, until: 2026-07-01 }]",
    ],
    ["by its previous name", "roles: [{ role: Boss, until: 2026-06-20 }]", ["Boss"], "roles: [Lead]"],
    [
      "begins earlier",
      "roles: [{ role: Lead, from: 2026-07-01, until: 2026-07-05 }]",
      ["Lead", "--until", "2026-07-02"],
      "roles: [{ role: Lead, until: 2026-07-05 }]",
    ],
    [
      "begins anew after its end",
      "roles: [Cashier, { role: Lead, until: 2026-06-01 }]",
      ["Lead", "--until", "+2w"],
      "roles: [Cashier, { role: Lead, until: 2026-06-29 }]",
    ],
    ["is never shortened", "roles: [Lead]", ["Lead", "--until", "+7d"], "roles: [Lead]"],
    ["of an ended membership stands alone", "roles: [Cashier], until: 2026-06-01", ["Lead"], "roles: [Lead]"],
    [
      "has hours of UTC",
      "roles: [Cashier]",
      ["Lead", "--until", "+2h"],
      "roles: [Cashier, { role: Lead, until: 2026-06-16T00:30:00Z }]",
    ],
  ])("a grant %s", async (_, before, args, after) => {
    const { code, entry } = await granted(ada(before), grant(...args));
    expect({ code, entry }).toEqual({ code: 0, entry: ada(after) });
  });

  test.each([
    [
      "roles: [{ role: Lead, from: 2026-08-01 }]",
      ["Lead", "--until", "+7d"],
      "has Lead from 2026-08-01, but an entry can have only one period",
    ],
    [
      "roles: [Cashier], until: 2026-06-30",
      ["Lead", "--until", "2026-07-30"],
      "ends on 2026-06-30, before the grant would",
    ],
    ["metadata: { a: b }", ["Lead"], "lists no roles, so the live ones are not managed"],
    ["roles: [Cashier]", ["lead"], 'has no role "lead".'],
    [
      "roles: [Cashier]",
      ["Lead", "--until", "2026-02-30"],
      "--until 2026-02-30 is not a date. → There is no such day.",
    ],
    ["roles: [Cashier]", ["Lead", "--until", "2026-06-14"], "The end 2026-06-14 is past"],
    ["roles: [Cashier]", ["Lead", "--reason", "x".repeat(201)], "The reason has more than 200 characters."],
  ])("%s with %j is an error", async (before, args, message) => {
    const { code, entry, stderr } = await granted(ada(before), grant(...args));
    expect({ code, entry }).toEqual({ code: 1, entry: ada(before) });
    expect(stderr.replaceAll(/\s+/g, " ")).toContain(message);
  });

  test("somebody who has left, or is ignored, gets nothing", async () => {
    const left = "leavers: [{ email: ada@example.com, from: 2026-06-01 }]\n";
    expect((await granted(ada("roles: [Cashier]"), grant("Lead"), left)).stderr).toContain("has left MC1");
    const ignored = 'ignore: { members: ["*@example.com"] }\n';
    const { stderr } = await granted("{ email: bo@x.example, roles: [Cashier] }", grant("Lead"), ignored);
    expect(stderr).toContain("ADA@example.com at MC1 is ignored, so no plan changes anything.");
  });

  test("a suspension, and the end of the membership, are said", async () => {
    const { code, stderr } = await granted(
      ada("roles: [Cashier], suspended: true, until: 2026-07-01"),
      grant("Lead"),
    );
    expect(code).toBe(0);
    expect(stderr).toContain("is suspended");
    expect(stderr).toContain("ends on 2026-07-01, and the grant with\n  it.\n");
  });

  test("the reason is a comment above the entry, and shows no key", async () => {
    const key = `sk_live_${"1234567890123456"}`;
    await granted(ada("roles: [Cashier]"), grant("Lead", "--reason", `a\n# ${key}: b`));
    expect(await text("access/mc1.yaml")).toContain(
      "  # Lead: a # sk_live_**** b\n  - { email: ada@example.com, roles: [Cashier, Lead] }\n",
    );
  });

  test.each([
    ["roles: [Cashier, Boss]", ["Lead"], ada("roles: [Cashier]")],
    ["roles: [Cashier]", ["Cashier"], ""],
    ["roles: [Cashier, { role: Lead, until: 2026-06-01 }]", ["Cashier"], ""],
    ["roles: [Cashier, Lead], previously: old@example.com", [], ""],
    ["roles: [Cashier]", ["Lead"], ada("roles: [Cashier]")],
  ])("%s without %j", async (before, roles, after) => {
    const { code } = await granted(ada(before), ["revoke", "ada@example.com", ...roles]);
    const members = (await text("access/mc1.yaml"))
      .split("members:")[1]
      ?.replace(/^\s+- /, "")
      .trim();
    expect({ code, members }).toEqual({ code: 0, members: after === "" ? "[]" : after });
  });

  test("where unlisted members are left alone, an entry without roles stays", async () => {
    const sync = "sync: { members: additive }\n";
    const { entry, stderr } = await granted(ada("roles: [Cashier]"), ["revoke", "ada@example.com"], sync);
    expect(entry).toBe(ada("roles: []"));
    expect(stderr.replaceAll(/\s+/g, " ")).toContain('An entry under "leavers" ends the membership.');
  });

  test("where unlisted members are left alone, an entry without roles is nothing to change", async () => {
    const sync = "sync: { members: additive }\n";
    const { entry, stdout } = await granted(ada("roles: []"), ["revoke", "ada@example.com"], sync);
    expect([entry, stdout]).toEqual([ada("roles: []"), "There is nothing to change.\n"]);
  });

  test("changes no other file than the one that is named", async () => {
    await put({
      "access/mc1.yaml": `${mc1(ada("roles: [role_employee]"))}include: [../shared/team.yaml]\n`,
      "shared/team.yaml": "version: 1\nmembers: [{ email: ada@example.com, roles: [role_admin] }]\n",
    });
    const before = await text("shared/team.yaml");
    for (const roles of [[], ["role_admin"]]) {
      const { code, stderr } = await run(
        ...["revoke", "ada@example.com", ...roles, "-m", "MC1", "--file", "access/mc1.yaml"],
      );
      expect(code).toBe(1);
      expect(stderr.replaceAll(/\s+/g, " ")).toContain(
        "through shared/team.yaml:2. → Omit --file to change it there too.",
      );
    }
    expect(await text("shared/team.yaml")).toBe(before);
    expect((await run("revoke", "ada@example.com", "role_admin", "-m", "MC1")).code).toBe(0);
  });

  test("an unknown address is an error with a suggestion", async () => {
    const { code, stderr } = await granted(ada("roles: [Cashier]"), ["revoke", "adda@example.com"]);
    expect(code).toBe(1);
    expect(stderr).toContain("→ Did you mean ada@example.com?");
  });
});

test("a membership at several merchants is revoked in a shared file and in their own", async () => {
  const entry = "  - { email: cy@example.com, roles: [role_employee] }\n";
  const head = (merchant: string): string =>
    `version: 1\nmerchant: ${merchant}\ninclude: [../shared/staff.yaml]\nsync: { members: additive }\n`;
  await put({
    "shared/staff.yaml": `version: 1\nmembers:\n${entry}`,
    "access/mc1.yaml": head("MC1"),
    "access/mc2.yaml": `${head("MC2")}members:\n${entry}`,
  });
  const { code, stderr } = await run("revoke", "cy@example.com", "-m", "MC1", "-m", "MC2");
  expect([code, stderr]).toEqual([0, expect.stringContaining("stays a member, without roles")]);
  for (const file of ["shared/staff.yaml", "access/mc2.yaml"]) {
    expect(await text(file)).toContain("{ email: cy@example.com, roles: [] }");
  }
});

test("an error that a grant would bring stands below the patch whose lines it names", async () => {
  const including = (merchant: string, member: string): string =>
    mc1(member).replace("MC1", merchant).replace("roles:", "include: [../shared/staff.yaml]\nroles:");
  await put({
    "shared/staff.yaml": "version: 1\nmembers:\n  - { email: ada@example.com, roles: [role_employee] }\n",
    "access/mc1.yaml": including("MC1", "{ email: cy@example.com, roles: [Lead] }"),
    "access/mc2.yaml": including(
      "MC2",
      "{ email: bo@example.com, roles: [{ role: role_employee, until: 2026-06-20 }] }",
    ),
  });
  const asked = ["grant", "bo@example.com", "role_employee", "-m", "MC1", "--file", "shared/staff.yaml"];
  const { code, stdout, stderr } = await run(...asked);
  expect(code).toBe(1);
  expect(stdout).toContain("+  - { email: bo@example.com, roles: [role_employee] }\n");
  expect(stderr).toContain("error: With the patch above, the files would have these errors.\n");
  expect(stderr).toContain("→ Nothing was changed. Their lines are those of the patched files.\n");
});

describe("requestable", () => {
  test("limits roles, merchants, people and time, and names the rule", async () => {
    await put({
      "rolecall.yaml":
        'version: 1\nrequestable:\n  - { roles: [Cash*], for: 7d }\n  - { roles: [role_employee], merchants: [MC4*], members: ["*@example.com"] }\n',
    });
    const ask = async (...args: readonly string[]): Promise<readonly [number | null, string]> => {
      const { code, stderr } = await run("grant", ...args, "--check");
      return [code, stderr.replaceAll(/\s+/g, " ")];
    };
    const bo = "bo@example.com";
    expect(await ask(bo, "Cashier", "-m", "MC9Q3T8X", "--until", "+7d")).toEqual([2, ""]);
    expect(await ask(bo, "Cashier", "-m", "MC9Q3T8X", "--until", "+8d")).toEqual([
      3,
      "error: Cashier at MC9Q3T8X can be requested for at most 7d (rolecall.yaml:3), and the grant would end on 2026-06-23. → Choose an end within that time with --until. ",
    ]);
    expect(await ask(bo, "Cashier", "Shift Lead", "-m", "MC9Q3T8X", "--until", "+7d")).toEqual([
      3,
      "error: Shift Lead at MC9Q3T8X cannot be requested for bo@example.com: no entry of requestable (rolecall.yaml:3) allows it. → Propose a change to the file by hand. ",
    ]);
    expect((await ask(bo, "role_employee", "-m", "MC4F7K2P"))[0]).toBe(2);
    expect((await ask(bo, "role_employee", "-m", "MC9Q3T8X"))[0]).toBe(3);
    expect((await ask("bo@ledger.example", "role_employee", "-m", "MC4F7K2P"))[0]).toBe(3);
    expect((await run("revoke", "ravi.patel@example.com", "-m", "MC9Q3T8X", "--check")).code).toBe(2);
    expect((await run("revoke", "aisha.bello@example.com", "-m", "MC9Q3T8X", "--check")).code).toBe(3);
  });

  test("judges the address that gets the role, by whichever the person is named", async () => {
    await put({
      "rolecall.yaml": 'version: 1\nrequestable:\n  - { roles: [Lead], members: ["*@example.com"] }\n',
      "access/mc1.yaml": mc1(
        "{ email: ada@elsewhere.example, previously: ada@example.com, roles: [role_employee] }",
      ),
    });
    for (const address of ["ada@example.com", "ada@elsewhere.example"]) {
      const { code, stderr } = await run("grant", address, "Lead", "-m", "MC1");
      expect(code).toBe(3);
      expect(stderr.replaceAll(/\s+/g, " ")).toContain(
        "Lead at MC1 cannot be requested for ada@elsewhere.example:",
      );
    }
  });

  test("measures the grant that results, however often it is extended", async () => {
    await put({
      "rolecall.yaml": "version: 1\nrequestable:\n  - { roles: [Lead], for: 14d }\n",
      "access/mc1.yaml": mc1("{ email: ada@example.com, roles: [{ role: Lead, until: 2026-06-20 }] }"),
    });
    const extend = (...dates: readonly string[]): Promise<Ended> =>
      run("grant", "ada@example.com", "Lead", ...dates, "-m", "MC1");
    expect((await extend("--until", "2026-06-29")).code).toBe(0);
    const { code, stderr } = await extend("--from", "2026-06-29", "--until", "2026-07-10");
    expect(code).toBe(3);
    expect(stderr.replaceAll(/\s+/g, " ")).toContain(
      "at most 14d (rolecall.yaml:3), and the grant would end on 2026-07-10.",
    );
  });

  test("with an error stops every merchant", async () => {
    await put({ "rolecall.yaml": "version: 1\nrequestable:\n  - { roles: [Cashier], for: soon }\n" });
    const { code, stderr } = await run("grant", "bo@example.com", "Cashier", "-m", "MC9Q3T8X");
    expect(code).toBe(1);
    expect(stderr).toContain("rolecall.yaml:3:30: error:");
    expect(stderr).toContain("→ Use a whole number of weeks (w), days (d) or hours (h).\n");
  });
});

function mc1(member: string): string {
  return `version: 1\nmerchant: MC1\nroles: [{ name: Lead, permissions: [catalog_view] }]\nmembers:\n  - ${member}\n`;
}

function run(...args: readonly string[]): Promise<Ended> {
  return rolecall([...args, "--declared", "--yes"], { cwd: folder, now: () => NOW });
}

async function put(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [file, content] of Object.entries(files)) {
    await mkdir(join(folder, file, ".."), { recursive: true });
    await writeFile(join(folder, file), content);
  }
}

function text(file: string): Promise<string> {
  return readFile(join(folder, file), "utf8");
}
