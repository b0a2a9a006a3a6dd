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
import { findYamlFiles, ifAnyFiles, shownPath, sourceReader, withoutLinks } from "./find-files.ts";
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
 * Adds the other merchants of the default folder, which rules across merchants count, and what these rules say of the files;
 * a violation that concerns no selected merchant is not reported.
 */
export async function withProject<Read extends ReadFiles>(
  loaded: Read,
  { cwd, now, projects = [] }: Reading,
  index: ProjectIndex,
): Promise<Read & { readonly project: readonly DesiredState[] }> {
  const { sources, states, all: readStates } = loaded;
  const readFiles = new Set(sources.map(({ file }) => file));
  const files = (await ifAnyFiles([], () => findYamlFiles([], cwd))) ?? [];
  const unread: string[] = [];
  for (const file of files) {
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
  const broken = resultsAcross([], project, now, "plan").flatMap(({ origin, broken }) =>
    broken.flatMap(({ refusal: { message, hint }, of }): readonly LocatedProblem[] =>
      [...of].some((merchant) => selected.has(merchant))
        ? [{ code: "across-merchants", message, hint, location: locationOfAcross(origin) }]
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
