import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { gitCommit } from "../../../src/app/project/git-commit.ts";

let cwd = "";

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), "rolecall-git-"));
});

afterEach(async () => {
  await rm(cwd, { recursive: true });
});

const git = (...args: readonly string[]): string =>
  execFileSync("git", ["-c", "user.name=T", "-c", "user.email=t@example.com", ...args], {
    cwd,
    encoding: "utf8",
  });

test("is unknown outside a repository and before its first commit", async () => {
  expect(await gitCommit(cwd)).toBeNull();
  git("init", "--quiet");
  expect(await gitCommit(cwd)).toBeNull();
});

test("is clean until a file changes, or YAML is added that an apply may read", async () => {
  git("init", "--quiet");
  await writeFile(join(cwd, "shop.yaml"), "a\n");
  git("add", ".");
  git("commit", "--quiet", "-m", "first");
  git("checkout", "--quiet", "--detach");
  const id = git("rev-parse", "HEAD").trim();
  expect(await gitCommit(cwd)).toEqual({ id, clean: true });
  await writeFile(join(cwd, "plan.json"), "{}");
  await mkdir(join(cwd, "# branch.oid"));
  await writeFile(join(cwd, "# branch.oid", "plan.md"), "");
  expect(await gitCommit(cwd)).toEqual({ id, clean: true });
  for (const name of ["new.yaml", 'a "new" 店.YML']) {
    await writeFile(join(cwd, "# branch.oid", name), "");
    expect(await gitCommit(cwd)).toEqual({ id, clean: false });
    await rm(join(cwd, "# branch.oid", name));
  }
  expect(await gitCommit(cwd)).toEqual({ id, clean: true });
  await writeFile(join(cwd, "shop.yaml"), "b\n");
  expect(await gitCommit(cwd)).toEqual({ id, clean: false });
});
