import { basename, dirname, join } from "node:path";
import { list } from "../../kernel/findings/refusals.ts";
import type { ProjectAccess } from "../../kernel/read/bound-files.ts";
import { type LoadedMerchants, loadMerchants, type PreviousName } from "../../kernel/read/load-merchants.ts";
import { withReviewedEnds } from "../../kernel/read/reviewed-ends.ts";
import { concernsAll } from "../../kernel/rules/across-merchants.ts";
import { judgeDeclared } from "../../kernel/rules/judge-rules.ts";
import { PROJECT_FILE } from "../../kernel/schema/project-file.ts";
import { oneLine } from "../../lib/escape.ts";
import { by, counted, sortNaturally } from "../../lib/text.ts";
import type { DesiredState } from "../../model/desired.ts";
import type { Diagnostic } from "../../model/diagnostic.ts";
import { checkOutputs } from "../io/output.ts";
import type { RemovedMerchant } from "./changed-since.ts";
import { isFileError } from "./file-errors.ts";
import { defaultPath, namesProject, shownPath, sourceReader, withoutLinks } from "./find-files.ts";
import { pickMerchants } from "./pick-merchants.ts";
import { projectAccess } from "./project-access.ts";
import { openIndex, type ProjectIndex } from "./project-index.ts";
import {
  type FileSelection,
  filesDeclaring,
  filesSharing,
  type SharedPath,
  selectFiles,
} from "./select-files.ts";

/** The parsed files with their diagnostics. */
export interface Loaded {
  /** Every file that was read, including included ones, each once. */
  readonly sources: readonly { readonly file: string; readonly text: string }[];
  /** The selected valid merchants, sorted by code. */
  readonly states: readonly DesiredState[];
  /** All valid merchants that were read. */
  readonly all: readonly DesiredState[];
  readonly diagnostics: readonly Diagnostic[];
  /** The references to roles by previous names that mean one role to every merchant that reads them. */
  readonly previousNames: readonly PreviousName[];
  /** The merchants that no file declares any longer; absent unless compared with a commit. */
  readonly unmanaged?: readonly RemovedMerchant[];
  /** The former states of merchants that were compared with a commit; absent unless they were. */
  readonly former?: readonly DesiredState[];
  /** All valid merchants of the project, if rules concern all of them; else empty. */
  readonly project: readonly DesiredState[];
  /** The included files that select merchants, with these; absent if there are none, or the selection is narrower. */
  readonly reach?: readonly Reach[];
}

/** An included file, or a folder of such files, with the valid merchants that it reaches. */
interface Reach {
  readonly path: string;
  readonly merchants: readonly string[];
  /** True for a folder with files of merchants, which are not among those that it reaches. */
  readonly beside: boolean;
  /** The files of a folder that no valid file includes. */
  readonly unused: readonly string[];
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
  /** Selects the merchants whose files differ from this commit; absent: all. */
  readonly changedSince?: string;
  /** Also reads the files of merchants that are not selected. */
  readonly everyFile?: boolean;
  /** Selects the merchants that this file reaches: they include it, or it is enforced on them. */
  readonly using?: string;
  /** Treats a named file that declares no merchant as one that should; absent: it selects those that include it. */
  readonly merchantsOnly?: boolean;
  /** Projects whose rules hold beside those of the working tree. */
  readonly projects?: readonly ProjectAccess[];
}

/**
 * Reads and checks the files below the paths, with all that they include. A named file that others include, and each in
 * a named folder, stands for the merchants that it reaches.
 */
export async function loadStates(paths: readonly string[], options: LoadOptions): Promise<Loaded> {
  const index = openIndex(options.cwd);
  const selection = await selectFiles(paths, { ...options, index });
  const selected = await loadSelected(paths, selection, options, index);
  const isAcross = selected.states.some(({ projects = [] }) => projects.some(concernsAll));
  const loaded = isAcross
    ? await (await import("./project-merchants.ts")).withProject(selected, options, index)
    : { ...selected, project: [] };
  if (selection.unread.length === 0) return loaded;
  const [{ byPlace, toDiagnostics }, { YAML_MESSAGES }] = await Promise.all([
    import("../../kernel/messages/to-diagnostics.ts"),
    import("../../kernel/messages/yaml-messages.ts"),
  ]);
  const warnings = toDiagnostics(
    new Map(),
    selection.unread.map(({ link, why }) => {
      const file = shownPath(join(withoutLinks(dirname(link)), basename(link)), options.cwd);
      return { code: "link-not-read", why, location: { at: "file", file } } as const;
    }),
    YAML_MESSAGES,
  );
  return { ...loaded, diagnostics: [...loaded.diagnostics, ...warnings].toSorted(byPlace) };
}

async function loadSelected(
  paths: readonly string[],
  selection: FileSelection,
  options: LoadOptions,
  index: ProjectIndex,
): Promise<Omit<Loaded, "project">> {
  const { merchants, cwd, changedSince } = options;
  const { files, some, shared } = selection;
  if (changedSince !== undefined) return loadChanged(changedSince, paths, selection, options, index);
  const loaded =
    shared.length === 0
      ? await load(files, selection.paths, options, index)
      : await loadSome(some, selection, options, index);
  checkResults(files, loaded, options);
  const everyState = statesOf(loaded);
  const { diagnostics, sources, previousNames } = loaded;
  const whole = { sources, all: everyState, diagnostics, previousNames };
  if (shared.length === 0) return { ...whole, states: pickMerchants(everyState, merchants, diagnostics) };
  const shownFile = (file: string): string => shownPath(withoutLinks(file), cwd);
  const read = new Set(some.map(shownFile));
  const states = everyState.filter(({ origin }) => read.has(origin.file));
  const reach = shared.map((path) => reachOf(path, states, shownFile));
  return {
    ...whole,
    states: pickMerchants(states, merchants, diagnostics, reach.length > 0),
    ...(merchants.length === 0 && { reach }),
  };
}

/** Files with all merchants that share one of them. */
export interface LoadedWithSharers extends Loaded {
  /** True if a file that may share one of these has errors, so that what it declares is not known. */
  readonly sharersUnknown: boolean;
}

/**
 * Reads files as `loadStates` does. A shared file concerns more than the selected merchants: `all` also has those of
 * the project, wherever their files are, that share a file with them.
 */
export async function loadWithSharers(
  paths: readonly string[],
  options: LoadOptions,
): Promise<LoadedWithSharers> {
  const loaded = await loadStates(paths, options);
  const shared = new Set(loaded.states.flatMap(filesBehind));
  if (shared.size === 0) return { ...loaded, sharersUnknown: false };
  const { cwd, now } = options;
  const read = new Set(loaded.sources.map(({ file }) => file));
  const sharing = await filesSharing([...shared], cwd);
  const unread = sharing.filter((file) => !read.has(shownPath(withoutLinks(file), cwd)));
  if (paths.length === 0 && unread.length === 0) return { ...loaded, sharersUnknown: false };
  const folders = new Set(loaded.states.map(({ origin }) => dirname(origin.file)));
  const around = await loadStates([...folders, ...shared, ...unread], { merchants: [], cwd, now });
  const loadedMerchants = new Set(loaded.all.map(({ merchant }) => merchant));
  const otherStates = around.all.filter(
    (state) => !loadedMerchants.has(state.merchant) && filesBehind(state).some((file) => shared.has(file)),
  );
  return {
    ...loaded,
    all: [...loaded.all, ...otherStates].sort(by(({ merchant }) => merchant)),
    sharersUnknown: around.diagnostics.some(isFileError),
  };
}

function reachOf(
  { path, isFolder, files, own: ownFiles }: SharedPath,
  states: readonly DesiredState[],
  shownFile: (file: string) => string,
): Reach {
  const [shared, beside] = [files, ownFiles].map((paths) => new Set(paths.map(shownFile)));
  const isProject = files.some((file) => basename(file) === PROJECT_FILE);
  const reached = states.filter(
    (state) =>
      !beside?.has(state.origin.file) && (isProject || filesBehind(state).some((file) => shared?.has(file))),
  );
  const [first] = files;
  return {
    path: isFolder || first === undefined ? path : shownFile(first),
    merchants: reached.map(({ merchant }) => merchant),
    beside: ownFiles.length > 0,
    unused: isFolder
      ? files.map(shownFile).filter((file) => !states.some((state) => filesBehind(state).includes(file)))
      : [],
  };
}

/** Returns the files that a merchant includes, and those with the rules that are enforced on it. */
function filesBehind({ included = [], enforced = [] }: DesiredState): readonly string[] {
  return [...included, ...enforced.flatMap(({ files }) => files)];
}

/** Reads the merchants whose files differ from a commit. */
async function loadChanged(
  ref: string,
  paths: readonly string[],
  selection: FileSelection,
  options: LoadOptions,
  index: ProjectIndex,
): Promise<Omit<Loaded, "project">> {
  const { merchants, cwd, now } = options;
  const { files, some } = selection;
  const declared = new Set(await Promise.all(merchants.length === 0 ? [] : files.map(index.merchantIn)));
  if (merchants.some((merchant) => !declared.has(merchant))) {
    const { diagnostics, ...rest } = await load(files, selection.paths, options, index);
    pickMerchants(statesOf({ ...rest, diagnostics }), merchants, diagnostics);
  }
  const { changedFiles } = await import("./changed-since.ts");
  const selectedPaths = paths.length > 0 ? paths : [defaultPath(cwd)];
  const since = await changedFiles(ref, { paths: selectedPaths, files: some, all: files }, index, cwd);
  try {
    const [loaded, former] = await Promise.all([
      loadSome(since.files, selection, options, index),
      loadMerchants(since.before, since.read, { now, judge: judgeDeclared, projects: [since.project] }),
    ]);
    checkResults(files, loaded, options);
    const read = new Set(since.files.map((file) => shownPath(withoutLinks(file), cwd)));
    const formerStates = new Map(statesOf(former).map((state) => [state.merchant, state]));
    const states = statesOf(loaded).map((state) => withReviewedEnds(state, formerStates.get(state.merchant)));
    const isPicked = ({ merchant }: { readonly merchant: string }): boolean =>
      merchants.length === 0 || merchants.includes(merchant);
    const { diagnostics, sources, previousNames } = loaded;
    return {
      sources,
      previousNames,
      states: states.filter((state) => read.has(state.origin.file) && isPicked(state)),
      all: states,
      diagnostics,
      former: [...formerStates.values()],
      unmanaged: since.removed.filter(isPicked),
    };
  } finally {
    since.close();
  }
}

/** Reads some of the files; all of them if what the others declare matters, with the problems of those files alone. */
async function loadSome(
  some: readonly string[],
  { files, paths }: FileSelection,
  options: LoadOptions,
  index: ProjectIndex,
): Promise<LoadedMerchants> {
  if (some.length === 0 && !options.everyFile) return NOTHING;
  const part = await load(some, paths, options, index);
  if (some.length === files.length || !(options.everyFile || part.dependsOnOthers)) return part;
  const whole = await load(files, paths, options, index);
  const ownFiles = new Set(part.sources.map(({ file }) => file));
  return { ...whole, diagnostics: whole.diagnostics.filter(({ file }) => ownFiles.has(file)) };
}

const NOTHING: LoadedMerchants = {
  merchants: [],
  diagnostics: [],
  sources: [],
  dependsOnOthers: false,
  previousNames: [],
};

/** Returns the valid merchants, sorted by code. */
function statesOf({ merchants }: LoadedMerchants): readonly DesiredState[] {
  return merchants.flatMap(({ state }) => state ?? []).sort(by(({ merchant }) => merchant));
}

/** Checks that no result replaces a file that was read; throws RolecallError. */
function checkResults(
  files: readonly string[],
  { sources }: LoadedMerchants,
  { outputs = [], inputs = [], cwd }: LoadOptions,
): void {
  if (outputs.every((path) => path === undefined)) return;
  checkOutputs(outputs, [...files, ...sources.map(({ file }) => file), ...inputs], cwd);
}

/**
 * Reads files; with selected merchants, only those that may declare one of them. All are read if no file declares one,
 * and if what other merchants declare matters to them.
 */
async function load(
  files: readonly string[],
  paths: readonly string[],
  { merchants, cwd, now, everyFile = false, outputs = [], projects: otherProjects = [] }: LoadOptions,
  index: ProjectIndex,
): Promise<LoadedMerchants> {
  const wholeProject = namesProject(paths, cwd);
  const projects = [...(await projectAccess(files, cwd)), ...otherProjects];
  const judging = {
    now,
    judge: judgeDeclared,
    wholeProject,
    selected: merchants,
    projects,
  };
  const loadAll = (some: readonly string[]) =>
    loadMerchants(
      sortNaturally(some, (file) => file),
      sourceReader(cwd),
      judging,
    );
  // Nor must a result replace a file that another merchant includes.
  const isPart = merchants.length > 0 && !everyFile && !outputs.some((path) => /\.ya?ml$/i.test(path ?? ""));
  const some = isPart ? await filesDeclaring(files, merchants, index) : files;
  if (some.length === files.length) return loadAll(files);
  const part = await loadAll(some);
  const declared = new Set(statesOf(part).map(({ merchant }) => merchant));
  const isEnough = !part.dependsOnOthers && merchants.every((merchant) => declared.has(merchant));
  return isEnough ? part : loadAll(files);
}

/** Returns which merchants the named included files and folders of them reach, a line each; empty if none is named. */
export function reachNotes({ reach = [] }: Pick<Loaded, "reach">): string {
  return reach
    .flatMap(({ path, merchants, beside, unused }) => {
      const name = oneLine(path);
      const none = `${name} affects no merchant: no valid file includes it.`;
      const count = counted(merchants.length, beside ? "more merchant" : "merchant");
      return [
        ...(merchants.length > 0 ? [`${name} affects ${count}: ${list(merchants)}.`] : beside ? [] : [none]),
        ...(unused.length > 0 ? [`No valid file includes ${list(unused.map(oneLine))}.`] : []),
      ];
    })
    .map((line) => `${line}\n`)
    .join("");
}
