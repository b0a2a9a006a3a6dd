import type { ActionContext, ActionResult } from "../context/action-context.ts";
import { GithubError } from "../context/github-api.ts";
import { maskText } from "./annotations.ts";

const RESULTS = {
  "no-changes": "Nothing to apply",
  changes: "Ready to merge",
  applied: "Applied",
  compared: "Only the files were compared; without an API key there is nothing to approve",
  superseded: "Left to a newer commit",
} as const;

/** Sets the status of a command on the commit of a run, which a branch can require; a fork's token may not. */
export async function setStatus(
  { event, scope, github, log, masked }: ActionContext,
  command: "plan" | "apply",
  { result, reason, message }: Pick<ActionResult, "result" | "reason" | "message">,
): Promise<void> {
  if (event.pull?.fork) return;
  const sha = event.pull?.headSha ?? event.sha;
  const texts: Readonly<Record<string, string>> = RESULTS;
  const text = reason === null ? (texts[result] ?? result) : (message ?? reason);
  const description = masked ? maskText(text) : text;
  const context = `rolecall ${command}${scope.title === "" ? "" : `: ${scope.title}`}`.slice(0, 200);
  try {
    const state = reason === null ? "success" : "failure";
    await github.addStatus({ sha, state, context, description, url: event.runUrl });
  } catch (error) {
    if (!(error instanceof GithubError)) throw error;
    log.warning(`The status of the commit could not be set: ${error.because("statuses: write")}.`);
  }
}
