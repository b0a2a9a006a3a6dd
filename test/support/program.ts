import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import type { Ended, RunningSandbox, RunOptions } from "./rolecall.ts";

const ROOT = resolve(import.meta.dirname, "../..");

/** The built program. */
const BIN = resolve(ROOT, "dist/bin.js");

/** Where and with which environment the program runs, besides PATH. */
interface ProcessOptions extends Omit<RunOptions, "waitFactor"> {
  /** Arguments for node itself. */
  readonly node?: readonly string[];
  readonly bin?: string;
  /** The stream that nobody reads: it is closed before the program writes. */
  readonly deaf?: "stdout" | "stderr";
}

/** Runs the built program without a terminal, as a pipeline would, and waits for its end. */
export async function rolecall(args: readonly string[], options: ProcessOptions = {}): Promise<Ended> {
  const child = start(args, options);
  if (options.deaf) child[options.deaf].destroy();
  const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)];
  const [code] = (await once(child, "close")) as [number | null];
  return { code, stdout: stdout(), stderr: stderr() };
}

/** Starts `rolecall sandbox` on a free port and waits until it listens. */
export async function startSandbox(
  args: readonly string[] = [],
  options: ProcessOptions = {},
): Promise<RunningSandbox> {
  const child = start(["sandbox", "--port", "0", ...args], options);
  const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)];
  const ended = once(child, "close") as Promise<[number | null]>;
  while (!stdout().includes("\n")) {
    const [what] = await Promise.race([once(child.stdout, "data"), ended]);
    if (what === null || typeof what === "number") throw new Error(`the sandbox ended: ${stderr()}`);
  }
  const url = /http:\/\/\S+/.exec(stdout())?.[0] ?? "";
  return {
    url,
    env: { ROLECALL_BASE_URL: url, ROLECALL_API_KEY: "sk_test_sandbox" },
    log: stderr,
    stop: async (signal = "SIGTERM") => {
      child.kill(signal);
      const [code] = await ended;
      return { code, stdout: stdout(), stderr: stderr() };
    },
  };
}

function start(
  args: readonly string[],
  options: ProcessOptions,
): ChildProcess & {
  stdout: NonNullable<ChildProcess["stdout"]>;
  stderr: NonNullable<ChildProcess["stderr"]>;
} {
  const { cwd = ROOT, env = {}, node = [], bin = BIN } = options;
  return spawn(process.execPath, [...node, bin, ...args], {
    cwd,
    // Tests leave nothing in the user's cache, and lines of progress come with time.
    env: {
      PATH: process.env["PATH"],
      NODE_DISABLE_COMPILE_CACHE: "1",
      ROLECALL_PROGRESS: "none",
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

function collect(stream: NodeJS.ReadableStream): () => string {
  let text = "";
  stream.setEncoding("utf8").on("data", (chunk) => {
    text += chunk;
  });
  return () => text;
}
