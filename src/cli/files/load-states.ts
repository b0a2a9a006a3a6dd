import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { type LoadedMerchants, loadMerchants } from "../../config/load-merchants.ts";
import type { LoadHooks, ReadFailure, ReadResult, ReadSource } from "../../config/load-sources.ts";
import { suggest } from "../../lib/suggest.ts";
import type { DesiredState } from "../../model/desired.ts";
import type { Diagnostic } from "../../model/diagnostic.ts";
import { RolecallError } from "../../model/errors.ts";
import { judgeDeclared } from "../../plan/judge/judge-rules.ts";
import { checkOutputs } from "../io/output.ts";

/** The parsed files with their diagnostics. */
export interface Loaded {
  /** Every file that was read, including included ones, each once. */
  readonly sources: readonly { readonly file: string; readonly text: string }[];
  /** The selected valid merchants, sorted by code. */
  readonly states: readonly DesiredState[];
  /** All valid merchants. */
  readonly all: readonly DesiredState[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Options for loading files. */
export interface LoadOptions {
  /** Selects merchants by code, whose problems alone are reported; empty selects all. */
  readonly merchants: readonly string[];
  readonly cwd: string;
  /** Time against which end dates are compared, in ms since the epoch. */
  readonly now: number;
  /** Paths of results, which must be neither any of the files nor one of `inputs`. */
  readonly outputs?: readonly (string | undefined)[];
  readonly inputs?: readonly string[];
  /** Hooks that run while files are read; absent: none. */
  readonly hooks?: LoadHooks;
}

/** Reads and checks the files below the paths, with all that they include. */
export async function loadStates(paths: readonly string[], options: LoadOptions): Promise<Loaded> {
  const { merchants, cwd, outputs = [], inputs = [] } = options;
  const files = await findYamlFiles(paths, cwd);
  const loaded = await load(files, namesProject(paths, cwd), options);
  if (outputs.some((path) => path !== undefined)) {
    const sources = loaded.sources.map(({ file }) => file);
    checkOutputs(outputs, [...files, ...sources, ...inputs], cwd);
  }
  const states = loaded.merchants
    .flatMap(({ state }) => state ?? [])
    .sort((a, b) => (a.merchant < b.merchant ? -1 : 1));
  const { diagnostics, sources } = loaded;
  return { sources, states: pick(states, merchants, diagnostics), all: states, diagnostics };
}

/** Reads the files as `loadStates` does; `null` if no path is given and the default folder has no file. */
export async function loadStatesIfAny(
  paths: readonly string[],
  options: LoadOptions,
): Promise<Loaded | null> {
  try {
    return await loadStates(paths, options);
  } catch (error) {
    if (error instanceof RolecallError && error.code === "no-files" && paths.length === 0) return null;
    throw error;
  }
}

async function load(
  files: readonly string[],
  wholeProject: boolean,
  { merchants, cwd, now, hooks }: LoadOptions,
): Promise<LoadedMerchants> {
  return loadMerchants(files, sourceReader(cwd), {
    now,
    judge: judgeDeclared,
    wholeProject,
    selected: merchants,
    ...(hooks && { hooks }),
  });
}

function pick(
  states: readonly DesiredState[],
  merchants: readonly string[],
  diagnostics: readonly Diagnostic[],
): readonly DesiredState[] {
  if (merchants.length === 0) return states;
  const known = new Set(states.map(({ merchant }) => merchant));
  const missing = merchants.filter((merchant) => !known.has(merchant));
  if (missing.length > 0 && !diagnostics.some(isFileError)) {
    throw new RolecallError("usage", `No file declares merchant ${missing.join(", ")}.`, {
      hint: hintFor(missing, [...known]),
    });
  }
  return states.filter(({ merchant }) => merchants.includes(merchant));
}

const MAX_NAMED = 5;

/** Suggests similar merchant codes, else names some existing ones. */
function hintFor(missing: readonly string[], known: readonly string[]): string {
  const near = missing.flatMap((merchant) => suggest(merchant, known) ?? []);
  if (near.length > 0) return `Did you mean ${near.join(", ")}?`;
  const more = known.length - MAX_NAMED;
  const rest = more > 0 ? `, and ${more} more: "rolecall list" lists them` : "";
  const declared = `The files declare ${known.slice(0, MAX_NAMED).join(", ") || "none"}${rest}.`;
  return `${declared} To write a file from what is live: rolecall pull ${missing.join(" ")}`;
}

/** Returns whether a diagnostic makes its file unusable; a refusal does not. */
export function isFileError({ severity, refusal }: Diagnostic): boolean {
  return severity === "error" && !refusal;
}

/** Returns whether a diagnostic reports that a file breaks its own policies or checks. */
export function isRefusal({ severity, refusal }: Diagnostic): boolean {
  return severity === "error" && refusal === true;
}

/** Default folder of the merchants' files. */
const DEFAULT_PATH = "access";

const MAX_BYTES = 64 * 1024 * 1024;

/** Finds the YAML files at the paths and below folders; absolute, sorted, each once. */
export async function findYamlFiles(paths: readonly string[], cwd: string): Promise<readonly string[]> {
  const wanted = paths.length > 0 ? paths : [defaultPath(cwd)];
  if (paths.length === 0 && !existsSync(resolve(cwd, defaultPath(cwd)))) {
    throw new RolecallError("no-files", `There is no folder ${DEFAULT_PATH}/.`, {
      hint: '"rolecall init" writes it from what is live. If your files are elsewhere, name their path.',
    });
  }
  const files = [...new Set(wanted.flatMap((path) => expand(path, cwd)))].sort();
  if (files.length === 0) {
    throw new RolecallError("no-files", `There is no YAML file in ${wanted.join(", ")}.`, {
      hint:
        paths.length === 0
          ? '"rolecall init" writes one for each merchant. If your files are elsewhere, name their path.'
          : "Write one file per merchant, ending in .yaml, or name the path where they are.",
    });
  }
  return files;
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
  for (let at = realpathSync.native(cwd); ; at = dirname(at)) {
    const path = join(at, DEFAULT_PATH);
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return relative(cwd, path) || ".";
    if (at === root || dirname(at) === at) return DEFAULT_PATH;
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
 * Reads files for the configuration: those that the user names wherever they are, included ones only inside the
 * project, also behind links; no devices, no huge files, and only UTF-8. The calls are synchronous: the thread pool
 * takes longer than the file does.
 */
export function sourceReader(cwd: string): ReadSource {
  return async (path, from) => {
    const base = from === null ? cwd : dirname(resolve(cwd, from));
    try {
      const real = realpathSync.native(resolve(base, path));
      if (from !== null && !isOfProject(projectRoot(base, cwd), real)) return failed("outside-root");
      const info = statSync(real);
      if (!info.isFile()) return failed("not-a-file");
      if (info.size > MAX_BYTES) return failed("too-large");
      const text = decode(readFileSync(real));
      return text === null ? failed("not-utf8") : { ok: true, file: shownPath(real, cwd), text };
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      return failed(code === "ENOENT" || code === "ENOTDIR" ? "missing" : "unreadable");
    }
  };
}

function failed(reason: ReadFailure): ReadResult {
  return { ok: false, reason };
}

/** Decodes UTF-8; `null` for invalid bytes, which are an error rather than a replacement character. */
function decode(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

function expand(path: string, cwd: string): readonly string[] {
  const absolute = resolve(cwd, path);
  try {
    const info = statSync(absolute);
    if (info.isFile()) return [absolute];
    if (!info.isDirectory()) throw new TypeError("it is neither a file nor a folder");
    const entries = readdirSync(absolute, { recursive: true, withFileTypes: true });
    return entries
      .filter(({ name }) => /\.ya?ml$/i.test(name))
      .map((entry) => ({ entry, file: join(entry.parentPath, entry.name) }))
      .filter(({ file }) => !/(^|[\\/])(\.|node_modules[\\/])/.test(relative(absolute, file)))
      .flatMap(({ entry, file }) =>
        entry.isSymbolicLink() ? linkedFile(file, cwd) : entry.isFile() ? file : [],
      );
  } catch (error) {
    throw new RolecallError("file-unreadable", `${path} cannot be read: ${unreadableReason(error)}.`, {
      hint: "Check the path; without one, rolecall reads the folder access/.",
      cause: error,
    });
  }
}

/** Returns the regular file of the project that a link below a folder leads to; links to folders are not followed. */
function linkedFile(link: string, cwd: string): readonly string[] {
  try {
    const real = realpathSync.native(link);
    return statSync(real).isFile() && isOfProject(projectRoot(dirname(link), cwd), real) ? [real] : [];
  } catch {
    return [];
  }
}

/** Returns the path relative to the working directory if both are in one project, else the absolute path. */
function shownPath(real: string, cwd: string): string {
  const working = realpathSync.native(cwd);
  return isInside(working, real) || isInside(projectRoot(cwd, cwd), real) ? relative(working, real) : real;
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

/**
 * Returns the folder that a file's includes must not leave, without links: the repository of the file; without one the
 * working directory if the file is below it, else the file's own folder.
 */
export function projectRoot(folder: string, cwd: string): string {
  const [start, working] = [realpathSync.native(folder), realpathSync.native(cwd)];
  for (let at = start; ; at = dirname(at)) {
    if (existsSync(join(at, ".git"))) return at;
    if (dirname(at) === at) break;
  }
  return relative(working, start).startsWith("..") ? start : working;
}
