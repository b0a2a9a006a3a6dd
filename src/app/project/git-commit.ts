import { gitOutput } from "./git-output.ts";

/**
 * Returns the current commit of a folder, and whether the files that an apply may read are those of the commit: untracked
 * files count only if they are YAML, since a saved plan or a report is often written beside them. `null` without git.
 */
export async function gitCommit(
  cwd: string,
): Promise<{ readonly id: string; readonly clean: boolean } | null> {
  try {
    const options = ["--porcelain=v2", "--branch", "--no-ahead-behind", "--untracked-files=all"];
    const status = await gitOutput(cwd, ["status", ...options]);
    const [, id] = /^# branch\.oid ([0-9a-f]{40,64})$/m.exec(status) ?? [];
    return id === undefined ? null : { id, clean: !/^(?:[12u] |\? .*\.ya?ml"?$)/im.test(status) };
  } catch {
    return null;
  }
}
