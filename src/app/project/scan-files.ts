import { readFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { loadProjects } from "../../kernel/read/load-project.ts";
import { parseYaml } from "../../kernel/read/load-sources.ts";
import { PROJECT_FILE } from "../../kernel/schema/project-schema.ts";
import { fieldsOf, listOf } from "../../kernel/schema/values.ts";
import { parseFast } from "../../kernel/yaml/fast-yaml.ts";
import { oneLine } from "../../lib/escape.ts";
import { RolecallError } from "../../model/errors.ts";
import {
  defaultPath,
  findYamlFiles,
  namesProject,
  shownPath,
  type UnreadLink,
  withoutLinks,
} from "./find-files.ts";
import { projectAccess, yamlAround } from "./project-access.ts";

/** YAML can spell every character with it. */
const ESCAPE = "\\";

/**
 * Matches a line that begins nothing which goes on in the first column of the next one: a comment, a key with a quoted
 * text or a mapping that ends on the line, or words without quotes, brackets and indicators.
 */
const PLAIN_LINE = String.raw`(?: *#[^\n]*| *(?:- +)?[\w-]+: +(?:"[^"\\\n]*"|'[^'\n]*'|\{(?:[^"'{}[\]#\\\n]|(?<=[ ,:{])"[^"\\\n]*"(?=[ ,:}]))*\}) *\r?|(?! *#)[^"'{}[\]|>&*!%?\x60\\#\n]*(?:#[^\n]*)?)\n`;

/** Matches a text that declares its merchant plainly, after plain lines. */
const PLAIN_MERCHANT = new RegExp(
  String.raw`^\ufeff?(?:${PLAIN_LINE})*?merchant: +[\w-]+ *(?:#[^\n]*)?\r?(?:\n|$)`,
);

/**
 * Returns the files that may declare one of these merchants. A file is left out only if its text shows that it does not:
 * it has none of the codes, and no escapes that could spell one.
 */
export function filesNaming(files: readonly string[], merchants: readonly string[]): readonly string[] {
  const codes = merchants.map((code) => code.replaceAll(/[^\w-]/g, "\\$&")).join("|");
  const named = new RegExp(`(?<![\\w-])(?:${codes})(?![\\w-])`);
  return files.filter((file) => {
    const text = textOf(file);
    if (text === null || named.test(text)) return true;
    return text.includes(ESCAPE) && !PLAIN_MERCHANT.test(text);
  });
}

function textOf(file: string): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return null;
  }
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
  /** As it is named; a folder ends in a slash. */
  readonly path: string;
  readonly isFolder: boolean;
  /** The files that select those that include one of them. */
  readonly files: readonly string[];
  /** The other files of the folder. */
  readonly own: readonly string[];
}

/**
 * Finds the files below the paths. A named file that declares no merchant, and each such file in a named folder, selects
 * those that include it, and those on which the project enforces it.
 */
export async function selectFiles(
  paths: readonly string[],
  {
    cwd,
    now,
    using,
    merchantsOnly = false,
  }: {
    readonly cwd: string;
    readonly now: number;
    readonly using?: string;
    readonly merchantsOnly?: boolean;
  },
): Promise<FileSelection> {
  const reachedBy = (shared: readonly string[], files: readonly string[]): Promise<readonly string[]> =>
    filesReached(shared, files, { cwd, now });
  const unread: UnreadLink[] = [];
  const named = await findYamlFiles(paths, cwd, (link) => void unread.push(link));
  if (using !== undefined) {
    const shared = await findYamlFiles([using], cwd);
    const some = await reachedBy(shared, named);
    const file = { path: using, isFolder: false, files: shared, own: [] };
    if (some.length === 0) {
      throw new RolecallError("usage", `${oneLine(using)} reaches no merchant.`, {
        hint: 'A file reaches the merchants that list it under "include", directly or not, and those that rolecall.yaml enforces it on.',
      });
    }
    return { paths, files: named, some, unread, shared: [file] };
  }
  const shared = merchantsOnly ? [] : await sharedPaths(paths, cwd);
  if (shared.length === 0) return { paths, files: named, some: named, unread, shared };
  const project = await findYamlFiles([], cwd).catch((error: unknown) => {
    if (error instanceof RolecallError && error.code === "no-files") return [];
    throw error;
  });
  const included = new Set(shared.flatMap((path) => path.files));
  const own = named.filter((file) => !included.has(file));
  const files = [...new Set([...named, ...project])].sort();
  const reached = await reachedBy([...included], files);
  for (const path of shared) {
    if (path.isFolder && path.own.length === 0) requireReach(path, await reachedBy(path.files, files));
  }
  // A file that reaches no merchant is reported as one that declares none.
  const lost = reached.length === 0 ? shared.flatMap((path) => (path.isFolder ? [] : path.files)) : [];
  return {
    paths: project.length === 0 ? paths : [...paths, defaultPath(cwd)],
    files,
    some: [...new Set([...own, ...reached, ...lost])].sort(),
    unread,
    shared,
  };
}

/** Returns the paths that name files without a merchant, alone or in a folder that is not the whole project's. */
async function sharedPaths(paths: readonly string[], cwd: string): Promise<readonly SharedPath[]> {
  const all = await Promise.all(
    paths.map(async (path): Promise<SharedPath> => {
      const below = await filesBelow(path, cwd);
      const isFolder = below[0] !== resolve(cwd, path);
      const shared = isFolder && namesProject([path], cwd) ? [] : await Promise.all(below.map(isShared));
      return {
        path: isFolder ? join(path, "/") : path,
        isFolder,
        files: below.filter((_, index) => shared[index]),
        own: below.filter((_, index) => !shared[index]),
      };
    }),
  );
  return all.filter(({ files }) => files.length > 0);
}

/** Returns the YAML files of one of several paths, which may be none. */
async function filesBelow(path: string, cwd: string): Promise<readonly string[]> {
  return findYamlFiles([path], cwd).catch((error: unknown) => {
    if (error instanceof RolecallError && error.code === "no-files") return [];
    throw error;
  });
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
  place: { readonly cwd: string; readonly now: number },
): Promise<readonly string[]> {
  const including = shared.map((file) => filesIncluding(withoutLinks(file), files));
  const reached = await Promise.all([...including, filesBoundBy(shared, files, place)]);
  return [...new Set(reached.flat())].sort();
}

/** Returns the files on which the project enforces rules of one of some shared files; all for the project's own file. */
async function filesBoundBy(
  shared: readonly string[],
  files: readonly string[],
  { cwd, now }: { readonly cwd: string; readonly now: number },
): Promise<readonly string[]> {
  // All files: with errors in it, nobody knows which ones it binds, and its errors are wanted.
  if (shared.some((file) => basename(file) === PROJECT_FILE)) return files;
  const nameOf = (file: string): string => shownPath(withoutLinks(file), cwd);
  const names = new Set(shared.map(nameOf));
  const accesses = await projectAccess(files, cwd);
  const projects = await Promise.all(accesses.map((access) => loadProjects(files, access, now)));
  return files.filter((file) =>
    projects
      .flatMap((project) => project.enforcementOf(nameOf(file), [file]))
      .some(({ entries }) => entries.some(({ ruleFiles }) => ruleFiles.some((name) => names.has(name)))),
  );
}

/**
 * Returns each file with all files that it includes, directly or not, as absolute paths without links; `null` instead if
 * only the full parser knows the includes of one of them.
 */
export function includeClosures(files: readonly string[]): ReadonlyMap<string, ReadonlySet<string> | null> {
  const includesOf = includeFinder();
  const closures = new Map<string, ReadonlySet<string> | null>();
  for (const file of files) {
    const reached = new Set([file]);
    let known = true;
    for (const one of reached) {
      const includes = includesOf(one);
      known &&= includes !== null;
      for (const next of includes ?? []) reached.add(next);
    }
    closures.set(file, known ? reached : null);
  }
  return closures;
}

/** Returns the files that include another one, directly or not; all are absolute paths without links. */
async function filesIncluding(shared: string, files: readonly string[]): Promise<readonly string[]> {
  const closures = includeClosures(files);
  const reaching = await Promise.all(
    files.map(async (file) => (closures.get(file) ?? (await parsedClosure(file))).has(shared)),
  );
  return files.filter((file, index) => file !== shared && reaching[index]);
}

/** Returns the files anywhere in the project that include one of some files, and do not only stand for others that do. */
export async function filesSharing(files: readonly string[], cwd: string): Promise<readonly string[]> {
  const around = yamlAround(files, cwd);
  const shared = new Set(files.map((file) => withoutLinks(resolve(cwd, file))));
  const closures = includeClosures(around);
  const sharing = await Promise.all(
    around.map(async (file) => {
      const closure = closures.get(file) ?? (await parsedClosure(file));
      const includes = [...closure].some((one) => one !== file && shared.has(one));
      return includes && !(await isShared(file)) ? [file] : [];
    }),
  );
  return sharing.flat();
}

/** Returns a file with all files that it includes, by the full parser. */
async function parsedClosure(file: string): Promise<ReadonlySet<string>> {
  const reached = new Set([file]);
  for (const one of reached) {
    const { value } = await parseYaml(textOf(one) ?? "");
    for (const path of pathsOf(value)) reached.add(withoutLinks(resolve(dirname(one), path)));
  }
  return reached;
}

/** Returns whether a file declares no merchant, so that it only stands for those that include it. */
async function isShared(file: string): Promise<boolean> {
  const text = textOf(file) ?? "";
  if (/^merchant:/m.test(text)) return false;
  const { value, readable } = await parseYaml(text);
  return readable && !Object.hasOwn(fieldsOf(value), "merchant");
}

/** Creates a function that returns what a file includes; most files of a fleet list the same ones. */
function includeFinder(): (file: string) => readonly string[] | null {
  const files = new Map<string, readonly string[] | null>();
  const lists = new Map<string, readonly string[] | null>();
  const targets = new Map<string, string>();
  const targetOf = (path: string): string => {
    const known = targets.get(path) ?? withoutLinks(path);
    targets.set(path, known);
    return known;
  };
  const find = (file: string): readonly string[] | null => {
    const text = textOf(file);
    if (text === null) return [];
    const part = includePart(text);
    if (part === "") return [];
    const paths = lists.has(part) ? lists.get(part) : includedPaths(part);
    lists.set(part, paths ?? null);
    return paths?.map((path) => targetOf(resolve(dirname(file), path))) ?? null;
  };
  return (file) => {
    const found = files.has(file) ? files.get(file) : find(file);
    files.set(file, found ?? null);
    return found ?? null;
  };
}

/** Returns the includes of a YAML text; `null` if it needs the full parser. */
function includedPaths(text: string): readonly string[] | null {
  const parsed = parseFast(text);
  if (parsed === null) return null;
  return pathsOf(parsed.value);
}

function pathsOf(value: unknown): readonly string[] {
  return listOf(fieldsOf(value)["include"]).flatMap((path) => (typeof path === "string" ? path : []));
}

/** Matches what may be the key `include`, and what may be a key that is spelled with escapes. */
const ANY_INCLUDE = /(?:^|[{,?])[ \t]*["']?include["']?[ \t]*:/m;
const ESCAPED_KEY = /^[ \t]*["{?]/m;

/** Matches the plain key `include` with its list, on its line or one path below the other, after plain lines. */
const PLAIN_INCLUDE = new RegExp(
  String.raw`^\ufeff?(?:(?!include:)${PLAIN_LINE})*(include:(?: +\[[\w./, -]*\] *(?:#[^\n]*)?\r?(?:\n|$)|\r?\n(?: *(?:- +[\w./-]+ *)?(?:#[^\n]*)?\r?(?:\n|$))+?))(?=[a-z]|$)`,
);

/** Returns the part of a text that lists its includes; empty if there are none, the whole text if they may be anywhere. */
function includePart(text: string): string {
  if (text.includes("include") && ANY_INCLUDE.test(text)) return PLAIN_INCLUDE.exec(text)?.[1] ?? text;
  return text.includes(ESCAPE) && ESCAPED_KEY.test(text) ? text : "";
}
