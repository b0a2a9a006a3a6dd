import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFile,
  type FileHandle,
  mkdir,
  mkdtemp,
  open as openFile,
  readdir,
  rm,
  writeFile,
} from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { fileJournals, type JournalOptions } from "../../../src/app/journal/write-journal.ts";
import type { Plan } from "../../../src/model/plan.ts";
import { testIo } from "../../support/io.ts";
import { journalText, runStarted } from "../../support/past-run.ts";
import { richPlan } from "../../support/rich-plan.ts";

let cwd: string;
let other: ChildProcess;

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), "rolecall-lock-"));
  await mkdir(join(cwd, ".rolecall", "runs"), { recursive: true });
  other = spawn(process.execPath, ["-e", "setInterval(() => undefined, 1e6)"], { stdio: "ignore" });
  await once(other, "spawn");
});

afterEach(async () => {
  await kill();
  await rm(cwd, { recursive: true });
});

async function kill(): Promise<void> {
  if (other.exitCode !== null || other.signalCode !== null) return;
  other.kill("SIGKILL");
  await once(other, "exit");
}

const RUN = "2026-01-01T00-00-00-000Z";
const path = (name = `${RUN}-MC1`): string => join(cwd, ".rolecall", "runs", `${name}.jsonl`);

/** Writes the journal of an apply that the other process has begun. */
async function begin(rest: Parameters<typeof runStarted>[0] = {}, name?: string): Promise<void> {
  const plan = richPlan();
  const at = new Date().toISOString();
  const started = runStarted({
    run: RUN,
    merchant: plan.merchant,
    service: plan.service,
    host: hostname(),
    ...(other.pid !== undefined && { pid: other.pid }),
    ...rest,
  });
  await writeFile(path(name), `${JSON.stringify({ at, ...started })}\n`);
}

function open(
  plan: Plan = richPlan(),
  sleep: () => Promise<void> = async () => undefined,
  create?: JournalOptions["create"],
) {
  const { io } = testIo({ cwd, now: Date.now, sleep });
  return fileJournals(io, { undoes: null, ...(create && { create }) })(plan);
}

const journals = (): Promise<readonly string[]> => readdir(join(cwd, ".rolecall", "runs"));

test("a second apply of a merchant is refused, names the first, and leaves nothing behind", async () => {
  await begin();
  await expect(open()).rejects.toMatchObject({
    code: "apply-running",
    message: expect.stringMatching(
      `^Another apply of MC1 is running: process ${other.pid} of ada on ${hostname()}, for \\d+ seconds?\\.$`,
    ),
    hint: expect.stringContaining("run this command again"),
  });
  expect(await journals()).toEqual([`${RUN}-MC1.jsonl`]);
});

test("an apply that was killed is in nobody's way", async () => {
  await begin();
  await kill();
  const journal = await open();
  await journal.close();
  expect(await journals()).toHaveLength(2);
});

test("an apply that has ended is in nobody's way, though its process goes on", async () => {
  await begin();
  const outcomes = { done: 1, failed: 0, unknown: 0, stale: 0, unfinished: 0, "not-started": 0 };
  await appendFile(path(), journalText([{ type: "end", status: "done", cause: null, outcomes }]));
  await (await open()).close();
});

test("neither is one of another merchant, of another service, or of another machine", async () => {
  await begin({ merchant: "MC1-2" }, `${RUN}-MC1-2`);
  await begin({ service: "https://other.example" }, `${RUN}-MC1-3`);
  await begin({ host: "elsewhere" }, `${RUN}-MC1`);
  await (await open()).close();
});

test("an apply that was killed later does not hide one that is running", async () => {
  await begin();
  await begin({ run: "2026-01-02T00-00-00-000Z", pid: 2 ** 22 + 1 }, "2026-01-02T00-00-00-000Z-MC1");
  await expect(open()).rejects.toMatchObject({ code: "apply-running" });
});

test("of two that begin together the first goes on, as soon as the other has given up", async () => {
  const later = "2099-01-01T00-00-00-000Z";
  const beginMeanwhile = async (file: string): Promise<FileHandle> => {
    await begin({ run: later }, `${later}-MC1`);
    return openFile(file, "ax");
  };
  let looked = 0;
  const giveUp = async (): Promise<void> => {
    looked += 1;
    if (looked === 3) await rm(path(`${later}-MC1`));
  };
  const journal = await open(richPlan(), giveUp, beginMeanwhile);
  await journal.close();
  expect(looked).toBe(3);
  await expect(open(richPlan(), undefined, beginMeanwhile)).rejects.toMatchObject({ code: "apply-running" });
});
