import type { ActionContext, ActionResult } from "../context/action-context.ts";
import { GithubError } from "../context/github-api.ts";

const RESULTS = {
  "no-changes": "Nothing to apply",
  changes: "Ready to merge",
  applied: "Applied",
  unplanned: "Nothing was planned, because there is no API key",
  superseded: "Left to a newer commit",
} as const;

/** Sets the status of a command on the commit of a run, which a branch can require; a fork's token may not. */
export async function setStatus(
  context: ActionContext,
  command: "plan" | "apply",
  { result, reason, message }: Pick<ActionResult, "result" | "reason" | "message">,
): Promise<void> {
  const { event, scope, github, log, mask } = context;
  if (event.pull?.fork) return;
  const texts: Readonly<Record<string, string>> = RESULTS;
  const text = message ?? reason ?? texts[result] ?? result;
  const name = `rolecall ${command}${scope.title === "" ? "" : `: ${scope.title}`}`.slice(0, 200);
  try {
    await github.addStatus({
      sha: event.pull?.headSha ?? event.sha,
      state: reason === null ? "success" : "failure",
      context: name,
      description: mask(text),
      url: event.runUrl,
    });
  } catch (error) {
    if (!(error instanceof GithubError)) throw error;
    log.warning(`The status of the commit could not be set: ${error.because("statuses: write")}.`);
  }
}
