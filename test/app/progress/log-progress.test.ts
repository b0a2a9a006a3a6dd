import { expect, test } from "vitest";
import type { Io } from "../../../src/app/io/io.ts";
import { announceIfSlow, serviceLog } from "../../../src/app/progress/service-log.ts";
import { openProgress } from "../../../src/cli/progress/open-progress.ts";
import { eventually } from "../../support/eventually.ts";
import { testIo } from "../../support/io.ts";
import { waitEvent } from "../../support/wait-event.ts";

/** A world in which time passes when it is told to. */
function world() {
  const clock = { now: 0 };
  const sleepers: (() => void)[] = [];
  const { io, written } = testIo({
    monotonic: () => clock.now,
    sleep: (_, signal) =>
      new Promise((resolve, reject) => {
        signal?.addEventListener("abort", () => reject(signal.reason));
        sleepers.push(resolve);
      }),
  });
  const tenSeconds = async (lines: number): Promise<void> => {
    clock.now += 10_000;
    for (const wake of sleepers.splice(0)) wake();
    await eventually(() => expect(written.stderr.split("\n")).toHaveLength(lines + 1));
  };
  return { io, written, tenSeconds, sleepers };
}

const answer = {
  type: "response",
  method: "GET",
  path: "/v0.1/merchants/MC1/members",
  status: 200,
  ms: 5,
} as const;

test("without a terminal a long reading is reported every ten seconds, in one line", async () => {
  const { io, written, tenSeconds } = world();
  const progress = await openProgress({ color: true }, io);
  progress.reading(["MC1", "MC2", "MC3"]);
  progress.read("MC3", "no key");
  progress.live(answer);
  progress.live({ type: "read", merchant: "MC1", members: 25, total: 2000 });
  await tenSeconds(1);
  progress.live({ type: "read", merchant: "MC1", members: 2000, total: 2000 });
  progress.read("MC1", null);
  await tenSeconds(2);
  await progress.rest();
  expect(written.stderr).toBe(
    "read 0 of 3 merchants, 1 failed; 25 members in 1 request\n" +
      // Nothing got on for ten seconds: no time left can be told.
      "read 1 of 3 merchants, 1 failed; 2,000 members in 1 request\n",
  );
  expect(written.stdout).toBe("");
});

test("--progress plain prints lines on a terminal too, and the first one soon", async () => {
  for (const asked of ["option", "variable"]) {
    const { io, written, tenSeconds } = world();
    const terminal = {
      ...io,
      stderr: { ...io.stderr, isTTY: true },
      env: asked === "variable" ? { ROLECALL_PROGRESS: "plain" } : {},
    };
    const progress = openProgress(
      { color: true, ...(asked === "option" && { progress: "plain" }) },
      terminal,
    );
    expect(progress.draws).toBe(false);
    progress.reading(["MC1", "MC2"]);
    await tenSeconds(1);
    await tenSeconds(2);
    await progress.rest();
    expect(written.stderr).toBe("Reading 2 merchants.\nread 0 of 2 merchants; 0 members in 0 requests\n");
    expect(written.stdout).toBe("");
  }
});

test("--progress none prints nothing, and an unknown ROLECALL_PROGRESS is an error", async () => {
  const { io, written } = world();
  const progress = openProgress({ color: true, progress: "none" }, io);
  progress.reading(["MC1"]);
  progress.live(waitEvent(60_000, "the service asks for fewer requests (429)"));
  await progress.rest();
  expect(written.stderr).toBe("");
  const env = { ROLECALL_PROGRESS: "loud" };
  expect(() => openProgress({ color: true }, { ...io, env })).toThrow('ROLECALL_PROGRESS is "loud".');
});

test("a long run is reported less often", async () => {
  const slept: number[] = [];
  const clock = { now: 0 };
  const { io } = testIo({
    monotonic: () => clock.now,
    sleep: async (ms, signal) => {
      if (slept.length === 40) return new Promise((_, reject) => signal?.addEventListener("abort", reject));
      slept.push(ms);
      clock.now += ms;
    },
  });
  const progress = openProgress({ color: true }, io);
  progress.reading(["MC1"]);
  await eventually(() => expect(slept).toHaveLength(40));
  await progress.rest();
  expect([slept.indexOf(30_000), slept.indexOf(60_000)]).toEqual([7, 25]);
  expect(slept.slice(0, 2)).toEqual([5_000, 10_000]);
});

test("a short reading is not reported, and nothing waits for the next line", async () => {
  const { io, written, sleepers } = world();
  const progress = await openProgress({ color: true }, io);
  progress.reading(["MC1"]);
  progress.read("MC1", null);
  await progress.rest();
  for (const wake of sleepers) wake();
  await Promise.resolve();
  expect(written.stderr).toBe("");
});

test("the verification after an apply has lines of its own, however long the apply took", async () => {
  const { io, written, tenSeconds, sleepers } = world();
  const progress = await openProgress({ color: true }, io);
  progress.applying([{ merchant: "MC1", changes: [1] }]);
  const result = { status: "done", outcomes: [], writes: 0, journalFailure: null, unrecorded: [] } as const;
  const before = sleepers.length;
  progress.applied({ type: "apply-ended", merchant: "MC1", result });
  expect(sleepers).toHaveLength(before + 1);
  await tenSeconds(1);
  await progress.rest();
  expect(written.stderr).toBe("verified 0 of 1 merchant\n");
});

test("reading before an apply tells how long its verification takes", async () => {
  const { io, written, tenSeconds } = world();
  const progress = openProgress({ color: true }, io);
  progress.reading(["MC1", "MC2"]);
  await tenSeconds(1);
  await tenSeconds(2);
  for (const merchant of ["MC1", "MC2"]) progress.read(merchant, null);
  await progress.rest();
  progress.applying(["MC1", "MC2"].map((merchant) => ({ merchant, changes: [1] })));
  const result = { status: "done", outcomes: [], writes: 0, journalFailure: null, unrecorded: [] } as const;
  for (const merchant of ["MC1", "MC2"]) progress.applied({ type: "apply-ended", merchant, result });
  await tenSeconds(3);
  await progress.rest();
  expect(written.stderr.split("\n")[2]).toBe("verified 0 of 2 merchants; about 10 s left");
});

test("a long apply is reported every ten seconds", async () => {
  const { io, written, tenSeconds } = world();
  const progress = await openProgress({ color: true }, io);
  progress.applying([{ merchant: "MC1", changes: [1, 2, 3] }]);
  await tenSeconds(1);
  await progress.rest();
  expect(written.stderr).toBe("0 of 3 changes done\n");
});

test("--quiet reports neither progress nor waits", async () => {
  const { io, written } = world();
  const progress = await openProgress({ color: true, quiet: true }, io);
  progress.reading(["MC1"]);
  progress.live(waitEvent(60_000, "the service asks for fewer requests (429)"));
  await progress.rest();
  expect(written.stderr).toBe("");
});

test("a signal that ends the process is followed by how much was read, until all is", async () => {
  let end: Parameters<Io["onExit"]>[0] = () => undefined;
  const losing = new AbortController();
  for (const quiet of [{}, { quiet: true }] as const) {
    const { io, written } = testIo({
      outputLost: losing.signal,
      onExit: (listener) => {
        end = listener;
        return () => {
          end = () => undefined;
        };
      },
    });
    const said = (signal: NodeJS.Signals | null): string => {
      written.stderr = "";
      end(signal);
      return written.stderr;
    };
    const progress = openProgress({ color: true, ...quiet }, io);
    expect(said("SIGTERM")).toBe("Interrupted. Nothing was changed.\n");
    progress.reading(["MC1", "MC2", "MC3"]);
    progress.read("MC1", null);
    progress.read("MC2", "no key");
    expect(said("SIGINT")).toBe("Interrupted: 1 of 3 merchants were read. Nothing was changed.\n");
    expect(said(null)).toBe("");
    if (quiet.quiet) {
      losing.abort({ stream: "stdout", code: "EPIPE" });
      expect(said("SIGINT")).toBe("");
    }
    await progress.rest();
    expect(said("SIGINT")).toBe("");
  }
});

function logging(verbose = false) {
  const clock = { now: 1000 };
  const { io, written } = testIo({ monotonic: () => clock.now });
  const log = serviceLog(io, verbose);
  const wait = (ms: number, reason = "the service asks for fewer requests (429)") =>
    log(waitEvent(ms, reason, clock.now));
  return { clock, wait, lines: () => written.stderr.split("\n").slice(0, -1) };
}

test("a wait that many requests share is reported once", () => {
  const { clock, wait, lines } = logging();
  for (let request = 0; request < 5; request += 1) {
    wait(1000);
    clock.now += 20;
  }
  expect(lines()).toEqual(["waiting 1.0 s: the service asks for fewer requests (429)"]);
});

test("another wait is reported again, an equal one only after a while", () => {
  const { clock, wait, lines } = logging();
  wait(1000);
  clock.now += 1000;
  wait(1000);
  expect(lines()).toHaveLength(1);
  wait(5000);
  expect(lines()).toHaveLength(2);
  clock.now += 10_000;
  wait(5000);
  expect(lines()).toHaveLength(3);
});

test("waits for different reasons are reported separately", () => {
  const { wait, lines } = logging();
  wait(1000);
  wait(1000, "the service could not be reached");
  expect(lines()).toHaveLength(2);
});

test("equal waits for many addresses are reported once in a while", () => {
  const { clock, wait, lines } = logging();
  for (let address = 0; address < 8; address += 1) {
    wait(1000, `the service asks for fewer invitations of new${address}@example.com (429)`);
    wait(1000);
    clock.now += 1100;
  }
  expect(lines()).toEqual([
    "waiting 1.0 s: the service asks for fewer invitations of new0@example.com (429)",
    "waiting 1.0 s: the service asks for fewer requests (429)",
  ]);
});

test("a short wait is reported with --verbose only", () => {
  const quiet = logging();
  quiet.wait(200);
  expect(quiet.lines()).toEqual([]);
  const verbose = logging(true);
  verbose.wait(600);
  verbose.wait(600);
  expect(verbose.lines()).toEqual(["waiting 0.6 s: the service asks for fewer requests (429)"]);
});

test.each([
  [true, true, "Checking …\n"],
  [true, false, ""],
  [false, true, ""],
])("what takes long is announced on a terminal (terminal: %s, long: %s)", async (isTTY, isLong, shown) => {
  const timers = new Set<() => void>();
  const { io, written } = testIo({
    setTimer: (_, run) => {
      timers.add(run);
      return () => timers.delete(run);
    },
  });
  const stderr = { ...io.stderr, isTTY };
  const done = await announceIfSlow("Checking …", { ...io, stderr }, async () => {
    if (isLong) for (const run of timers) run();
    return "done";
  });
  expect([done, written.stderr, timers.size]).toEqual(["done", shown, 0]);
});
