import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningSandbox, rolecall, startSandbox } from "../support/rolecall.ts";

const SEED = `merchants:
  - code: MC1
    members:
      - { email: ada@example.com, roles: [role_owner] }
      - { email: temp@example.com, roles: [role_employee, role_manager] }
      - { email: gone@example.com, roles: [role_employee] }
      - { email: unlisted@example.com, roles: [role_employee] }
keys:
  - { key: sk_test_sandbox, owner: ada@example.com }
`;
const FILE = `version: 1
merchant: MC1
members:
  - { email: ada@example.com, roles: [role_owner] }
  - { email: temp@example.com, roles: [role_employee, { role: role_manager, until: 2001-01-31 }] }
  - { email: gone@example.com, roles: [role_employee], until: 2001-06-30 }
  - { email: new@example.com, roles: [role_employee] }
`;

const git = (...args: readonly string[]) =>
  promisify(execFile)("git", ["-c", "user.name=T", "-c", "user.email=t@example.com", ...args], { cwd });

let sandbox: RunningSandbox;
let cwd = "";

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "rolecall-due-"));
  await mkdir(join(cwd, "access"));
  await writeFile(join(cwd, "access/shop.yaml"), FILE);
  await writeFile(join(cwd, "seed.yaml"), SEED);
  sandbox = await startSandbox(["--seed", join(cwd, "seed.yaml")]);
});

afterAll(async () => {
  await sandbox.stop();
  await rm(cwd, { recursive: true });
});

const run = (...args: readonly string[]) => rolecall(args, { cwd, env: sandbox.env });

test("drift says what is due, apart from what is not applied, and its patch leaves it out", async () => {
  const { stdout } = await run("drift");
  expect(stdout).toContain("Due by a date in the file, but not applied yet");
  expect(stdout).toMatch(/Drift: 4 differences \(.*2 due.*\)/s);
  const patch = await run("drift", "--patch");
  expect(patch.stdout).not.toContain("gone@example.com");
});

test("apply --only due removes access whose end has passed, and changes nothing else", async () => {
  const plan = await run("plan", "--only", "due");
  expect(plan.stdout).toContain("Plan: 1 to update, 1 to delete");
  expect(plan.stdout).not.toMatch(/new@example.com|unlisted@example.com/);
  const applied = await run("apply", "--only", "due", "--yes");
  expect(applied.stdout).toContain("2 changes done.");
  expect(applied.code).toBe(0);
  const again = await run("apply", "--only", "due", "--yes");
  expect(again.stderr).toContain("Nothing to do: nothing is due.");
  const rest = await run("plan");
  expect(rest.stdout).toContain("Plan: 1 to create, 1 to delete");
});

test("apply --only due takes what has ended beside an error, and exits 3 if a rule keeps any of it", async () => {
  const shop = await startSandbox(["--seed", join(cwd, "seed.yaml")]);
  const runAt = (...args: readonly string[]) => rolecall(args, { cwd, env: shop.env });
  try {
    const write = (guards: string) =>
      writeFile(
        join(cwd, "wrong.yaml"),
        FILE.replace("new@example.com, roles: [", "new@example.com, roles: [role_ghost, ") + guards,
      );
    await write("guards: { protect: { members: [gone@example.com] } }\n");
    const plan = await runAt("plan", "wrong.yaml", "--only", "due");
    expect([plan.code, (await runAt("plan", "wrong.yaml")).code]).toEqual([3, 1]);
    const kept = "Access of gone@example.com that has ended is kept: The member gone@example.com is";
    expect(plan.stdout.replaceAll(/\s+/g, " ")).toContain(kept);
    const applied = await runAt("apply", "wrong.yaml", "--only", "due", "--yes");
    expect(applied.code).toBe(3);
    expect(applied.stdout).toContain("temp@example.com updated");
    expect(applied.stderr).toContain("Apply incomplete at MC1: 1 change done.");
    expect(applied.stderr.replaceAll(/\s+/g, " ")).toContain(`refused at MC1: ${kept} protected`);
    expect(applied.stderr.replaceAll(/\s+/g, " ")).toContain(
      "Completed changes remain. To remove the rest, correct the files or the conflicting access, and apply again.",
    );
    const again = await runAt("apply", "wrong.yaml", "--only", "due", "--yes");
    expect([again.code, again.stderr]).toEqual([3, expect.stringContaining("nothing was changed")]);
    await write("");
    const rest = await runAt("apply", "wrong.yaml", "--only", "due", "--yes");
    expect([rest.code, rest.stdout]).toEqual([0, expect.stringContaining("gone@example.com deleted")]);
  } finally {
    await shop.stop();
  }
});

test("--only due and --reinvite cannot be combined", async () => {
  const { code, stderr } = await run("apply", "--only", "due", "--reinvite", "ada@example.com");
  expect(stderr).toContain("cannot be used with option '--reinvite <email>'");
  expect(code).toBe(1);
});

test("plan announces what dates bring within 30 days, and who leaves at any time, but not with --quiet", async () => {
  const members = `${FILE}  - { email: later@example.com, roles: [role_employee], from: 2026-12-01 }
  - { email: much-later@example.com, roles: [role_employee], from: 2027-03-01 }
leavers:
  - { email: TEMP@example.com, from: 2027-03-01 }
`;
  const other = join(cwd, "other.yaml");
  await writeFile(other, members);
  const asOf = ["--as-of", "2026-11-22"];
  const { stdout } = await run("plan", other, ...asOf);
  expect(stdout).toContain(`
Later, by dates in the files
  on 2026-12-01: MC1 later@example.com joins with role_employee
  on 2027-03-01: TEMP@example.com leaves MC1
`);
  expect(stdout).not.toContain("much-later@example.com");
  expect((await run("plan", other, ...asOf, "--quiet")).stdout).not.toContain("Later");
});

describe("a transfer of people on a day to come", () => {
  const people = Array.from({ length: 21 }, (_, at) => `p${at}@example.com`);
  const seed = [
    "merchants:",
    "  - code: MC1",
    "    members:",
    "      - { email: ada@example.com, roles: [role_owner] }",
    ...people.slice(1).map((email) => `      - { email: ${email}, roles: [role_employee] }`),
    "keys: [{ key: sk_test_sandbox, owner: ada@example.com }]",
  ].join("\n");
  const file = [
    "version: 1",
    "merchant: MC1",
    "members:",
    "  - { email: ada@example.com, roles: [role_owner] }",
    ...people.slice(1).map((email) => `  - { email: ${email}, roles: [role_employee] }`),
    "leavers:",
    ...people.slice(1, 7).map((email) => `  - { email: ${email}, from: 2027-01-07 }`),
    ...people.slice(7, 9).map((email) => `  - { email: ${email}, from: 2027-01-14 }`),
  ].join("\n");
  const refused =
    "on 2027-01-07: MC1 would be refused by guard max-removals: 6 of 21 members would be removed or lose something; the limit is 5.";
  let shop: RunningSandbox;

  beforeAll(async () => {
    await writeFile(join(cwd, "people.yaml"), seed);
    await writeFile(join(cwd, "transfer.yaml"), file);
    shop = await startSandbox(["--seed", join(cwd, "people.yaml")]);
  });
  afterAll(() => shop.stop());

  const shown = async (format: string): Promise<string> => {
    const args = ["plan", "transfer.yaml", "--as-of", "2026-12-20", "--format", format];
    return (await rolecall(args, { cwd, env: shop.env })).stdout;
  };
  /** The text without markup and line breaks. */
  const flat = (text: string): string =>
    text
      .replaceAll(/<\/?code>/g, "")
      .replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))
      .replaceAll(/\s+/g, " ");

  test.each(["text", "markdown", "html", "junit"])(
    "is announced in %s, with the guard that would refuse it and not the one that would not",
    async (format) => {
      const text = flat(await shown(format));
      expect(text).toContain(
        "on 2027-01-07: 6 people leave MC1: p1@example.com, p2@example.com, p3@example.com and 3 more",
      );
      expect(text).toContain("p8@example.com leaves MC1");
      expect(text).toContain(refused);
      expect(text.split("would be refused by")).toHaveLength(2);
    },
  );

  test("is in the JSON, which apply --approved takes", async () => {
    const json = await shown("json");
    const { plans, later } = JSON.parse(json) as {
      readonly plans: readonly { readonly changes: readonly unknown[] }[];
      readonly later: readonly {
        readonly merchant: string;
        readonly at: string;
        readonly dates: readonly object[];
        readonly refusals: readonly object[];
      }[];
    };
    expect(plans[0]?.changes).toEqual([]);
    expect(later.map(({ at, dates, refusals }) => [at, dates.length, refusals.length])).toEqual([
      ["2027-01-07T00:00:00.000Z", 6, 1],
      ["2027-01-14T00:00:00.000Z", 2, 0],
    ]);
    expect(later[0]).toMatchObject({
      merchant: "MC1",
      dates: [
        { date: "2027-01-07", member: "p1@example.com", what: "leaves", roles: [] },
        {},
        {},
        {},
        {},
        {},
      ],
      refusals: [{ rule: "guard", code: "max-removals" }],
    });
    await writeFile(join(cwd, "later.json"), json);
    const args = ["apply", "transfer.yaml", "--yes", "--approved", "later.json"];
    expect((await rolecall(args, { cwd, env: shop.env, now: () => Date.parse("2026-12-20") })).code).toBe(0);
  });

  test("is refused by the number of people only until the dates are reviewed", async () => {
    const onTheDay = ["plan", "transfer.yaml", "--as-of", "2027-01-08"];
    const plain = await rolecall(onTheDay, { cwd, env: shop.env });
    expect(plain.code).toBe(3);
    expect(plain.stdout).toContain('"rolecall apply --only due"');
    const due = await rolecall([...onTheDay, "--only", "due"], { cwd, env: shop.env });
    expect(due.code).toBe(0);
    expect(due.stdout).toContain("6 to delete");

    await git("init", "-q");
    await writeFile(join(cwd, "transfer.yaml"), file.slice(0, file.indexOf("leavers:")));
    await git("add", "transfer.yaml");
    await git("commit", "-qm", "people");
    await writeFile(join(cwd, "transfer.yaml"), file);
    const since = ["--changed-since", "HEAD"];
    const args = ["plan", "transfer.yaml", "--as-of", "2026-12-20", ...since, "--format", "json"];
    const review = await rolecall(args, { cwd, env: shop.env });
    expect(review.code).toBe(3);
    const { plans, later } = JSON.parse(review.stdout) as {
      readonly plans: readonly { readonly refusals: readonly { readonly message: string }[] }[];
      readonly later: readonly { readonly refusals: readonly object[] }[];
    };
    expect(plans.flatMap(({ refusals }) => refusals.map(({ message }) => message))).toEqual([
      "8 of 21 members would be removed or lose something, 8 of them by end dates that were added or brought forward; the limit is 5.",
    ]);
    expect(later.flatMap(({ refusals }) => refusals)).toEqual([]);

    await git("commit", "-qam", "leavers");
    await writeFile(join(cwd, "transfer.yaml"), `${file}\nchecks: [{ can: payouts_edit, at_most: 9 }]`);
    const reviewed = await rolecall([...onTheDay, ...since], { cwd, env: shop.env });
    expect(reviewed.code).toBe(0);
  });
});
