import { PROJECT_FILE } from "../../kernel/schema/project-file.ts";
import { RolecallError } from "../../model/errors.ts";
import type { EvidenceCommit } from "../../model/evidence.ts";
import type { Io } from "../io/io.ts";
import { loadFilesAt } from "../project/files-at.ts";
import { defaultPath } from "../project/find-files.ts";
import { openRepository } from "../project/git-objects.ts";
import { isoTime } from "./iso-time.ts";

/** The history of the current branch. */
export interface FileHistory {
  /** The name of the branch; `HEAD` if none is checked out. */
  readonly branch: string;
  /** Returns whether the clone has a commit. */
  readonly hasCommit: (commit: string) => boolean;
  /** Returns whether the branch contains a commit. */
  readonly isAncestor: (commit: string) => boolean;
  /** Returns the commits that changed files of access, along first parents; those files are known by a moment. */
  readonly commits: (moment: number) => Promise<readonly EvidenceCommit[]>;
  /** What cannot be known of it, in sentences. */
  readonly unknown: readonly string[];
}

/** Opens the history of the current branch; throws RolecallError without one. */
export async function openHistory({ cwd, now }: Pick<Io, "cwd" | "now">): Promise<FileHistory> {
  const { git, shallow, root } = await openRepository(cwd, "evidence");
  const lines = async (...args: readonly string[]): Promise<readonly string[]> =>
    (await git(...args)).split("\n").filter(Boolean);
  const [ancestors, all, branch] = await Promise.all([
    lines("rev-list", "HEAD", "--"),
    lines("rev-list", "--all", "--"),
    git("rev-parse", "--abbrev-ref", "HEAD"),
  ]);
  const known = { all: new Set([...ancestors, ...all]), ancestors: new Set(ancestors) };
  return {
    branch: branch.trim(),
    hasCommit: (commit) => known.all.has(commit),
    isAncestor: (commit) => known.ancestors.has(commit),
    commits: async (moment) => {
      const format = "--format=%H%x09%ct%x09%an%x09%s";
      const paths = await sharedFiles(cwd, Math.min(moment, now()));
      const listed = await lines("-C", cwd, "log", "--first-parent", format, "HEAD", "--", ...paths);
      return listed.map((line): EvidenceCommit => {
        const [id = "", seconds, author = "", ...subject] = line.split("\t");
        return { id, at: isoTime(Number(seconds) * 1000), author, subject: subject.join("\t") };
      });
    },
    unknown: shallow
      ? [`The clone ${root} is shallow: older commits of the files are unknown. Run git fetch --unshallow.`]
      : [],
  };
}

/** Returns the paths that declare access: the default folder, the project's file, and files that are included from elsewhere. */
async function sharedFiles(cwd: string, moment: number): Promise<ReadonlySet<string>> {
  const own = [defaultPath(cwd), PROJECT_FILE];
  try {
    const { states } = await loadFilesAt(moment, [], { merchants: [], cwd });
    return new Set([...own, ...states.flatMap(({ origin, included = [] }) => [origin.file, ...included])]);
  } catch (error) {
    if (!(error instanceof RolecallError)) throw error;
    return new Set(own);
  }
}
