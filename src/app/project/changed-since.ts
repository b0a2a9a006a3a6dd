import { readFile } from "node:fs/promises";
import { dirname, join, posix, resolve } from "node:path";
import type { ProjectAccess } from "../../kernel/read/load-project.ts";
import { parseYaml, type ReadSource } from "../../kernel/read/load-sources.ts";
import { PROJECT_FILE } from "../../kernel/schema/project-schema.ts";
import { fieldsOf, listOf, textOf } from "../../kernel/schema/values.ts";
import { oneLine } from "../../lib/escape.ts";
import { RolecallError } from "../../model/errors.ts";
import { isProjectYaml, withoutLinks } from "./find-files.ts";
import { commitReader, openBlobs, openRepository, type Repository, repositoryPaths } from "./git-objects.ts";
import { commitProject } from "./project-access.ts";
import { includeClosures } from "./scan-files.ts";

/** The files whose merchants may differ from those of a commit. */
export interface ChangedFiles {
  /** Files of the working tree, as absolute paths. */
  readonly files: readonly string[];
  /** Files of the commit, relative to the root of the repository. */
  readonly before: readonly string[];
  /** Reads the files of the commit, with their includes. */
  readonly read: ReadSource;
  /** The project of the commit. */
  readonly project: ProjectAccess;
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
  const { root, commit, git } = await openCommit(ref, dirname(files[0] ?? join(cwd, "access")));
  const listings = Promise.all([
    git("diff", "--raw", "-z", "--no-renames", "--no-ext-diff", "--ignore-submodules", commit),
    git("ls-tree", "-r", "-z", "--name-only", "--full-tree", commit),
  ]);
  // Read while git works.
  const closures = includeClosures(files);
  const [compared = "", listed = ""] = await listings;
  const [changed, known] = [parseRaw(compared), new Set(listed.split("\0"))];
  const inRoot = repositoryPaths(root);
  const isChanged = (path: string): boolean => changed.paths.has(path) || !known.has(path);
  const rules = await projectRules(root);
  const sameRules =
    !changed.paths.has(PROJECT_FILE) && rules !== null && !rules.some((path) => isChanged(inRoot(path)));
  // A link can lead anywhere, so every file may have another content; enforced rules may hold for any file.
  const differing =
    changed.links || !sameRules
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
  const read = commitReader(blobs, commit);
  return {
    files: differing,
    before: [...before].filter((path) => known.has(path)).sort(),
    read,
    project: await commitProject([...known], async (folder) => yamlBelow(folder, known), read),
    close: blobs.close,
  };
}

function yamlBelow(folder: string, known: ReadonlySet<string>): readonly string[] {
  const start = folder === "" ? "" : `${folder}/`;
  return [...known].filter((path) => isProjectYaml(path) && path.startsWith(start));
}

/** Returns the files of the rules that a repository's project enforces, as absolute paths; `null` if only the full parser knows them. */
export async function projectRules(root: string): Promise<readonly string[] | null> {
  const text = await readFile(join(root, PROJECT_FILE), "utf8").catch(() => null);
  if (text === null) return [];
  const { value } = await parseYaml(text);
  const rules = listOf(fieldsOf(value)["enforce"]).flatMap((entry) => textOf(fieldsOf(entry)["rules"]) ?? []);
  const closures = includeClosures(rules.map((path) => withoutLinks(join(root, path))));
  const found = [...closures.values()];
  return found.every((one) => one !== null) ? found.flatMap((one) => [...one]) : null;
}

/** Finds the repository of a folder, and a commit in it by its name. */
async function openCommit(ref: string, folder: string): Promise<Repository & { readonly commit: string }> {
  if (ref.trim() === "") {
    throw new RolecallError("usage", "--changed-since needs a commit, and was given an empty text.", {
      hint: "Name a commit, a tag or a branch. If it comes from a variable, that is not set.",
    });
  }
  const repository = await openRepository(folder, "--changed-since");
  const found = ["rev-parse", "--verify", "--quiet", "--end-of-options", `${ref}^{commit}`];
  const commit = await repository.git(...found).catch((cause: unknown) => {
    throw new RolecallError("usage", `--changed-since: git knows no commit ${oneLine(ref)}.`, {
      hint: repository.shallow
        ? "This clone is shallow: fetch older commits with git fetch --unshallow, or check out with fetch-depth: 0."
        : "Name a commit, a tag or a branch. If it is only on the remote, fetch it first.",
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
