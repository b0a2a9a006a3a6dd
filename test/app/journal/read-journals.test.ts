import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test, vi } from "vitest";
import { journalFiles, listRuns, readRun } from "../../../src/app/journal/read-journals.ts";

test("runs are regular files: a FIFO or a folder of that name is skipped", async () => {
  const cwd = await mkdtemp(join(tmpdir(), "rolecall-runs-"));
  try {
    const runs = join(cwd, ".rolecall", "runs");
    await mkdir(join(runs, "folder.jsonl"), { recursive: true });
    execFileSync("mkfifo", [join(runs, "fifo.jsonl")]);
    await writeFile(join(runs, "real.jsonl"), "");
    expect((await listRuns(cwd)).map(({ name }) => name)).toEqual(["real"]);
  } finally {
    await rm(cwd, { recursive: true });
  }
});

/** Calls back with the folder of a project in git, and the path of a journal in it. */
async function withJournal(use: (cwd: string, path: string) => Promise<void>): Promise<void> {
  const cwd = await mkdtemp(join(tmpdir(), "rolecall-runs-"));
  try {
    const path = join(cwd, ".rolecall", "runs", "2026-11-21T10-00-00-000Z-MC1.jsonl");
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, "");
    execFileSync("git", ["init", "--quiet"], { cwd });
    await use(cwd, path);
  } finally {
    await rm(cwd, { recursive: true });
  }
}

test("a journal that git tracks is not read", async () => {
  await withJournal(async (cwd, path) => {
    const io = { cwd, now: () => 0 };
    const [untracked] = await listRuns(cwd);
    if (!untracked) throw new Error("no journal");
    expect(await readRun(untracked, io)).not.toHaveProperty("distrusted");
    execFileSync("git", ["add", "--force", path], { cwd });
    const [tracked] = await listRuns(cwd);
    if (!tracked) throw new Error("no journal");
    expect(await readRun(tracked, io)).toMatchObject({
      distrusted: true,
      unreadable: expect.stringContaining("2026-11-21T10-00-00-000Z-MC1.jsonl: git tracks it"),
    });
  });
});

test.each(["GIT_DIR", "GIT_INDEX_FILE"])(
  "a journal that git tracks is not read where %s is set",
  async (name) => {
    await withJournal(async (cwd, path) => {
      execFileSync("git", ["add", "--force", path], { cwd });
      execFileSync("git", ["init", "--quiet", join(cwd, "other")]);
      vi.stubEnv(name, join(cwd, name === "GIT_DIR" ? "other/.git" : "other/index"));
      try {
        expect(await listRuns(cwd)).toMatchObject([{ tracked: "yes" }]);
      } finally {
        vi.unstubAllEnvs();
      }
    });
  },
);

test("a journal in a repository that git cannot read is not read", async () => {
  await withJournal(async (cwd) => {
    await writeFile(join(cwd, ".git/config"), "[core\n");
    const [journal] = await listRuns(cwd);
    if (!journal) throw new Error("no journal");
    expect(await readRun(journal, { cwd, now: () => 0 })).toMatchObject({
      distrusted: true,
      unreadable: expect.stringContaining("git cannot tell whether it tracks the file"),
    });
    await rm(join(cwd, ".git"), { recursive: true });
    const [alone] = await listRuns(cwd);
    if (!alone) throw new Error("no journal");
    expect(await readRun(alone, { cwd, now: () => 0 })).not.toHaveProperty("distrusted");
  });
});

test("a journal of another user is not read", async () => {
  await withJournal(async (cwd) => {
    const [journal] = await listRuns(cwd);
    if (!journal) throw new Error("no journal");
    const found = await readRun(journal, { cwd, now: () => 0 }, 1 + (process.getuid?.() ?? 0));
    expect(found).toMatchObject({
      distrusted: true,
      unreadable: expect.stringContaining("it belongs to another user"),
    });
  });
});

test("journals behind a link are not listed", async () => {
  await withJournal(async (cwd, path) => {
    await rename(join(cwd, ".rolecall"), join(cwd, "elsewhere"));
    await symlink("elsewhere", join(cwd, ".rolecall"));
    await expect(listRuns(cwd)).rejects.toThrow(".rolecall/runs cannot be read");
    expect(await journalFiles(cwd)).toEqual([]);
    await rm(join(cwd, ".rolecall"));
    await mkdir(join(cwd, ".rolecall"));
    await symlink(join(cwd, "elsewhere", "runs"), dirname(path));
    await expect(listRuns(cwd)).rejects.toThrow(".rolecall/runs cannot be read");
  });
});
