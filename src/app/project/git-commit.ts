import { gitOutput } from "./git-output.ts";

/** Returns the current commit of a folder, and whether its working tree is clean; `null` without git. */
export async function gitCommit(
  cwd: string,
): Promise<{ readonly id: string; readonly clean: boolean } | null> {
  try {
    const [head, status] = await Promise.all([
      gitOutput(cwd, ["rev-parse", "HEAD"]),
      gitOutput(cwd, ["status", "--porcelain", "--untracked-files=normal"]),
    ]);
    const id = head.trim();
    return /^[0-9a-f]{40,64}$/.test(id) ? { id, clean: status.trim() === "" } : null;
  } catch {
    return null;
  }
}
