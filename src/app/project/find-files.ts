import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import type { UnreadLinkReason } from "../../kernel/problems/problem.ts";
import type { ReadFailure, ReadResult, ReadSource } from "../../kernel/read/load-sources.ts";
import { RolecallError } from "../../model/errors.ts";
import { projectRoot } from "./project-root.ts";

/** Default folder of the merchants' files. */
export const DEFAULT_PATH = "access";

const MAX_BYTES = 64 * 1024 * 1024;

/** A link below a folder that is not read: it is broken, or leads outside the project or to another folder; absolute. */
export interface UnreadLink {
  readonly link: string;
  readonly why: UnreadLinkReason;
}

/**
 * Finds the YAML files at the paths and below folders; absolute, sorted, each once. `onUnread` takes the links that are
 * not read. Throws RolecallError for a path that cannot be read, and for one that a link leads outside the project.
 */
export async function findYamlFiles(
  paths: readonly string[],
  cwd: string,
  onUnread: (link: UnreadLink) => void = () => undefined,
): Promise<readonly string[]> {
  const selectedPaths = paths.length > 0 ? paths : [defaultPath(cwd)];
  if (paths.length === 0 && !existsSync(resolve(cwd, defaultPath(cwd)))) {
    throw new RolecallError("no-files", `There is no folder ${DEFAULT_PATH}/.`, {
      hint: 'Run "rolecall init" to create it from the live state. If your files are elsewhere, specify their path.',
    });
  }
  const unread: UnreadLink[] = [];
  const files = [
    ...new Set(selectedPaths.flatMap((path) => expand(path, cwd, (link) => void unread.push(link)))),
  ].sort();
  if (files.length === 0) {
    const links =
      unread.length > 0
        ? " Links that are broken, or lead outside the project or to a folder, are skipped."
        : "";
    throw new RolecallError("no-files", `There is no YAML file in ${selectedPaths.join(", ")}.${links}`, {
      hint:
        paths.length === 0
          ? 'Run "rolecall init" to create one for each merchant. If your files are elsewhere, specify their path.'
          : "Write one .yaml file for each merchant, or specify the path of your files.",
    });
  }
  for (const link of unread) onUnread(link);
  return files;
}

/** Returns what is read from files; `null` if no path is given and the default folder has no file. */
export async function ifAnyFiles<Read>(
  paths: readonly string[],
  read: () => Promise<Read>,
): Promise<Read | null> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof RolecallError && error.code === "no-files" && paths.length === 0) return null;
    throw error;
  }
}

/** Returns whether the paths name the whole project: the default folder, or a folder that contains it. */
export function namesProject(paths: readonly string[], cwd: string): boolean {
  const isFolder = (path: string): boolean =>
    statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  return (
    paths.length === 0 ||
    paths
      .map((path) => resolve(cwd, path))
      .some(
        (path) => isFolder(path) && (basename(path) === DEFAULT_PATH || isFolder(join(path, DEFAULT_PATH))),
      )
  );
}

/**
 * Returns the folder of merchants' files if no path is given: in the working directory, else in the project above it.
 */
export function defaultPath(cwd: string): string {
  const root = projectRoot(cwd, cwd);
  for (let folder = realpathSync.native(cwd); ; folder = dirname(folder)) {
    const path = join(folder, DEFAULT_PATH);
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return relative(cwd, path) || ".";
    if (folder === root || dirname(folder) === folder) return DEFAULT_PATH;
  }
}

/** A file with its displayed path. */
export interface TextFile {
  readonly file: string;
  readonly text: string;
}

const FAILURES: Readonly<Record<ReadFailure, string>> = {
  missing: "there is no such file",
  "not-a-file": "it is not a regular file",
  "not-utf8": "it is not valid UTF-8",
  "outside-root": "it is outside the project",
  "too-large": `it has more than ${MAX_BYTES / 1024 / 1024} MiB`,
  unreadable: "permission denied",
};

/** Reads the YAML files at the paths, without includes; throws RolecallError for an unreadable one. */
export async function readYamlFiles(paths: readonly string[], cwd: string): Promise<readonly TextFile[]> {
  const read = sourceReader(cwd);
  const files = await findYamlFiles(paths, cwd);
  return Promise.all(
    files.map(async (path) => {
      const result = await read(path, null);
      if (result.ok) return { file: result.file, text: result.text };
      throw new RolecallError("file-unreadable", `${path} cannot be read: ${FAILURES[result.reason]}.`);
    }),
  );
}

/**
 * Reads files for the configuration: those that the user names wherever they are, unless a link leads there, and
 * included ones only inside the project, after links are resolved; no devices, no huge files, and only UTF-8. The calls
 * are synchronous, because the thread pool takes longer than reading the file.
 */
export function sourceReader(cwd: string): ReadSource {
  return async (path, from) => {
    const base = from === null ? cwd : dirname(resolve(cwd, from));
    let file: string | undefined;
    const failed = (reason: ReadFailure): ReadResult => ({
      ok: false,
      reason,
      ...(file !== undefined && { file }),
    });
    try {
      const absolute = resolve(base, path);
      const real = realpathSync.native(absolute);
      const isInPlace =
        from === null ? !isLedAway(absolute, real, cwd) : isOfProject(projectRoot(base, cwd), real);
      if (!isInPlace) return failed("outside-root");
      file = shownPath(real, cwd);
      const info = statSync(real);
      if (!info.isFile()) return failed("not-a-file");
      if (info.size > MAX_BYTES) return failed("too-large");
      const text = decodeUtf8(readFileSync(real));
      return text === null ? failed("not-utf8") : { ok: true, file, text };
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      return failed(code === "ENOENT" || code === "ENOTDIR" ? "missing" : "unreadable");
    }
  };
}

/** Decodes UTF-8; `null` for invalid bytes, which are an error rather than a replacement character. */
export function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

function expand(path: string, cwd: string, onUnread: (link: UnreadLink) => void): readonly string[] {
  const absolute = resolve(cwd, path);
  try {
    const info = statSync(absolute);
    if (isLedAway(absolute, realpathSync.native(absolute), cwd)) {
      throw new RolecallError(
        "file-unreadable",
        `${path} is not read: it is, or is reached through, a link that leads outside the project.`,
        {
          hint: "It could change without a review. Copy it into the project, or specify its own path.",
        },
      );
    }
    if (info.isFile()) return [absolute];
    if (!info.isDirectory()) throw new TypeError("it is neither a file nor a folder");
    const entries = readdirSync(absolute, { recursive: true, withFileTypes: true });
    return entries
      .map((entry) => ({ entry, file: join(entry.parentPath, entry.name) }))
      .filter(({ file }) => isShown(relative(absolute, file)))
      .flatMap(({ entry, file }) =>
        entry.isSymbolicLink()
          ? linkedFile(file, absolute, cwd, onUnread)
          : isYaml(file) && !entry.isDirectory()
            ? file
            : [],
      );
  } catch (error) {
    if (error instanceof RolecallError) throw error;
    throw new RolecallError("file-unreadable", `${path} cannot be read: ${unreadableReason(error)}.`, {
      hint: "Check the path; without one, rolecall reads the folder access/.",
      cause: error,
    });
  }
}

/**
 * Returns whether a path is that of a YAML file that is read with its folder: one that is neither hidden nor part of a
 * package.
 */
export function isProjectYaml(path: string): boolean {
  return isYaml(path) && isShown(path);
}

function isYaml(path: string): boolean {
  return /\.ya?ml$/i.test(path);
}

function isShown(path: string): boolean {
  return !/(^|[\\/])(\.|node_modules([\\/]|$))/.test(path);
}

/**
 * Returns the YAML file of the project that a link below a folder leads to. Links to folders are not followed; a link to
 * a part of the folder, which is read anyway, is not reported.
 */
function linkedFile(
  link: string,
  folder: string,
  cwd: string,
  onUnread: (link: UnreadLink) => void,
): readonly string[] {
  try {
    const real = realpathSync.native(link);
    const info = statSync(real);
    const root = projectRoot(dirname(link), cwd);
    if (!info.isDirectory() && !isYaml(link)) return [];
    if (!isOfProject(root, real) && real !== root) onUnread({ link, why: "outside" });
    else if (!info.isDirectory()) return [real];
    else if (!isIn(realpathSync.native(folder), real)) onUnread({ link, why: "folder" });
  } catch {
    onUnread({ link, why: "broken" });
  }
  return [];
}

/** Returns whether links lead a path outside one of the projects that it is in as written. */
function isLedAway(path: string, real: string, cwd: string): boolean {
  const written = resolve(realpathSync.native(cwd), relative(resolve(cwd), path));
  return (
    written !== real && writtenRoots(written, cwd).some((root) => real !== root && !isOfProject(root, real))
  );
}

/**
 * Returns the projects that a path is in as written, without links: the nearest repository around it that no link leads
 * to; else the nearest repository and that of the working directory, as far as they exist; else its folder.
 */
function writtenRoots(written: string, cwd: string): readonly string[] {
  const repositories: string[] = [];
  for (let ancestor = written; dirname(ancestor) !== ancestor; ancestor = dirname(ancestor)) {
    if (existsSync(join(ancestor, ".git"))) repositories.push(ancestor);
  }
  const direct = repositories.find((folder) => withoutLinks(folder) === folder);
  if (direct !== undefined) return [direct];
  const working = projectRoot(cwd, cwd);
  // The root of the file system is not a project.
  const roots = isIn(working, written) && dirname(working) !== working ? [working] : [];
  const [nearest] = repositories;
  if (nearest !== undefined) roots.push(withoutLinks(nearest));
  return roots.length > 0 ? roots : [withoutLinks(dirname(written))];
}

/** Returns the path relative to the working directory if both are in one project, else the absolute path. */
export function shownPath(real: string, cwd: string): string {
  const working = realpathSync.native(cwd);
  return isInside(working, real) || isInside(projectRoot(cwd, cwd), real) ? relative(working, real) : real;
}

/** Returns a path relative to the project root, as annotations of a pull request need it, not to the working directory. */
export function pathFromRoot(shown: string, cwd: string): string {
  const real = resolve(realpathSync.native(cwd), shown);
  const root = projectRoot(cwd, cwd);
  return isInside(root, real) ? relative(root, real) : shown;
}

function isIn(folder: string, path: string): boolean {
  return path === folder || isInside(folder, path);
}

function isInside(folder: string, file: string): boolean {
  const path = relative(folder, file);
  return path !== "" && !path.startsWith("..") && resolve(folder, path) === file;
}

/**
 * Returns whether a file belongs to the project. Files of `.git` do not: they may hold a token, and errors quote files.
 */
function isOfProject(root: string, file: string): boolean {
  return isInside(root, file) && !relative(root, file).split(/[\\/]/).includes(".git");
}

/** Returns why a path cannot be read. */
export function unreadableReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as NodeJS.ErrnoException;
  if (code === "ENOENT") return "there is no such file or folder";
  if (code === "EACCES") return "permission denied";
  return error.message;
}

/** Returns a path without links; one that does not exist stays as it is. */
export function withoutLinks(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}
