import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);

/** A repository at a forge. */
export interface ForgeRepository {
  /** The host, with its port if it has one. */
  readonly host: string;
  readonly owner: string;
  readonly name: string;
}

/** Returns the repository that `origin` of a folder names; `null` without git or without such a remote. */
export async function gitRemote(cwd: string): Promise<ForgeRepository | null> {
  try {
    return parseRemote((await run("git", ["remote", "get-url", "origin"], { cwd })).stdout.trim());
  } catch {
    return null;
  }
}

/**
 * Returns the default branch of a folder's repository: that of `origin` as the clone knows it, else the current branch;
 * `main` without git.
 */
export async function defaultBranch(cwd: string): Promise<string> {
  const short = (ref: string): Promise<string> =>
    run("git", ["symbolic-ref", "--quiet", "--short", ref], { cwd }).then(
      ({ stdout }) => stdout.trim(),
      () => "",
    );
  const remote = await short("refs/remotes/origin/HEAD");
  return remote.replace(/^origin\//, "") || (await short("HEAD")) || "main";
}

/** Parses the address of a remote or of a manifest's `repository`: HTTPS, SSH, or short as `git@host:owner/name`. */
export function parseRemote(address: string): ForgeRepository | null {
  const [, host, owner, name] =
    /^(?:(?:git\+)?(?:https?|ssh|git):\/\/)?(?:[^@/\s]*@)?([\w.-]+(?::\d+(?=\/))?)[:/]([\w.-]+)\/([\w.-]+?)(?:\.git)?\/?$/.exec(
      address,
    ) ?? [];
  return host && owner && name ? { host: host.replace(/:22$/, ""), owner, name } : null;
}
