import { basename, join, resolve } from "node:path";
import type { ProjectAccess } from "../../kernel/read/bound-files.ts";
import { PROJECT_FILE } from "../../kernel/schema/project-file.ts";
import { oneLine } from "../../lib/escape.ts";
import { RolecallError } from "../../model/errors.ts";
import { boundRules } from "./bound-rules.ts";
import {
  defaultPath,
  findYamlFiles,
  ifAnyFiles,
  namesProject,
  type UnreadLink,
  withoutLinks,
} from "./find-files.ts";
import { projectAccess, yamlAround } from "./project-access.ts";
import { openIndex, type ProjectIndex } from "./project-index.ts";

/** Returns the files that may declare one of these merchants, including files that cannot be read. */
export async function filesDeclaring(
  files: readonly string[],
  merchants: readonly string[],
  index: ProjectIndex,
): Promise<readonly string[]> {
  const codes = new Set<unknown>([null, ...merchants]);
  const declared = await Promise.all(files.map((file) => index.merchantIn(file)));
  return files.filter((_, index) => codes.has(declared[index]));
}

/** The files that select merchants, and those that they need. */
export interface FileSelection {
  /** The paths of all files. */
  readonly paths: readonly string[];
  /** All files that may declare a merchant. */
  readonly files: readonly string[];
  /** The files whose merchants are selected. */
  readonly some: readonly string[];
  /** The links below the paths that are not read. */
  readonly unread: readonly UnreadLink[];
  /** The named paths of included files, which select merchants. */
  readonly shared: readonly SharedPath[];
}

/** A named file that declares no merchant, or a folder with such files. */
export interface SharedPath {
  /** Its name as given; a folder ends in a slash. */
  readonly path: string;
  readonly isFolder: boolean;
  /** The files that select those that include one of them. */
  readonly files: readonly string[];
  /** The other files of the folder. */
  readonly own: readonly string[];
}

/** Options of selecting files. */
export interface SelectionOptions {
  readonly cwd: string;
  readonly index: ProjectIndex;
  /** Selects the files that this one reaches: they include it, or it is enforced on them. */
  readonly using?: string;
  /** Treats a named file that declares no merchant as one that should. */
  readonly merchantsOnly?: boolean;
}

/**
 * Finds the files below the paths. A named file that declares no merchant, and each such file in a named folder, selects
 * those that include it, and those on which the project enforces it.
 */
export async function selectFiles(
  paths: readonly string[],
  options: SelectionOptions,
): Promise<FileSelection> {
  const { cwd, using, merchantsOnly = false, index } = options;
  const reachedBy = (shared: readonly string[], files: readonly string[]): Promise<readonly string[]> =>
    filesReached(shared, files, options);
  const links: UnreadLink[] = [];
  const namedFiles = await findYamlFiles(paths, cwd, (link) => void links.push(link));
  const unread = await withMerchants(links, cwd, index);
  if (using !== undefined) {
    const shared = await findYamlFiles([using], cwd);
    const some = await reachedBy(shared, namedFiles);
    const file = { path: using, isFolder: false, files: shared, own: [] };
    if (some.length === 0) {
      throw new RolecallError("usage", `${oneLine(using)} affects no merchant.`, {
        hint: "A file affects the merchants that include it, directly or indirectly, and those that rolecall.yaml enforces it on.",
      });
    }
    return { paths, files: namedFiles, some, unread, shared: [file] };
  }
  const shared = merchantsOnly ? [] : await sharedPaths(paths, cwd, index);
  if (shared.length === 0) return { paths, files: namedFiles, some: namedFiles, unread, shared };
  const project = await filesBelow([], cwd);
  const included = new Set(shared.flatMap((path) => path.files));
  const ownFiles = namedFiles.filter((file) => !included.has(file));
  const files = [...new Set([...namedFiles, ...project])].sort();
  const reached = await reachedBy([...included], files);
  for (const path of shared) {
    if (path.isFolder && path.own.length === 0) requireReach(path, await reachedBy(path.files, files));
  }
  // A file that reaches no merchant is reported as one that declares none.
  const lost = reached.length === 0 ? shared.flatMap((path) => (path.isFolder ? [] : path.files)) : [];
  return {
    paths: project.length === 0 ? paths : [...paths, defaultPath(cwd)],
    files,
    some: [...new Set([...ownFiles, ...reached, ...lost])].sort(),
    unread,
    shared,
  };
}

/** Returns the paths that name files without a merchant, alone or in a folder that is not the whole project's. */
async function sharedPaths(
  paths: readonly string[],
  cwd: string,
  index: ProjectIndex,
): Promise<readonly SharedPath[]> {
  const sharedOrNot = await Promise.all(
    paths.map(async (path): Promise<SharedPath> => {
      const below = await filesBelow([path], cwd);
      const isFolder = below[0] !== resolve(cwd, path);
      const shared =
        isFolder && namesProject([path], cwd)
          ? []
          : await Promise.all(below.map((file) => isShared(file, index)));
      return {
        path: isFolder ? join(path, "/") : path,
        isFolder,
        files: below.filter((_, index) => shared[index]),
        own: below.filter((_, index) => !shared[index]),
      };
    }),
  );
  return sharedOrNot.filter(({ files }) => files.length > 0);
}

/** Leaves out the links to folders of shared files, which are read where they are included. */
async function withMerchants(
  links: readonly UnreadLink[],
  cwd: string,
  index: ProjectIndex,
): Promise<readonly UnreadLink[]> {
  const isKept = await Promise.all(
    links.map(async ({ link, why }) => {
      if (why !== "folder") return true;
      const below = await filesBelow([link], cwd);
      return (await Promise.all(below.map((file) => isShared(file, index)))).includes(false);
    }),
  );
  return links.filter((_, place) => isKept[place]);
}

/** Returns the YAML files at paths; there may be none. */
async function filesBelow(paths: readonly string[], cwd: string): Promise<readonly string[]> {
  return (await ifAnyFiles([], () => findYamlFiles(paths, cwd))) ?? [];
}

/** Throws RolecallError if a folder without merchants reaches no file. */
function requireReach({ path }: SharedPath, reached: readonly string[]): void {
  if (reached.length > 0) return;
  throw new RolecallError(
    "usage",
    `No file in ${oneLine(path)} declares a merchant, and no merchant's file includes one of them.`,
    { hint: 'A merchant\'s file has the key "merchant", and lists shared files under "include".' },
  );
}

/** Returns the files that include one of some shared files, or on which the project enforces one. */
async function filesReached(
  shared: readonly string[],
  files: readonly string[],
  { cwd, index }: SelectionOptions,
): Promise<readonly string[]> {
  // All files: if it has errors, it is unknown which files it binds, and its errors have to be reported.
  if (shared.some((file) => basename(file) === PROJECT_FILE)) return files;
  const sharedFiles = new Set(shared.map(withoutLinks));
  const filesBehind = await behindFinder(index, await projectAccess(files, cwd), files);
  const behind = await Promise.all(files.map(filesBehind));
  return files.filter((_, position) => [...(behind[position] ?? [])].some((path) => sharedFiles.has(path)));
}

/**
 * Returns a function that returns the files behind one: those that it includes and the rules that projects enforce on
 * it, with what these include; absolute paths without links.
 */
export async function behindFinder(
  index: ProjectIndex,
  accesses: readonly ProjectAccess[],
  files: readonly string[],
): Promise<(file: string) => Promise<ReadonlySet<string>>> {
  const rules = await Promise.all(accesses.map((access) => boundRules(files, access)));
  return async (file) => {
    const includes = await index.closure(file);
    const enforced = rules.flatMap((rulesOn) => rulesOn(file));
    const closures = await Promise.all(enforced.map(index.closure));
    const behind = new Set([...includes, ...closures.flatMap((closure) => [...closure])]);
    behind.delete(withoutLinks(file));
    return behind;
  };
}

/**
 * Returns the files anywhere in the project that include one of some files, except those that only stand for others
 * that do.
 */
export async function filesSharing(files: readonly string[], cwd: string): Promise<readonly string[]> {
  const index = openIndex(cwd);
  const shared = new Set(files.map((file) => withoutLinks(resolve(cwd, file))));
  const sharing = await Promise.all(
    yamlAround(files, cwd).map(async (file) => {
      const closure = await index.closure(file);
      const includes = [...closure].some((path) => path !== file && shared.has(path));
      return includes && !(await isShared(file, index)) ? [file] : [];
    }),
  );
  return sharing.flat();
}

/** Returns whether a file declares no merchant, so that it only stands for those that include it. */
async function isShared(file: string, index: ProjectIndex): Promise<boolean> {
  return (await index.merchantIn(file)) === undefined;
}
