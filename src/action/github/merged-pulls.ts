import { ActionError } from "../context/action-error.ts";
import type { EventContext, GroupContext } from "../context/event-context.ts";
import { type Commit, type Github, GithubError, type Pull } from "../context/github-api.ts";

/** A commit to be applied, and how to find what was merged before it. */
export interface ApplyPlace {
  readonly sha: string;
  readonly branch: string;
  /** The pull requests of the commit. */
  readonly pulls: readonly Pull[];
}

/** GitHub needs some seconds after a merge to answer which pull request a commit is of. */
const LAG_WAITS_MS = [1_000, 2_000, 4_000, 8_000, 15_000];

/** Returns the pull requests that the commit of an event merged into a branch; if there is none, asks again for a while. */
export async function pullsMergedAs(
  { sha: commit, name }: Pick<EventContext, "sha" | "name">,
  branch: string,
  github: Github,
  sleep: (ms: number) => Promise<void>,
): Promise<readonly Pull[]> {
  // These events do not follow a merge.
  const waits = name === "schedule" || name === "workflow_dispatch" ? [] : LAG_WAITS_MS;
  for (const wait of [...waits, null]) {
    const merged = await mergedPulls(commit, branch, github);
    const own = merged.filter(({ mergedAs }) => mergedAs === commit);
    if (own.length > 0) return own;
    if (merged.length > 0 || wait === null) return merged;
    await sleep(wait);
  }
  return [];
}

/** Returns the pull requests merged into a branch that contain a commit. */
export async function mergedPulls(commit: string, branch: string, github: Github): Promise<readonly Pull[]> {
  const all = await github.pullsOf(commit);
  return all.filter(({ mergedAs, baseRef }) => mergedAs !== null && baseRef === branch);
}

/** Maximum number of commits to list, and of commits to ask for their pull requests. */
const MAX_LISTED = 1000;
const MAX_ASKED = 100;

/**
 * Yields the pull requests of a commit, then those of the commits that it contains and the baseline does not, newest
 * first. A merge leads to all of its parents; commits of a pull request that was found are not asked again.
 */
export async function* unappliedPulls(
  { sha, branch, pulls }: ApplyPlace,
  baseline: string | null,
  github: Github,
): AsyncGenerator<readonly Pull[]> {
  if (sha === baseline) return;
  yield pulls;
  const found = new Set(pulls.map(({ number }) => number));
  const passed = new Set([sha]);
  const history = commitHistory(sha, github);
  // The commits to visit, and whether each is of a pull request that was found.
  const open = new Map([[sha, false]]);
  for (let asked = 0; asked < MAX_ASKED; ) {
    const commit = await history.next(open);
    if (commit === null) return;
    const known = open.get(commit.sha) === true;
    open.delete(commit.sha);
    passed.add(commit.sha);
    let own = commit.sha === sha ? pulls : [];
    if (commit.sha !== sha && !known) {
      if (commit.sha === baseline) {
        history.leaveOut(commit);
        continue;
      }
      asked += 1;
      const merged = await mergedPulls(commit.sha, branch, github);
      own = merged.filter(({ mergedAs }) => passed.has(mergedAs ?? ""));
      yield own.filter(({ number }) => !found.has(number));
      for (const { number } of own) found.add(number);
    }
    const heads = new Set(own.map(({ headSha }) => headSha));
    commit.parents.forEach((parent, index) => {
      const isKnown = known || (index > 0 && heads.has(parent));
      if (!passed.has(parent)) open.set(parent, (open.get(parent) ?? true) && isKnown);
    });
  }
}

/** The commits that a commit contains, listed as far as they are needed. */
interface CommitHistory {
  /** Returns the newest of the given commits that is not left out; `null` if there is none. */
  next(among: ReadonlyMap<string, unknown>): Promise<Commit | null>;
  /** Leaves out a commit and all that it contains. */
  leaveOut(commit: Commit): void;
}

function commitHistory(start: string, github: Github): CommitHistory {
  const listed = new Map<string, Commit>();
  const left = new Set<string>();
  let page = 0;
  let complete = false;
  const leaveOut = ({ sha: first, parents }: Commit): void => {
    left.add(first);
    const open = [...parents];
    for (let sha = open.pop(); sha !== undefined; sha = open.pop()) {
      if (left.has(sha)) continue;
      left.add(sha);
      open.push(...(listed.get(sha)?.parents ?? []));
    }
  };
  const list = async (): Promise<void> => {
    page += 1;
    const before = listed.size;
    const commits = await github.commits(start, page);
    for (const commit of commits) listed.set(commit.sha, commit);
    for (const commit of commits) if (left.has(commit.sha)) leaveOut(commit);
    complete = listed.size === before || listed.size >= MAX_LISTED;
  };
  return {
    leaveOut,
    next: async (among) => {
      for (;;) {
        const wanted = [...among.keys()].filter((sha) => !left.has(sha));
        if (wanted.length === 0) return null;
        for (const [sha, commit] of listed) if (wanted.includes(sha)) return commit;
        if (complete) return null;
        await list();
      }
    },
  };
}

/**
 * Returns the open pull requests of a merge group: those that the names of its branches and of the groups before it have,
 * and those that GitHub finds for its commits.
 */
export async function queuedPulls(group: GroupContext, github: Github): Promise<readonly Pull[]> {
  const { headRef, headSha, baseRef } = group;
  const { commits } = await github.compare(await github.branchTip(baseRef), headSha);
  const bySha = new Map(commits.map((commit) => [commit.sha, commit]));
  const branches = await github.branchesBelow(`gh-readonly-queue/${baseRef}/`);
  const before = [...branches].flatMap(([name, sha]) => (bySha.has(sha) ? [name] : []));
  const numbers = [headRef, ...before].flatMap((name) => /\/pr-(\d+)-[0-9a-f]+$/.exec(name)?.[1] ?? []);
  const found = new Map<number, Pull>();
  const add = (pulls: readonly Pull[]): void => {
    for (const pull of pulls) {
      if (pull.open && pull.baseRef === baseRef) found.set(pull.number, pull);
    }
  };
  for (const number of new Set(numbers)) add([await github.pull(Number(number))]);
  for (let commit = bySha.get(headSha); commit; commit = bySha.get(commit.parents[0] ?? "")) {
    add(await github.pullsOf(commit.sha));
    // Other pull requests may be built on these commits, so only the one that ends here counts.
    for (const head of commit.parents.slice(1)) {
      if ([...found.values()].some(({ headSha: known }) => known === head)) continue;
      add((await github.pullsOf(head)).filter((pull) => pull.headSha === head));
    }
  }
  return [...found.values()];
}

/** Converts a GithubError to an ActionError: without its answers nothing counts as approved. */
export async function readingApprovals<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof GithubError)) throw error;
    throw new ActionError(
      "github",
      `The approvals could not be read from GitHub: ${error.message}.`,
      error.advice("contents: read", "pull-requests: read", "checks: read"),
    );
  }
}
