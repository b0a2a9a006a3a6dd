import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningSandbox, rolecall, startSandbox } from "../support/rolecall.ts";

let cwd = "";

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "rolecall-options-"));
  await mkdir(join(cwd, "access"));
  await writeFile(join(cwd, "access/shop.yaml"), "version: 1\nmerchant: MC1\n");
});

afterAll(() => rm(cwd, { recursive: true }));

test.each([
  [["plan", "--outt", "x"], "(Did you mean --out?)"],
  [["plan", "--detailed"], "(Did you mean --detailed-exitcode?)"],
  [["apply", "--dry-run"], '(Run "rolecall plan", which shows what apply would change)'],
  [["plan", "--json"], "(Did you mean --format json?)"],
  [
    ["plan", "--yes"],
    "(It is an option of apply, pull, grant, revoke, offboard, runs, undo, lint, demo, init)",
  ],
  [["--merchant", "MC1", "plan"], "(Put it after the command: rolecall validate --merchant)"],
])("an unknown option gets a suggestion: %j", async (args, suggestion) => {
  const { code, stderr } = await rolecall(args, { cwd });
  expect(stderr).toContain(suggestion);
  expect(code).toBe(1);
});

test.each([
  [
    ["runs", "latest", "all"],
    `(It accepts a run's id, a unique prefix of it, or "latest"; or "verify" or "prune")`,
  ],
  [["completion"], "(It accepts bash, zsh or fish)"],
  [
    ["who", "can"],
    "(It accepts can, has or is; then a permission, a role's name or id, or an address; or a glob of these; then files or folders (default: access/))",
  ],
  [["schema", "plan", "merchant"], "(It accepts merchant, project or plan)"],
  [["sandbox", "seed.yaml"], "(It accepts options, but no arguments)"],
])("a command names the arguments that it accepts if it gets another one: %j", async (args, accepted) => {
  const { code, stderr } = await rolecall(args, { cwd });
  expect(stderr).toContain(`\n${accepted}\n`);
  expect(code).toBe(1);
});

test.each([
  [["list", "--jobs", "3"], "warning: --jobs has no effect without --format json.\n"],
  [
    ["report", "--declared", "--concurrency", "3"],
    "warning: --concurrency has no effect with --declared, which asks no service.\n",
  ],
  [
    ["report", "--declared", "-v"],
    "warning: --verbose has no effect with --declared, which asks no service.\n",
  ],
  [["list", "--shard", "1/1"], ""],
])("an option without effect says so: %j", async (args, warning) => {
  const { code, stderr } = await rolecall(args, { cwd });
  expect(stderr).toBe(warning);
  expect(code).toBe(0);
});

test("an empty shard says so", async () => {
  const told = await Promise.all(
    ["1/2", "2/2"].map(async (shard) => (await rolecall(["list", "--shard", shard], { cwd })).stderr),
  );
  expect(told.filter((text) => text !== "")).toHaveLength(1);
  expect(told.join("")).toMatch(
    /^warning: no merchant is in shard [12]\/2; the other shards have all of them\.\n$/,
  );
});

test("options of the sandbox without effect say so", async () => {
  const unused = ["--retry-after", "date", "--rate-limit-burst", "3", "--fault-seed", "7"];
  const sandbox = await startSandbox(unused);
  const { stderr } = await sandbox.stop();
  expect(stderr.split("\n").filter((line) => line.startsWith("warning"))).toEqual([
    "warning: --retry-after has no effect as long as there is no rate limit.",
    "warning: --rate-limit-burst has no effect without --rate-limit-kind bucket.",
    "warning: --fault-seed has no effect as long as there are no faults.",
  ]);
});

describe("every command", () => {
  let sandbox: RunningSandbox;
  let below = "";
  const run = (...args: readonly string[]) => rolecall(args, { cwd: below, env: sandbox.env });

  beforeAll(async () => {
    const project = join(cwd, "project");
    below = join(project, "docs", "notes");
    await mkdir(below, { recursive: true });
    execFileSync("git", ["init", "--quiet"], { cwd: project });
    await mkdir(join(project, "access"));
    await writeFile(
      join(project, "access/shop.yaml"),
      "version: 1\n\nmerchant: MC0DEMO1\n\nsync:\n  members: additive\n\nroles:\n  - name: Cashier\n    permissions: [catalog_view]\n",
    );
    sandbox = await startSandbox();
  });

  afterAll(() => sandbox.stop());

  test.each([
    [["validate"], "1 file valid."],
    [["list"], "access/shop.yaml"],
    [["fmt", "--check"], "1 already formatted"],
    [["report", "--declared"], "MC0DEMO1"],
    [["report"], "MC0DEMO1"],
    [["plan"], "Cashier"],
    [["drift", "--format", "json"], "Cashier"],
    [["apply", "--yes"], "1 change done"],
    [["runs"], "MC0DEMO1"],
    [["undo", "latest", "--dry-run"], "Cashier"],
  ])("finds the project's access/ from a folder below it: %j", async (args, shown) => {
    const { stdout, stderr } = await run(...args);
    expect(stderr).not.toContain("error");
    expect(stdout).toContain(shown);
  });
});
