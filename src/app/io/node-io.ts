import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { resolve } from "node:path";
import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";
import type { PastRun } from "../../model/apply.ts";
import type { Io, OutputLoss, StopSignal, TextWriter } from "./io.ts";

const STOP_SIGNALS: readonly StopSignal[] = ["SIGINT", "SIGTERM", "SIGHUP"];

/** The signals of a terminal that end a process. */
const ENDING_SIGNALS: readonly NodeJS.Signals[] = [...STOP_SIGNALS, "SIGQUIT"];

/** Time within which a signal stops the process, in ms. */
const STOP_MS = 50;

const CLOCK: Pick<Io, "now" | "monotonic" | "sleep" | "turn" | "setTimer" | "random"> = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: async (ms, signal) => {
    await delay(ms, undefined, signal ? { signal } : {});
  },
  turn: () => nextTurn(),
  setTimer(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
  random: () => Math.random(),
};

/** Returns the world of the running process. */
export function nodeIo(): Io {
  const losing = new AbortController();
  const lost =
    (stream: OutputLoss["stream"]): OnLost =>
    (code) =>
      losing.abort({ stream, code } satisfies OutputLoss);
  return {
    env: process.env,
    cwd: workingFolder(),
    stdout: textWriter(process.stdout, lost("stdout")),
    stderr: textWriter(process.stderr, lost("stderr")),
    outputLost: losing.signal,
    // Read lazily: most commands never open stdin.
    get stdinIsTTY() {
      return process.stdin.isTTY === true;
    },
    terminal: process,
    pid: process.pid,
    nodeVersion: process.version,
    ...CLOCK,
    ...processEvents(),
    exit: (code) => process.exit(code),
  };
}

/** Creates the listeners to the process's end and its signals. */
function processEvents(): Pick<Io, "onStopSignal" | "onExit" | "onSuspend" | "suspend"> {
  const stopListeners = new Set<(signal: StopSignal) => void>();
  return {
    onStopSignal(listener) {
      stopListeners.add(listener);
      for (const signal of STOP_SIGNALS) process.prependListener(signal, listener as NodeJS.SignalsListener);
      return () => {
        stopListeners.delete(listener);
        for (const signal of STOP_SIGNALS) process.off(signal, listener);
      };
    },
    onExit(listener) {
      const off = (): void => {
        process.off("exit", onEnd);
        for (const signal of ENDING_SIGNALS) process.off(signal, onSignal);
      };
      // A signal without a listener ends a process without the event.
      const onSignal = (signal: NodeJS.Signals): void => {
        if (stopListeners.size > 0 && signal !== "SIGQUIT") return;
        off();
        listener(signal);
        process.kill(process.pid, signal);
      };
      const onEnd = (): void => listener(null);
      process.once("exit", onEnd);
      for (const signal of ENDING_SIGNALS) process.on(signal, onSignal);
      return off;
    },
    onSuspend({ suspend, resume }) {
      const onStop = (): void => {
        suspend();
        process.once("SIGCONT", resume);
        process.kill(process.pid, "SIGSTOP");
      };
      process.on("SIGTSTP", onStop);
      return () => {
        process.off("SIGTSTP", onStop);
        process.off("SIGCONT", resume);
      };
    },
    async suspend() {
      if (process.platform === "win32") return;
      process.kill(0, "SIGTSTP");
      // A listener for the signal is called in a later turn.
      await delay(STOP_MS);
      // The window may have another size by now.
      process.kill(process.pid, "SIGWINCH");
    },
  };
}

const NO_OUTPUT: TextWriter = { write: () => undefined, isTTY: false, columns: undefined };

/**
 * Returns the world of a library inside another program: the process's clock and timers, but neither its streams nor
 * its signals, which belong to that program.
 */
export function libraryIo({ cwd, env }: { readonly cwd?: string; readonly env?: Io["env"] }): Io {
  return {
    env: env ?? process.env,
    cwd: cwd === undefined ? process.cwd() : resolve(cwd),
    stdout: NO_OUTPUT,
    stderr: NO_OUTPUT,
    outputLost: new AbortController().signal,
    stdinIsTTY: false,
    terminal: process,
    pid: process.pid,
    nodeVersion: process.version,
    ...CLOCK,
    onStopSignal: () => () => undefined,
    onExit: () => () => undefined,
    onSuspend: () => () => undefined,
    suspend: async () => undefined,
    exit: (code) => {
      throw new Error(`a library call tried to exit with code ${code}`);
    },
  };
}

function workingFolder(): string {
  try {
    return process.cwd();
  } catch {
    process.stderr.write("error: The working directory no longer exists.\n  → Change to another one.\n");
    return process.exit(1);
  }
}

/** Called once if a stream can no longer be written, with the error's code, such as `EPIPE` or `ENOSPC`. */
export type OnLost = (code: string) => void;

/** Wraps standard output or error; after a failed write, nothing more is written. */
export function textWriter(stream: NodeJS.WriteStream, onLost: OnLost): TextWriter {
  let open = true;
  // EPIPE if the reader has closed the pipe, as in "rolecall validate | head".
  stream.on("error", ({ code = "EIO" }: NodeJS.ErrnoException) => {
    if (open) onLost(code);
    open = false;
  });
  return {
    write: (text) => {
      // Writing nothing fails, too, on a full disk.
      if (open && text !== "") stream.write(text);
    },
    isTTY: stream.isTTY === true,
    get columns() {
      return stream.isTTY ? stream.columns : undefined;
    },
  };
}

/** The id of the user of this process; `null` where the platform has none. */
export const OWN_UID: number | null = process.getuid?.() ?? null;

/** The processes of this machine. */
export interface Processes {
  readonly host: string;
  /** Id of this process. */
  readonly pid: number;
  /** Time since this process started, in ms. */
  readonly ageMs: number;
  exists(pid: number): boolean;
  /** Returns the text of /proc/PID/stat; `null` if it is missing or unreadable. */
  stat(pid: number): string | null;
}

/** Tolerance for a clock that was adjusted in between. */
const LEEWAY_MS = 10_000;
/** Longest possible run: without a start time, an older process id is taken as reused. */
const LONGEST_RUN_MS = 24 * 60 * 60 * 1000;

/**
 * Returns whether the process of a run still exists, and its id was not reused. A process of another machine counts as
 * gone.
 */
export function isAlive({ run }: Pick<PastRun, "run">, now: number, processes = THIS_MACHINE): boolean {
  const { pid, host } = run;
  if (host !== processes.host || pid === processes.pid || !processes.exists(pid)) return false;
  const began = Date.parse(run.at);
  const [it, self] = [pid, processes.pid].map((one) => parseStat(processes.stat(one)));
  if (!it || !self) return now - began < LONGEST_RUN_MS;
  if (it.dead) return false;
  // Both count from the same moment, so that moment cancels out.
  const started = now - processes.ageMs + (it.startedMs - self.startedMs);
  return started <= began + LEEWAY_MS;
}

interface Stat {
  /** True for an ended process whose exit code has not been read yet. */
  readonly dead: boolean;
  /** Time from the machine's start to the process's, in ms. */
  readonly startedMs: number;
}

/**
 * Parses /proc/PID/stat: after the name, which may contain anything, the first field is the state and the 20th the
 * start time.
 */
function parseStat(text: string | null): Stat | null {
  if (text === null) return null;
  const fields = text
    .slice(text.lastIndexOf(")") + 1)
    .trim()
    .split(/\s+/);
  const ticks = Number(fields[19]);
  // Linux reports 100 ticks a second to programs, whatever its own rate.
  return Number.isFinite(ticks) ? { dead: /^[ZXx]$/.test(fields[0] ?? ""), startedMs: ticks * 10 } : null;
}

const THIS_MACHINE: Processes = {
  host: hostname(),
  pid: process.pid,
  get ageMs() {
    return process.uptime() * 1000;
  },
  exists(pid) {
    try {
      process.kill(pid, 0);
      return true;
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === "EPERM";
    }
  },
  stat(pid) {
    try {
      return readFileSync(`/proc/${pid}/stat`, "utf8");
    } catch {
      return null;
    }
  },
};
