import { spawn } from "node:child_process";
import { once } from "node:events";
import { hostname } from "node:os";
import { describe, expect, test } from "vitest";
import { isAlive, type Processes } from "../../../src/app/io/processes.ts";
import { runStarted } from "../../support/past-run.ts";

const NOW = Date.parse("2026-11-21T12:00:00.000Z");
const SECOND = 1000;
const HOUR = 3600 * SECOND;

function begun(ago: number, { pid = 4711, host = "till", now = NOW } = {}) {
  return { run: { ...runStarted({ pid, host }), at: new Date(now - ago).toISOString() } };
}

/** As Linux tells it: of a process with a name that makes reading hard. */
function stat(pid: number, startedMs: number, state = "S"): string {
  const between = Array.from({ length: 18 }, (_, index) => index).join(" ");
  return `${pid} (no) R 1 (de) ${state} ${between} ${startedMs / 10} 12345 678 0\n`;
}

/** A machine that has been up for a day; this process for two seconds, process 4711 for `age`. */
function machine({ age, state, ...rest }: Partial<Processes> & { age?: number; state?: string }): Processes {
  const ages = new Map([[99, 2 * SECOND], ...(age === undefined ? [] : [[4711, age] as const])]);
  return {
    host: "till",
    pid: 99,
    ageMs: 2 * SECOND,
    exists: () => true,
    stat: (pid) => {
      const of = ages.get(pid);
      return of === undefined ? null : stat(pid, 24 * HOUR - of, pid === 99 ? "R" : state);
    },
    ...rest,
  };
}

describe("a run without an end", () => {
  test("still runs while its process is there, however long that takes", () => {
    expect(isAlive(begun(5 * SECOND), NOW, machine({ age: 6 * SECOND }))).toBe(true);
    expect(isAlive(begun(23 * HOUR), NOW, machine({ age: 23 * HOUR + 1 * SECOND }))).toBe(true);
  });

  test("does not run any more where another process has got its id since", () => {
    expect(isAlive(begun(2 * HOUR), NOW, machine({ age: 1 * HOUR }))).toBe(false);
    expect(isAlive(begun(60 * SECOND), NOW, machine({ age: 45 * SECOND }))).toBe(false);
  });

  test("still runs where the clock was set by a few seconds meanwhile", () => {
    expect(isAlive(begun(60 * SECOND), NOW, machine({ age: 57 * SECOND }))).toBe(true);
  });

  test("does not run any more if its process has ended but is not reaped yet", () => {
    expect(isAlive(begun(5 * SECOND), NOW, machine({ age: 6 * SECOND, state: "Z" }))).toBe(false);
  });

  test("counts as running for a day where nothing tells when a process started", () => {
    for (const quiet of [machine({}), machine({ stat: () => "no such form" })]) {
      expect(isAlive(begun(23 * HOUR), NOW, quiet)).toBe(true);
      expect(isAlive(begun(25 * HOUR), NOW, quiet)).toBe(false);
    }
  });

  test("does not run where there is no such process, on another machine, or as this very process", () => {
    const age = 6 * SECOND;
    expect(isAlive(begun(5 * SECOND), NOW, machine({ age, exists: () => false }))).toBe(false);
    expect(isAlive(begun(5 * SECOND, { host: "other" }), NOW, machine({ age }))).toBe(false);
    expect(isAlive(begun(1 * SECOND, { pid: 99 }), NOW, machine({ age }))).toBe(false);
  });
});

test("distinguishes the process that began a run from one that is younger than the run", async () => {
  const child = spawn(process.execPath, ["-e", "process.stdin.resume()"], {
    stdio: ["pipe", "ignore", "ignore"],
  });
  await once(child, "spawn");
  try {
    const now = Date.now();
    const whose = { pid: child.pid ?? 0, host: hostname(), now };
    expect(isAlive(begun(0, whose), now)).toBe(true);
    expect(isAlive(begun(48 * HOUR, whose), now)).toBe(false);
    if (process.platform === "linux") expect(isAlive(begun(1 * HOUR, whose), now)).toBe(false);
  } finally {
    child.kill();
  }
});
