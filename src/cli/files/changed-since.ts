import { execFile, spawn } from "node:child_process";
import { basename, dirname, join, posix, relative, resolve, sep } from "node:path";
import { promisify } from "node:util";
import type { ReadSource } from "../../config/load-sources.ts";
import { oneLine } from "../../lib/escape.ts";
import { RolecallError } from "../../model/errors.ts";
import { decodeUtf8, isProjectYaml, withoutLinks } from "./find-files.ts";
import { includeClosures } from "./scan-files.ts";

const run = promisify(execFile);
const MAX_OUTPUT = 256 * 1024 * 1024;

/** The files whose merchants may differ from those of a commit. */
export interface ChangedFiles {
  /** Files of the working tree, as absolute paths. */
  readonly files: readonly string[];
  /** Files of the commit, relative to the root of the repository. */
  readonly before: readonly string[];
  /** Reads the files of the commit, with their includes. */
  readonly read: ReadSource;
  close(): void;
}

/**
 * Finds the files, of those below the paths, that differ from a commit or include one that does. Throws RolecallError
 * without git, and for an unknown commit.
 */
export async function changedFiles(
  ref: string,
  paths: readonly string[],
  files: readonly string[],
  cwd: string,
): Promise<ChangedFiles> {
  const { root, commit, git } = await openRepository(ref, dirname(files[0] ?? join(cwd, "access")));
  const listings = Promise.all([
    git("diff", "--raw", "-z", "--no-renames", "--no-ext-diff", "--ignore-submodules", commit),
    git("ls-tree", "-r", "-z", "--name-only", "--full-tree", commit),
  ]);
  // Read while git works.
  const closures = includeClosures(files);
  const [compared = "", listed = ""] = await listings;
  const [changed, known] = [parseRaw(compared), new Set(listed.split("\0"))];
  const inRoot = pathsIn(root);
  const isChanged = (path: string): boolean => changed.paths.has(path) || !known.has(path);
  // A link can lead anywhere, so every file may have another content.
  const differing = changed.links
    ? files
    : files.filter((file) => {
        const closure = closures.get(file) ?? null;
        return closure === null || [...closure].some((one) => isChanged(inRoot(one)));
      });
  const wanted = paths.map((path) => inRoot(resolve(cwd, path)));
  const isWanted = (path: string): boolean =>
    wanted.some((one) => {
      const below = posix.relative(one, path);
      return below === "" || (!below.startsWith("..") && isProjectYaml(below));
    });
  const before = new Set([
    ...[...(changed.links ? known : changed.paths)].filter(isWanted),
    ...differing.map(inRoot),
  ]);
  const blobs = openBlobs(root);
  return {
    files: differing,
    before: [...before].filter((path) => known.has(path)).sort(),
    read: readerOf(blobs, commit),
    close: blobs.close,
  };
}

type Git = (...args: readonly string[]) => Promise<string>;

/** A commit in its repository. */
interface Repository {
  /** Absolute path, without links. */
  readonly root: string;
  readonly commit: string;
  readonly git: Git;
}

/** Finds the repository of a folder, and a commit in it by its name. */
async function openRepository(ref: string, folder: string): Promise<Repository> {
  if (ref.trim() === "") {
    throw new RolecallError("usage", "--changed-since needs a commit, and was given an empty text.", {
      hint: "Name a commit, a tag or a branch. If it comes from a variable, that is not set.",
    });
  }
  const about = await gitIn(folder)("rev-parse", "--show-toplevel", "--is-shallow-repository");
  const [top = "", shallow] = about.split("\n");
  const [root, git] = [withoutLinks(top), gitIn(top)];
  const found = ["rev-parse", "--verify", "--quiet", "--end-of-options", `${ref}^{commit}`];
  const commit = await git(...found).catch((cause: unknown) => {
    throw new RolecallError("usage", `--changed-since: git knows no commit ${oneLine(ref)}.`, {
      hint:
        shallow === "true"
          ? "This clone is shallow: fetch older commits with git fetch --unshallow, or check out with fetch-depth: 0."
          : "Name a commit, a tag or a branch. If it is only on the remote, fetch it first.",
      cause,
    });
  });
  return { root, commit: commit.trim(), git };
}

function gitIn(cwd: string): Git {
  return async (...args) => {
    try {
      return (await run("git", args, { cwd, maxBuffer: MAX_OUTPUT })).stdout;
    } catch (cause) {
      const { code, stderr = "" } = cause as { readonly code?: unknown; readonly stderr?: string };
      const [said = ""] = stderr.split("\n");
      const why = code === "ENOENT" ? "git is not installed" : said.replace(/^fatal: /, "") || "git failed";
      throw new RolecallError("usage", `--changed-since needs the history of git: ${oneLine(why)}.`, {
        hint: "Run it in a git repository; without the option, every merchant is selected.",
        cause,
      });
    }
  };
}

/** Returns a function that makes absolute paths relative to a folder, as git writes them; links in folders are followed. */
function pathsIn(root: string): (path: string) => string {
  const folders = new Map<string, string>();
  return (path) => {
    const folder = dirname(path);
    const real = folders.get(folder) ?? withoutLinks(folder);
    folders.set(folder, real);
    return relative(root, join(real, basename(path)))
      .split(sep)
      .join("/");
  };
}

/** Parses `git diff --raw -z`: the paths that differ, and whether a link or a submodule is one of them. */
function parseRaw(output: string): { readonly paths: ReadonlySet<string>; readonly links: boolean } {
  const entries = [...output.matchAll(/:(\d+) (\d+) [^\0]+\0([^\0]+)\0/g)];
  return {
    paths: new Set(entries.flatMap(([, , , path]) => path ?? [])),
    links: entries.some((modes) => modes.slice(1, 3).some((mode) => mode === "120000" || mode === "160000")),
  };
}

function readerOf(blobs: Blobs, commit: string): ReadSource {
  return async (path, from) => {
    const file = posix.normalize(from === null ? path : posix.join(posix.dirname(from), path));
    if (file.startsWith("..")) return { ok: false, reason: "outside-root" };
    const bytes = await blobs.read(`${commit}:${file}`);
    if (bytes === null) return { ok: false, reason: "missing" };
    const text = decodeUtf8(bytes);
    return text === null ? { ok: false, reason: "not-utf8" } : { ok: true, file, text };
  };
}

/** The contents of files that a clone has. */
interface Blobs {
  /** Returns a content by its git object name, or by `commit:path`; `null` if there is none. */
  read(name: string): Promise<Buffer | null>;
  close(): void;
}

/** Starts one process of git that answers every request in order. */
export function openBlobs(cwd: string): Blobs {
  const child = spawn("git", ["cat-file", "--batch", "--follow-symlinks"], {
    cwd,
    stdio: ["pipe", "pipe", "ignore"],
  });
  const waiting: {
    readonly resolve: (bytes: Buffer | null) => void;
    readonly reject: (error: Error) => void;
  }[] = [];
  let chunks: Buffer[] = [];
  let [length, needed] = [0, 1];
  const fail = (cause: unknown): void => {
    const error = new RolecallError("file-unreadable", "git cannot read the files of the commit.", { cause });
    for (const one of waiting.splice(0)) one.reject(error);
  };
  child.on("error", fail);
  child.on("close", fail);
  child.stdin.on("error", fail);
  child.stdout.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    length += chunk.length;
    if (length < needed) return;
    let rest: Buffer = Buffer.concat(chunks);
    for (;;) {
      const answer = parseAnswer(rest);
      if ("needed" in answer) {
        needed = answer.needed;
        break;
      }
      rest = rest.subarray(answer.end);
      waiting.shift()?.resolve(answer.bytes);
    }
    [chunks, length] = [[rest], rest.length];
  });
  return {
    read: (name) =>
      new Promise((resolve, reject) => {
        // A line is a request, so such a path cannot be named.
        if (name.includes("\n")) return resolve(null);
        waiting.push({ resolve, reject });
        child.stdin.write(`${name}\n`);
      }),
    close: () => void child.stdin.end(),
  };
}

/** Parses the first answer of `git cat-file --batch`; `needed` bytes if it is not complete. */
function parseAnswer(
  output: Buffer,
): { readonly needed: number } | { readonly bytes: Buffer | null; readonly end: number } {
  const header = output.indexOf("\n") + 1;
  if (header === 0) return { needed: output.length + 1 };
  const [, type, size] = /(?:^|\s)(\w+) (\d+)\n$/.exec(output.toString("latin1", 0, header)) ?? [];
  // "… missing" has no content.
  if (size === undefined) return { bytes: null, end: header };
  const end = header + Number(size) + 1;
  if (output.length < end) return { needed: end };
  return { bytes: type === "blob" ? Buffer.from(output.subarray(header, end - 1)) : null, end };
}
