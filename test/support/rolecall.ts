import { resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { StopSignal } from "../../src/app/io/io.ts";
import { main } from "../../src/cli/main.ts";
import { type TestIo, testIo } from "./io.ts";

const ROOT = resolve(import.meta.dirname, "../..");

/** The exit code and the output of a run. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The folder of a run, by default the repository's root, and its environment besides PATH. */
export interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Multiplies every wait, such as the one before a retry. */
  readonly waitFactor?: number;
  /** The clock, in ms since the epoch; by default the real one. */
  readonly now?: () => number;
  /** Takes the place of every wait; `waitFactor` has no effect then. */
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Takes the place of parts of the world. */
  readonly io?: Partial<TestIo["io"]>;
}

/** A sandbox that listens on a port of this machine. */
export interface RunningSandbox {
  readonly url: string;
  /** What is needed to reach it with the owner's key. */
  readonly env: Readonly<Record<string, string>>;
  /** Returns its log so far. */
  log(): string;
  /** Stops it as a signal would. */
  stop(signal?: StopSignal): Promise<Ended>;
}

/** Runs a command in this process, without a terminal: real files, sockets and time, and a tenth of a process's cost. */
export async function rolecall(args: readonly string[], options: RunOptions = {}): Promise<Ended> {
  const { io, written } = realIo(options, options.io);
  const code = await main(args, io);
  return { code, ...written };
}

/** Runs `rolecall sandbox` in this process on a free port, and waits until it listens. */
export async function startSandbox(
  args: readonly string[] = [],
  options: RunOptions = {},
): Promise<RunningSandbox> {
  const listeners = new Set<(signal: StopSignal) => void>();
  let onListening: () => void = () => undefined;
  const listening = new Promise<void>((resolve) => {
    onListening = resolve;
  });
  const { io, written } = realIo(options, {
    onStopSignal(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  });
  const stdout = {
    ...io.stdout,
    write: (text: string) => {
      io.stdout.write(text);
      onListening();
    },
  };
  const ended = main(["sandbox", "--port", "0", ...args], { ...io, stdout });
  await Promise.race([listening, ended]);
  const url = /http:\/\/\S+/.exec(written.stdout)?.[0];
  if (url === undefined) throw new Error(`the sandbox ended: ${written.stderr}`);
  return {
    url,
    env: { ROLECALL_BASE_URL: url, ROLECALL_API_KEY: "sk_test_sandbox" },
    log: () => written.stderr,
    stop: async (signal = "SIGTERM") => {
      for (const listener of listeners) listener(signal);
      return { code: await ended, ...written };
    },
  };
}

/** The factor of time limits within this process, such as that of a request: other tests and processes take their time. */
const PATIENCE = 20;

/** The world of a run within this process: time and waits are real, output is kept. */
export function realIo(
  { cwd = ROOT, env = {}, waitFactor = 1, now = Date.now, sleep }: RunOptions,
  rest: Partial<TestIo["io"]> = {},
): TestIo {
  return testIo({
    cwd: resolve(cwd),
    // Lines of progress come with time: on a busy machine, where it does not matter.
    env: { PATH: process.env["PATH"], ROLECALL_PROGRESS: "none", ...env },
    now: () => now(),
    monotonic: () => performance.now(),
    sleep:
      sleep ??
      (async (ms, signal) => {
        await delay(ms * waitFactor, undefined, signal ? { signal } : {});
      }),
    setTimer(ms, run) {
      const timer = setTimeout(run, ms * PATIENCE);
      return () => clearTimeout(timer);
    },
    random: () => Math.random(),
    ...rest,
  });
}
