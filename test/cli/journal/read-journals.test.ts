import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { listRuns } from "../../../src/cli/journal/read-journals.ts";

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
