import { spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { nodeIo } from "../../src/app/io/node-io.ts";
import { main } from "../../src/cli/main.ts";
import type { Plan } from "../../src/model/plan.ts";

const BIN = resolve("dist/bin.js");

const HERE = nodeIo();

/** Where and as whom rolecall runs. */
export interface Setting {
  readonly cwd: string;
  readonly url: string;
  readonly key: string;
  readonly password: string;
}

/** How a run of the program ended. */
export interface Ended {
  /** Null where it was killed. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The program in a process of its own, which can be killed. */
export interface Child {
  readonly ended: Promise<Ended>;
  /** Resolves when the signal has done its work: for SIGKILL when the process is gone. */
  signal(name: "SIGKILL" | "SIGINT" | "SIGTERM"): Promise<void>;
}

function environment({ url, key, password }: Setting): Record<string, string> {
  return { ROLECALL_BASE_URL: url, ROLECALL_API_KEY: key, TILL_PASSWORD: password };
}

/** Starts the built program. */
export function start(args: readonly string[], setting: Setting): Child {
  const child = spawn(process.execPath, [BIN, ...args], {
    cwd: setting.cwd,
    env: { PATH: process.env["PATH"], ...environment(setting) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)];
  const closed = once(child, "close") as Promise<[number | null]>;
  const ended = closed.then(([code]) => ({ code, stdout: stdout(), stderr: stderr() }));
  return {
    ended,
    signal: async (name) => {
      child.kill(name);
      if (name === "SIGKILL") await ended;
    },
  };
}

/** Runs the same program in this process, where nothing is to be killed. */
export async function run(args: readonly string[], setting: Setting): Promise<Ended> {
  const written = { stdout: "", stderr: "" };
  const sink = (name: "stdout" | "stderr") => ({
    write: (text: string) => {
      written[name] += text;
    },
    isTTY: false,
    columns: undefined,
  });
  const code = await main(args, {
    ...HERE,
    env: environment(setting),
    cwd: setting.cwd,
    stdout: sink("stdout"),
    stderr: sink("stderr"),
    stdinIsTTY: false,
    onStopSignal: () => () => undefined,
    exit: () => {
      throw new Error("nothing here ends the process");
    },
  });
  return { code, ...written };
}

/** The same in this process, as a child that is never killed. */
export function here(args: readonly string[], setting: Setting): Child {
  return { ended: run(args, setting), signal: async () => undefined };
}

/** The plan for a merchant that an apply said it would carry out; null where it came to none. */
export function plannedBy({ stdout }: Ended, merchant: string): Plan | null {
  for (const event of eventsOf(stdout)) {
    if (event["type"] === "planned" && event["merchant"] === merchant) return event["plan"] as Plan;
  }
  return null;
}

/** The events that `apply --format json` has written, but for a last one that was cut off. */
function eventsOf(stdout: string): readonly Readonly<Record<string, unknown>>[] {
  return stdout
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

function collect(stream: NodeJS.ReadableStream): () => string {
  let text = "";
  stream.setEncoding("utf8").on("data", (chunk) => {
    text += chunk;
  });
  return () => text;
}
