import type { CommitStates } from "../../app/project/commit-states.ts";
import { GitError } from "../../store/git-refs.ts";
import type { ActionContext } from "../context/action-context.ts";

type Reading = Pick<ActionContext, "event" | "git">;

/** Returns the commit that a pull request or a merge group is compared with; `null` for other events. */
export async function baseCommit({ event: { pull, group, sha }, git }: Reading): Promise<string | null> {
  if (pull === null) return group?.baseSha ?? null;
  // A trial merge has the base as its first parent.
  const parents = sha === pull.headSha ? [] : await git.parents(sha).catch(noneWithoutGit);
  const [base, head] = parents;
  return parents.length === 2 && head === pull.headSha && base ? base : pull.baseSha;
}

/** GitHub forgets trial merges. */
function noneWithoutGit(error: unknown): readonly string[] {
  if (error instanceof GitError) return [];
  throw error;
}

/** Loads the files that a pull request or a merge group is compared with; `null` for other events. */
export async function baseStates(
  context: Reading & Pick<ActionContext, "statesAt">,
): Promise<CommitStates | null> {
  const commit = await baseCommit(context);
  return commit === null ? null : context.statesAt(commit);
}
