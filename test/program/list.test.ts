import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { rolecall } from "../support/program.ts";

let cwd = "";

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "rolecall-list-"));
  await mkdir(join(cwd, "access"));
  for (const [code, environment] of [
    ["MC1", "live"],
    ["MC22", "test"],
    ["MC333", null],
  ]) {
    const line = environment === null ? "" : `environment: ${environment}\n`;
    await writeFile(join(cwd, "access", `${code}.yaml`), `version: 1\nmerchant: ${code}\n${line}`);
  }
});

afterAll(async () => {
  await rm(cwd, { recursive: true });
});

test("list names every merchant with its environment and file, without network and key", async () => {
  const { stdout, code } = await rolecall(["list"], { cwd });
  expect(stdout).toBe(
    [
      "MC1    live  access/MC1.yaml",
      "MC22   test  access/MC22.yaml",
      "MC333  -     access/MC333.yaml",
      "",
    ].join("\n"),
  );
  expect(code).toBe(0);
});

test("as JSON it is a matrix, of no more parts than are wanted, none of two environments", async () => {
  const { stdout } = await rolecall(["list", "--format", "json"], { cwd });
  expect(JSON.parse(stdout).include).toHaveLength(3);
  const one = await rolecall(["list", "--format", "json", "--jobs", "1"], { cwd });
  expect(JSON.parse(one.stdout).include).toHaveLength(3);
  const parts = await Promise.all(
    ["1/2", "2/2"].map((shard) => rolecall(["list", "--format", "json", "--shard", shard], { cwd })),
  );
  const merchants = parts.flatMap((part) => JSON.parse(part.stdout).include);
  expect(merchants.map((part) => part.merchants).sort()).toEqual(["MC1", "MC22", "MC333"]);
});

test("a file with an error is told, and the exit code is 1", async () => {
  await writeFile(join(cwd, "broken.yaml"), "version: 1\nmerchant: MC4\nnonsense: true\n");
  const { stdout, stderr, code } = await rolecall(["list", "access", "broken.yaml"], { cwd });
  expect(stdout.split("\n")).toHaveLength(4);
  expect(stderr).toContain('The file has no key "nonsense".');
  expect(code).toBe(1);
});
