import { gitOutput } from "./git-output.ts";

/** Returns the current commit of a folder, and whether its working tree is clean; `null` without git. */
export async function gitCommit(
  cwd: string,
): Promise<{ readonly id: string; readonly clean: boolean } | null> {
  try {
    const options = ["--porcelain=v2", "--branch", "--no-ahead-behind", "--untracked-files=normal"];
    const status = await gitOutput(cwd, ["status", ...options]);
    const [, id] = /^# branch\.oid ([0-9a-f]{40,64})$/m.exec(status) ?? [];
    return id === undefined ? null : { id, clean: !/^[^#]/m.test(status) };
  } catch {
    return null;
  }
}
