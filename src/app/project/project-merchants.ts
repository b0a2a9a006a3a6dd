import { realpathSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describeProblems } from "../../kernel/messages/describe-problems.ts";
import { byPlace } from "../../kernel/messages/to-diagnostics.ts";
import type { LocatedProblem } from "../../kernel/problems/problem.ts";
import type { ProjectAccess } from "../../kernel/read/bound-files.ts";
import { loadMerchants } from "../../kernel/read/load-merchants.ts";
import { locationOfAcross, resultsAcross, unknownAcross } from "../../kernel/rules/across-merchants.ts";
import { judgeDeclared } from "../../kernel/rules/judge-rules.ts";
import type { DesiredState } from "../../model/desired.ts";
import type { Diagnostic } from "../../model/diagnostic.ts";
import { isFileError } from "./file-errors.ts";
import {
  DEFAULT_PATH,
  defaultPath,
  findYamlFiles,
  ifAnyFiles,
  shownPath,
  sourceReader,
  withoutLinks,
} from "./find-files.ts";
import { projectAccess } from "./project-access.ts";
import type { ProjectIndex } from "./project-index.ts";

/** The files that were read. */
interface ReadFiles {
  readonly sources: readonly { readonly file: string; readonly text: string }[];
  /** The selected valid merchants. */
  readonly states: readonly DesiredState[];
  readonly all: readonly DesiredState[];
  readonly diagnostics: readonly Diagnostic[];
}

/** The folder and the time of reading. */
interface Reading {
  readonly cwd: string;
  readonly now: number;
  readonly projects?: readonly ProjectAccess[];
}

/**
 * Adds the other merchants of the project, which rules across merchants count, and the verdicts of these rules on the
 * files; a violation that concerns no selected merchant is not reported.
 */
export async function withProject<Read extends ReadFiles>(
  loaded: Read,
  { cwd, now, projects = [] }: Reading,
  index: ProjectIndex,
): Promise<Read & { readonly project: readonly DesiredState[] }> {
  const { sources, states, all: readStates } = loaded;
  const readFiles = new Set(sources.map(({ file }) => file));
  const folders = merchantFolders(states, cwd);
  const files = folders.length > 0 ? await ifAnyFiles([], () => findYamlFiles(folders, cwd)) : null;
  const unread: string[] = [];
  for (const file of files ?? []) {
    if (readFiles.has(shownPath(withoutLinks(file), cwd))) continue;
    if ((await index.merchantIn(file)) !== undefined) unread.push(file);
  }
  const others = await loadMerchants(unread, sourceReader(cwd), {
    now,
    judge: judgeDeclared,
    projects: [...(await projectAccess(unread, cwd)), ...projects],
  });
  const codes = new Set(readStates.map(({ merchant }) => merchant));
  const otherStates = others.merchants.flatMap(({ state }) => state ?? []);
  const project = [...readStates, ...otherStates.filter(({ merchant }) => !codes.has(merchant))];
  const selected = new Set(states.map(({ merchant }) => merchant));
  const broken = resultsAcross([], project, now, "plan").flatMap((rule) =>
    rule.broken.flatMap(({ refusal: { message, hint }, of }): readonly LocatedProblem[] =>
      [...of].some((merchant) => selected.has(merchant))
        ? [{ code: "across-merchants", message, hint, location: locationOfAcross(rule) }]
        : [],
    ),
  );
  const invalid = new Set(others.diagnostics.filter(isFileError).map(({ file }) => file));
  // A file with errors may declare any role.
  const isWhole = invalid.size === 0 && !loaded.diagnostics.some(isFileError);
  const [first] = states.flatMap(({ projects = [] }) =>
    projects.flatMap(({ across }) => across?.origin ?? []),
  );
  const notCounted: readonly LocatedProblem[] =
    invalid.size === 0 || first === undefined
      ? []
      : [{ code: "across-not-counted", files: [...invalid].sort(), location: { at: "key", ...first } }];
  const problems = [...broken, ...(isWhole ? unknownAcross(project) : []), ...notCounted];
  const texts = new Map(sources.map(({ file, text }) => [file, text]));
  const diagnostics = [...loaded.diagnostics, ...describeProblems(texts, problems)].toSorted(byPlace);
  return { ...loaded, project, diagnostics };
}

/**
 * Returns the folders of merchants' files that are in the folders of some files, or in those above up to the project's file
 * with rules across merchants, wherever the working directory is.
 */
function merchantFolders(states: readonly DesiredState[], cwd: string): readonly string[] {
  const working = realpathSync.native(cwd);
  const byDefault = resolve(working, defaultPath(cwd));
  const roots = states.flatMap(({ projects = [], origin }) =>
    projects.flatMap(({ by, across, run }) => {
      const { file: rules } = across?.origin ?? run?.origin ?? {};
      if (by || rules === undefined) return [];
      return { root: dirname(resolve(working, rules)), file: resolve(working, origin.file) };
    }),
  );
  // A base branch has no files here, only rules.
  if (roots.length === 0) return [byDefault].filter(isFolder);
  const folders = roots.flatMap(({ root, file }) =>
    [byDefault, file].flatMap((path) => foldersBetween(root, dirname(path))),
  );
  return [...new Set(folders.map((folder) => join(folder, DEFAULT_PATH)))].filter(isFolder);
}

/** Returns a folder and those above it up to a root; none if it is not below the root. */
function foldersBetween(root: string, folder: string): readonly string[] {
  if (folder === root) return [root];
  return relative(root, folder).startsWith("..") ? [] : [folder, ...foldersBetween(root, dirname(folder))];
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
