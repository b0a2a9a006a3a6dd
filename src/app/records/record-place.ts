import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { RolecallError } from "../../model/errors.ts";
import { type GitRefs, openRefs } from "../../store/git-refs.ts";
import { gitEnvironment, runGit, withoutCredentials } from "../../store/run-git.ts";
import { openRunRecords, type RunRecords } from "../../store/run-records.ts";
import type { Io } from "../io/io.ts";
import { projectRoot } from "../project/project-root.ts";
import { signingKey } from "./signing-key.ts";

/** The place of the records of runs: this clone alone, or its remote repository. */
export type RecordKeeping = "local" | "push";

/** A repository that keeps records. */
export interface RecordPlace {
  readonly keeping: RecordKeeping;
  /** Its name in messages, such as `origin`. */
  readonly name: string;
  readonly url: string;
  /** Absolute path of the clone's `.git`. */
  readonly gitFolder: string;
  /** The clone's own configuration for accessing it. */
  readonly config: readonly (readonly [string, string])[];
}

type World = Pick<Io, "cwd" | "env" | "now" | "sleep">;

/** The prefix of all refs with records. */
export const RECORD_REFS = "refs/rolecall";

/** Time after which a git process is killed, in ms: an apply must not wait for a repository that does not respond. */
const TIMEOUT_MS = 60_000;

/** Finds the repository for records; throws RolecallError without one. */
export async function recordPlace(keeping: RecordKeeping, { cwd, env }: World): Promise<RecordPlace> {
  const root = projectRoot(cwd, cwd);
  const git = async (...args: readonly string[]): Promise<string | null> => {
    const end = await runGit(["-C", root, ...args], "", gitEnvironment(env), TIMEOUT_MS);
    return end.code === 0 ? end.output.toString("utf8").trim() : null;
  };
  const [folder, branch, listed] = await Promise.all([
    git("rev-parse", "--git-common-dir"),
    git("symbolic-ref", "--quiet", "--short", "HEAD"),
    git("config", "--list", "--show-scope", "-z"),
  ]);
  if (folder === null) throw noPlace("this folder is not in a git repository, or git is not installed");
  const gitFolder = resolve(root, folder);
  if (keeping === "local") return { keeping, name: "this clone", url: gitFolder, gitFolder, config: [] };
  const settings = settingsIn(listed ?? "");
  const remotes = settings.flatMap(({ key }) => /^remote\.(.+)\.url$/s.exec(key)?.[1] ?? []);
  const upstream = settings.findLast(({ key }) => key === `branch.${branch}.remote`)?.value;
  const [only] = new Set(remotes).size === 1 ? remotes : [];
  const name = [upstream, "origin", only].find((remote) => remote && remotes.includes(remote));
  const url = name ? await git("remote", "get-url", "--push", name) : null;
  if (!name || !url)
    throw noPlace("the git repository has no remote called origin, and none that the branch follows");
  const config = settings.flatMap(({ scope, key, value }) =>
    scope === "local" && REACHING.test(key) ? [[key, value] as const] : [],
  );
  return { keeping, name, url: isPath(url) ? resolve(root, url) : url, gitFolder, config };
}

/** Finds the repository whose records are read: the remote one, or this clone without one; throws RolecallError. */
export function readPlace(world: World): Promise<RecordPlace> {
  return recordPlace("push", world).catch(() => recordPlace("local", world));
}

function noPlace(why: string): RolecallError {
  return new RolecallError("usage", `Runs cannot be recorded: ${why}.`, {
    hint: "Run the command in a repository with a remote. Without one, every apply keeps its journals in .rolecall/runs; use --records off for it.",
  });
}

function isPath(url: string): boolean {
  return !/^[\w+.-]+:\/\//.test(url) && !/^[^/]+:/.test(url);
}

/** Settings of a clone that decide how its remote repository is reached. */
const REACHING = /^(http|credential|url|core\.sshcommand|ssh)\b/i;

interface GitSetting {
  readonly scope: string;
  readonly key: string;
  readonly value: string;
}

/** Parses the output of `git config --list --show-scope -z`. */
function settingsIn(listed: string): readonly GitSetting[] {
  return [...listed.matchAll(/([^\0]*)\0([^\0\n]*)\n?([^\0]*)(?:\0|$)/g)].map(
    ([, scope = "", key = "", value = ""]) => ({ scope, key, value }),
  );
}

/** Opens the records of a repository for `use`; nothing is fetched yet. */
export async function withRunRecords<T>(
  place: RecordPlace,
  io: World,
  use: (records: RunRecords) => Promise<T>,
): Promise<T> {
  return withRefs(place, RECORD_REFS, io, (refs) =>
    use(openRunRecords(refs, signingKey(io.env), (ms) => io.sleep(ms))),
  );
}

/** Opens the refs of a repository below a prefix for `use`; nothing is fetched yet. */
export async function withRefs<T>(
  { url, gitFolder, config }: RecordPlace,
  prefix: string,
  io: World,
  use: (refs: GitRefs) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "rolecall-git-"));
  const effects = { folder, clone: gitFolder, env: io.env, config, timeout: TIMEOUT_MS, now: io.now };
  const refs = openRefs({ url, prefix, authorization: null }, effects);
  try {
    return await use(refs);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Throws RolecallError if everybody can read a repository. */
export async function requirePrivate(place: RecordPlace, io: World): Promise<void> {
  if (place.keeping === "local" || !(await isReadableByAll(place.url, io))) return;
  throw new RolecallError(
    "usage",
    `The repository ${withoutCredentials(place.url)} can be read without credentials, and a run's record contains the addresses of members.`,
    {
      hint: "To publish them anyway, pass --allow-public. Otherwise use --records off or --records local.",
    },
  );
}

/** Returns whether a server serves a repository without credentials; false if that cannot be determined. */
export async function isReadableByAll(url: string, { env }: World): Promise<boolean> {
  const asked = anonymousUrl(url);
  if (asked === null) return false;
  const home = await mkdtemp(join(tmpdir(), "rolecall-home-"));
  // Neither stored credentials nor settings of the user apply.
  const { XDG_CONFIG_HOME: _, SSH_AUTH_SOCK: __, ...rest } = gitEnvironment(env);
  const own = Object.entries(rest).filter(([name]) => !name.startsWith("GIT_CONFIG"));
  const anonymous = { ...Object.fromEntries(own), HOME: home, USERPROFILE: home, GIT_CONFIG_NOSYSTEM: "1" };
  try {
    const args = ["-C", home, "-c", "credential.helper=", "-c", "core.askPass=", "ls-remote", "--quiet"];
    return (await runGit([...args, asked, "HEAD"], "", anonymous, PROBE_MS)).code === 0;
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

const PROBE_MS = 15_000;

/** Returns the URL at which a server would serve a repository to everybody; `null` for one on this machine. */
function anonymousUrl(url: string): string | null {
  const plain = withoutCredentials(url);
  if (/^(https?|git):\/\//.test(plain)) return plain;
  const byHost = /:\/\//.test(plain) ? /^ssh:\/\/([^/:]+)(?::\d+)?\/(.+)$/ : /^(?:[^@/]+@)?([^/:]+):(.+)$/;
  const [, host, path] = byHost.exec(plain) ?? [];
  return host === undefined ? null : `https://${host}/${path}`;
}
