import type { ActionContext } from "../context/action-context.ts";
import { type Github, GithubError } from "../context/github-api.ts";

/**
 * Returns a function that finds the pull request that changed a file last; `null` if it is not known. GitHub is asked
 * for one commit only. `known` are pull requests by their merge commit.
 */
export function lastPulls(
  { event, github, git }: Pick<ActionContext, "event" | "github" | "git">,
  known: ReadonlyMap<string, number>,
): (file: string) => Promise<number | null> {
  let asked: { readonly commit: string; readonly pull: Promise<number | null> } | null = null;
  return async (file) => {
    const commit = await git.lastCommitOf(file, event.sha);
    if (commit === null) return null;
    const mergedPull = known.get(commit);
    if (mergedPull !== undefined) return mergedPull;
    // The run has already looked up its own commit.
    if (commit === event.sha) return null;
    asked ??= { commit, pull: pullOfCommit(commit, github) };
    return asked.commit === commit ? asked.pull : null;
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
