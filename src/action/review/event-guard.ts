import { ActionError } from "../action-error.ts";
import type { EventContext } from "../github/event-context.ts";
import type { Github } from "../github/github-api.ts";
import type { Inputs } from "../inputs.ts";

/** Events that run with the repository's keys, whoever caused them. */
const UNSAFE = new Set(["workflow_run", "issue_comment", "discussion_comment", "issues"]);

/** Refuses to plan with keys where somebody without a right to them may have chosen the files. */
export function guardPlanEvent({ event, pull }: EventContext, keys: boolean): void {
  if (!keys) return;
  const fork = event === "pull_request_target" && (pull?.fork ?? true);
  if (!fork && !UNSAFE.has(event)) return;
  throw new ActionError(
    "unsafe-event",
    `With the event ${event} anybody's files could be planned with the keys of this repository.`,
    "Use the event pull_request: for a fork it has no keys, and the files alone are compared.",
  );
}

/** Refuses to look for drift with the files of a pull request: nothing holds them against those of its base branch. */
export function guardDriftEvent(context: EventContext): void {
  guardPlanEvent(context, true);
  if (context.pull === null) return;
  throw new ActionError(
    "unsafe-event",
    `With the event ${context.event} there is no drift to look for: its files are not merged.`,
    "Run drift on a schedule; plan is for pull requests.",
  );
}

/** The branch that an apply runs for; refuses everything but the default branch, unless `allow` names another one. */
export async function guardApplyBranch(
  { context, inputs }: { readonly context: EventContext; readonly inputs: Pick<Inputs, "allow"> },
  github: Github,
): Promise<string> {
  const { event, pull, ref } = context;
  if (pull !== null || UNSAFE.has(event)) {
    throw new ActionError(
      "unsafe-event",
      `The event ${event} applies nothing: what is applied is what is merged.`,
      "Run apply on a push to the default branch, or by workflow_dispatch.",
    );
  }
  const defaultBranch = context.defaultBranch ?? (await github.repository()).defaultBranch;
  const branch = ref.startsWith("refs/heads/") ? ref.slice("refs/heads/".length) : null;
  if (branch !== null && (branch === defaultBranch || inputs.allow.includes(`branch=${branch}`)))
    return branch;
  throw new ActionError(
    "wrong-branch",
    `${ref || "This ref"} is not the default branch, ${defaultBranch}, and nothing else is applied.`,
    branch === null ? null : `If it is meant, put branch=${branch} into the input allow.`,
  );
}

/** Refuses a commit that its branch has left behind: another run applies the newer one. */
export async function guardTip(
  { context, inputs }: { readonly context: EventContext; readonly inputs: Pick<Inputs, "allow"> },
  branch: string,
  github: Github,
): Promise<void> {
  const tip = await github.branchTip(branch);
  if (tip === context.sha || inputs.allow.includes(`commit=${context.sha}`)) return;
  throw new ActionError(
    "stale-commit",
    `${context.sha.slice(0, 7)} is no longer the tip of ${branch}: the run for ${tip.slice(0, 7)} applies it.`,
    `If just this commit is meant, put commit=${context.sha} into the input allow.`,
  );
}

/** The overrides among what `allow` holds: branch and commit are the action's own. */
export function overridesIn(allow: readonly string[]): readonly string[] {
  return allow.filter((one) => !/^(branch|commit)=/.test(one) || one.includes("@"));
}
