import { type ExecFileOptions, execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);
const MAX_OUTPUT = 256 * 1024 * 1024;

/** Runs git in a folder, and returns what it prints; rejects if it fails. */
export async function gitOutput(
  cwd: string,
  args: readonly string[],
  options: Pick<ExecFileOptions, "env" | "timeout"> = {},
): Promise<string> {
  return (await run("git", args, { maxBuffer: MAX_OUTPUT, ...options, cwd })).stdout;
}
