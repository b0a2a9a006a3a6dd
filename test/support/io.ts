import type { Io } from "../../src/app/io/io.ts";

/** A world without terminal, time and chance, and what was written to it. */
export interface TestIo {
  readonly io: Io;
  readonly written: { stdout: string; stderr: string };
}

/** A world for a command; `rest` is what a test wants otherwise. */
export function testIo(rest: Partial<Io> = {}): TestIo {
  const written = { stdout: "", stderr: "" };
  const sink = (name: "stdout" | "stderr") => ({
    write: (text: string) => {
      written[name] += text;
    },
    isTTY: false,
    columns: undefined,
  });
  const io: Io = {
    env: {},
    cwd: "/",
    stdout: sink("stdout"),
    stderr: sink("stderr"),
    outputLost: new AbortController().signal,
    stdinIsTTY: false,
    terminal: process,
    pid: process.pid,
    nodeVersion: process.version,
    now: () => 0,
    monotonic: () => 0,
    sleep: async () => undefined,
    setTimer: () => () => undefined,
    random: () => 0,
    onStopSignal: () => () => undefined,
    onExit: () => () => undefined,
    onSuspend: () => () => undefined,
    suspend: async () => undefined,
    exit: () => {
      throw new Error("nothing here ends the process");
    },
    ...rest,
  };
  return { io, written };
}
