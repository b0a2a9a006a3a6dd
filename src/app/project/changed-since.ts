import { dirname, join, posix, resolve } from "node:path";
import type { ProjectAccess } from "../../kernel/read/bound-files.ts";
import type { ReadSource } from "../../kernel/read/load-sources.ts";
import { fieldsOf, listOf, sameValue, textOf, unique } from "../../kernel/values/values.ts";
import { parseYaml } from "../../kernel/yaml/parse-yaml.ts";
import { oneLine } from "../../lib/escape.ts";
import { memoized } from "../../lib/memoized.ts";
import { RolecallError } from "../../model/errors.ts";
import { boundRules } from "./bound-rules.ts";
import { isProjectYaml, withoutLinks } from "./find-files.ts";
import {
  commitReader,
  isBelow,
  openBlobs,
  openRepository,
  type Repository,
  repositoryPaths,
} from "./git-objects.ts";
import { commitProject, projectAccess } from "./project-access.ts";
import type { ProjectIndex } from "./project-index.ts";

/** The merchants' files that differ from a commit. */
export interface ChangedFiles {
  /** Files of the working tree, as absolute paths. */
  readonly files: readonly string[];
  /**
   * Files of the commit, below the repository's root, that declared these merchants or merchants that no file declares
   * any longer.
   */
  readonly before: readonly string[];
  /** The merchants that no file declares any longer, with the file of the commit. */
  readonly removed: readonly RemovedMerchant[];
  /** Reads the files of the commit, with their includes. */
  readonly read: ReadSource;
  /** The project of the commit. */
  readonly project: ProjectAccess;
  close(): void;
}

/** A merchant that a file of a commit declares. */
export interface RemovedMerchant {
  readonly merchant: string;
  readonly file: string;
}

/** The files to compare with a commit. */
export interface ComparedFiles {
  /** The paths that select them. */
  readonly paths: readonly string[];
  readonly files: readonly string[];
  /** All files that may declare a merchant. */
  readonly all: readonly string[];
}

/**
 * Finds the files, of those below the paths, whose values differ from a commit: their own, that of a file that they
 * include, or that of a rule that is enforced on them. Comments, the order of keys and formatting do not count. Throws
 * RolecallError without git, and for an unknown commit.
 */
export async function changedFiles(
  ref: string,
  { paths, files, all: allFiles }: ComparedFiles,
  index: ProjectIndex,
  cwd: string,
): Promise<ChangedFiles> {
  const { root, commit, git } = await openCommit(ref, dirname(files[0] ?? join(cwd, "access")));
  const listings = Promise.all([
    git("diff", "--raw", "-z", "--no-renames", "--no-ext-diff", "--ignore-submodules", commit),
    git("ls-tree", "-r", "-z", "--name-only", "--full-tree", commit),
  ]);
  // Parsed while git works.
  await Promise.all(files.map(index.closure));
  const [compared, listed] = await listings;
  const tree: CommitTree = { ...parseRaw(compared), known: new Set(listed.split("\0")) };
  const blobs = openBlobs(root);
  try {
    const read = commitReader(blobs, commit);
    const { known } = tree;
    const project = await commitProject([...known], async (folder) => yamlBelow(folder, known), read);
    const inRoot = repositoryPaths(root);
    const selectedPaths = paths.map((path) => inRoot(resolve(cwd, path)));
    const comparedPaths = [...(tree.links ? known : tree.paths)].filter(
      (path) => known.has(path) && isBelow(path, selectedPaths),
    );
    const former = await merchantsIn(comparedPaths, read);
    const isSame = await comparison({ files, before: [...known], tree, inRoot, read, project, index, cwd });
    const results = await Promise.all(
      files.map(async (file) => {
        const merchant = await index.merchantIn(file);
        const path = inRoot(file);
        const isKept = known.has(path) && !tree.links && !tree.paths.has(path);
        const formerPath = (isKept ? undefined : former.get(merchant)) ?? path;
        return { file, formerPath, isSame: await isSame(file, formerPath) };
      }),
    );
    const changed = results.filter((result) => !result.isSame);
    const removed = await withoutFile(former, allFiles, index);
    return {
      files: changed.map(({ file }) => file),
      before: unique([
        ...changed.map(({ formerPath }) => formerPath),
        ...removed.map(({ file }) => file),
      ]).filter((path) => tree.links || known.has(path)),
      removed,
      read,
      project,
      close: blobs.close,
    };
  } catch (error) {
    blobs.close();
    throw error;
  }
}

/** The files of a commit, and those that differ from the working tree. */
interface CommitTree {
  readonly paths: ReadonlySet<string>;
  /** True if a link differs: it can lead anywhere, so that every file may have another content. */
  readonly links: boolean;
  readonly known: ReadonlySet<string>;
}

/** Returns the files of a commit by the merchants that they declare. */
async function merchantsIn(
  paths: readonly string[],
  read: ReadSource,
): Promise<ReadonlyMap<unknown, string>> {
  const declared = await Promise.all(
    paths.map(async (path) => [fieldsOf(await valueIn(path, read))["merchant"], path] as const),
  );
  return new Map(declared.filter(([merchant]) => textOf(merchant) !== null));
}

/** Returns the plain value of a file of a commit; undefined if there is none. */
async function valueIn(path: string, read: ReadSource): Promise<unknown> {
  const result = await read(path, null);
  return result.ok ? (await parseYaml(result.text)).value : undefined;
}

/** Returns the merchants that no file declares, nor may declare because it cannot be read. */
async function withoutFile(
  former: ReadonlyMap<unknown, string>,
  files: readonly string[],
  index: ProjectIndex,
): Promise<readonly RemovedMerchant[]> {
  if (former.size === 0) return [];
  const declared = new Set(await Promise.all(files.map(index.merchantIn)));
  const broken = await Promise.all(
    declared.has(null) ? files.map(async (file) => await index.file(file)) : [],
  );
  const mayDeclare = (merchant: string): boolean =>
    broken.some(({ fields, text }) => fields === null && (text === "" || text.includes(merchant)));
  return [...former].flatMap(([merchant, file]) =>
    typeof merchant !== "string" || declared.has(merchant) || mayDeclare(merchant)
      ? []
      : [{ merchant, file }],
  );
}

interface Comparing {
  readonly files: readonly string[];
  readonly before: readonly string[];
  readonly tree: CommitTree;
  readonly inRoot: (path: string) => string;
  readonly read: ReadSource;
  readonly project: ProjectAccess;
  readonly index: ProjectIndex;
  readonly cwd: string;
}

/** Returns a function that compares a file, its includes and its enforced rules with a file of the commit. */
async function comparison({ files, before, tree, inRoot, read, project, index, cwd }: Comparing) {
  const rulesNow = await Promise.all(
    (await projectAccess(files, cwd)).map((access) => boundRules(files, access)),
  );
  const rulesThen = await boundRules(before, project);
  const keyOf = (pair: Pair): string => pair.join("\n");
  const compare = memoized(async ([file, formerPath]: Pair): Promise<readonly Pair[] | null> => {
    const { path, text, includes, fields } = await index.file(file);
    const isUnchanged =
      !tree.links && tree.known.has(formerPath) && !tree.paths.has(formerPath) && inRoot(path) === formerPath;
    if (!isUnchanged) {
      const then = await read(formerPath, null);
      if (!then.ok || !(await isSameYaml(text, then.text))) return null;
    }
    const written = listOf(fields?.["include"]).filter((include) => typeof include === "string");
    return includes.map(
      (include, index): Pair => [
        include,
        // If a link has changed, the commit has a different file at this path.
        tree.links ? posix.join(posix.dirname(formerPath), written[index] ?? "") : inRoot(include),
      ],
    );
  }, keyOf);
  const isSame = async (...pair: Pair): Promise<boolean> => {
    const pairs = new Map<string, Pair>([[keyOf(pair), pair]]);
    for (const files of pairs.values()) {
      const includes = await compare(files);
      if (includes === null) return false;
      for (const include of includes) pairs.set(keyOf(include), include);
    }
    return true;
  };
  return async (file: string, formerPath: string): Promise<boolean> => {
    if (!(await isSame(file, formerPath))) return false;
    const now = unique(rulesNow.flatMap((rulesOn) => rulesOn(file)));
    const then = rulesThen(formerPath);
    const paths = now.map((rules) => inRoot(withoutLinks(rules)));
    if (!isSameSet(paths, then)) return false;
    return (await Promise.all(now.map((rules, place) => isSame(rules, paths[place] ?? "")))).every(Boolean);
  };
}

/** A file, and the one of the commit that it is compared with. */
type Pair = readonly [file: string, was: string];

/** Returns whether two texts have the same value; texts that cannot be read are compared as they are. */
async function isSameYaml(a: string, b: string): Promise<boolean> {
  if (a === b) return true;
  const [now, then] = [await parseYaml(a), await parseYaml(b)];
  return now.readable && then.readable && sameValue(now.value, then.value);
}

function isSameSet(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((item) => b.includes(item));
}

function yamlBelow(folder: string, paths: ReadonlySet<string>): readonly string[] {
  const start = folder === "" ? "" : `${folder}/`;
  return [...paths].filter((path) => isProjectYaml(path) && path.startsWith(start));
}

/** Finds the repository of a folder, and a commit in it by its name. */
async function openCommit(ref: string, folder: string): Promise<Repository & { readonly commit: string }> {
  if (ref.trim() === "") {
    throw new RolecallError("usage", "--changed-since needs a commit, but is empty.", {
      hint: "Specify a commit, a tag or a branch. If you pass a variable, check that it is set.",
    });
  }
  const repository = await openRepository(folder, "--changed-since");
  const revParse = ["rev-parse", "--verify", "--quiet", "--end-of-options", `${ref}^{commit}`];
  const commit = await repository.git(...revParse).catch((cause: unknown) => {
    throw new RolecallError("usage", `--changed-since: git does not know the commit ${oneLine(ref)}.`, {
      hint: repository.shallow
        ? "This clone is shallow: fetch older commits with git fetch --unshallow, or check out with fetch-depth: 0."
        : "Specify a commit, a tag or a branch. If it is only on the remote, fetch it first.",
      cause,
    });
  });
  return { ...repository, commit: commit.trim() };
}

/** Parses `git diff --raw -z`: the paths that differ, and whether a link or a submodule is one of them. */
function parseRaw(output: string): { readonly paths: ReadonlySet<string>; readonly links: boolean } {
  const entries = [...output.matchAll(/:(\d+) (\d+) [^\0]+\0([^\0]+)\0/g)];
  return {
    paths: new Set(entries.flatMap(([, , , path]) => path ?? [])),
    links: entries.some((modes) => modes.slice(1, 3).some((mode) => mode === "120000" || mode === "160000")),
  };
}
