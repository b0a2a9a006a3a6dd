import { type Dirent, existsSync, readdirSync } from "node:fs";
import { dirname, join, posix, relative, resolve, sep } from "node:path";
import type { ListedFile, ProjectAccess, ProjectPlace } from "../../kernel/read/bound-files.ts";
import type { ReadSource } from "../../kernel/read/load-sources.ts";
import { isProjectFile, PROJECT_FILE } from "../../kernel/schema/project-file.ts";
import { boundedMatcher, compilePathGlob } from "../../lib/glob.ts";
import { memoized } from "../../lib/memoized.ts";
import { RolecallError } from "../../model/errors.ts";
import { isProjectYaml, sourceReader, withoutLinks } from "./find-files.ts";
import { projectRoot } from "./project-root.ts";

/** Returns the access to the projects that files of the working tree belong to; none if there is no project's file. */
export async function projectAccess(
  files: readonly string[],
  cwd: string,
): Promise<readonly ProjectAccess[]> {
  const placesOf = placeFinder(cwd);
  const roots = new Set(files.flatMap((file) => placesOf(file).map(({ root }) => root)));
  if ([...roots].every((root) => projectNames(root).length === 0)) return [];
  return [await workingProjects(placesOf, cwd)];
}

async function workingProjects(placesOf: ProjectAccess["placesOf"], cwd: string): Promise<ProjectAccess> {
  const read = sourceReader(cwd);
  const listed = memoized(
    ([root, path]: readonly [string, string]): readonly ListedFile[] => [...filesBelow(root, path)],
    ([, path]) => path,
  );
  return {
    placesOf,
    namesIn: async (root) => projectNames(root),
    // Read as an include of the root's folder, so that it counts as part of the project.
    readIn: (root, path) => read(path, join(root, PROJECT_FILE)),
    read,
    listIn: async (root, folder) => listed([root, join(root, folder)]),
    matches: pathMatcher(),
  };
}

/**
 * Returns the access by which the project of a base branch binds the files of the working tree. The names of its files
 * begin with the commit, as git writes them.
 */
export async function baseProject(
  base: Pick<ProjectAccess, "namesIn" | "read">,
  commit: string,
  workspace: string,
): Promise<ProjectAccess> {
  const working = await workingProjects(placeFinder(workspace), workspace);
  const root = withoutLinks(workspace);
  const prefix = `${commit.slice(0, 7)}:`;
  const plain = (path: string): string => (path.startsWith(prefix) ? path.slice(prefix.length) : path);
  const read: ReadSource = async (path, from) => {
    const result = await base.read(path, from === null ? null : plain(from));
    return result.ok ? { ...result, file: `${prefix}${result.file}` } : result;
  };
  return {
    placesOf: (file) => working.placesOf(file).filter((place) => place.root === root),
    namesIn: async () => base.namesIn(""),
    readIn: (_root, path) => read(path, null),
    read,
    listIn: working.listIn,
    matches: working.matches,
    by: "base",
  };
}

/** Returns the access to the project of a commit, by the names in its root and the YAML files below a folder. */
export async function commitProject(
  names: readonly string[],
  below: (folder: string) => Promise<readonly string[]>,
  read: ReadSource,
): Promise<ProjectAccess> {
  return {
    placesOf: (file) => [{ root: "", path: posix.normalize(file) }],
    namesIn: async () => names.filter(isProjectFile),
    readIn: async (_root, path) => read(path, null),
    read,
    listIn: async (_root, folder) => (await below(folder)).map((path) => ({ path })),
    matches: pathMatcher(),
  };
}

/** Returns the names in a folder that are a project's file, or differ from it in case or ending. */
function projectNames(root: string): readonly string[] {
  try {
    return readdirSync(root).filter(isProjectFile);
  } catch {
    return [];
  }
}

/**
 * Returns a function that finds the roots that a file belongs to: of the repositories around it, with links followed
 * and not, and of the working directory. So a repository within a project does not exempt its files from the project.
 */
function placeFinder(cwd: string): ProjectAccess["placesOf"] {
  const realOf = memoized(withoutLinks);
  const rootsOf = memoized((folder: string) => rootsAround(folder, cwd));
  // Each file is looked up several times.
  return memoized((file: string): readonly ProjectPlace[] => {
    const given = resolve(cwd, file);
    const real = withoutLinks(given);
    const places = new Map<string, ProjectPlace>();
    for (const path of new Set([given, real])) {
      for (const root of rootsOf(dirname(path))) {
        for (const inside of [pathBelow(root, path, realOf), pathBelow(root, real, realOf)]) {
          if (inside !== null) places.set(`${root}\n${inside}`, { root, path: inside });
        }
      }
    }
    return [...places.values()];
  });
}

/** Returns the roots of all repositories around a folder, and that of the working directory; without links. */
function rootsAround(folder: string, cwd: string): readonly string[] {
  const roots = new Set<string>();
  const real = withoutLinks(folder);
  for (const start of [folder, real]) {
    for (let folder = start; ; folder = dirname(folder)) {
      if (existsSync(join(folder, ".git"))) roots.add(withoutLinks(folder));
      if (dirname(folder) === folder) break;
    }
  }
  for (const base of [real, cwd]) {
    try {
      roots.add(projectRoot(base, cwd));
    } catch {
      // A folder that does not exist has no root.
    }
  }
  return [...roots];
}

/** Returns a file's path below a root, by the names in its own path; `null` if it is not below it. */
function pathBelow(
  root: string,
  file: string,
  real: (folder: string) => string = withoutLinks,
): string | null {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    if (real(folder) === root) return inProject(relative(folder, file));
    if (dirname(folder) === folder) return null;
  }
}

function inProject(path: string): string {
  return path.split(sep).join("/");
}

/** Maximum number of listed files of a project: a working directory without a repository may be a whole disk. */
const MAX_LISTED = 20_000;

/** Returns the YAML files of the project around a working directory, without links, hidden files and packages. */
export function projectYamlFiles(cwd: string): readonly string[] {
  const root = projectRoot(cwd, cwd);
  const files: string[] = [];
  for (const { path, target } of filesBelow(root, root)) {
    if (target === undefined) files.push(join(root, path));
    if (files.length >= MAX_LISTED) break;
  }
  return files;
}

/** Returns the YAML files and the links below a folder, without hidden files and packages. */
function* filesBelow(root: string, folder: string): Generator<ListedFile> {
  for (const entry of entriesOf(folder)) {
    const file = join(folder, entry.name);
    const path = inProject(relative(root, file));
    if (entry.name.startsWith(".") || entry.name === "node_modules") continue;
    if (entry.isSymbolicLink()) yield { path, target: linkTarget(root, file) };
    else if (entry.isDirectory()) yield* filesBelow(root, file);
    else if (entry.isFile() && isProjectYaml(path)) yield { path };
  }
}

/**
 * Returns all YAML files of the projects that files belong to, including hidden ones, which anybody may name by path.
 */
export function yamlAround(files: readonly string[], cwd: string): readonly string[] {
  const folders = new Set(files.map((file) => dirname(resolve(cwd, file))));
  const roots = new Set([...folders].flatMap((folder) => rootsAround(folder, cwd)));
  const below = new Set<string>();
  const visited = new Set<string>();
  const visit = (folder: string): void => {
    if (visited.has(folder)) return;
    visited.add(folder);
    for (const entry of entriesOf(folder)) {
      const path = join(folder, entry.name);
      // The target of a link is found at its own path, if it is in the project.
      if (entry.isDirectory() && entry.name !== ".git" && entry.name !== "node_modules") visit(path);
      else if (entry.isFile() && /\.ya?ml$/i.test(entry.name)) below.add(path);
    }
  };
  for (const root of roots) visit(root);
  return [...below].sort();
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

function linkTarget(root: string, link: string): string | null {
  const real = withoutLinks(link);
  return real === link ? null : pathBelow(root, real);
}

/** Creates a function that matches globs with paths, regardless of case and of how accents are composed. */
export function pathMatcher(): ProjectAccess["matches"] {
  const matches = boundedMatcher(
    (glob, spend) => compilePathGlob(glob.normalize("NFC"), spend),
    () =>
      new RolecallError("file-invalid", `Matching the globs of ${PROJECT_FILE} would take too long.`, {
        hint: 'Use fewer globs under "enforce", with fewer wildcards in each.',
      }),
  );
  return (glob, path) => matches(glob, path.normalize("NFC"));
}
