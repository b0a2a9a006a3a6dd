import { readFile } from "node:fs/promises";
import { relative, resolve, sep } from "node:path";
import type { ProjectAccess } from "../../kernel/read/bound-files.ts";
import { loadMerchants } from "../../kernel/read/load-merchants.ts";
import { judgeDeclared } from "../../kernel/rules/judge-rules.ts";
import { PROJECT_FILE } from "../../kernel/schema/project-file.ts";
import type { DesiredState } from "../../model/desired.ts";
import type { GitCommits } from "../../store/git-refs.ts";
import { openCommitFiles } from "./commit-files.ts";
import { baseProject, commitProject } from "./project-access.ts";

/** The merchants of a commit. */
export interface CommitStates {
  readonly commit: string;
  readonly states: readonly DesiredState[];
  /** The files that declare no merchant because of an error. */
  readonly invalid: readonly string[];
  /** The submodules: the files in them are not known. */
  readonly submodules: readonly string[];
  /** The access by which the project there binds the files of the checkout; `null` if it has none. */
  readonly project: ProjectAccess | null;
  /** Returns whether a file of the checkout has the same content there. */
  isSame(file: string): Promise<boolean>;
}

/** Selects the files of a commit that declare merchants. */
export interface CommitSelection {
  readonly paths: readonly string[];
  /** Absolute path of the checkout that the paths are in; nothing in it decides what is read. */
  readonly workspace: string;
  /** Time against which end dates are compared, in ms since the epoch. */
  readonly now: number;
}

/** Loads the files of a commit from git. */
export async function loadCommit(
  commit: string,
  git: GitCommits,
  { paths, workspace, now }: CommitSelection,
): Promise<CommitStates> {
  const files = await openCommitFiles(commit, git);
  const roots = [...new Set(paths.flatMap((path) => files.below(inRepository(path, workspace))))].sort();
  await files.preload(roots);
  const isProject = (await files.content(PROJECT_FILE)) !== null;
  const ownFiles = isProject
    ? await commitProject([PROJECT_FILE], async (folder) => files.below(folder), files.read)
    : null;
  const loaded = { now, judge: judgeDeclared, projects: ownFiles ? [ownFiles] : [] };
  const { merchants } =
    roots.length === 0 ? { merchants: [] } : await loadMerchants(roots, files.read, loaded);
  return {
    commit,
    project: ownFiles && (await baseProject(ownFiles, commit, workspace)),
    submodules: files.submodules,
    states: merchants.flatMap(({ state }) => state ?? []),
    invalid: merchants.flatMap(({ file, state }) => (state === null ? file : [])),
    isSame: async (file) => {
      const [then, now] = await Promise.all([
        files.content(inRepository(file, workspace)),
        readFile(resolve(workspace, file)).catch(() => null),
      ]);
      return then !== null && now !== null && then.equals(now);
    },
  };
}

/** Returns a path of the checkout as git writes it. */
export function inRepository(path: string, workspace: string): string {
  return relative(workspace, resolve(workspace, path)).split(sep).join("/");
}
