import type { ActionContext } from "../context/action-context.ts";
import { ActionError } from "../context/action-error.ts";
import type { EventContext, GroupContext } from "../context/event-context.ts";
import { type Github, GithubError, type Pull } from "../context/github-api.ts";

/** After a merge, GitHub needs some seconds until it reports the pull request of a commit. */
const LAG_WAITS_MS = [2_000, 8_000, 20_000];

/**
 * Returns the pull requests that the commit of an event merged into a branch. If there is none, but the commit may
 * merge a recorded pull request, asks again for a while.
 */
export async function pullsMergedAs(
  { sha: commit }: Pick<EventContext, "sha">,
  branch: string,
  { github, io }: Pick<ActionContext, "github" | "io">,
  mayBeMerge: boolean,
): Promise<readonly Pull[]> {
  for (const wait of [...(mayBeMerge ? LAG_WAITS_MS : []), null]) {
    const merged = await mergedPulls(commit, branch, github);
    const merges = merged.filter(({ mergedAs }) => mergedAs === commit);
    if (merges.length > 0) return merges;
    if (merged.length > 0 || wait === null) return merged;
    await io.sleep(wait);
  }
  return [];
}

/** Returns the pull requests merged into a branch that contain a commit. */
async function mergedPulls(commit: string, branch: string, github: Github): Promise<readonly Pull[]> {
  const pulls = await github.pullsWith(commit);
  return pulls.filter(({ mergedAs, baseRef }) => mergedAs !== null && baseRef === branch);
}

/**
 * Returns the open pull requests of a merge group: those in the names of its branch and of the branches of the groups
 * before it, and those that GitHub finds for its commits.
 */
export async function queuedPulls(group: GroupContext, github: Github): Promise<readonly Pull[]> {
  const { headRef, headSha, baseRef } = group;
  const { commits } = await github.compare(await github.branchTip(baseRef), headSha);
  const bySha = new Map(commits.map((commit) => [commit.sha, commit]));
  const branches = await github.branchesBelow(`gh-readonly-queue/${baseRef}/`);
  const before = [...branches].flatMap(([name, sha]) => (bySha.has(sha) ? [name] : []));
  const numbers = [headRef, ...before].flatMap((name) => /\/pr-(\d+)-[0-9a-f]+$/.exec(name)?.[1] ?? []);
  const pullsByNumber = new Map<number, Pull>();
  const add = (pulls: readonly Pull[]): void => {
    for (const pull of pulls) {
      if (pull.open && pull.baseRef === baseRef) pullsByNumber.set(pull.number, pull);
    }
  };
  for (const number of new Set(numbers)) add([await github.pull(Number(number))]);
  for (let commit = bySha.get(headSha); commit; commit = bySha.get(commit.parents[0] ?? "")) {
    add(await github.pullsWith(commit.sha));
    // Other pull requests may be built on these commits, so only the one that ends here counts.
    for (const head of commit.parents.slice(1)) {
      if ([...pullsByNumber.values()].some(({ headSha: known }) => known === head)) continue;
      add((await github.pullsWith(head)).filter((pull) => pull.headSha === head));
    }
  }
  return [...pullsByNumber.values()];
}

/** Converts a GithubError to an ActionError: without the response, nothing counts as approved. */
export async function readingApprovals<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof GithubError)) throw error;
    throw new ActionError(
      "github",
      `The approvals could not be read from GitHub: ${error.message}.`,
      error.advice("contents: read", "pull-requests: read"),
    );
  }
}
