import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { rolldown } from "rolldown";

const root = resolve(import.meta.dirname, "..");

/**
 * Keeps what the engine compiles of the built program while it plans the example: the largest part of a short run is to
 * compile it. The images are for the very Node.js that builds; any other compiles for itself. They are not packed:
 * what is published can be read.
 */
export async function keepImages(dist) {
  const folder = mkdtempSync(join(tmpdir(), "rolecall-images-"));
  const sandbox = spawn(
    process.execPath,
    [join(dist, "bin.js"), "sandbox", "--port", "0", "--seed", "examples/retail/live.yaml"],
    { cwd: root, stdio: ["ignore", "pipe", "ignore"] },
  );
  const interrupted = (signal) => process.exit(128 + constants.signals[signal]);
  const left = () => {
    sandbox.kill();
    rmSync(folder, { recursive: true, force: true });
  };
  process.once("exit", left).once("SIGINT", interrupted).once("SIGTERM", interrupted);
  try {
    const recorder = join(folder, "record-images.cjs");
    const build = await rolldown({
      cwd: root,
      input: "scripts/record-images.mjs",
      platform: "node",
      transform: { target: "node20.19" },
    });
    await build.write({ file: recorder, format: "cjs" });
    await build.close();
    const env = {
      PATH: process.env.PATH,
      ROLECALL_BASE_URL: await addressOf(sandbox),
      ROLECALL_API_KEY: "sk_test_sandbox",
      TILL_7_PASSWORD: "only-for-the-sandbox",
    };
    const args = [recorder, dist, "plan", "examples/retail/access"];
    await promisify(execFile)(process.execPath, args, { cwd: root, env });
  } finally {
    left();
    process.off("exit", left).off("SIGINT", interrupted).off("SIGTERM", interrupted);
  }
}

async function addressOf(sandbox) {
  const [line] = await Promise.race([
    once(sandbox.stdout.setEncoding("utf8"), "data"),
    once(sandbox, "close"),
  ]);
  const address = /http:\/\/\S+/.exec(String(line))?.[0];
  if (address === undefined) throw new Error("the sandbox ended before it said where it is");
  return address;
}
