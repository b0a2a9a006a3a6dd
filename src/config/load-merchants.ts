import type { DesiredState } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { type Assembled, assemble } from "./build-desired-state.ts";
import type { LocatedProblem } from "./diagnostics/problem.ts";
import {
  type FailedRead,
  type Library,
  type Meanwhile,
  openLibrary,
  type ReadSource,
} from "./load-sources.ts";
import { siteOf } from "./raw-file.ts";
import { repeats } from "./values.ts";

/** A merchant's file; `state` is null exactly when it or a file that it includes has an error that is no refusal. */
export interface LoadedMerchant {
  readonly file: string;
  readonly state: DesiredState | null;
}

/** What a set of files says, and everything that is wrong with it. */
export interface LoadedMerchants {
  /** The files that are not only included by others, in the order in which they were given. */
  readonly merchants: readonly LoadedMerchant[];
  /** Sorted by file, line and column; a problem of a file that several merchants include is there once. */
  readonly diagnostics: readonly Diagnostic[];
  /** Every file that was read, each once. */
  readonly sources: readonly { readonly file: string; readonly text: string }[];
}

/** What loading depends on besides the files. */
export interface LoadingOptions {
  /** Milliseconds since the epoch: says which ends are past. */
  readonly now: number;
  /** Whether the files are all of the project's, so that no other merchant can have what a shared rule names. */
  readonly wholeProject?: boolean;
  /** Hooks that run while files are read; absent: none. */
  readonly meanwhile?: Meanwhile;
}

/** Reads merchants' files with all that they include, each file once; nothing is thrown for a bad one. */
export async function loadMerchants(
  files: readonly string[],
  read: ReadSource,
  { now, wholeProject = false, meanwhile }: LoadingOptions,
): Promise<LoadedMerchants> {
  const library = await openLibrary(files, read, now, meanwhile);
  await meanwhile?.pause();
  const assembled = assembleAll(library, now);
  await meanwhile?.pause();
  const duplicates = duplicateMerchants(
    assembled.map(({ main: { file, draft } }) => ({ file, merchant: draft?.fields["merchant"] })),
  );
  const again = new Set(duplicates.map(({ place }) => place.file));
  const shared = unknownToAll(assembled, wholeProject);
  const mistaken = new Set(shared.flatMap(({ place, code }) => (code === "unknown-role" ? place.file : [])));
  const problems = withoutRepeats([
    ...library.failures.map(unreadable),
    ...library.sources.flatMap((source) => source.problems),
    ...assembled.flatMap((one) => one.problems.filter(({ code }) => code !== "unknown-shared-role")),
    ...shared,
    ...duplicates,
  ]);
  const texts = new Map(library.sources.map(({ file, text }) => [file, text]));
  return {
    merchants: [
      ...assembled.map(({ main: { file }, state, sources: all }) => ({
        file,
        state: again.has(file) || all.some((source) => mistaken.has(source.file)) ? null : state,
      })),
      ...library.failures.flatMap(({ site, name }) => (site === null ? [{ file: name, state: null }] : [])),
    ],
    diagnostics:
      problems.length === 0
        ? []
        : (await import("./diagnostics/to-diagnostics.ts")).diagnose(texts, problems),
    sources: library.sources.map(({ file, text }) => ({ file, text })),
  };
}

/** Every file that stands for itself, and of those that only include one another the first. */
function assembleAll(library: Library, now: number): readonly Assembled[] {
  const included = new Set(library.targets.values());
  const alone = library.roots.filter(
    (source) =>
      !included.has(source) || (source.draft !== null && Object.hasOwn(source.draft.fields, "merchant")),
  );
  const assembled: Assembled[] = [];
  for (const source of alone) {
    assembled.push(assemble(source, library.resolve, now));
  }
  const reached = new Set(assembled.flatMap(({ sources }) => sources));
  for (const source of library.roots) {
    if (!reached.has(source)) {
      const one = assemble(source, library.resolve, now);
      assembled.push(one);
      for (const each of one.sources) {
        reached.add(each);
      }
    }
  }
  return assembled;
}

type UnknownSharedRole = LocatedProblem & { readonly code: "unknown-shared-role" };

/** Roles that shared rules name and none of the merchants knows that include them; errors if there are no others. */
function unknownToAll(assembled: readonly Assembled[], wholeProject: boolean): readonly LocatedProblem[] {
  const reports = new Map<string, UnknownSharedRole[]>();
  for (const problem of assembled.flatMap(({ problems }) => problems)) {
    if (problem.code !== "unknown-shared-role") continue;
    const key = JSON.stringify([problem.place, problem.role]);
    reports.set(key, [...(reports.get(key) ?? []), problem]);
  }
  return [...reports.values()].flatMap((all): readonly LocatedProblem[] => {
    const complete = all.filter(({ open }) => !open);
    const open = complete.length < all.length;
    const best = complete.find(({ near }) => near !== null) ?? complete[0];
    // An undeclared role may be live where roles are not managed: only a likely slip is reported before a plan.
    if (best === undefined || (open && best.near === null)) return [];
    const { via: _, role, near, place } = best;
    const { file } = place;
    const including = assembled.filter(({ sources }) => sources.some((source) => source.file === file));
    if (all.length < including.length) return [];
    return wholeProject && !open
      ? [{ code: "unknown-role", role, near, place }]
      : [{ code: "unknown-shared-role", role, near, open, place }];
  });
}

function unreadable({ code, name, limit, site }: FailedRead): LocatedProblem {
  const place = site ?? ({ at: "file", file: name } as const);
  return code === "file-too-large" ? { code, limit, place } : { code, name, place };
}

/** A problem once, though several merchants have it through the same file; the first of them stands for all. */
function withoutRepeats(problems: readonly LocatedProblem[]): readonly LocatedProblem[] {
  const seen = new Set<string>();
  return problems.filter(({ via, ...problem }) => {
    if (via === undefined) {
      return true;
    }
    const key = JSON.stringify(problem);
    const repeated = seen.has(key);
    seen.add(key);
    return !repeated;
  });
}

/** Every file of a merchant after its first. */
function duplicateMerchants(
  files: readonly { readonly file: string; readonly merchant: unknown }[],
): readonly LocatedProblem[] {
  const site = ({ file }: { readonly file: string }) => siteOf(file, ["merchant"]);
  return repeats(files, ({ merchant }) => merchant).map(
    ({ text, item, first }): LocatedProblem => ({
      code: "duplicate-merchant",
      merchant: text,
      place: site(item),
      first: site(first),
    }),
  );
}
