import { spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { BIN } from "./support/package.mjs";

const root = resolve(import.meta.dirname, "..");

/** Runs the installed program to its end. */
export async function rolecall(args, env) {
  const child = start(args, env);
  const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)];
  const [code] = await once(child, "close");
  return { code, stdout: stdout(), stderr: stderr() };
}

/** Starts the sandbox on a free port; `log` collects its request log, in pieces with their time. */
export async function startSandbox(args) {
  const child = start(["sandbox", "--port", "0", ...args], {});
  const stdout = collect(child.stdout);
  const log = [];
  child.stderr.setEncoding("utf8").on("data", (text) => log.push({ at: performance.now(), text }));
  const ended = once(child, "close");
  while (!stdout().includes("\n")) {
    await Promise.race([once(child.stdout, "data"), ended]);
    if (child.exitCode !== null)
      throw new Error(`The sandbox ended: ${log.map(({ text }) => text).join("")}`);
  }
  const url = /http:\/\/\S+/.exec(stdout())?.[0] ?? "";
  return {
    url,
    env: { ROLECALL_BASE_URL: url, ROLECALL_API_KEY: "sk_test_sandbox" },
    log,
    stop: async () => {
      child.kill("SIGTERM");
      await ended;
    },
  };
}

function start(args, env) {
  return spawn(process.execPath, [BIN, ...args], {
    cwd: root,
    env: { PATH: process.env.PATH, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

function collect(stream) {
  const pieces = [];
  stream.setEncoding("utf8").on("data", (piece) => pieces.push(piece));
  return () => pieces.join("");
}
