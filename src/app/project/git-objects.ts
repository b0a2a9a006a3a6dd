import { spawn } from "node:child_process";
import { statSync } from "node:fs";
import { basename, dirname, join, posix, relative, sep } from "node:path";
import type { ReadSource } from "../../kernel/read/load-sources.ts";
import { oneLine } from "../../lib/escape.ts";
import { memoized } from "../../lib/memoized.ts";
import { RolecallError } from "../../model/errors.ts";
import { decodeUtf8, isProjectYaml, withoutLinks } from "./find-files.ts";
import { gitOutput } from "./git-output.ts";

/** Runs git and returns what it prints; throws RolecallError. */
export type Git = (...args: readonly string[]) => Promise<string>;

/** A repository of git. */
export interface Repository {
  /** Absolute path, without links. */
  readonly root: string;
  /** True if older commits are missing. */
  readonly shallow: boolean;
  readonly git: Git;
}

/** Returns the innermost existing folder of a path, since files in the history may be deleted. */
export function existingFolder(path: string): string {
  let folder = path;
  while (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) folder = dirname(folder);
  return folder;
}

/** Finds the repository of a folder; throws RolecallError, which names the option that needs it. */
export async function openRepository(folder: string, option: string): Promise<Repository> {
  const about = await gitIn(folder, option)("rev-parse", "--show-toplevel", "--is-shallow-repository");
  const [top = "", shallow] = about.split("\n");
  return { root: withoutLinks(top), shallow: shallow === "true", git: gitIn(top, option) };
}

function gitIn(cwd: string, option: string): Git {
  return async (...args) => {
    try {
      return await gitOutput(cwd, args);
    } catch (cause) {
      const { code, stderr = "" } = cause as { readonly code?: unknown; readonly stderr?: string };
      const [said = ""] = stderr.split("\n");
      const why =
        code === "ENOENT" ? "git is not installed" : said.replace(/^fatal: |\.$/g, "") || "git failed";
      throw new RolecallError("usage", `${option} needs the git history: ${oneLine(why)}.`, {
        hint: `Run the command in a git repository${option.startsWith("--") ? `, or without ${option}` : ""}.`,
        cause,
      });
    }
  };
}

/** Returns a function that makes absolute paths relative to a folder, as git writes them; links in folders are followed. */
export function repositoryPaths(root: string): (path: string) => string {
  const realPath = memoized(withoutLinks);
  return (path) =>
    relative(root, join(realPath(dirname(path)), basename(path)))
      .split(sep)
      .join("/");
}

/** Returns whether a path in a repository is one of others, or that of a YAML file below one. */
export function isBelow(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => {
    const below = posix.relative(folder, path);
    return below === "" || (!below.startsWith("..") && isProjectYaml(below));
  });
}

/** Returns a reader of the files of a commit, with their includes. */
export function commitReader(blobs: Blobs, commit: string): ReadSource {
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
export interface Blobs {
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
    for (const request of waiting.splice(0)) request.reject(error);
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
