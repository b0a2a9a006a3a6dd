import type { ContradictedPlan } from "../../review/contradicted-plans.ts";
import { type ActionContext, type ActionResult, runScope } from "../context/action-context.ts";
import { GithubError } from "../context/github-api.ts";

const RESULTS = {
  "no-changes": "Nothing to apply",
  changes: "Ready to merge",
  applied: "Applied",
  compared: "Only the files were compared; without an API key there is nothing to approve",
  superseded: "Left to a newer commit",
} as const;

/** Sets the status of a command on the commit of a run, which a branch can require; a fork's token may not. */
export async function setStatus(
  context: ActionContext,
  command: "plan" | "apply",
  { result, reason, message }: Pick<ActionResult, "result" | "reason" | "message">,
): Promise<void> {
  const { event, scope } = context;
  if (event.pull?.fork) return;
  const texts: Readonly<Record<string, string>> = RESULTS;
  const text = message ?? reason ?? texts[result] ?? result;
  await addStatus(context, event.pull?.headSha ?? event.sha, command, scope.title, {
    state: reason === null ? "success" : "failure",
    text,
  });
}

/** Maximum number of pull requests whose plans a run fails. */
const MAX_FAILED = 10;

/** Fails the status `plan` of open pull requests whose plans no longer show what a merge would do. */
export async function failPlans(context: ActionContext, plans: readonly ContradictedPlan[]): Promise<void> {
  const { title } = runScope({ ...context.inputs, shard: null }, undefined);
  for (const { headSha, sentence } of plans.slice(0, MAX_FAILED)) {
    const text = `Update the branch, to plan it again. ${sentence}`;
    await addStatus(context, headSha, "plan", title, { state: "failure", text });
  }
}

async function addStatus(
  { event, github, log, mask }: ActionContext,
  sha: string,
  command: "plan" | "apply",
  title: string,
  { state, text }: { readonly state: "success" | "failure"; readonly text: string },
): Promise<void> {
  const context = `rolecall ${command}${title === "" ? "" : `: ${title}`}`.slice(0, 200);
  try {
    await github.addStatus({ sha, state, context, description: mask(text), url: event.runUrl });
  } catch (error) {
    if (!(error instanceof GithubError)) throw error;
    log.warning(`The status of the commit could not be set: ${error.because("statuses: write")}.`);
  }
}
