import { createHash } from "node:crypto";
import { posix } from "node:path";
import { decodeUtf8, isProjectYaml } from "../../app/project/find-files.ts";
import { type Github, GithubError, type TreeEntry } from "../context/github-api.ts";

/** The files of a commit; links within the repository are followed, as they are in a checkout. */
export interface CommitFiles {
  /** Returns a file, or all YAML files below a folder, by their paths without links; the empty path is the root. */
  below(path: string): Promise<readonly string[]>;
  /** Returns the path of a file without links, or `null`. */
  fileAt(path: string): Promise<string | null>;
  /** Returns the git object name of a file, or `null`. */
  blobAt(path: string): Promise<string | null>;
  /** The submodules that were found below the paths asked for: nothing in them is known. */
  readonly submodules: ReadonlySet<string>;
}

/** Returns contents by their git object names. */
type ReadBlobs = (blobs: readonly string[]) => Promise<ReadonlyMap<string, Uint8Array>>;

/** The entries of a commit, as they are listed. */
interface Listing {
  entryAt(path: string): Promise<TreeEntry | null>;
  /** Returns everything but folders below a folder, with whole paths. */
  within(folder: TreeEntry): Promise<readonly TreeEntry[]>;
}

/** Reads the list of files of a commit, or folder by folder where GitHub truncates the whole list. */
export async function commitFiles(
  sha: string,
  github: Pick<Github, "tree" | "blob">,
  readBlobs: ReadBlobs = async (blobs) =>
    new Map(await Promise.all(blobs.map(async (blob) => [blob, await github.blob(blob)] as const))),
): Promise<CommitFiles> {
  const whole = await github.tree(sha, true);
  const { entryAt, within } = whole.truncated ? listedByFolder(sha, github) : listedWhole(whole.entries, sha);
  const targets = new Map<string, string | null>();
  const submodules = new Set<string>();
  const readLinks = async (links: readonly TreeEntry[]): Promise<void> => {
    const unread = [...new Set(links.map((link) => link.sha))].filter((blob) => !targets.has(blob));
    const texts = unread.length === 0 ? new Map<string, Uint8Array>() : await readBlobs(unread);
    for (const blob of unread) targets.set(blob, decodeUtf8(texts.get(blob) ?? new Uint8Array()));
  };
  const find = async (path: string, links = 0): Promise<TreeEntry | null> => {
    const names = path === "" ? [] : path.split("/");
    for (let depth = 1; depth <= names.length; depth++) {
      const entry = await entryAt(names.slice(0, depth).join("/"));
      if (entry?.type === "submodule") submodules.add(entry.path);
      if (entry === null || entry.type === "submodule") return null;
      if (entry.type !== "link") continue;
      await readLinks([entry]);
      const next = linkedPath(entry.path, targets.get(entry.sha) ?? "", names.slice(depth));
      return next === null || links === MAX_LINKS ? null : find(next, links + 1);
    }
    return entryAt(path);
  };
  const fileAt = async (path: string): Promise<TreeEntry | null> => {
    const entry = await find(path);
    return entry?.type === "file" ? entry : null;
  };
  return {
    submodules,
    below: async (path) => {
      const entry = await find(path);
      if (entry === null) return [];
      if (entry.type === "file") return [entry.path];
      const all = await within(entry);
      for (const one of all) if (one.type === "submodule") submodules.add(one.path);
      const wanted = all.filter((one) => isProjectYaml(posix.relative(entry.path, one.path)));
      await readLinks(wanted.filter(({ type }) => type === "link"));
      const files = await Promise.all(wanted.map((one) => (one.type === "file" ? one : fileAt(one.path))));
      return files.flatMap((file) => file?.path ?? []);
    },
    fileAt: async (path) => (await fileAt(path))?.path ?? null,
    blobAt: async (path) => (await fileAt(path))?.sha ?? null,
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

function listedWhole(entries: readonly TreeEntry[], root: string): Listing {
  const byPath = new Map<string, TreeEntry>([["", { path: "", type: "folder", sha: root }]]);
  for (const entry of entries) {
    byPath.set(entry.path, entry);
    for (
      let path = posix.dirname(entry.path);
      path !== "." && !byPath.has(path);
      path = posix.dirname(path)
    ) {
      byPath.set(path, { path, type: "folder", sha: "" });
    }
  }
  return {
    entryAt: async (path) => byPath.get(path) ?? null,
    within: async ({ path }) => {
      const folder = path === "" ? "" : `${path}/`;
      return entries.filter((entry) => entry.type !== "folder" && entry.path.startsWith(folder));
    },
  };
}

/** Reads each folder only once, and only where a path leads to it. */
function listedByFolder(root: string, github: Pick<Github, "tree">): Listing {
  const folders = new Map<string, Promise<readonly TreeEntry[]>>();
  const entriesOf = (sha: string): Promise<readonly TreeEntry[]> => {
    const known = folders.get(sha) ?? github.tree(sha, false).then(complete);
    folders.set(sha, known);
    return known;
  };
  const inside = (folder: string, entry: TreeEntry): TreeEntry => ({
    ...entry,
    path: folder === "" ? entry.path : `${folder}/${entry.path}`,
  });
  const within = async ({ path: folder, sha }: TreeEntry): Promise<readonly TreeEntry[]> => {
    const whole = await github.tree(sha, true);
    if (!whole.truncated) {
      return whole.entries.flatMap((entry) => (entry.type === "folder" ? [] : inside(folder, entry)));
    }
    const found: TreeEntry[] = [];
    for (const entry of await entriesOf(sha)) {
      const one = inside(folder, entry);
      found.push(...(one.type === "folder" ? await within(one) : [one]));
    }
    return found;
  };
  return {
    within,
    entryAt: async (path) => {
      let found: TreeEntry | null = { path: "", type: "folder", sha: root };
      for (const name of path === "" ? [] : path.split("/")) {
        if (found?.type !== "folder") return null;
        const folder: TreeEntry = found;
        const entry = (await entriesOf(folder.sha)).find((one) => one.path === name);
        found = entry === undefined ? null : inside(folder.path, entry);
      }
      return found;
    },
  };
}

function complete({ entries, truncated }: Awaited<ReturnType<Github["tree"]>>): readonly TreeEntry[] {
  if (truncated) throw new GithubError(0, "a folder of the repository has too many files to list them");
  return entries;
}

/** Returns the git object name of a file's content, with the hash function of another name. */
export function gitBlobName(bytes: Uint8Array, like: string): string {
  const algorithm = like.length === 64 ? "sha256" : "sha1";
  return createHash(algorithm).update(`blob ${bytes.length}\0`).update(bytes).digest("hex");
}
