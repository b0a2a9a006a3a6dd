import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { rolecall } from "../support/rolecall.ts";

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
  [["plan", "--json"], "(Did you mean --format json?)"],
  [["plan", "--yes"], "(It is an option of apply, undo)"],
  [["--merchant", "MC1", "plan"], "(Put it after the command, as in rolecall validate --merchant)"],
])("an unknown option gets a suggestion: %j", async (args, suggestion) => {
  const { code, stderr } = await rolecall(args, { cwd });
  expect(stderr).toContain(suggestion);
  expect(code).toBe(1);
});

test.each([
  [["list", "--jobs", "3"], "warning: --jobs has no effect without --format json.\n"],
  [
    ["report", "--declared", "--concurrency", "3"],
    "warning: --concurrency has no effect with --declared, which asks no service.\n",
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
