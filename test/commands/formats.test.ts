import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { withoutTimes } from "../support/reviews.ts";
import { type RunningSandbox, rolecall, startSandbox } from "../support/rolecall.ts";

const ACCESS = "examples/retail/access";
const STATION_ROAD = "examples/retail/access/station-road.yaml";

let sandbox: RunningSandbox;
let folder = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "rolecall-formats-"));
  sandbox = await startSandbox(["--seed", "examples/retail/live.yaml"]);
});

afterAll(async () => {
  await sandbox.stop();
  await rm(folder, { recursive: true });
});

const run = (...args: readonly string[]) => rolecall(args, { env: sandbox.env });

describe("plan --format markdown", () => {
  test("is a review of at most the given size", async () => {
    const { stdout, code } = await run("plan", ACCESS, "--format", "markdown");
    expect(stdout).toMatch(
      /^## ⚠️ rolecall plan: changes with risks\n\n2 merchants: 4 to create, 7 to update/,
    );
    expect(code).toBe(0);
    const short = await run("plan", ACCESS, "--format", "markdown", "--max-size", "2000");
    expect(short.stdout.length).toBeLessThanOrEqual(2000);
    expect(short.stdout).toContain("3 members and 1 role are removed");
    expect(short.stdout).toContain("Left out to keep this short");
  });

  test("says which merchant could not be read, and that a plan is not the whole one", async () => {
    const env = { ...sandbox.env, ROLECALL_API_KEY: "sk_test_nobody" };
    const { stdout, code } = await rolecall(["plan", ACCESS, "--format", "markdown"], { env });
    expect(stdout).toMatch(/^## ❌ rolecall plan: 2 problems to fix first\n/);
    expect(stdout).toContain("| <code>MC4F7K2P</code> | **could not be read** |");
    expect(stdout).not.toContain("sk_test_nobody");
    expect(code).toBe(1);
  });

  test("takes no size that is too small for the risks", async () => {
    const { stderr, code } = await run("plan", ACCESS, "--max-size", "10");
    expect(stderr).toContain("It must be a whole number from 1500");
    expect(code).toBe(1);
  });
});

test("drift --format markdown groups differences by the side that changed", async () => {
  const { stdout, code } = await run("drift", STATION_ROAD, "--format", "markdown");
  expect(stdout).toMatch(
    /^## ⚠️ rolecall drift: 4 differences \(1 added outside git, 1 declared, not live, 2 not applied\)\n/,
  );
  expect(stdout).toMatch(/^# (Merged, but not applied|Changed outside git|Different; which side)/m);
  expect(code).toBe(2);
});

test("--output writes any format into a file, for its owner only, and says so", async () => {
  const file = join(folder, "plan.md");
  const { stdout, stderr, code } = await run("plan", STATION_ROAD, "--format", "markdown", "--output", file);
  expect(stdout).toBe("");
  expect(stderr).toBe(`Written to ${file}.\n`);
  expect(await readFile(file, "utf8")).toMatch(/^## /);
  expect((await stat(file)).mode & 0o077).toBe(0);
  expect(code).toBe(0);
  const failed = await run("plan", STATION_ROAD, "--output", folder);
  expect(failed.stderr).toContain(`${folder} cannot be written: it is a folder.`);
  expect(failed.code).toBe(1);
});

describe("a page", () => {
  const dataOf = (html: string) => JSON.parse(/id="data">(.*?)<\/script>/s.exec(html)?.[1] ?? "");

  test("of what is live has its script, and the ends that the files set", async () => {
    const { stdout, stderr, code } = await run("report", ACCESS);
    expect(stderr).toBe("");
    expect(code).toBe(0);
    expect(stdout).toMatch(/<script>.{5000,}<\/script>/s);
    const { merchants } = dataOf(stdout);
    expect(merchants.map((one: { code: string }) => one.code)).toEqual(["MC4F7K2P", "MC9Q3T8X"]);
    expect(JSON.stringify(merchants)).toContain('"ends":[{');
    expect(merchants[0].plan).toBeNull();
  });

  test("of what the files say needs neither service nor key", async () => {
    const { stdout, code } = await rolecall(["report", "--declared", STATION_ROAD]);
    expect(stdout).toContain("Declared in the files; not compared with the live state");
    expect(dataOf(stdout).merchants[0].members[0].after.status).toBe("declared");
    expect(code).toBe(0);
  });

  test("of a plan has before and after", async () => {
    const file = join(folder, "plan.html");
    const { code } = await run("plan", STATION_ROAD, "--format", "html", "-o", file);
    const [merchant] = dataOf(await readFile(file, "utf8")).merchants;
    expect(merchant.plan.summary).toBe("1 to create, 2 to update, 1 to delete; 16 unchanged, 1 not managed");
    expect(merchant.members.some((one: { before?: null }) => one.before === null)).toBe(true);
    expect(code).toBe(0);
  });

  test("says which merchant could not be read", async () => {
    const env = { ...sandbox.env, ROLECALL_API_KEY: "sk_test_nobody" };
    const { stdout, stderr, code } = await rolecall(["report", STATION_ROAD], { env });
    expect(stdout).toContain("MC9Q3T8X could not be read");
    expect(stderr).toContain("MC9Q3T8X could not be planned.");
    expect(code).toBe(1);
  });
});

describe("--quiet", () => {
  test("leaves of a plan and of a drift the sums", async () => {
    const plan = await run("plan", "-q", STATION_ROAD);
    expect(plan.stdout.split("\n").slice(1)).toEqual([
      "  Plan: 1 to create, 2 to update, 1 to delete; 16 unchanged, 1 not managed.",
      "",
    ]);
    const drift = await run("drift", "-q", STATION_ROAD);
    expect(drift.stdout.split("\n")).toHaveLength(4);

    expect(drift.stdout).toContain("Drift: 4 differences");
  });

  test("leaves of an apply the sums and what was found in the end", async () => {
    const own = await startSandbox(["--seed", "examples/retail/live.yaml"]);
    const { stdout, code } = await rolecall(["apply", "-q", "--yes", STATION_ROAD], { env: own.env });
    await own.stop();
    expect(stdout).toContain("4 changes done.");
    expect(stdout).toContain("no changes remain");
    expect(stdout).not.toContain("yuki.tanaka");
    expect(code).toBe(0);
  });
});

describe("--output and --out", () => {
  test("- is stdout; a saved plan stands there alone, and what it changes is shown on stderr", async () => {
    const page = await run("report", STATION_ROAD, "--output", "-");
    expect(page.stdout).toMatch(/^<!doctype html>/i);
    const { stdout, stderr } = await run("plan", STATION_ROAD, "--out", "-");
    expect(JSON.parse(stdout).plans).toHaveLength(1);
    expect(stderr).toContain("Plan: ");
    const again = await run("plan", STATION_ROAD, "--out", "/dev/stdout");
    expect(withoutTimes(again.stdout)).toBe(withoutTimes(stdout));
  });

  test("an input is refused, and so is a place where no file can be", async () => {
    for (const command of ["plan", "drift", "report"]) {
      const { stderr, code } = await run(command, ACCESS, "-o", "examples/retail/shared/group.yaml");
      expect(stderr).toContain("examples/retail/shared/group.yaml is read by this command");
      expect(code).toBe(1);
    }
    const { stdout, stderr } = await run("plan", STATION_ROAD, "--out", join(folder, "none/plan.json"));
    expect(stdout).toBe("");
    expect(stderr).toContain("none/plan.json cannot be written: its folder does not exist.");
  });
});

test("plan and drift --format junit are test reports with a suite for each merchant", async () => {
  const plan = await run("plan", ACCESS, "--format", "junit");
  expect(plan.stdout).toMatch(
    /^<\?xml version="1.0" encoding="UTF-8"\?>\n<testsuites name="rolecall plan" tests="2" failures="0"/,
  );
  expect(plan.stdout).toContain('<testcase classname="MC4F7K2P" name="planned" time="0"/>');
  expect(plan.code).toBe(0);
  const drift = await run("drift", STATION_ROAD, "--format", "junit");
  expect(drift.stdout.match(/<failure type="drift"/g)).toHaveLength(4);
  expect(drift.code).toBe(2);
  const refused = await rolecall(["plan", ACCESS, "--format", "junit"], {
    env: { ...sandbox.env, ROLECALL_API_KEY: "sk_test_nobody" },
  });
  expect(refused.stdout.match(/<error /g)).toHaveLength(2);
  expect(refused.stdout).not.toContain("sk_test_nobody");
  expect(refused.code).toBe(1);
});
