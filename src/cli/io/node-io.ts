import { setTimeout as delay } from "node:timers/promises";
import type { Io, OutputLoss, StopSignal } from "./io.ts";
import { type OnLost, standardSink } from "./standard-sink.ts";

const STOP_SIGNALS: readonly StopSignal[] = ["SIGINT", "SIGTERM", "SIGHUP"];

/** The world of the running process. */
export function nodeIo(): Io {
  const losing = new AbortController();
  const lost =
    (stream: OutputLoss["stream"]): OnLost =>
    (code) =>
      losing.abort({ stream, code } satisfies OutputLoss);
  return {
    env: process.env,
    cwd: process.cwd(),
    stdout: standardSink(process.stdout, lost("stdout")),
    stderr: standardSink(process.stderr, lost("stderr")),
    outputLost: losing.signal,
    // Opened when it is asked for: most commands never do.
    get stdinIsTTY() {
      return process.stdin.isTTY === true;
    },
    now: () => Date.now(),
    monotonic: () => performance.now(),
    sleep: async (ms, signal) => {
      await delay(ms, undefined, signal ? { signal } : {});
    },
    later(ms, run) {
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
    leave: (code) => process.exit(code),
  };
}
