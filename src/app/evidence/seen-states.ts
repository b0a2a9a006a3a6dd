import type { SeenState } from "../../ask/evidence/access-history.ts";
import { readLiveRecord } from "../../edit/adopt/live-record.ts";
import { counted } from "../../lib/text.ts";
import type { GitRefs } from "../../store/git-refs.ts";
import type { Io } from "../io/io.ts";
import { timeOfRun } from "../journal/read-journals.ts";
import { openNamedBranch, recordPath } from "../live-branch/live-branch.ts";

/** The recorded live states of a time, and the last ones before it. */
export interface SeenStates {
  readonly states: readonly SeenState[];
  /** The earliest time from which runs are needed to know what was live, in ms since the epoch; `null` for all runs. */
  readonly since: number | null;
  /** What could not be known, in sentences. */
  readonly unknown: readonly string[];
  /** The name of the branch. */
  readonly branch: string;
}

/** A file of a commit. */
interface RecordedFile {
  readonly commit: string;
  /** In ms since the epoch. */
  readonly time: number;
  readonly path: string;
  /** Git object name. */
  readonly content: string;
}

/** Reads the live states that were recorded between two moments, and of each merchant the last one before. */
export async function readSeenStates(from: number, to: number, io: Io): Promise<SeenStates> {
  const branch = await openNamedBranch(io);
  return branch.open(async (branches) => {
    const history = (await branches.history(branch.name)).filter(({ time }) => time <= to).reverse();
    const files = history.flatMap(({ id, time, files }) =>
      [...files].flatMap(([path, content]): readonly RecordedFile[] =>
        content === null ? [] : [{ commit: id, time, path, content }],
      ),
    );
    const before = new Map(files.filter(({ time }) => time < from).map((file) => [file.path, file]));
    const needed = [...before.values(), ...files.filter(({ time }) => time >= from)];
    const states = await statesIn(needed, branches);
    const unreadable = needed.length - states.length;
    const times = [...before.values()].map(({ time }) => time);
    return {
      states,
      since: times.length === 0 ? null : Math.min(...times),
      unknown: [
        ...(unreadable > 0
          ? [`${counted(unreadable, "recorded state")} in ${branch.name} cannot be read.`]
          : []),
        ...(states.length > 0 && before.size === 0
          ? [
              `The branch ${branch.name} begins in the period: what was live before its first commit is unknown.`,
            ]
          : []),
      ],
      branch: branch.name,
    };
  });
}

async function statesIn(
  files: readonly RecordedFile[],
  branches: Pick<GitRefs, "contents" | "describe">,
): Promise<readonly SeenState[]> {
  const texts = await branches.contents(files.map(({ content }) => content));
  const commits = [...new Set(files.map(({ commit }) => commit))];
  const described = await branches.describe(commits);
  const runs = new Map(commits.map((commit, index) => [commit, readBy(described[index]?.message ?? "")]));
  return files.flatMap(({ commit, time, path }, index): readonly SeenState[] => {
    const merchant = path.replace(/\.yaml$/, "");
    const record =
      path === recordPath(merchant) && readLiveRecord(texts[index]?.toString("utf8") ?? "", merchant);
    if (!record) return [];
    return [{ kind: "seen", commit, at: time, run: runs.get(commit) ?? null, live: record.live }];
  });
}

/** Returns the run that has recorded a state; `null` for any other command. */
function readBy(message: string): string | null {
  const [, by = ""] = /^Read-By: (.*)$/m.exec(message) ?? [];
  return timeOfRun(by) === null ? null : by;
}
