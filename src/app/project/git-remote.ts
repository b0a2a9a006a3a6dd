import { gitOutput } from "./git-output.ts";

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
    return parseRemote((await gitOutput(cwd, ["remote", "get-url", "origin"])).trim());
  } catch {
    return null;
  }
}

/**
 * Returns the default branch of a folder's repository: that of `origin` as the clone knows it; else a branch with a usual
 * name, since the current one may be for the change; else the current one, or `main` without git.
 */
export async function defaultBranch(cwd: string): Promise<string> {
  const git = (...args: readonly string[]): Promise<string> =>
    gitOutput(cwd, args).then(
      (text) => text.trim(),
      () => "",
    );
  const short = (ref: string): Promise<string> => git("symbolic-ref", "--quiet", "--short", ref);
  const remote = await short("refs/remotes/origin/HEAD");
  if (remote !== "") return remote.replace(/^origin\//, "");
  const refs = await git("for-each-ref", "--format=%(refname)", "refs/remotes/origin", "refs/heads");
  const branches = refs.split("\n").map((ref) => ref.replace(/^refs\/(?:remotes\/origin|heads)\//, ""));
  const usual = ["main", "master", await git("config", "init.defaultBranch")];
  return usual.find((name) => name !== "" && branches.includes(name)) ?? ((await short("HEAD")) || "main");
}

/** Parses the address of a remote or of a manifest's `repository`: HTTPS, SSH, or short as `git@host:owner/name`. */
export function parseRemote(address: string): ForgeRepository | null {
  const [, scheme = "", host, owner, name] =
    /^(?:(?:git\+)?(https?|ssh|git):\/\/)?(?:[^@/\s]*@)?([\w.-]+(?::\d+(?=\/))?)[:/]([\w.-]+)\/([\w.-]+?)(?:\.git)?\/?$/.exec(
      address,
    ) ?? [];
  if (!host || !owner || !name) return null;
  // A port of SSH is none of the web, and GitHub has a host of its own for SSH on port 443.
  const web = /^(?:ssh|git)$/.test(scheme) ? host.replace(/:\d+$/, "") : host;
  return { host: web === "ssh.github.com" ? "github.com" : web, owner, name };
}

/** Returns whether the name of a host is that of another forge than GitHub. */
export function isOtherForge(host: string): boolean {
  return /(?:^|[.-])(?:gitlab|bitbucket|codeberg|gitea|forgejo|azure|visualstudio)[.-]/.test(host);
}
