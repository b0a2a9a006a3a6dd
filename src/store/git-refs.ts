import { basename } from "node:path";
import { checked, configEnvironment, type GitEnd, type GitEnv, gitEnvironment, runGit } from "./run-git.ts";

export { GitError } from "./run-git.ts";

/** The repository with the refs, and how git reaches it. */
export interface GitRemote {
  /** URL or path of the repository. */
  readonly url: string;
  /** Prefix of the names of the refs, such as `refs/rolecall`. */
  readonly prefix: string;
  /** Value of the HTTP header `Authorization`; `null` for none. */
  readonly authorization: string | null;
}

/** The machine that git runs on. */
export interface GitEffects {
  /** Absolute path of a folder for a repository of the store's own; git creates it. */
  readonly folder: string;
  /** Absolute path of the `.git` of a clone, whose objects need not be fetched; `null` for none. */
  readonly clone: string | null;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The clone's own configuration for accessing the repository; absent: none. */
  readonly config?: readonly (readonly [string, string])[];
  /** Time after which a git process is killed, in ms; absent: never. */
  readonly timeout?: number;
  /** In ms since the epoch. */
  now(): number;
}

/** A file, link or submodule of a commit. */
export interface CommitEntry {
  readonly path: string;
  readonly type: "file" | "link" | "submodule";
  /** Git object name of its content; that of a link is the path that it leads to. */
  readonly id: string;
}

/** The commits of a repository. Every method throws GitError. */
export interface GitCommits {
  /** Returns the parents of a commit, which is fetched without its history if needed. */
  parents(commit: string): Promise<readonly string[]>;
  /** Returns all entries of a commit except folders; the commit is fetched without its history if needed. */
  entries(commit: string): Promise<readonly CommitEntry[]>;
  /** Returns the contents of such entries, in their order. */
  contents(ids: readonly string[]): Promise<readonly Buffer[]>;
}

/** A commit as it is stored. */
export interface CommitObject {
  /** Git object name of its tree. */
  readonly tree: string;
  readonly parents: readonly string[];
  /** In ms since the epoch. */
  readonly time: number;
  readonly message: string;
}

/** A commit of a history, with the files that it changed. */
export interface HistoryCommit {
  readonly id: string;
  /** In ms since the epoch. */
  readonly time: number;
  /** Git object names of the new contents by path; `null` for a removed file. */
  readonly files: ReadonlyMap<string, string | null>;
}

/** New texts of files by path; `null` removes a file. */
export type FileEdits = ReadonlyMap<string, string | null>;

/** A move of a ref from its expected commit to another one; `null` for no ref. */
export interface RefMove {
  readonly ref: string;
  readonly from: string | null;
  readonly to: string | null;
}

/**
 * The refs of a repository below a prefix, each with a folder of small files. Branches, index and working tree of a clone
 * are not involved: git works in a repository of the store's own. Every method throws GitError.
 */
export interface GitRefs extends GitCommits {
  /** Returns commits that were fetched, in their order. */
  describe(commits: readonly string[]): Promise<readonly CommitObject[]>;
  /**
   * Fetches refs without their history, all or those with such names below the prefix, in which `*` stands for any text;
   * returns their commits by name.
   */
  fetch(names?: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Fetches a ref with its history; returns its commits along first parents, the newest first; empty without such a ref. */
  history(name: string): Promise<readonly HistoryCommit[]>;
  /** Identifies the store among all writers. */
  readonly writer: string;
  /** Makes a commit of edited files on top of another; returns its name. */
  commit(parent: string | null, edits: FileEdits, message: string): Promise<string>;
  /** Makes a tree of these files alone; returns its name. */
  writeTree(files: ReadonlyMap<string, string>): Promise<string>;
  /** Makes a commit of such a tree; returns its name. A parent that the remote repository does not have is left out. */
  commitTree(tree: string, parent: string | null, message: string): Promise<string>;
  /**
   * Returns the commit that changed a file last, along the first parents of a commit; `null` if the clone does not have
   * their whole history.
   */
  lastCommitOf(path: string, commit: string): Promise<string | null>;
  /** Moves refs, all or none; returns false if one does not have its expected commit. */
  push(moves: readonly RefMove[]): Promise<boolean>;
}

/** Opens the refs of a remote repository; nothing is fetched yet. */
export function openRefs({ url, prefix, authorization }: GitRemote, effects: GitEffects): GitRefs {
  // The name of an extra header, as set by GitHub's checkout.
  const header = [[`http.${url}.extraheader`, `AUTHORIZATION: ${authorization}`]] as const;
  const config = [...(effects.config ?? []), ...(authorization === null ? [] : header)];
  const env = { ...gitEnvironment(effects.env), ...configEnvironment(config) };
  // Its folder may be removed before a background garbage collection has ended.
  const own = ["--git-dir", effects.folder, "-c", "gc.auto=0", "-c", "maintenance.auto=false"];
  const run = (args: readonly string[], input = "", more = {}): Promise<GitEnd> =>
    runGit([...own, ...args], input, { ...env, ...more }, effects.timeout);
  let initialized: Promise<unknown> | undefined;
  const initialize = async (): Promise<unknown> => {
    initialized ??= run(["init", "--quiet", "--bare"]).then(checked);
    return initialized;
  };
  let cloned: Promise<GitEnv> | undefined;
  /**
   * Runs git with the objects of the clone besides its own, which only reading may rely on, and commits on top of one of
   * the clone's.
   */
  const read = async (args: readonly string[], input?: string): Promise<GitEnd> => {
    await initialize();
    cloned ??= objectsOf(effects.clone, env);
    return run(args, input, await cloned);
  };
  /** True if a commit of the clone's is the parent of one to be pushed. */
  let isOnClone = false;
  const attempt = async (args: readonly string[], input?: string): Promise<GitEnd> => {
    await initialize();
    return isOnClone ? read(args, input) : run(args, input);
  };
  const git = async (args: readonly string[], input?: string): Promise<Buffer> =>
    checked(await attempt(args, input));
  const fetched = new Set<string>();
  const fetchCommit = async (commit: string): Promise<void> => {
    if (fetched.has(commit)) return;
    const listed = await read(["rev-list", "--objects", "--quiet", `${commit}^{tree}`]);
    if (listed.code !== 0) await git(["fetch", "--quiet", "--no-tags", "--depth=1", url, commit]);
    fetched.add(commit);
  };
  const contentsOf = async (ids: readonly string[]): Promise<readonly Buffer[]> =>
    ids.length === 0
      ? []
      : parseBatch(checked(await read(["cat-file", "--batch"], ids.map((id) => `${id}\n`).join(""))));
  const describe = async (commits: readonly string[]): Promise<readonly CommitObject[]> => {
    const texts = await contentsOf(commits);
    return texts.map((text) => parseCommit(text.toString("utf8")));
  };
  let commits = 0;
  const parentIn = async (commit: string): Promise<string | null> => {
    // Even if the clone has the commit: only git can tell whether the remote repository does.
    const end = await read(["fetch", "--quiet", "--no-tags", "--depth=1", url, commit]);
    isOnClone ||= end.code === 0;
    return end.code === 0 ? commit : null;
  };
  const importCommit = async (lines: readonly string[], message: string): Promise<string> => {
    commits += 1;
    const seconds = Math.floor(effects.now() / 1000);
    const head = [
      `commit refs/made/${commits}`,
      "mark :1",
      `committer rolecall <rolecall@localhost> ${seconds} +0000`,
      dataOf(message),
    ];
    const script = [...head, ...lines, "", "get-mark :1", ""].join("\n");
    return (await git(["fast-import", "--quiet", "--force"], script)).toString("utf8").trim();
  };
  return {
    fetch: async (names = ["*"]) => {
      const refspecs = names.map((name) => `+${prefix}/${name}:${prefix}/${name}`);
      const end = await attempt(["fetch", "--quiet", "--no-tags", "--prune", "--depth=1", url, ...refspecs]);
      // Without such a ref, git fails silently.
      if (end.code === 1 && end.errors.trim() === "") return new Map();
      checked(end);
      const patterns = names.map((name) => `${prefix}/${name.replace(/(^|\/)\*$/, "$1")}`);
      const listed = await git([
        "for-each-ref",
        "--format=%(objecttype) %(objectname) %(refname)",
        ...patterns,
      ]);
      return new Map(
        lines(listed).flatMap((line) => {
          const [type, commit = "", name = ""] = line.split(" ");
          // Somebody may have pushed anything.
          if (type !== "commit") return [];
          fetched.add(commit);
          return [[name.slice(prefix.length + 1), commit] as const];
        }),
      );
    },
    history: async (name) => {
      const ref = `${prefix}/${name}`;
      const fetch = ["fetch", "--quiet", "--no-tags", `--depth=${WHOLE}`, url, `+${ref}*:${ref}*`];
      const end = await attempt(fetch);
      if (end.code === 1 && end.errors.trim() === "") return [];
      checked(end);
      const listed = await git(["for-each-ref", "--format=%(refname)", ref]);
      if (!lines(listed).includes(ref)) return [];
      const format = ["--format=commit %H %ct", "--raw", "--no-abbrev", "--no-renames", "--root"];
      return parseHistory(await git(["log", "--first-parent", ...format, ref, "--"]));
    },
    writer: basename(effects.folder),
    entries: async (commit) => {
      await fetchCommit(commit);
      const listed = checked(await read(["ls-tree", "-r", "-z", "--full-tree", commit])).toString("utf8");
      return [...listed.matchAll(/(\d+) (\w+) (\w+)\t([^\0]+)\0/g)].map(
        ([, mode, kind, id = "", path = ""]) => {
          return { path, type: kind === "commit" ? "submodule" : mode === LINK ? "link" : "file", id };
        },
      );
    },
    contents: contentsOf,
    lastCommitOf: async (path, commit) => {
      if (effects.clone === null) return null;
      const inClone = ["--git-dir", effects.clone, "--literal-pathspecs"];
      const shallow = await runGit([...inClone, "rev-parse", "--is-shallow-repository"], "", env);
      if (shallow.output.toString("utf8").trim() !== "false") return null;
      const log = ["rev-list", "--max-count=1", "--first-parent", commit, "--", path];
      const { code, output } = await runGit([...inClone, ...log], "", env);
      return code === 0 ? (lines(output)[0] ?? null) : null;
    },
    parents: async (commit) => {
      await fetchCommit(commit);
      return (await describe([commit]))[0]?.parents ?? [];
    },
    describe,
    commit: async (parent, edits, message) => {
      const changes = [...edits].map(([path, text]) =>
        text === null ? `D ${path}` : `M 100644 inline ${path}\n${dataOf(text)}`,
      );
      return importCommit([...fromOf(parent), ...changes], message);
    },
    writeTree: async (files) => {
      const texts = [...files].map(([path, text]) => `M 100644 inline ${path}\n${dataOf(text)}`);
      const commit = await importCommit(texts, "Files");
      return (await git(["rev-parse", `${commit}^{tree}`])).toString("utf8").trim();
    },
    commitTree: async (tree, parent, message) => {
      const base = parent === null ? null : await parentIn(parent);
      return importCommit([...fromOf(base), `M 040000 ${tree} ""`], message);
    },
    push: async (moves) => {
      if (moves.length === 0) return true;
      const leases = moves.map(({ ref, from }) => `--force-with-lease=${prefix}/${ref}:${from ?? ""}`);
      const refspecs = moves.map(({ ref, to }) => `${to ?? ""}:${prefix}/${ref}`);
      const push = ["push", "--atomic", "--no-verify", ...leases, url, ...refspecs];
      const end = await attempt(push);
      if (end.code === 0) return true;
      // A ref that somebody else moved or locked meanwhile; every other refusal is an error.
      if (/\(stale info\)|\(fetch first\)|cannot lock ref|reference already exists/.test(end.errors))
        return false;
      checked(end);
      return false;
    },
  };
}

/** Returns the texts of the files of a commit by path. */
export async function textsOf(
  commit: string | undefined,
  { entries, contents }: GitCommits,
): Promise<ReadonlyMap<string, string>> {
  const listed = commit === undefined ? [] : await entries(commit);
  const texts = await contents(listed.map(({ id }) => id));
  return new Map(listed.map(({ path }, index) => [path, texts[index]?.toString("utf8") ?? ""]));
}

/** Mode of a symbolic link in a tree. */
const LINK = "120000";

/** The depth of a fetch by which git means all commits. */
const WHOLE = 2_147_483_647;

/** Returns the variable by which git also reads the objects of a clone; none if there is no clone. */
async function objectsOf(clone: string | null, env: GitEnv): Promise<GitEnv> {
  if (clone === null) return {};
  const { code, output } = await runGit(["--git-dir", clone, "rev-parse", "--git-path", "objects"], "", env);
  // Quoted, since the value is a list.
  return code === 0
    ? { GIT_ALTERNATE_OBJECT_DIRECTORIES: JSON.stringify(output.toString("utf8").trim()) }
    : {};
}

function lines(output: Buffer): readonly string[] {
  return output.toString("utf8").split("\n").filter(Boolean);
}

/** Parses a commit; its parents as it names them: where the history is shallow, git would say that it has none. */
function parseCommit(text: string): CommitObject {
  const end = text.indexOf("\n\n");
  const head = text.slice(0, end);
  return {
    tree: /^tree (\w+)$/m.exec(head)?.[1] ?? "",
    parents: [...head.matchAll(/^parent (\w+)$/gm)].map(([, parent = ""]) => parent),
    time: Number(/^committer .* (\d+) [-+]\d+$/m.exec(head)?.[1] ?? 0) * 1000,
    message: text.slice(end + 2),
  };
}

/** Parses the commits that `git log --raw` lists; quoted paths, which records never have, stay quoted. */
function parseHistory(output: Buffer): readonly HistoryCommit[] {
  const commits: { id: string; time: number; files: Map<string, string | null> }[] = [];
  for (const line of lines(output)) {
    const [, id, seconds] = /^commit (\w+) (\d+)$/.exec(line) ?? [];
    if (id !== undefined) commits.push({ id, time: Number(seconds) * 1000, files: new Map() });
    const [, content = "", status, path] = /^:\d+ \d+ \w+ (\w+) (\w)\d*\t(.+)$/.exec(line) ?? [];
    if (path !== undefined) commits.at(-1)?.files.set(path, status === "D" ? null : content);
  }
  return commits;
}

function fromOf(parent: string | null): readonly string[] {
  return parent === null ? [] : [`from ${parent}`];
}

/** Returns a text with its length in bytes in front, as `git fast-import` reads it. */
function dataOf(text: string): string {
  return `data ${Buffer.byteLength(text)}\n${text}`;
}

/** Parses the output of `git cat-file --batch` for objects that exist. */
function parseBatch(output: Buffer): readonly Buffer[] {
  const contents: Buffer[] = [];
  for (let offset = 0; offset < output.length; ) {
    const header = output.indexOf("\n", offset);
    const size = Number(output.toString("latin1", offset, header).split(" ")[2]);
    contents.push(output.subarray(header + 1, header + 1 + size));
    offset = header + 1 + size + 1;
  }
  return contents;
}
