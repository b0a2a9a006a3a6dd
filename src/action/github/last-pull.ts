import type { ActionContext } from "../context/action-context.ts";
import { GithubError } from "../context/github-api.ts";

/** Files whose last pull request a run asks for: each takes requests. */
const MAX_FILES = 3;

/**
 * Returns a function that finds the pull request that changed a file last; `null` if it is not known, or after a few files.
 * `known` are pull requests by the commit that they became.
 */
export function lastPulls(
  context: Pick<ActionContext, "event" | "github" | "git">,
  knownPulls: ReadonlyMap<string, number>,
): (file: string) => Promise<number | null> {
  const asked = new Map<string, Promise<number | null>>();
  return async (file) => {
    if (!asked.has(file) && asked.size === MAX_FILES) return null;
    const pull = asked.get(file) ?? lastPull(file, knownPulls, context);
    asked.set(file, pull);
    return pull;
  };
}

async function lastPull(
  file: string,
  knownPulls: ReadonlyMap<string, number>,
  { event, github, git }: Pick<ActionContext, "event" | "github" | "git">,
): Promise<number | null> {
  try {
    const commit = await git.lastCommitOf(file, event.sha);
    if (commit === null) return null;
    const pull = knownPulls.get(commit);
    if (pull !== undefined) return pull;
    const pulls = await github.pullsWith(commit);
    return pulls.find(({ mergedAs }) => mergedAs === commit)?.number ?? pulls[0]?.number ?? null;
  } catch (error) {
    if (!(error instanceof GithubError)) throw error;
    return null;
  }
}
