import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "../..");

test("the generated pages say what this program does", () => {
  const { status, stderr } = spawnSync(process.execPath, ["scripts/docs.mjs", "--check"], {
    cwd: ROOT,
    encoding: "utf8",
  });
  expect(stderr).toBe("");
  expect(status).toBe(0);
});
