import { groupByKey } from "../../lib/text.ts";
import type { DesiredState } from "../../model/desired.ts";
import type { Diagnostic, Judging } from "../../model/diagnostic.ts";
import type { FileLocation, LocatedProblem } from "../problems/problem.ts";
import { isProjectFile } from "../schema/project-file.ts";
import { omitUndefined, textOf } from "../values/values.ts";
import type { ProjectAccess } from "./bound-files.ts";
import { type BuiltMerchant, buildDesiredState } from "./build-desired-state.ts";
import { duplicateMerchants } from "./duplicate-merchants.ts";
import { type Enforcement, loadProjects } from "./load-project.ts";
import { type LoadedSources, loadSources, type ReadSource, type SourceFile } from "./load-sources.ts";
import { failedRead } from "./unreadable-file.ts";

/** A merchant's file; `state` is `null` if it or an included file has an error other than a refusal. */
export interface LoadedMerchant {
  readonly file: string;
  readonly state: DesiredState | null;
}

/** The merchants of a set of files, and all diagnostics. */
export interface LoadedMerchants {
  /** The files that are not only included by others, in the given order. */
  readonly merchants: readonly LoadedMerchant[];
  /** Distinct diagnostics, sorted by file, line and column. */
  readonly diagnostics: readonly Diagnostic[];
  /** The distinct files that were read. */
  readonly sources: readonly { readonly file: string; readonly text: string }[];
  /** True if a shared rule names a role that one of the merchants does not have: others may have it. */
  readonly dependsOnOthers: boolean;
  /** The references to roles by previous names that mean one role to every merchant that reads them. */
  readonly previousNames: readonly PreviousName[];
}

/** A reference to a role by its previous name. */
export interface PreviousName {
  readonly role: string;
  /** The current name. */
  readonly name: string;
  readonly location: FileLocation;
}

/** Options of loading. */
export interface LoadingOptions extends Judging {
  /**
   * True if these are all files of the project, so that no other merchant can have a role that a shared rule names.
   */
  readonly wholeProject?: boolean;
  /** Codes of the merchants whose problems are reported; absent or empty: all, with files of no merchant. */
  readonly selected?: readonly string[];
  /** Access to the projects that the files belong to, whose rules are enforced on them; absent: none is. */
  readonly projects?: readonly ProjectAccess[];
}

/** Reads merchants' files with their includes, each file once; never throws for an invalid one. */
export async function loadMerchants(
  paths: readonly string[],
  read: ReadSource,
  { now, judge, wholeProject = false, selected = [], projects: accesses = [] }: LoadingOptions,
): Promise<LoadedMerchants> {
  const isProject = (path: string): boolean =>
    accesses.some(({ placesOf }) => placesOf(path).some((place) => isProjectFile(place.path)));
  const files = paths.filter((path) => !isProject(path));
  const projects = await Promise.all(accesses.map((access) => loadProjects(files, access, now)));
  const ofProjects = new Set(
    projects.flatMap(({ sources, problems }) => [
      ...sources.map(({ file }) => file),
      ...problems.map(({ location }) => location.file),
    ]),
  );
  const given = new Map<string, string[]>();
  const readGiven: ReadSource = async (path, from) => {
    const result = await read(path, from);
    if (from === null && result.ok) given.set(result.file, [...(given.get(result.file) ?? []), path]);
    return result;
  };
  const enforcementsOf = ({ file }: SourceFile): readonly Enforcement[] =>
    projects.flatMap((project) => project.enforcementOf(file, given.get(file) ?? []));
  const library = await loadSources(files, readGiven, now);
  const assembled = buildMerchants(library, ofProjects, enforcementsOf, { now, judge });
  const duplicates = duplicateMerchants(
    assembled.map(({ main: { file, raw } }) => ({ file, merchant: raw?.fields["merchant"] })),
  );
  const again = new Set(duplicates.map(({ location }) => location.file));
  const reports = sharedReports(assembled);
  const elsewhere = knownElsewhere(reports);
  const shared = unknownToAll(reports, wholeProject);
  const mistaken = new Set(
    shared.flatMap(({ location, code }) => (code === "unknown-role" ? location.file : [])),
  );
  const allProblems = [
    ...library.failures.map((failure) => failedRead(failure, failure.location)),
    ...projects.flatMap(({ problems }) => problems),
    ...library.sources.flatMap((source) => (ofProjects.has(source.file) ? [] : source.problems)),
    ...assembled.flatMap((merchant) =>
      merchant.problems.filter(({ code }) => code !== "unknown-shared-role"),
    ),
    ...shared,
    ...duplicates,
  ];
  const problems = withoutRepeats(
    selected.length === 0
      ? allProblems
      : allProblems.filter(concerns(new Set(selected), assembled, ofProjects)),
  );
  const sources = [...library.sources, ...projects.flatMap((project) => project.sources)];
  const texts = new Map(sources.map(({ file, text }) => [file, text]));
  return {
    merchants: [
      ...assembled.map(({ main: { file }, state, sources, bound }) => ({
        file,
        state:
          state === null ||
          again.has(file) ||
          [...sources.map((source) => source.file), ...bound].some((file) => mistaken.has(file))
            ? null
            : omitUndefined({ ...state, rolesElsewhere: elsewhere.get(file) }),
      })),
      ...library.failures.flatMap(({ location, file }) => (location === null ? [{ file, state: null }] : [])),
    ],
    diagnostics:
      problems.length === 0
        ? []
        : (await import("../messages/describe-problems.ts")).describeProblems(texts, problems),
    sources: [...texts].map(([file, text]) => ({ file, text })),
    dependsOnOthers: reports.length > 0,
    previousNames: previousNamesIn(assembled),
  };
}

/**
 * Returns the references by previous names. One in a shared file is left out if another merchant that includes it has
 * errors, or a role of that name.
 */
function previousNamesIn(assembled: readonly BuiltMerchant[]): readonly PreviousName[] {
  const namesByPlace = new Map<string, PreviousName>();
  const unclear = new Set<string>();
  for (const { problems } of assembled) {
    for (const problem of problems) {
      if (problem.code !== "previous-role-name") continue;
      const { role, name } = problem;
      for (const location of problem.places) {
        const key = JSON.stringify([location, role]);
        if ((namesByPlace.get(key)?.name ?? name) !== name) unclear.add(key);
        namesByPlace.set(key, { role, name, location });
      }
    }
  }
  if (namesByPlace.size === 0) return [];
  const including = includingMerchants(assembled);
  return [...namesByPlace].flatMap(([key, previousName]) => {
    const { role, location } = previousName;
    const isClear = (including.get(location.file) ?? []).every(
      ({ state }) => state !== null && !state.roles?.some(({ name }) => name === role),
    );
    return isClear && !unclear.has(key) ? previousName : [];
  });
}

/** Returns the merchants that include a file, by file. */
function includingMerchants(
  assembled: readonly BuiltMerchant[],
): ReadonlyMap<string, readonly BuiltMerchant[]> {
  const including = new Map<string, BuiltMerchant[]>();
  for (const merchant of assembled) {
    for (const { file } of merchant.sources) {
      if (file === merchant.main.file) continue;
      const merchants = including.get(file) ?? [];
      merchants.push(merchant);
      including.set(file, merchants);
    }
  }
  return including;
}

/**
 * Builds the files that declare a merchant, and the others that no file includes; of files that only include one another,
 * the first. The files of projects count only if they declare a merchant.
 */
function buildMerchants(
  { roots, included, resolve }: LoadedSources,
  ofProjects: ReadonlySet<string>,
  enforcementsOf: (source: SourceFile) => readonly Enforcement[],
  judging: Judging,
): readonly BuiltMerchant[] {
  const declares = ({ raw }: SourceFile): boolean => raw !== null && Object.hasOwn(raw.fields, "merchant");
  const candidates = roots.filter((source) => declares(source) || !ofProjects.has(source.file));
  const build = (source: SourceFile): BuiltMerchant =>
    buildDesiredState(source, resolve, judging, declares(source) ? enforcementsOf(source) : []);
  const assembled = candidates.filter((source) => declares(source) || !included.has(source.file)).map(build);
  const reached = new Set(assembled.flatMap(({ sources }) => sources.map(({ file }) => file)));
  for (const source of candidates) {
    if (reached.has(source.file)) continue;
    const merchant = build(source);
    assembled.push(merchant);
    for (const { file } of merchant.sources) reached.add(file);
  }
  return assembled;
}

type UnknownSharedRole = LocatedProblem & { readonly code: "unknown-shared-role" };

/** The merchants without a role that a shared rule names. */
interface SharedReport {
  readonly all: readonly UnknownSharedRole[];
  /** Returns whether another merchant that includes the rule knows the role. */
  readonly elsewhere: boolean;
}

function sharedReports(assembled: readonly BuiltMerchant[]): readonly SharedReport[] {
  const unknown = assembled.flatMap(({ problems }) =>
    problems.filter((problem) => problem.code === "unknown-shared-role"),
  );
  return groupByKey(unknown, ({ location, role }) => JSON.stringify([location, role])).map((problems) => {
    const { file } = problems[0].location;
    const including = assembled.filter(
      ({ sources, bound }) => sources.some((source) => source.file === file) || bound.includes(file),
    );
    return { all: problems, elsewhere: problems.length < including.length };
  });
}

/**
 * Reports roles of shared rules that none of the including merchants has; as errors if there are no other merchants.
 */
function unknownToAll(reports: readonly SharedReport[], wholeProject: boolean): readonly LocatedProblem[] {
  return reports.flatMap(({ all, elsewhere }): readonly LocatedProblem[] => {
    const complete = all.filter(({ open }) => !open);
    const mayBeLive = complete.length < all.length;
    const best = complete.find(({ near }) => near !== null) ?? complete[0];
    // An undeclared role may be live where roles are not managed, so only a likely misspelling is reported before a
    // plan.
    if (elsewhere || best === undefined || (mayBeLive && best.near === null)) return [];
    const { via: _, role, near, location, protects = false } = best;
    if (protects && near === null) return [{ code: "unknown-protected-role", role, near, location }];
    return wholeProject && !mayBeLive
      ? [{ code: "unknown-role", role, near, location }]
      : [{ code: "unknown-shared-role", role, near, open: mayBeLive, location }];
  });
}

/** Returns the roles that a merchant does not know and another one does, by the merchant's own file. */
function knownElsewhere(reports: readonly SharedReport[]): ReadonlyMap<string, readonly string[]> {
  const roles = new Map<string, readonly string[]>();
  for (const { via, role } of reports.flatMap(({ all, elsewhere }) => (elsewhere ? all : []))) {
    if (via !== undefined) roles.set(via, [...(roles.get(via) ?? []), role]);
  }
  return roles;
}

/**
 * Returns a function that tests whether a problem concerns the selected merchants: it is in one of their files. If no
 * file has the code of one of them, a file that cannot be read could be its file.
 */
function concerns(
  selected: ReadonlySet<string>,
  assembled: readonly BuiltMerchant[],
  ofProjects: ReadonlySet<string>,
): (problem: LocatedProblem) => boolean {
  const codeOf = ({ main }: BuiltMerchant): string | null => textOf(main.raw?.fields["merchant"]);
  const chosen = assembled.filter((merchant) => selected.has(codeOf(merchant) ?? ""));
  const isMissing = new Set(chosen.map(codeOf)).size < selected.size;
  const filesOf = (some: readonly BuiltMerchant[]): ReadonlySet<string> =>
    new Set(some.flatMap(({ sources }) => sources.map(({ file }) => file)));
  const mains = new Set(chosen.map(({ main }) => main.file));
  const files = filesOf(chosen);
  const knownFiles = filesOf(assembled.filter((merchant) => codeOf(merchant) !== null));
  return ({ via, location: { file } }) =>
    (via === undefined && ofProjects.has(file)) ||
    (via === undefined ? files.has(file) : mains.has(via)) ||
    (isMissing && !knownFiles.has(via ?? file));
}

/** Combines equal problems that several merchants have through the same file. */
function withoutRepeats(problems: readonly LocatedProblem[]): readonly LocatedProblem[] {
  const seen = new Map<string, string[]>();
  const distinct = problems.filter(({ via, ...problem }) => {
    if (via === undefined) return true;
    const key = JSON.stringify(problem);
    const known = seen.get(key);
    if (known === undefined) seen.set(key, [via]);
    else known.push(via);
    return known === undefined;
  });
  if (![...seen.values()].some((vias) => vias.length > 1)) return distinct;
  return distinct.map((located) => {
    const { via, ...problem } = located;
    const [, ...alsoVia] = (via !== undefined && seen.get(JSON.stringify(problem))) || [];
    return alsoVia.length === 0 ? located : { ...located, alsoVia };
  });
}
