import { createHash } from "node:crypto";
import { type Github, GithubError, type TreeEntry } from "./github-api.ts";

/** The files of a commit. */
export interface CommitFiles {
  /** Returns the paths of a file, or of all files below a folder; the empty path is the root. */
  below(path: string): Promise<readonly string[]>;
  /** Returns the git object name of a file, or `null`. */
  blobAt(path: string): Promise<string | null>;
}

/** Reads the list of files of a commit, or folder by folder where GitHub truncates the whole list. */
export async function commitFiles(sha: string, github: Pick<Github, "tree">): Promise<CommitFiles> {
  const whole = await github.tree(sha, true);
  return whole.truncated ? filesByFolder(sha, github) : filesInList(whole.entries);
}

function filesInList(entries: readonly TreeEntry[]): CommitFiles {
  const files = new Map(entries.flatMap(({ path, type, sha }) => (type === "file" ? [[path, sha]] : [])));
  return {
    below: async (wanted) => {
      const folder = wanted === "" ? "" : `${wanted}/`;
      return [...files.keys()].filter((path) => path === wanted || path.startsWith(folder));
    },
    blobAt: async (path) => files.get(path) ?? null,
  };
}

/** Reads each folder only once, and only where a path leads to it. */
function filesByFolder(root: string, github: Pick<Github, "tree">): CommitFiles {
  const folders = new Map<string, Promise<readonly TreeEntry[]>>();
  const entriesOf = (sha: string): Promise<readonly TreeEntry[]> => {
    const known = folders.get(sha) ?? github.tree(sha, false).then(complete);
    folders.set(sha, known);
    return known;
  };
  const entryAt = async (path: string): Promise<TreeEntry | null> => {
    let found: TreeEntry | null = { path: "", type: "folder", sha: root };
    for (const name of path === "" ? [] : path.split("/")) {
      if (found?.type !== "folder") return null;
      found = (await entriesOf(found.sha)).find((entry) => entry.path === name) ?? null;
    }
    return found;
  };
  const list = async (folder: string, sha: string): Promise<readonly string[]> => {
    const whole = await github.tree(sha, true);
    const inside = (path: string): string => (folder === "" ? path : `${folder}/${path}`);
    if (!whole.truncated) {
      return whole.entries.flatMap(({ path, type }) => (type === "file" ? [inside(path)] : []));
    }
    const paths: string[] = [];
    for (const { path, type, sha: name } of await entriesOf(sha)) {
      paths.push(...(type === "file" ? [inside(path)] : await list(inside(path), name)));
    }
    return paths;
  };
  return {
    below: async (path) => {
      const entry = await entryAt(path);
      if (entry === null) return [];
      return entry.type === "file" ? [path] : list(path, entry.sha);
    },
    blobAt: async (path) => {
      const entry = await entryAt(path);
      return entry?.type === "file" ? entry.sha : null;
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
