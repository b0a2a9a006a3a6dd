import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { BIN } from "./package.mjs";

/** Runs node to its end; returns { ms, code, stdout, stderr }, with the time of the whole process. */
export async function runNode(args, { cwd, env = {} } = {}) {
  const began = process.hrtime.bigint();
  const child = spawn(process.execPath, args, {
    cwd,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text) => (stderr += text));
  const [code] = await once(child, "close");
  return { ms: Number(process.hrtime.bigint() - began) / 1e6, code, stdout, stderr };
}

/** Runs the installed program; throws if it does not exit with the expected code. */
export async function rolecall(args, { expect = 0, node = [], ...options } = {}) {
  const ended = await runNode([...node, BIN, ...args], options);
  if (ended.code !== expect) {
    throw new Error(`rolecall ${args.join(" ")} ended with ${ended.code}:\n${ended.stdout}\n${ended.stderr}`);
  }
  return ended;
}

/** Returns the peak memory of a run of the program, in MiB. */
export async function peakOf(args, options = {}) {
  const { maxRSS } = await usageOf((measured) => rolecall(args, { ...options, ...measured }), options);
  return maxRSS / 1024;
}

/** Returns the CPU time of a run of node, user and system, in ms. */
export async function cpuOf(args, options = {}) {
  const run = ({ node, env }) => runNode([...node, ...args], { ...options, env });
  const { userCPUTime, systemCPUTime } = await usageOf(run, options);
  return (userCPUTime + systemCPUTime) / 1000;
}

/** Returns node's own resource usage: { maxRSS in KiB, userCPUTime and systemCPUTime in µs }. */
async function usageOf(run, { env } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "rolecall-bench-"));
  const file = join(folder, "usage.json");
  try {
    await run({
      node: ["--import", resolve(import.meta.dirname, "report-usage.mjs")],
      env: { ...env, ROLECALL_BENCH_USAGE: file },
    });
    return JSON.parse(readFileSync(file, "utf8"));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Starts the bench's service in another process; returns { env, counts(), stop() }. */
export async function startServer({ members, latencyMs }) {
  const child = spawn(
    process.execPath,
    [resolve(import.meta.dirname, "../server.mjs"), String(members), String(latencyMs)],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const [line] = await once(child.stdout.setEncoding("utf8"), "data");
  const url = String(line).trim();
  return {
    env: { ROLECALL_BASE_URL: url, ROLECALL_API_KEY: "sk_test_bench" },
    counts: async () => (await fetch(`${url}/_bench/counts`)).json(),
    async stop() {
      child.kill();
      await once(child, "close");
    },
  };
}
