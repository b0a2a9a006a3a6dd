import { execFileSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { gitTimes } from "../../../src/cli/files/git-history.ts";

const NOW = Date.parse("2026-06-01T00:00:00Z");
let cwd = "";

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), "rolecall-git-"));
});

afterEach(async () => {
  await rm(cwd, { recursive: true });
});

async function commit(text: string, date: string): Promise<void> {
  await writeFile(join(cwd, "shop.yaml"), text);
  const env = { PATH: process.env["PATH"], GIT_COMMITTER_DATE: date, GIT_AUTHOR_DATE: date, HOME: cwd };
  const git = (...args: readonly string[]) => execFileSync("git", args, { cwd, env, stdio: "ignore" });
  git("init", "--quiet");
  git("add", "shop.yaml");
  git("-c", "user.name=T", "-c", "user.email=t@example.com", "commit", "--quiet", "-m", "change");
}

test("each line has the time of the commit that last touched it", async () => {
  await commit("a\nb\nc\n", "2026-01-01T00:00:00Z");
  await commit("a\nB\nc\n", "2026-02-01T00:00:00Z");
  const times = await gitTimes("shop.yaml", cwd, NOW);
  expect(times.lines(1, 1)).toBe(Date.parse("2026-01-01T00:00:00Z"));
  expect(times.lines(1, 3)).toBe(Date.parse("2026-02-01T00:00:00Z"));
  expect(times.file).toBe(Date.parse("2026-02-01T00:00:00Z"));
});

test("a line that is not committed yet has the current time", async () => {
  await commit("a\nb\n", "2026-01-01T00:00:00Z");
  await writeFile(join(cwd, "shop.yaml"), "a\nB\n");
  const times = await gitTimes("shop.yaml", cwd, NOW);
  expect(times.lines(2, 2)).toBe(NOW);
  expect(times.file).toBe(NOW);
});

test("there are no times outside a repository, or for an untracked file", async () => {
  await writeFile(join(cwd, "shop.yaml"), "a\n");
  expect((await gitTimes("shop.yaml", cwd, NOW)).lines(1, 1)).toBeNull();
  await commit("a\n", "2026-01-01T00:00:00Z");
  await writeFile(join(cwd, "new.yaml"), "a\n");
  const times = await gitTimes("new.yaml", cwd, NOW);
  expect([times.file, times.lines(1, 1)]).toEqual([null, null]);
});
