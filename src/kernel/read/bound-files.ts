import { unique } from "../values/values.ts";
import type { ReadResult, ReadSource } from "./load-sources.ts";

/** A file's project: its root, and the path of the file in it, with "/" between folders. */
export interface ProjectPlace {
  readonly root: string;
  readonly path: string;
}

/** A file below a folder of a project; a link has the path of what it leads to, `null` if that is outside. */
export interface ListedFile {
  readonly path: string;
  readonly target?: string | null;
}

/** Access to the projects of files, and to the files of projects. */
export interface ProjectAccess {
  /** Returns the projects that a file belongs to, by its path as given or by its name. */
  readonly placesOf: (file: string) => readonly ProjectPlace[];
  /** Returns the names in a root that are `rolecall.yaml`, or differ from it in case or ending. */
  readonly namesIn: (root: string) => Promise<readonly string[]>;
  /** Reads a file of a project by its path. */
  readonly readIn: (root: string, path: string) => Promise<ReadResult>;
  /** Reads what such a file includes. */
  readonly read: ReadSource;
  /** Lists the YAML files and all links below a folder of a project. */
  readonly listIn: (root: string, folder: string) => Promise<readonly ListedFile[]>;
  /** Returns whether a glob matches a path, regardless of case. */
  readonly matches: (glob: string, path: string) => boolean;
  /** Set if the projects are those of the base branch: their rules hold beside the project's own. */
  readonly by?: "base";
}

/** A glob of a project's entry, with the files and links that it matches. */
export interface MatchedGlob {
  readonly glob: string;
  readonly matched: readonly ListedFile[];
}

/** The paths of a file in a project. */
export interface PathsInProject {
  /** By its name. */
  readonly own: readonly string[];
  /** By its name, and as it was given. */
  readonly all: readonly string[];
}

/** Returns the paths of a file in the project of a root; `null` if it is in another one. */
export function placeIn(
  root: string,
  file: string,
  given: readonly string[],
  { placesOf }: Pick<ProjectAccess, "placesOf">,
): PathsInProject | null {
  const inRoot = (path: string): readonly string[] =>
    placesOf(path).flatMap((place) => (place.root === root ? place.path : []));
  const ownPaths = inRoot(file);
  const allPaths = unique([...ownPaths, ...given.flatMap(inRoot)]);
  return allPaths.length === 0 ? null : { own: ownPaths, all: allPaths };
}

/** Returns whether one of the globs binds a file; a link below a glob does not exempt its target. */
export function isBound(
  { own: ownPaths, all: allPaths }: PathsInProject,
  globs: readonly MatchedGlob[],
  { matches }: Pick<ProjectAccess, "matches">,
): boolean {
  const isBelow = (path: string, target: string): boolean => path === target || path.startsWith(`${target}/`);
  return globs.some(
    ({ glob, matched }) =>
      allPaths.some((path) => matches(glob, path)) ||
      matched.some(({ target }) => target && ownPaths.some((path) => isBelow(path, target))),
  );
}

/** Returns the files and links below the literal beginning of a glob that it matches. */
export async function matchedFiles(
  root: string,
  glob: string,
  { listIn, matches }: ProjectAccess,
): Promise<readonly ListedFile[]> {
  const parts = glob.split("/");
  const plain = parts.findIndex((part) => /[*?[\]{}()!+@|]/.test(part));
  const folder = parts.slice(0, plain === -1 ? -1 : plain).join("/");
  const listed = await listIn(root, folder);
  return listed.filter(
    ({ path, target }) => matches(glob, path) || (target && matches(glob, `${path}/a.yaml`)),
  );
}
