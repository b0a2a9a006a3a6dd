import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { accessProjects, writeProject } from "../support/access-project.ts";
import { rolecall } from "../support/rolecall.ts";

let cwd = "";

const DAY = 24 * 3_600_000;
const START = Date.parse("2026-03-01T09:00:00Z");
const LATER = START + 1000 * DAY;

function git(time: number, ...args: readonly string[]): string {
  const date = `${time / 1000} +0000`;
  return execFileSync("git", ["-c", "user.name=T", "-c", "user.email=t@example.com", ...args], {
    cwd,
    env: { PATH: process.env["PATH"], HOME: cwd, GIT_COMMITTER_DATE: date, GIT_AUTHOR_DATE: date },
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
}

async function put(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [file, text] of Object.entries(files)) {
    await mkdir(dirname(join(cwd, file)), { recursive: true });
    await writeFile(join(cwd, file), text);
  }
}

function commit(time: number): void {
  git(time, "add", "--all");
  git(time, "commit", "--quiet", "--allow-empty", "-m", "change");
}

const QUESTIONS = [
  ["can", "*"],
  ["has", "Shared"],
  ["is", "*"],
  ["has", "*", "shared/all.yaml"],
  ["has", "*", "shared"],
  ["has", "Cashier", "access", "shared/all.yaml"],
] as const;

/** What the files say at a moment, without the time. */
async function answers(moment: number, ...rest: readonly string[]): Promise<readonly unknown[]> {
  const all = await Promise.all(
    QUESTIONS.map((question) =>
      rolecall(["who", ...question, "--format", "json", ...rest], { cwd, now: () => moment }),
    ),
  );
  return all.map(({ stdout, code, stderr }) => {
    const { question, ...found } = JSON.parse(stdout || '{"question":{}}');
    // A folder that reaches no merchant fails in other words.
    if (!found.merchants?.length) return { code };
    // Only the files of now say what they reach.
    const said = stderr.replaceAll(/^.* affects .*\n/gm, "");
    return { code, said, ...found, question: { ...question, at: null } };
  });
}

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), "rolecall-at-"));
  git(START, "init", "--quiet", "-b", "main");
});

afterEach(() => rm(cwd, { recursive: true }));

interface Found {
  readonly merchant: string;
  readonly member: { readonly name: string };
  readonly role: { readonly name: string } | null;
  readonly since: object | null;
}

/** The answers of who is with a role. */
const grantsIn = (said: readonly unknown[]): readonly Found[] =>
  (said[2] as { readonly answers: readonly Found[] }).answers.filter(({ role }) => role !== null);

const isSame =
  ({ merchant, member, role }: Found) =>
  (other: Found): boolean =>
    other.merchant === merchant &&
    other.member.name.toLowerCase() === member.name.toLowerCase() &&
    other.role?.name === role?.name;

/** The time from one commit to the next. */
const EVERY = 30 * DAY;

/** Commits after which the answers are compared; measured by hand with 200. */
const STEPS = 8;

test("the answers at every commit are those that the files gave then", async () => {
  const replayed: { readonly moment: number; readonly said: readonly unknown[] }[] = [];
  for (const [step, project] of fc.sample(accessProjects, { numRuns: STEPS, seed: 7 }).entries()) {
    const time = START + step * EVERY;
    await rm(join(cwd, "access"), { recursive: true, force: true });
    await put(writeProject(project).files);
    if (step % 3 === 1) await rename(join(cwd, "access/mca.yaml"), join(cwd, "access/first.yaml"));
    if (step % 4 === 2) await rm(join(cwd, "access/mcb.yaml"));
    if (step % 2 === 0) commit(time);
    else {
      // Merged days after it was written: until then it does not count.
      git(time, "checkout", "--quiet", "-b", "side");
      commit(time - 20 * DAY);
      git(time, "checkout", "--quiet", "main");
      git(time, "merge", "--quiet", "--no-ff", "-m", "merge", "side");
      git(time, "branch", "--quiet", "-d", "side");
    }
    const moment = time + 3_600_000;
    replayed.push({ moment, said: await answers(moment) });
  }
  for (const { moment, said } of replayed) {
    expect(await answers(LATER, "--at", new Date(moment).toISOString())).toEqual(said);
  }
  for (const [step, { said }] of replayed.entries()) {
    for (const one of grantsIn(said)) {
      const before = replayed.slice(0, step).findLastIndex((each) => !grantsIn(each.said).some(isSame(one)));
      const time = new Date(START + (before + 1) * EVERY).toISOString();
      expect(one.since).toMatchObject({ kind: "commit", time });
    }
  }
}, 60_000);

const file = (roles: string): string =>
  `version: 1\nmerchant: MCA\nroles: [{ name: A, permissions: [a_b] }, { name: B, permissions: [a_b] }]\nmembers:\n  - { email: ada@example.com, roles: [${roles}] }\n`;

test("a day is its end in UTC, the answer says which commit it is, and ends are those of that day", async () => {
  await put({ "access/a.yaml": file("A") });
  commit(START);
  await put({ "access/a.yaml": file("{ role: B, until: 2026-03-05 }") });
  commit(START + 10 * 3_600_000);
  const at = async (time: string) =>
    (await rolecall(["who", "can", "a_b", "--at", time], { cwd, now: () => LATER })).stdout;
  const id = git(START, "rev-parse", "HEAD").slice(0, 12);
  expect(await at("2026-03-01")).toBe(
    [
      "As merged by 2026-03-01 23:59 UTC, which may differ from what was live: commit",
      `  ${id} of 2026-03-01 19:00 UTC.`,
      "",
      "a_b: 1 person at MCA",
      "  Who              Role  Status            Where",
      "  ada@example.com  B     until 2026-03-05  access/a.yaml:5",
      "",
      "The answer lacks service accounts that no file lists, and members without an",
      "  address.",
      "",
    ].join("\n"),
  );
  expect(await at("2026-03-01T18:59:59Z")).toContain("ada@example.com  A     access/a.yaml:5\n");
  expect(await at("2026-03-05")).toContain("until 2026-03-05");
  expect(await at("2026-03-06")).toContain("Nobody can a_b in the files of MCA.");
});

test("a time before the history, one to come, and a merchant of another time are errors", async () => {
  await put({ "access/a.yaml": file("A") });
  commit(START);
  const run = (time: string, ...rest: readonly string[]) =>
    rolecall(["who", "can", "a_b", "--at", time, ...rest], { cwd, now: () => START + DAY });
  expect(await run("2026-02-28")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("the history of the current branch begins after that time"),
  });
  expect(await run("2026-03-04")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("is in the future"),
  });
  // The day that is not over yet.
  expect(await run("2026-03-02")).toMatchObject({ code: 0 });
  expect(await run("2026-03-01", "-m", "MCB")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("No file declared merchant MCB at that time."),
  });
  expect(await run("2026-03-01", "elsewhere")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("There was no YAML file in elsewhere at that time."),
  });
  const outside = await rolecall(["who", "can", "a_b", "--at", "2026-03-01"], {
    cwd: tmpdir(),
    now: () => START + DAY,
  });
  expect(outside).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("--at needs the git history"),
  });
});

test("files of a folder below the repository have the paths that they have there", async () => {
  await put({
    "shops/access/a.yaml": file("A").replace("roles:", "include: [../../shared/all.yaml]\nroles:"),
    "shared/all.yaml": "version: 1\nmembers:\n  - { email: eve@example.com, roles: [B] }\n",
  });
  commit(START);
  const run = (...args: readonly string[]) =>
    rolecall(["who", "can", "a_b", ...args], { cwd: join(cwd, "shops"), now: () => LATER });
  const [past, present] = await Promise.all([run("--at", "2026-03-02"), run()]);
  expect(past.stdout.split("\n\n")[1]).toBe(present.stdout.split("\n\n")[0]);
  expect(past.stdout).toContain("../shared/all.yaml:3");
});

test("a role is held since the commit that gave it, whatever happened to its lines, its file and its name since", async () => {
  const since = async (...args: readonly string[]): Promise<unknown> => {
    const { stdout } = await rolecall(["who", "is", "ada@example.com", "--format", "json", ...args], {
      cwd,
      now: () => LATER,
    });
    return JSON.parse(stdout).answers.map((one: Found) => [one.role?.name, one.since]);
  };
  await put({ "access/a.yaml": file("A") });
  expect(await since()).toEqual([["A", null]]);
  commit(START);
  await put({ "access/a.yaml": file("A, B").replaceAll("  - {", "  # Moved\n  - {") });
  commit(START + DAY);
  await rename(join(cwd, "access/a.yaml"), join(cwd, "access/shop.yaml"));
  commit(START + 2 * DAY);
  const renamed = file("Senior, B").replace("name: A,", "name: Senior, previously: A,");
  await put({ "access/shop.yaml": renamed });
  commit(START + 3 * DAY);
  await put({
    "access/shop.yaml": renamed.replace(
      "Senior, B]",
      "Senior, { role: B, until: 2099-01-31 }, role_employee]",
    ),
  });
  const at = (days: number) => ({ kind: "commit", time: new Date(START + days * DAY).toISOString() });
  const found = [
    ["Senior", expect.objectContaining(at(0))],
    ["B", expect.objectContaining(at(1))],
  ];
  expect(await since()).toEqual([
    ...found,
    ["role_employee", { kind: "uncommitted", commit: null, time: null }],
  ]);
  expect(await since("--at", "2026-03-02")).toEqual([
    ["A", found[0]?.[1]],
    ["B", found[1]?.[1]],
  ]);
  // A clone without the beginning knows only that it was before.
  commit(START + 4 * DAY);
  const clone = await mkdtemp(join(tmpdir(), "rolecall-at-shallow-"));
  git(START, "clone", "--quiet", "--depth", "2", `file://${cwd}`, clone);
  const { stdout } = await rolecall(["who", "is", "ada@example.com"], { cwd: clone, now: () => LATER });
  await rm(clone, { recursive: true });
  expect(stdout).toMatchInlineSnapshot(`
    "ada@example.com: 3 roles at MCA
      Role           Since          Status            Where
      Senior         by 2026-03-04  active            access/shop.yaml:5
      B              by 2026-03-04  until 2099-01-31  access/shop.yaml:5
      role_employee  2026-03-05     active            access/shop.yaml:5
      can:
        a_b

    The files do not say what these roles grant; --live does: role_employee.
    The history in this clone begins on 2026-03-04; if it is shallow, run git fetch
      --unshallow to get the rest.
    "
  `);
});

test("it can be asked from a folder above the repository, but not about another one", async () => {
  await put({ "access/shop.yaml": file("A") });
  commit(START);
  const outside = dirname(cwd);
  const name = basename(cwd);
  const at = ["--at", "2026-03-01", "--format", "json"];
  const { stdout, stderr } = await rolecall(["who", "is", "*", `${name}/access`, ...at], {
    cwd: outside,
    now: () => LATER,
  });
  expect(stderr).toBe("");
  const [answer] = JSON.parse(stdout).answers;
  expect(answer).toMatchObject({
    grantedAt: [{ file: `${name}/access/shop.yaml` }],
    since: { time: new Date(START).toISOString() },
  });
  const other = await rolecall(["who", "is", "*", "access", outside, ...at], { cwd, now: () => LATER });
  expect(other).toMatchObject({ code: 1, stdout: "" });
  expect(other.stderr).toContain(`--at: ${outside} is not in the repository `);
});

test("it can be asked about the root of the repository, and after the folder of the files is gone", async () => {
  await put({ "access/shop.yaml": file("A") });
  commit(START);
  const ask = (...paths: readonly string[]) =>
    rolecall(["who", "is", "*", ...paths, "--at", "2026-03-01", "--format", "json"], {
      cwd,
      now: () => LATER,
    });
  const found = { since: { time: new Date(START).toISOString() }, grantedAt: [{ file: "access/shop.yaml" }] };
  expect(JSON.parse((await ask(".")).stdout).answers).toMatchObject([found]);
  await rm(join(cwd, "access"), { recursive: true });
  expect(JSON.parse((await ask()).stdout).answers).toMatchObject([found]);
});

test("before the first commit there is no history", async () => {
  await put({ "access/a.yaml": file("A") });
  const { code, stderr } = await rolecall(["who", "can", "a_b", "--at", "2026-03-01"], { cwd });
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr:
      "error: --at: the current branch has no commits yet.\n  → Commit the files first, or omit --at.\n",
  });
});

test("why with a past day says what was then, not what is now", async () => {
  const away = "suspended: { until: 2026-03-20 }";
  await put({
    "access/mca.yaml": `version: 1\nmerchant: MCA\nroles:\n  - { name: A, permissions: [a_b] }\nmembers:\n  - { email: away@example.com, roles: [A], ${away} }\n`,
  });
  git(START, "init", "--quiet");
  commit(START);
  const { stdout } = await rolecall(["why", "away@example.com", "can", "a_b", "--at", "2026-03-02"], {
    cwd,
    now: () => LATER,
  });
  expect(stdout).toContain("away@example.com cannot a_b at MCA then:");
  expect(stdout).not.toMatch(/\bnow\b/);
});
