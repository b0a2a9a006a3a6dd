import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { declaredSnapshot, type ExpiringPeriod, expiringAccess, loadMerchants } from "../../../src/index.ts";
import { type Ended, rolecall, startSandbox } from "../../support/rolecall.ts";

const NOW = Date.parse("2027-01-01T09:00:00Z");

let folder = "";

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "rolecall-expiring-"));
  await mkdir(join(folder, "access"));
});

afterEach(async () => {
  await rm(folder, { recursive: true });
});

describe("expiring", () => {
  test("lists what ends, by day: grants, memberships and people who leave", async () => {
    await shop("MC1", [
      "leavers:",
      "  - { email: karim@x.example, from: 2027-01-20 }",
      "members:",
      "  - { email: karim@x.example, roles: [Cashier] }",
      "  - email: temp@x.example",
      "    roles: [{ role: Cashier, until: 2027-01-01 }, role_employee]",
      "    until: 2027-01-31",
      "  - { email: later@x.example, roles: [Cashier], until: 2027-02-15 }",
      "  - { email: past@x.example, roles: [Cashier], until: 2026-12-31 }",
    ]);
    expect((await expiring()).stdout).toBe(
      [
        "2027-01-01 (today)",
        "  temp@x.example   Cashier ends     MC1  access/mc1.yaml:12",
        "2027-01-20 (in 19 days)",
        "  karim@x.example  leaves           MC1  access/mc1.yaml:8",
        "2027-01-31 (in 30 days)",
        "  temp@x.example   membership ends  MC1  access/mc1.yaml:13",
        "",
      ].join("\n"),
    );
    expect((await expiring("--within", "12h")).stdout).toBe(
      "No grant or membership in the files ends within 12 hours.\n",
    );
    expect((await expiring("--within", "60d")).stdout).toContain("2027-02-15 (in 45 days)\n");
  });

  test("names the line that sets an end, also in an included file", async () => {
    await writeFile(
      join(folder, "access/away.yaml"),
      [
        "version: 1",
        "leavers:",
        "  - { email: lee@x.example, from: 2027-01-20 }",
        "members:",
        "  - { email: gus@x.example, until: 2027-01-21 }",
        "",
      ].join("\n"),
    );
    await shop("MC1", [
      "include: [away.yaml]",
      "members:",
      "  - { email: lee@x.example, roles: [Cashier] }",
      "  - { email: gus@x.example, roles: [Cashier] }",
    ]);
    const { ends } = JSON.parse((await expiring("--format", "json")).stdout);
    expect(
      ends.map(({ member, what, places }: { member: { name: string }; what: string; places: object[] }) => [
        member.name,
        what,
        places,
      ]),
    ).toMatchObject([
      ["lee@x.example", "leaver", [{ file: "access/away.yaml", line: 3 }]],
      ["gus@x.example", "membership", [{ file: "access/away.yaml", line: 5 }]],
    ]);
  });

  test("shows an end that many merchants share once, and with --verbose each", async () => {
    const entry = ["members:", "  - { email: temp@x.example, roles: [Cashier], until: 2027-01-02 }"];
    for (const code of ["MC1", "MC2", "MC3"]) await shop(code, entry);
    expect((await expiring()).stdout).toBe(
      "2027-01-02 (tomorrow)\n  temp@x.example  membership ends  3 merchants  access/mc1.yaml:8 and 2 more\n",
    );
    expect((await expiring("--verbose")).stdout.split("\n")).toHaveLength(5);
  });

  test("lists the end of what has not begun and of who is suspended, and no end of a suspension", async () => {
    await shop("MC1", [
      "members:",
      "  - { email: ada@x.example, roles: [{ role: Cashier, from: 2027-01-05, until: 2027-01-10 }] }",
      "  - { email: bob@x.example, roles: [Cashier], from: 2027-01-05, until: 2027-01-11 }",
      "  - { email: cy@x.example, roles: [Cashier], from: 2027-03-01, until: 2027-03-09 }",
      "  - { email: dan@x.example, roles: [Cashier], until: 2027-01-12, suspended: { until: 2027-01-20 } }",
      "  - { email: eve@x.example, roles: [{ role: Cashier, until: 2027-01-13 }], suspended: true }",
      "  - { email: fay@x.example, roles: [Cashier], suspended: { from: 2027-01-14 } }",
    ]);
    expect((await expiring()).stdout).toBe(
      [
        "2027-01-10 (in 9 days)",
        "  ada@x.example  Cashier ends     MC1  access/mc1.yaml:8",
        "2027-01-11 (in 10 days)",
        "  bob@x.example  membership ends  MC1  access/mc1.yaml:9",
        "2027-01-12 (in 11 days)",
        "  dan@x.example  membership ends  MC1  access/mc1.yaml:11",
        "2027-01-13 (in 12 days)",
        "  eve@x.example  Cashier ends     MC1  access/mc1.yaml:12",
        "",
      ].join("\n"),
    );
  });

  test("with --live also lists the invitations that expire, and only access that is live", async () => {
    const now = Date.now();
    const day = new Date(now + 5 * 24 * 3600e3).toISOString().slice(0, 10);
    await shop("MC0DEMO1", ["members:", `  - { email: gone@x.example, roles: [Cashier], until: ${day} }`]);
    const sandbox = await startSandbox();
    try {
      const headers = { authorization: "Bearer sk_test_sandbox", "content-type": "application/json" };
      const body = JSON.stringify({ email: "new@x.example", roles: ["role_employee"] });
      await fetch(`${sandbox.url}/v0.1/merchants/MC0DEMO1/members`, { method: "POST", headers, body });
      const { stdout } = await rolecall(["expiring", "--live", "--format", "json"], {
        cwd: folder,
        env: sandbox.env,
      });
      const { source, ends } = JSON.parse(stdout);
      expect(source).toBe("live");
      expect(ends).toMatchObject([
        { merchant: "MC0DEMO1", what: "invitation", member: { email: "new@x.example" }, places: [] },
      ]);
      const clock = { method: "PUT", headers, body: '{"advance": "8d"}' };
      await fetch(`${sandbox.url}/_sandbox/clock`, clock);
      for (const format of ["text", "markdown"]) {
        const past = await rolecall(["expiring", "--live", "--format", format], {
          cwd: folder,
          env: sandbox.env,
        });
        expect(past.stdout).toContain("1 invitation has already expired");
      }
    } finally {
      await sandbox.stop();
    }
  });

  test("the library finds the ends of the next 30 days", async () => {
    await shop("MC1", [
      "members:",
      "  - { email: ada@x.example, roles: [Cashier], until: 2027-01-10 }",
      "  - { email: bob@x.example, roles: [Cashier], until: 2027-02-15 }",
    ]);
    const { merchants } = await loadMerchants([join(folder, "access")]);
    const snapshots = merchants.map((state) => declaredSnapshot(state, NOW));
    const names = (period: ExpiringPeriod): readonly string[] =>
      expiringAccess(snapshots, period).map(({ member }) => member.name);
    expect(names({ now: NOW })).toEqual(["ada@x.example"]);
    expect(names({ now: NOW, last: Date.parse("2027-02-16") })).toEqual(["ada@x.example", "bob@x.example"]);
  });

  test("takes days or hours", async () => {
    await shop("MC1", []);
    const { code, stderr } = await expiring("--within", "soon");
    expect(code).toBe(1);
    expect(stderr).toContain("It must be in days or hours, such as 14d or 12h, up to 3660d.");
  });
});

function shop(merchant: string, lines: readonly string[]): Promise<void> {
  const head = [
    "version: 1",
    `merchant: ${merchant}`,
    "roles:",
    "  - name: Cashier",
    "    permissions: [a]",
    "",
  ];
  return writeFile(
    join(folder, "access", `${merchant.toLowerCase()}.yaml`),
    [...head, ...lines, ""].join("\n"),
  );
}

function expiring(...args: readonly string[]): Promise<Ended> {
  return rolecall(["expiring", ...args], { cwd: folder, now: () => NOW });
}
