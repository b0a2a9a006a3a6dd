import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { listRuns, runsListedOnce } from "../../../src/cli/journal/read-journals.ts";

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

test("the journals of a merchant are found by their names, the newest first, in a folder that is listed once", async () => {
  const cwd = await mkdtemp(join(tmpdir(), "rolecall-runs-"));
  const [first, later] = ["2026-11-21T10-00-00-000Z", "2026-11-22T10-00-00-000Z"];
  try {
    const runs = join(cwd, ".rolecall", "runs");
    await mkdir(runs, { recursive: true });
    const names = [
      `${first}-MC1`,
      `${later}-MC1`,
      `${later}-MC1-2`,
      `${later}-MC1-A`,
      `${later}-MC10`,
      "odd",
    ];
    for (const name of names) await writeFile(join(runs, `${name}.jsonl`), "");
    const runsOf = runsListedOnce(cwd);
    const namesOf = async (merchant: string) => (await runsOf(merchant)).map(({ name }) => name);
    expect(await namesOf("MC1")).toEqual([`${later}-MC1-2`, `${later}-MC1`, `${first}-MC1`]);
    await rm(runs, { recursive: true });
    expect(await namesOf("MC1-2")).toEqual([`${later}-MC1-2`]);
    expect(await namesOf("MC1-A")).toEqual([`${later}-MC1-A`]);
    expect(await namesOf("MC2")).toEqual([]);
    expect(await runsListedOnce(cwd)("MC1")).toEqual([]);
  } finally {
    await rm(cwd, { recursive: true });
  }
});
