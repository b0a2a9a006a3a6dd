import { setTimeout as delay } from "node:timers/promises";
import type { Io, OutputLoss, StopSignal, TextWriter } from "./io.ts";

const STOP_SIGNALS: readonly StopSignal[] = ["SIGINT", "SIGTERM", "SIGHUP"];

/** Returns the world of the running process. */
export function nodeIo(): Io {
  const losing = new AbortController();
  const lost =
    (stream: OutputLoss["stream"]): OnLost =>
    (code) =>
      losing.abort({ stream, code } satisfies OutputLoss);
  return {
    env: process.env,
    cwd: process.cwd(),
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
    onStopSignal(listener) {
      for (const signal of STOP_SIGNALS) process.on(signal, listener);
      return () => {
        for (const signal of STOP_SIGNALS) process.off(signal, listener);
      };
    },
    onExit(listener) {
      process.once("exit", listener);
      return () => process.off("exit", listener);
    },
    exit: (code) => process.exit(code),
  };
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
      if (open) stream.write(text);
    },
    isTTY: stream.isTTY === true,
    get columns() {
      return stream.isTTY ? stream.columns : undefined;
    },
  };
}
