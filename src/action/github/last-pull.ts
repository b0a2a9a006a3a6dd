import type { ActionContext } from "../context/action-context.ts";
import { type Github, GithubError } from "../context/github-api.ts";

/** Commits whose pull request a run asks for: each takes a request. */
const MAX_COMMITS = 3;

/**
 * Returns a function that finds the pull request that changed a file last; `null` if it is not known, or after a few
 * commits. `known` are pull requests by the commit that they became.
 */
export function lastPulls(
  { event, github, git }: Pick<ActionContext, "event" | "github" | "git">,
  known: ReadonlyMap<string, number>,
): (file: string) => Promise<number | null> {
  const asked = new Map<string, Promise<number | null>>();
  return async (file) => {
    const commit = await git.lastCommitOf(file, event.sha);
    if (commit === null) return null;
    const mergedPull = known.get(commit);
    if (mergedPull !== undefined) return mergedPull;
    if (!asked.has(commit) && asked.size === MAX_COMMITS) return null;
    const pull = asked.get(commit) ?? pullOfCommit(commit, github);
    asked.set(commit, pull);
    return pull;
  };
}

async function pullOfCommit(commit: string, github: Github): Promise<number | null> {
  try {
    const pulls = await github.pullsWith(commit);
    return pulls.find(({ mergedAs }) => mergedAs === commit)?.number ?? pulls[0]?.number ?? null;
  } catch (error) {
    if (!(error instanceof GithubError)) throw error;
    return null;
  }
}
