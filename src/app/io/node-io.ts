import { resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Io, OutputLoss, StopSignal, TextWriter } from "./io.ts";

const STOP_SIGNALS: readonly StopSignal[] = ["SIGINT", "SIGTERM", "SIGHUP"];

/** The signals of a terminal that end a process. */
const ENDING_SIGNALS: readonly NodeJS.Signals[] = [...STOP_SIGNALS, "SIGQUIT"];

/** Time within which a signal stops the process, in ms. */
const STOP_MS = 50;

const CLOCK: Pick<Io, "now" | "monotonic" | "sleep" | "setTimer" | "random"> = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: async (ms, signal) => {
    await delay(ms, undefined, signal ? { signal } : {});
  },
  setTimer(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
  random: () => Math.random(),
};

/** Returns the environment of the running process. */
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
      // The window may have been resized.
      process.kill(process.pid, "SIGWINCH");
    },
  };
}

const NO_OUTPUT: TextWriter = { write: () => undefined, isTTY: false, columns: undefined };

/**
 * Returns the environment of a library inside another program: the process's clock and timers, but neither its streams
 * nor its signals, which belong to that program.
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
  let isOpen = true;
  // EPIPE if the reader has closed the pipe, as in "rolecall validate | head".
  stream.on("error", ({ code = "EIO" }: NodeJS.ErrnoException) => {
    if (isOpen) onLost(code);
    isOpen = false;
  });
  return {
    write: (text) => {
      // On a full disk, even an empty write fails.
      if (isOpen && text !== "") stream.write(text);
    },
    isTTY: stream.isTTY === true,
    get columns() {
      return stream.isTTY ? stream.columns : undefined;
    },
  };
}
