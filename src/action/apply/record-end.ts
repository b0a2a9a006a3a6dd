import type { ReportedMerchant } from "../../review/apply-run.ts";
import type { OpenStore } from "../../review/merchant-state.ts";
import { type RecordedEnd, recordApply } from "../../review/record-apply.ts";
import { recordWaiting, unreviewedIn } from "../../review/waiting-changes.ts";
import { GitError } from "../../store/git-refs.ts";
import type { ActionContext } from "../context/action-context.ts";
import type { ActionError } from "../context/action-error.ts";
import { GithubError } from "../context/github-api.ts";
import { storeError } from "../context/open-repository.ts";
import type { MergedFiles } from "./merged-files.ts";

export interface EndRecord {
  readonly problem: ActionError | null;
  /** The output that starts the job of what waits for approval; `null` if nothing waits. */
  readonly waiting: string | null;
}

export async function recordEnd(
  context: ActionContext,
  store: OpenStore,
  { run, branch, records }: MergedFiles,
  end: RecordedEnd,
): Promise<EndRecord> {
  try {
    await recordApply(run, store, records, end);
    return { problem: null, waiting: await leaveWaiting(context, store, branch, end.looked) };
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    return { problem: storeError(error), waiting: null };
  }
}

/** Records what waits for approval; returns the output that starts its job, or `null` if nothing waits. */
async function leaveWaiting(
  { event, inputs, github, log }: ActionContext,
  store: OpenStore,
  branch: string,
  looked: readonly ReportedMerchant[],
): Promise<string | null> {
  const waiting = unreviewedIn(looked);
  if (inputs.command === "due" || inputs.environment !== "" || waiting.length === 0) return null;
  try {
    const approvals = await github.approvals();
    return await recordWaiting(event, store, { head: event.sha, base: branch, approvals }, waiting);
  } catch (error) {
    if (!(error instanceof GithubError)) throw error;
    log.notice(
      `The changes that wait for approval could not be recorded: ${error.because("actions: read")}.`,
    );
    return null;
  }
}
