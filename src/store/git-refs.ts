import { spawn } from "node:child_process";
import { basename } from "node:path";
import { oneLine } from "../lib/escape.ts";
import { RolecallError } from "../model/errors.ts";

/** Thrown where git could not reach the refs; `forbidden` if the repository refused. */
export class GitError extends RolecallError {}

/** The repository with the refs, and how git reaches it. */
export interface GitRemote {
  /** URL or path of the repository. */
  readonly url: string;
  /** Begins the names of the refs, such as `refs/rolecall`. */
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
  /** Returns everything but folders of a commit, which is fetched without its history if needed. */
  entries(commit: string): Promise<readonly CommitEntry[]>;
  /** Returns the contents of such entries, in their order. */
  contents(ids: readonly string[]): Promise<readonly Buffer[]>;
  parents(commit: string): Promise<readonly string[]>;
}

/** New texts of files by path; `null` removes a file. */
export type FileEdits = ReadonlyMap<string, string | null>;

/** A ref to move, from the commit that it has to have, to another; `null` for none. */
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
  /** Fetches all refs, without their history; returns their commits by name below the prefix. */
  fetch(): Promise<ReadonlyMap<string, string>>;
  /** Makes a commit of edited files on top of another; returns its name. */
  commit(parent: string | null, edits: FileEdits, message: string): Promise<string>;
  /**
   * Returns the commit that changed a file last, along the first parents of a commit; `null` if the clone does not have
   * their whole history.
   */
  lastCommitOf(path: string, commit: string): Promise<string | null>;
  /** Moves refs, all or none; returns false if one does not have the commit that it has to have. */
  push(moves: readonly RefMove[]): Promise<boolean>;
}

/** Opens the refs of a remote repository; nothing is fetched yet. */
export function openRefs({ url, prefix, authorization }: GitRemote, effects: GitEffects): GitRefs {
  const env = { ...gitEnvironment(effects.env), ...headerConfig(url, authorization) };
  const run = (args: readonly string[], input = "", more = {}): Promise<GitEnd> =>
    runGit(["--git-dir", effects.folder, ...args], input, { ...env, ...more });
  let initialized: Promise<unknown> | undefined;
  const attempt = async (args: readonly string[], input?: string, more?: GitEnv): Promise<GitEnd> => {
    initialized ??= run(["init", "--quiet", "--bare"]).then(checked);
    await initialized;
    return run(args, input, more);
  };
  const git = async (args: readonly string[], input?: string): Promise<Buffer> =>
    checked(await attempt(args, input));
  let cloned: Promise<GitEnv> | undefined;
  /** Runs git with the objects of the clone besides its own, which only reading may rely on. */
  const read = async (args: readonly string[], input?: string): Promise<GitEnd> => {
    cloned ??= objectsOf(effects.clone, env);
    return attempt(args, input, await cloned);
  };
  const fetched = new Set<string>();
  const fetchCommit = async (commit: string): Promise<void> => {
    if (fetched.has(commit)) return;
    const listed = await read(["rev-list", "--objects", "--quiet", `${commit}^{tree}`]);
    if (listed.code !== 0) await git(["fetch", "--quiet", "--no-tags", "--depth=1", url, commit]);
    fetched.add(commit);
  };
  let commits = 0;
  return {
    fetch: async () => {
      const refspec = `+${prefix}/*:${prefix}/*`;
      const end = await attempt(["fetch", "--quiet", "--no-tags", "--prune", "--depth=1", url, refspec]);
      // Without such a ref, git fails silently.
      if (end.code === 1 && end.errors.trim() === "") return new Map();
      checked(end);
      const listed = await git(["for-each-ref", "--format=%(objectname) %(refname)", `${prefix}/`]);
      return new Map(
        lines(listed).map((line) => {
          const [commit = "", name = ""] = line.split(" ");
          fetched.add(commit);
          return [name.slice(prefix.length + 1), commit] as const;
        }),
      );
    },
    entries: async (commit) => {
      await fetchCommit(commit);
      const listed = checked(await read(["ls-tree", "-r", "-z", "--full-tree", commit])).toString("utf8");
      return [...listed.matchAll(/(\d+) (\w+) (\w+)\t([^\0]+)\0/g)].map(
        ([, mode, kind, id = "", path = ""]) => {
          return { path, type: kind === "commit" ? "submodule" : mode === LINK ? "link" : "file", id };
        },
      );
    },
    contents: async (ids) =>
      ids.length === 0
        ? []
        : parseBatch(checked(await read(["cat-file", "--batch"], ids.map((id) => `${id}\n`).join("")))),
    parents: async (commit) => {
      await fetchCommit(commit);
      // As the commit names them: where the history is shallow, git would say that it has none.
      const [head = ""] = checked(await read(["cat-file", "commit", commit]))
        .toString("utf8")
        .split("\n\n", 1);
      return [...head.matchAll(/^parent (\w+)$/gm)].map(([, parent = ""]) => parent);
    },
    lastCommitOf: async (path, commit) => {
      if (effects.clone === null) return null;
      const inClone = ["--git-dir", effects.clone, "--literal-pathspecs"];
      const shallow = await runGit([...inClone, "rev-parse", "--is-shallow-repository"], "", env);
      if (shallow.output.toString("utf8").trim() !== "false") return null;
      const log = ["rev-list", "--max-count=1", "--first-parent", commit, "--", path];
      const { code, output } = await runGit([...inClone, ...log], "", env);
      return code === 0 ? (lines(output)[0] ?? null) : null;
    },
    commit: async (parent, edits, message) => {
      commits += 1;
      const seconds = Math.floor(effects.now() / 1000);
      const head = [
        `commit refs/made/${commits}`,
        "mark :1",
        `committer rolecall <rolecall@localhost> ${seconds} +0000`,
        // Without the store's own name, two writers of the same change would make one commit, and both seem to come first.
        dataOf(`${message}\n\n${basename(effects.folder)} ${commits}`),
        ...(parent === null ? [] : [`from ${parent}`]),
      ];
      const changes = [...edits].map(([path, text]) =>
        text === null ? `D ${path}` : `M 100644 inline ${path}\n${dataOf(text)}`,
      );
      const script = [...head, ...changes, "", "get-mark :1", ""].join("\n");
      return (await git(["fast-import", "--quiet", "--force"], script)).toString("utf8").trim();
    },
    push: async (moves) => {
      if (moves.length === 0) return true;
      const leases = moves.map(({ ref, from }) => `--force-with-lease=${prefix}/${ref}:${from ?? ""}`);
      const refspecs = moves.map(({ ref, to }) => `${to ?? ""}:${prefix}/${ref}`);
      const end = await attempt(["push", "--atomic", ...leases, url, ...refspecs]);
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

type GitEnv = Readonly<Record<string, string>>;

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

interface GitEnd {
  /** `null` if it could not be started. */
  readonly code: number | null;
  readonly output: Buffer;
  readonly errors: string;
}

function runGit(args: readonly string[], input: string, env: GitEnv): Promise<GitEnd> {
  return new Promise((resolve) => {
    const child = spawn("git", args, { env, stdio: ["pipe", "pipe", "pipe"] });
    const [output, errors]: [Buffer[], Buffer[]] = [[], []];
    child.stdout.on("data", (chunk: Buffer) => output.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => errors.push(chunk));
    const end = (code: number | null, text: string): void =>
      resolve({ code, output: Buffer.concat(output), errors: text });
    child.on("error", (error) => end(null, error.message));
    child.on("close", (code) => end(code, Buffer.concat(errors).toString("utf8")));
    // A git that ends early closes its input; its exit code says why.
    child.stdin.on("error", () => undefined);
    child.stdin.end(input);
  });
}

/** Returns the output of git; throws RolecallError if it failed. */
function checked({ code, output, errors }: GitEnd): Buffer {
  if (code === 0) return output;
  if (code === null) throw new GitError("usage", `git could not be started: ${oneLine(errors)}.`);
  const said = errors.split("\n").filter((line) => line.trim() !== "" && !line.startsWith("hint:"));
  const why = oneLine(said.slice(0, 3).join(" ")).replace(/^(fatal|error): /, "") || `git ended with ${code}`;
  throw new GitError(DENIED.test(errors) ? "forbidden" : "network", `git: ${why}.`);
}

const DENIED = /\b40[13]\b|denied|declined|not permitted|Authentication failed|could not read Username/i;

/** Variables that git gets besides its own: no keys, and nothing that names another repository. */
const PASSED =
  /^(PATH|HOME|USERPROFILE|SYSTEMROOT|TMPDIR|TEMP|TMP|LANG|SSL_\w+|\w+_PROXY|GIT_(CONFIG|SSL|TRACE|EXEC)\w*)$/i;

function gitEnvironment(env: GitEffects["env"]): GitEnv {
  const passed = Object.entries(env).filter(([name, value]) => PASSED.test(name) && value !== undefined);
  return { ...(Object.fromEntries(passed) as GitEnv), GIT_TERMINAL_PROMPT: "0", LC_ALL: "C" };
}

/** Returns the header as configuration by variables: every process of the machine can read arguments. */
function headerConfig(url: string, authorization: string | null): GitEnv {
  if (authorization === null) return {};
  return {
    GIT_CONFIG_COUNT: "1",
    GIT_CONFIG_KEY_0: `http.${url}.extraheader`,
    GIT_CONFIG_VALUE_0: `AUTHORIZATION: ${authorization}`,
  };
}
