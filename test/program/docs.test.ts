import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "../..");

test.each(["docs.mjs", "picture.mjs"])("what scripts/%s makes is up to date", (script) => {
  const { status, stderr } = spawnSync(process.execPath, [`scripts/${script}`, "--check"], {
    cwd: ROOT,
    encoding: "utf8",
  });
  expect(stderr).toBe("");
  expect(status).toBe(0);
});
