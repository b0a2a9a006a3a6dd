import { posix } from "node:path";
import type { ReadSource } from "../../kernel/read/load-sources.ts";
import type { CommitEntry, GitCommits } from "../../store/git-refs.ts";
import { decodeUtf8, isProjectYaml } from "./find-files.ts";

/** The files of a commit; links within the repository are followed, as they are in a checkout. */
export interface CommitFiles {
  /** Returns a file, or all YAML files below a folder, by their paths without links; the empty path is the root. */
  below(path: string): readonly string[];
  /** Returns a content by a path that may lead through links; `null` if there is no such file. */
  content(path: string): Promise<Buffer | null>;
  /** Reads many files at once. */
  preload(files: readonly string[]): Promise<void>;
  readonly read: ReadSource;
  /** The submodules: nothing in them is known. */
  readonly submodules: readonly string[];
}

/** Lists the files of a commit. */
export async function openCommitFiles(commit: string, git: GitCommits): Promise<CommitFiles> {
  const listed = await git.entries(commit);
  const entries = new Map(listed.map((entry) => [entry.path, entry]));
  const contents = new Map<string, Buffer>();
  const load = async (missing: readonly CommitEntry[]): Promise<void> => {
    const ids = [...new Set(missing.map(({ id }) => id))].filter((id) => !contents.has(id));
    const texts = await git.contents(ids);
    for (const [index, id] of ids.entries()) contents.set(id, texts[index] ?? Buffer.alloc(0));
  };
  await load(listed.filter(({ type }) => type === "link"));
  /** Returns a path without links; `null` if it leads nowhere in the repository. */
  const realPath = (path: string, links = 0): string | null => {
    const names = path.split("/");
    for (const [index] of names.entries()) {
      const entry = entries.get(names.slice(0, index + 1).join("/"));
      if (entry === undefined) continue;
      if (entry.type !== "link") return index === names.length - 1 ? path : null;
      const target = contents.get(entry.id)?.toString("utf8") ?? "";
      const next = linkedPath(entry.path, target, names.slice(index + 1));
      return next === null || links === MAX_LINKS ? null : realPath(next, links + 1);
    }
    return path;
  };
  const fileAt = (path: string): CommitEntry | null => {
    const entry = entries.get(realPath(path) ?? "");
    return entry?.type === "file" ? entry : null;
  };
  const contentOf = async (file: CommitEntry): Promise<Buffer> => {
    await load([file]);
    return contents.get(file.id) ?? Buffer.alloc(0);
  };
  return {
    submodules: listed.flatMap(({ path, type }) => (type === "submodule" ? path : [])),
    below: (path) => {
      const real = realPath(path);
      if (real === null) return [];
      const file = fileAt(real);
      if (file !== null) return [file.path];
      const folder = real === "" ? "" : `${real}/`;
      return listed.flatMap(({ path: inside }) =>
        inside.startsWith(folder) && isProjectYaml(inside.slice(folder.length))
          ? (fileAt(inside)?.path ?? [])
          : [],
      );
    },
    content: async (path) => {
      const file = fileAt(path);
      return file && contentOf(file);
    },
    preload: (files) => load(files.flatMap((file) => fileAt(file) ?? [])),
    read: async (path, from) => {
      const normalized = posix.normalize(from === null ? path : posix.join(posix.dirname(from), path));
      if (normalized.startsWith("..")) return { ok: false, reason: "outside-root" };
      const file = fileAt(normalized);
      if (file === null) return { ok: false, reason: "missing" };
      const text = decodeUtf8(await contentOf(file));
      return text === null ? { ok: false, reason: "not-utf8" } : { ok: true, file: file.path, text };
    },
  };
}

/** Maximum number of links on the way to a file. */
const MAX_LINKS = 40;

/** Returns where a link and the names after it lead to; `null` if that is outside the repository. */
function linkedPath(link: string, target: string, rest: readonly string[]): string | null {
  if (target === "" || posix.isAbsolute(target)) return null;
  const path = posix.join(posix.dirname(link), target, ...rest).replace(/\/$/, "");
  if (path === ".." || path.startsWith("../")) return null;
  return path === "." ? "" : path;
}
