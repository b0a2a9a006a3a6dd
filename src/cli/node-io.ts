import { setTimeout as delay, setImmediate as turn } from "node:timers/promises";
import type { Io, Sink } from "./io.ts";

/** The world of the running process. */
export function nodeIo(filesWorker: URL | null = null): Io {
  return {
    filesWorker,
    env: process.env,
    cwd: process.cwd(),
    stdout: sinkOf(process.stdout),
    stderr: sinkOf(process.stderr),
    // Opened when it is asked for: most commands never do.
    get stdinIsTTY() {
      return process.stdin.isTTY === true;
    },
    now: () => Date.now(),
    sleep: async (ms, signal) => {
      await delay(ms, undefined, signal ? { signal } : {});
    },
    later(ms, run) {
      const timer = setTimeout(run, ms);
      return () => clearTimeout(timer);
    },
    pause: () => turn(),
    random: () => Math.random(),
    onStopSignal(listener) {
      process.on("SIGINT", listener).on("SIGTERM", listener);
      return () => process.off("SIGINT", listener).off("SIGTERM", listener);
    },
    leave: (code) => process.exit(code),
  };
}

function sinkOf(stream: NodeJS.WriteStream): Sink {
  let open = true;
  // Nobody reads any more, as in "rolecall validate | head". What is under way, such as an apply, still ends as it should.
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
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
