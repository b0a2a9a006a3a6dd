import { execFileSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { deepen, gitTimes, isShallow } from "../../../src/app/project/git-history.ts";

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
  git(date, "init", "--quiet", "--initial-branch=main");
  git(date, "add", "shop.yaml");
  git(date, "commit", "--quiet", "-m", "change");
}

function git(date: string, ...args: readonly string[]): void {
  const env = { PATH: process.env["PATH"], GIT_COMMITTER_DATE: date, GIT_AUTHOR_DATE: date, HOME: cwd };
  const who = ["-c", "user.name=T", "-c", "user.email=t@example.com"];
  execFileSync("git", [...who, ...args], { cwd, env, stdio: "ignore" });
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

test("what a merge brought in is as new as the merge", async () => {
  await commit("a\nb\n", "2026-01-01T00:00:00Z");
  git("2026-01-01T00:00:00Z", "switch", "--quiet", "-c", "change");
  await commit("a\nB\n", "2026-02-01T00:00:00Z");
  git("2026-03-01T00:00:00Z", "switch", "--quiet", "main");
  git("2026-03-01T00:00:00Z", "merge", "--quiet", "--no-ff", "change");
  const times = await gitTimes("shop.yaml", cwd, NOW);
  expect(times.lines(1, 1)).toBe(Date.parse("2026-01-01T00:00:00Z"));
  expect(times.lines(2, 2)).toBe(Date.parse("2026-03-01T00:00:00Z"));
  expect(times.file).toBe(Date.parse("2026-03-01T00:00:00Z"));
});

test("in a shallow clone, what is older than its first commit is unknown", async () => {
  await commit("a\nb\nc\n", "2026-01-01T00:00:00Z");
  await commit("a\nB\nc\n", "2026-02-01T00:00:00Z");
  await commit("a\nB\nC\n", "2026-03-01T00:00:00Z");
  const shallow = async (depth: number, name: string) => {
    git("2026-03-01T00:00:00Z", "clone", "--quiet", `--depth=${depth}`, `file://${cwd}`, name);
    return gitTimes("shop.yaml", join(cwd, name), NOW);
  };
  const two = await shallow(2, "two");
  expect([two.lines(1, 1), two.lines(2, 2)]).toEqual([null, null]);
  expect(two.lines(1, 3)).toBe(Date.parse("2026-03-01T00:00:00Z"));
  expect(two.file).toBe(Date.parse("2026-03-01T00:00:00Z"));
  const one = await shallow(1, "one");
  expect([one.lines(1, 3), one.file]).toEqual([null, null]);
  expect(await isShallow(join(cwd, "one"))).toBe(true);
  expect(await isShallow(cwd)).toBe(false);
});

test("a shallow clone is deepened, unless its origin is gone", async () => {
  await commit("a\n", "2026-01-01T00:00:00Z");
  await commit("b\n", "2026-02-01T00:00:00Z");
  const clone = join(cwd, "clone");
  git("2026-03-01T00:00:00Z", "clone", "--quiet", "--depth=1", `file://${cwd}`, clone);
  const env = { PATH: process.env["PATH"], HOME: cwd };
  const server = { serverUrl: "https://github.example", token: "" };
  git("2026-03-01T00:00:00Z", "-C", clone, "remote", "set-url", "origin", "file:///nowhere");
  expect(await deepen({ cwd: clone, env }, { ...server, token: "t" })).toBe(false);
  git("2026-03-01T00:00:00Z", "-C", clone, "remote", "set-url", "origin", `file://${cwd}`);
  expect(await deepen({ cwd: clone, env }, server)).toBe(true);
  expect(await isShallow(clone)).toBe(false);
});
