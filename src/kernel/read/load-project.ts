import type { EnforcedRules, ProjectSettings, RulesAcross } from "../../model/desired.ts";
import { inFile } from "../problems/in-file.ts";
import type { FileLocation, LocatedProblem } from "../problems/problem.ts";
import { isError } from "../problems/rule-table.ts";
import { keyProblems } from "../problems/secrets.ts";
import type { AtMostCheck } from "../rules/settings/at-most-setting.ts";
import { parseCheck } from "../rules/settings/every-check-setting.ts";
import { combinedPolicies, parseRunLimits } from "../rules/settings/every-setting.ts";
import { checkProject } from "../schema/check-file.ts";
import { PROJECT_FILE } from "../schema/project-file.ts";
import { type ProjectFile, RULE_SECTIONS } from "../schema/project-schema.ts";
import { keyLocation, locationOf, type RawFile } from "../schema/raw-file.ts";
import { enforcedRules, type ValidFile } from "../validate/desired-settings.ts";
import { checkMerchant } from "../validate/merchant-rules.ts";
import { createRuleContext } from "../validate/rule-context.ts";
import { isYamlName } from "../values/text-schemas.ts";
import { omitUndefined, unique } from "../values/values.ts";
import type { ParsedYaml } from "../yaml/fast-yaml.ts";
import { parseYaml } from "../yaml/parse-yaml.ts";
import { isBound, type MatchedGlob, matchedFiles, type ProjectAccess, placeIn } from "./bound-files.ts";
import { loadSources, type ReadSource } from "./load-sources.ts";
import { type IncludeGraph, resolveIncludes } from "./resolve-includes.ts";
import { failedRead, unreadableFile } from "./unreadable-file.ts";

/** A file of rules with its includes, all without errors. */
export interface RulesFile {
  readonly rawFiles: readonly RawFile[];
  readonly contents: readonly ValidFile[];
  /** The rules, with the names of roles as written. */
  readonly rules: EnforcedRules;
}

/** An entry of a project that binds a file. */
export interface BindingEntry {
  /** `null` if the entry has none, or they have errors. */
  readonly rules: RulesFile | null;
  /** The names of all files of the rules, also of those with errors. */
  readonly ruleFiles: readonly string[];
  readonly allow: { readonly sections: readonly string[]; readonly location: FileLocation } | null;
}

/** Requirements of a project for one merchant's file. */
export interface Enforcement {
  readonly by?: "base";
  readonly entries: readonly BindingEntry[];
  /** Set if no entry matches the file, although one must. */
  readonly unlisted: { readonly project: string; readonly location: FileLocation } | null;
  readonly settings: ProjectSettings;
  /** True if the project has errors, so that its rules are unknown. */
  readonly broken: boolean;
}

/** The projects of some files. */
export interface Projects {
  readonly problems: readonly LocatedProblem[];
  /** The files of the projects and of rules. */
  readonly sources: readonly { readonly file: string; readonly text: string }[];
  /** Returns the requirements for a merchant's file, by its name and the paths that were given for it. */
  enforcementOf(file: string, given: readonly string[]): readonly Enforcement[];
}

/** Loads the projects that files belong to, each once. */
export async function loadProjects(
  files: readonly string[],
  access: ProjectAccess,
  now: number,
): Promise<Projects> {
  const roots = unique(files.flatMap((file) => access.placesOf(file).map(({ root }) => root)));
  const loaded = (await Promise.all(roots.map((root) => loadProject(root, access, now)))).flatMap(
    (project) => project ?? [],
  );
  return {
    // Problems of a base branch cannot be corrected on this branch.
    problems: access.by ? [] : loaded.flatMap(({ problems }) => problems),
    sources: loaded.flatMap(({ sources }) => sources),
    enforcementOf: (file, given) => loaded.flatMap((project) => enforcementBy(project, file, given, access)),
  };
}

interface Entry extends BindingEntry {
  readonly globs: readonly (MatchedGlob & { readonly location: FileLocation })[];
}

interface Project {
  readonly root: string;
  readonly file: string;
  readonly entries: readonly Entry[];
  readonly enforceAll: boolean;
  readonly settings: ProjectSettings;
  readonly problems: readonly LocatedProblem[];
  readonly sources: Projects["sources"];
}

function enforcementBy(
  { root, file: project, entries, enforceAll, settings, problems }: Project,
  file: string,
  given: readonly string[],
  access: ProjectAccess,
): readonly Enforcement[] {
  const { by } = access;
  const place = placeIn(root, file, given, access);
  if (place === null) return [];
  const binding = entries.filter(({ globs }) => isBound(place, globs, access));
  const location = keyLocation(project, ["enforce_all"]);
  return [
    {
      ...(by && { by }),
      settings,
      entries: binding,
      unlisted: enforceAll && binding.length === 0 ? { project, location } : null,
      broken: by === undefined && problems.some(isError),
    },
  ];
}

/** Loads the project of a root; `null` if the root has no project's file. */
async function loadProject(root: string, access: ProjectAccess, now: number): Promise<Project | null> {
  const names = await access.namesIn(root);
  if (names.length === 0) return null;
  const strays = names.filter((name) => name !== PROJECT_FILE);
  const misnamed = await Promise.all(strays.map((name) => misnamedFile(root, name, access)));
  const read = names.includes(PROJECT_FILE) ? await access.readIn(root, PROJECT_FILE) : null;
  const none = { root, file: PROJECT_FILE, entries: [], enforceAll: false, settings: {} };
  if (read === null) return { ...none, problems: misnamed.flat(), sources: [] };
  if (!read.ok)
    return {
      ...none,
      problems: [...misnamed.flat(), unreadableFile(PROJECT_FILE, read.reason)],
      sources: [],
    };
  const { file, text } = read;
  const { content, problems } = analyzeProject(file, text, await parseYaml(text));
  const enforced = content?.enforce ?? [];
  const rules = await loadRules(root, file, enforced, access, now);
  const entries = await Promise.all(
    enforced.map(async ({ files, allow }, index): Promise<Entry> => {
      const globs = files.map(async (glob, number) => ({
        glob,
        location: locationOf(file, ["enforce", index, "files", number]),
        matched: await matchedFiles(root, glob, access),
      }));
      return {
        globs: await Promise.all(globs),
        rules: rules.files[index]?.rules ?? null,
        ruleFiles: rules.files[index]?.names ?? [],
        allow:
          allow === undefined
            ? null
            : { sections: allow, location: keyLocation(file, ["enforce", index, "allow"]) },
      };
    }),
  );
  return {
    root,
    file,
    entries,
    enforceAll: content?.enforce_all ?? false,
    settings: settingsOf(file, content, access.by),
    problems: [
      ...misnamed.flat(),
      ...problems,
      ...rules.problems,
      ...(access.by ? [] : entries.flatMap(withoutFile)),
      ...entries.flatMap((entry, index) =>
        rulesInReach(entry, locationOf(file, ["enforce", index, "rules"]), access),
      ),
    ],
    sources: [{ file, text }, ...rules.sources],
  };
}

function settingsOf(file: string, content: ProjectFile | null, by: ProjectSettings["by"]): ProjectSettings {
  const { run, across_merchants: across, sensitive, permissions, live_branch: liveBranch } = content ?? {};
  return omitUndefined({
    by,
    run: run && { ...parseRunLimits(run), origin: { file, path: ["run"] } },
    across: across && rulesAcross(across, file),
    sensitive,
    permissions,
    liveBranch,
  });
}

function rulesAcross(
  { checks = [], ...policies }: NonNullable<ProjectFile["across_merchants"]>,
  file: string,
): RulesAcross {
  const path = ["across_merchants"];
  return {
    policies: combinedPolicies([policies], (role) => role),
    checks: checks.map(
      (check, index) => parseCheck(check, { file, path: [...path, "checks", index] }) as AtMostCheck,
    ),
    origin: { file, path },
  };
}

function withoutFile({ globs }: Entry): readonly LocatedProblem[] {
  return globs.flatMap(({ glob, location, matched }): readonly LocatedProblem[] =>
    matched.length > 0 ? [] : [{ code: "glob-without-file", glob, location }],
  );
}

async function misnamedFile(
  root: string,
  name: string,
  { readIn }: ProjectAccess,
): Promise<readonly LocatedProblem[]> {
  const read = await readIn(root, name);
  const file = read.ok ? read.file : name;
  return [{ code: "project-file-name", name, location: { at: "file", file } }];
}

/** Checks a parsed project's file by itself. */
function analyzeProject(
  file: string,
  text: string,
  { value, readable, problems: faults }: ParsedYaml,
): { readonly content: ProjectFile | null; readonly problems: readonly LocatedProblem[] } {
  const checked = readable ? checkProject(value) : { content: null, problems: [] };
  const problems = [...keyProblems(text, value), ...faults, ...checked.problems];
  return { content: checked.content, problems: problems.map((problem) => inFile(file, problem)) };
}

interface LoadedRules {
  /** By the index of the entry; the rules are `null` if they have errors. */
  readonly files: readonly ({ readonly rules: RulesFile | null; readonly names: readonly string[] } | null)[];
  readonly problems: readonly LocatedProblem[];
  readonly sources: Projects["sources"];
}

/** Loads the rules of a project's entries, each file once. */
async function loadRules(
  root: string,
  project: string,
  entries: NonNullable<ProjectFile["enforce"]>,
  access: ProjectAccess,
  now: number,
): Promise<LoadedRules> {
  const locations = new Map<string, FileLocation>();
  for (const [index, { rules }] of entries.entries()) {
    if (rules !== undefined && !locations.has(rules)) {
      locations.set(rules, locationOf(project, ["enforce", index, "rules"]));
    }
  }
  const names = new Map<string, string>();
  const read: ReadSource = async (path, from) => {
    const result = await (from === null ? access.readIn(root, path) : access.read(path, from));
    if (from !== null || !result.ok) return result;
    names.set(path, result.file);
    return isYamlName(result.file) ? result : { ok: false, reason: "not-a-file" };
  };
  const library = await loadSources([...locations.keys()], read, now);
  const built = new Map(
    library.roots.map((source) => {
      const graph = resolveIncludes(source, library.resolve);
      const problems = rulesProblems(graph, now);
      const hasErrors = [...problems, ...graph.sources.flatMap((source) => source.problems)].some(isError);
      const rules = hasErrors ? null : rulesOf(graph, access.by);
      return [source.file, { problems, rules, names: graph.sources.map(({ file }) => file) }] as const;
    }),
  );
  return {
    files: entries.map(({ rules }) => built.get(names.get(rules ?? "") ?? "") ?? null),
    problems: [
      ...library.failures.map((failure) =>
        failedRead(failure, failure.location ?? locations.get(failure.path) ?? null),
      ),
      ...library.sources.flatMap(({ problems }) => problems),
      ...[...built.values()].flatMap(({ problems }) => problems),
    ],
    sources: library.sources.map(({ file, text }) => ({ file, text })),
  };
}

const RULE_KEYS: ReadonlySet<string> = new Set(["version", "include", ...RULE_SECTIONS]);

const BETWEEN_RULES: ReadonlySet<string> = new Set([
  "conflicting-setting",
  "holders-contradiction",
  "leaver-listed",
  "looser-setting",
]);

/** Returns the problems of a file of rules with its includes, besides those of each file. */
function rulesProblems(
  { main, sources, complete, problems }: IncludeGraph,
  now: number,
): readonly LocatedProblem[] {
  const rawFiles = sources.flatMap(({ raw }) => raw ?? []);
  const context = createRuleContext({ main: main.file, rawFiles, complete, now });
  return [
    ...problems.filter(({ code }) => code !== "include-identity"),
    ...rawFiles.flatMap(({ file, fields }) =>
      Object.keys(fields).flatMap((key): readonly LocatedProblem[] => {
        return RULE_KEYS.has(key) ? [] : [{ code: "rules-section", key, location: keyLocation(file, [key]) }];
      }),
    ),
    ...checkMerchant(context).filter(({ code }) => BETWEEN_RULES.has(code)),
  ];
}

function rulesOf({ main, sources, complete }: IncludeGraph, by: ProjectAccess["by"]): RulesFile | null {
  const contents = sources.flatMap(({ file, content }) => (content === null ? [] : [{ file, content }]));
  if (!complete || contents.length < sources.length) return null;
  const otherFiles = sources.flatMap(({ file }) => (file === main.file ? [] : file));
  const files = [main.file, ...otherFiles] as const;
  return {
    rawFiles: sources.flatMap(({ raw }) => raw ?? []),
    contents,
    rules: enforcedRules(contents, files, by),
  };
}

/** Reports rules that the files under them could change. */
function rulesInReach(
  { globs, ruleFiles }: Entry,
  location: FileLocation,
  { placesOf, matches, by }: ProjectAccess,
): readonly LocatedProblem[] {
  if (by) return [];
  return ruleFiles.flatMap((name): readonly LocatedProblem[] => {
    const paths = placesOf(name).map(({ path }) => path);
    const hit = globs.find(({ glob }) => paths.some((path) => matches(glob, path)));
    return hit === undefined ? [] : [{ code: "rules-in-reach", name, glob: hit.glob, location }];
  });
}
