import { mkdtemp, open, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createCancellation } from "../../../src/app/apply/cancellation.ts";
import { applyReporter } from "../../../src/app/apply/reporter.ts";
import { runApply } from "../../../src/app/apply/run-apply.ts";
import { applyExitCode } from "../../../src/app/io/io.ts";
import { type Appendable, fileJournals } from "../../../src/app/journal/write-journal.ts";
import { parseJournal } from "../../../src/runs/journal-file.ts";
import { desired, live, member, planOf } from "../../support/build.ts";
import { testIo } from "../../support/io.ts";
import { modelService } from "../../support/model-service.ts";

const CODES = ["MC1", "MC2", "MC3"];
const ADDRESSES = ["ada", "bob", "cleo", "dan"].map((name) => `${name}@example.com`);

let cwd: string;

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), "rolecall-fails-"));
});

afterEach(async () => {
  await rm(cwd, { recursive: true });
});

interface Fault {
  readonly code: string;
  readonly at: "append" | "sync";
  /** Counts the calls of all journals. */
  readonly from: number;
  readonly thrown: boolean;
}

/** Files of which one call fails, and every one after it. */
function failing({ code, at, from, thrown }: Fault): (path: string) => Promise<Appendable> {
  let calls = 0;
  const fail = (here: Fault["at"]): Promise<void> | null => {
    if (here !== at) return null;
    calls += 1;
    if (calls < from) return null;
    const error = Object.assign(new Error(`${code}: it failed, write`), { code });
    if (thrown) throw error;
    return Promise.reject(error);
  };
  return async (path) => {
    const file = await open(path, "ax");
    return {
      writeFile: (text) => fail("append") ?? file.writeFile(text),
      sync: () => fail("sync") ?? file.sync(),
      close: async () => {
        await file.close();
        throw Object.assign(new Error("EIO: it failed, close"), { code: "EIO" });
      },
    };
  };
}

function merchant(code: string) {
  const state = desired({ merchant: code, members: ADDRESSES.map((email) => member(email)) });
  const service = modelService({ ...live(), merchant: code });
  const plan = () => planOf(state, service.state());
  const session = {
    state,
    environment: null,
    writer: service.writer,
    lookup: service.lookup,
    keySource: "ROLECALL_API_KEY",
    findDenied: async () => [],
    checkAccount: async () => undefined,
    plan: async () => ({
      desired: state,
      live: service.state(),
      plan: plan(),
      planAt: () => plan(),
      judgeAt: () => () => plan(),
      planWithout: () => plan(),
    }),
  };
  return { due: { session, plan: plan() }, calls: service.calls };
}

async function applyWith(fault: Fault) {
  const { io, written } = testIo({ cwd, now: () => 0 });
  const origin = { user: null, host: "till", pid: 1, commit: null, job: null };
  const openJournal = fileJournals(io, { undoes: null, origin, create: failing(fault) });
  const merchants = CODES.map(merchant);
  const reporter = applyReporter({ format: "text", color: false }, () => null, io);
  const cancellation = createCancellation(reporter.say, io);
  const options = {
    password: () => "",
    concurrency: 2,
    recheck: true,
    cancellation,
    openJournal,
    sleep: io.sleep,
  };
  const outcomes = await runApply(
    merchants.map(({ due }) => due),
    options,
    reporter,
  );
  const code = applyExitCode(outcomes);
  reporter.ended({ outcomes, leftOut: 0 }, code);
  return { code, ...written, calls: merchants.flatMap(({ calls }) => calls) };
}

const FAULTS = ["ENOSPC", "EDQUOT", "EIO"].flatMap((code) =>
  (["append", "sync"] as const).flatMap((at) =>
    [true, false].flatMap((thrown) => [5, 8, 11].map((from) => ({ code, at, thrown, from }))),
  ),
);

test.each(FAULTS)(
  "a journal that cannot be written any more ends the apply with 4, and each write is recorded or told: %o",
  async (fault) => {
    const { code, stderr, calls } = await applyWith(fault);
    expect(calls.length).toBeLessThan(CODES.length * ADDRESSES.length);
    expect(code).toBe(calls.length === 0 ? 1 : 4);
    expect(stderr).toContain("The journal of this run cannot be written");
    expect(stderr).not.toMatch(/done, \d+ failed/);
    const recorded: string[] = [];
    const folder = join(cwd, ".rolecall", "runs");
    for (const file of await readdir(folder)) {
      const read = parseJournal(await readFile(join(folder, file), "utf8"));
      if (!read.ok) throw new Error(read.reason);
      for (const { intent, outcome } of read.run.writes) {
        if (outcome?.status === "done") recorded.push(`create member ${intent.name}`);
      }
    }
    const told = [...stderr.matchAll(/^ {4}(create member \S+)(?: at \S+)?: done$/gm)].map(
      ([, what]) => what,
    );
    // What was appended and could not be synced may stand in the journal all the same.
    const known =
      fault.at === "append" ? [...recorded, ...told] : told.concat(recorded).slice(0, calls.length);
    expect(known.length).toBe(calls.length);
    if (told.length > 0) expect(stderr).toContain("\nnot recorded (the outcome is not in the journal):\n");
  },
);
