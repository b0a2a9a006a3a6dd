import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);
const MAX_OUTPUT = 256 * 1024 * 1024;

/** Returns the current commit of a folder, and whether its working tree is clean; `null` without git. */
export async function gitCommit(
  cwd: string,
): Promise<{ readonly id: string; readonly clean: boolean } | null> {
  try {
    const [head, status] = await Promise.all([
      run("git", ["rev-parse", "HEAD"], { cwd, maxBuffer: MAX_OUTPUT }),
      run("git", ["status", "--porcelain", "--untracked-files=normal"], { cwd, maxBuffer: MAX_OUTPUT }),
    ]);
    const id = head.stdout.trim();
    return /^[0-9a-f]{40,64}$/.test(id) ? { id, clean: status.stdout.trim() === "" } : null;
  } catch {
    return null;
  }
}
