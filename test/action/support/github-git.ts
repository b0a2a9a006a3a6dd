import { createHash } from "node:crypto";

/** Files by path; the values are names of blobs. */
export type BlobsByPath = ReadonlyMap<string, string>;

export interface GitCommit {
  readonly sha: string;
  readonly tree: string;
  readonly parents: readonly string[];
  readonly message: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Commits are numbered as they are made. */
  readonly order: number;
}

export interface TreeEntry {
  readonly path: string;
  readonly mode: "100644" | "040000" | "120000";
  readonly type: "blob" | "tree";
  readonly sha: string;
}

/** Begins the text of a file that is a link; the path that it leads to follows. */
export const LINK = "-> ";

/** The objects of a repository, with the names that git gives them. */
export interface GitStore {
  readonly blobs: ReadonlyMap<string, Buffer>;
  readonly commits: ReadonlyMap<string, GitCommit>;
  /** The mode of the files with this content. */
  modeOf(blob: string): "100644" | "120000";
  addBlob(content: string | Uint8Array): string;
  addTree(files: BlobsByPath): string;
  addCommit(commit: Pick<GitCommit, "tree" | "parents" | "message" | "at">): string;
  /** The entries of a tree, or of a commit's. */
  entries(sha: string): readonly TreeEntry[] | undefined;
  /** Every file of a tree or of a commit. */
  files(sha: string): BlobsByPath;
  /** Every file's text. */
  texts(sha: string): Readonly<Record<string, string>>;
  /** A commit and all that it contains, newest first. */
  history(sha: string): readonly string[];
  mergeBase(one: string, other: string): string | null;
  /** What a merge of two commits has: each side's changes since they parted, line by line. */
  merged(ours: string, theirs: string): BlobsByPath;
}

/** Takes every object as it is made, as git stores it. */
export type KeepObject = (name: string, bytes: Uint8Array) => void;

/** Creates an empty store. */
export function gitStore(keep: KeepObject): GitStore {
  const blobs = new Map<string, Buffer>();
  const links = new Set<string>();
  const modeOf: GitStore["modeOf"] = (blob) => (links.has(blob) ? "120000" : "100644");
  const trees = new Map<string, readonly TreeEntry[]>();
  const commits = new Map<string, GitCommit>();

  const nameOf = (type: "blob" | "tree" | "commit", bytes: Uint8Array): string => {
    const stored = Buffer.concat([Buffer.from(`${type} ${bytes.length}\0`), bytes]);
    const name = createHash("sha1").update(stored).digest("hex");
    keep(name, stored);
    return name;
  };

  const treeOf = (sha: string): string => commits.get(sha)?.tree ?? sha;

  const addTree = (files: BlobsByPath): string => {
    const folders = new Map<string, Map<string, string>>();
    const entries: TreeEntry[] = [];
    for (const [path, sha] of files) {
      const [first = "", ...rest] = path.split("/");
      if (rest.length === 0) entries.push({ path, mode: modeOf(sha), type: "blob", sha });
      else folders.set(first, (folders.get(first) ?? new Map<string, string>()).set(rest.join("/"), sha));
    }
    for (const [path, inner] of folders) {
      entries.push({ path, mode: "040000", type: "tree", sha: addTree(inner) });
    }
    const key = ({ path, type }: TreeEntry): string => (type === "tree" ? `${path}/` : path);
    entries.sort((a, b) => (key(a) < key(b) ? -1 : 1));
    const bytes = entries.flatMap(({ path, mode, sha }) => [
      Buffer.from(`${mode.replace(/^0/, "")} ${path}\0`),
      Buffer.from(sha, "hex"),
    ]);
    const sha = nameOf("tree", Buffer.concat(bytes));
    trees.set(sha, entries);
    return sha;
  };

  const flat = (sha: string, prefix: string): readonly (readonly [string, string])[] =>
    (trees.get(sha) ?? []).flatMap((entry) =>
      entry.type === "blob"
        ? [[prefix + entry.path, entry.sha] as const]
        : flat(entry.sha, `${prefix}${entry.path}/`),
    );
  const files = (sha: string): BlobsByPath => new Map(flat(treeOf(sha), ""));

  const history = (sha: string): readonly string[] => {
    const found = new Map<string, number>();
    const open = [sha];
    for (let one = open.pop(); one !== undefined; one = open.pop()) {
      const commit = commits.get(one);
      if (commit === undefined || found.has(one)) continue;
      found.set(one, commit.order);
      open.push(...commit.parents);
    }
    return [...found].sort(([, a], [, b]) => b - a).map(([one]) => one);
  };

  const mergeBase = (one: string, other: string): string | null => {
    const known = new Set(history(one));
    return history(other).find((sha) => known.has(sha)) ?? null;
  };

  const addBlob: GitStore["addBlob"] = (content) => {
    const isLink = typeof content === "string" && content.startsWith(LINK);
    const bytes = Buffer.from(isLink ? content.slice(LINK.length) : content);
    const sha = nameOf("blob", bytes);
    blobs.set(sha, bytes);
    if (isLink) links.add(sha);
    return sha;
  };

  return {
    blobs,
    commits,
    modeOf,
    addBlob,
    addTree,
    addCommit: ({ tree, parents, message, at }) => {
      const by = `rolecall <rolecall@example.com> ${Math.floor(at / 1000)} +0000`;
      const lines = [
        `tree ${tree}`,
        ...parents.map((parent) => `parent ${parent}`),
        `author ${by}`,
        `committer ${by}`,
        "",
        // No two commits are one, even where somebody commits the same twice.
        `${message}\n\nNo. ${commits.size}`,
      ];
      const sha = nameOf("commit", Buffer.from(lines.join("\n")));
      commits.set(sha, { sha, tree, parents, message, at, order: commits.size });
      return sha;
    },
    entries: (sha) => trees.get(treeOf(sha)),
    files,
    texts: (sha) =>
      Object.fromEntries(
        [...files(sha)].map(([path, blob]) => {
          return [path, `${links.has(blob) ? LINK : ""}${blobs.get(blob)?.toString() ?? ""}`];
        }),
      ),
    history,
    mergeBase,
    merged: (ours, theirs) => {
      const base = files(mergeBase(ours, theirs) ?? "");
      const [mine, yours] = [files(ours), files(theirs)];
      const paths = new Set([...mine.keys(), ...yours.keys()]);
      return new Map(
        [...paths].flatMap((path) => {
          const [was, own, other] = [base, mine, yours].map((side) => side.get(path));
          if (own !== was && other !== was && own !== other && was && own && other) {
            const [before, ours, theirs] = [was, own, other].map((sha) => blobs.get(sha)?.toString() ?? "");
            return [[path, addBlob(mergedLines(before, ours, theirs))] as const];
          }
          const sha = other === was ? own : other;
          return sha === undefined ? [] : [[path, sha] as const];
        }),
      );
    },
  };
}

/** Joins the lines that two sides have added to a text and removed from it; a line is there once. */
function mergedLines(base = "", ours = "", theirs = ""): string {
  const [was, own, other] = [base, ours, theirs].map((text) => text.split("\n"));
  if (was === undefined || own === undefined || other === undefined) return theirs;
  const lines = other.filter((line) => own.includes(line) || !was.includes(line));
  for (const [index, line] of own.entries()) {
    if (was.includes(line) || other.includes(line)) continue;
    const before = own.slice(0, index).findLast((one) => lines.includes(one));
    lines.splice(before === undefined ? 0 : lines.indexOf(before) + 1, 0, line);
  }
  return lines.join("\n");
}
