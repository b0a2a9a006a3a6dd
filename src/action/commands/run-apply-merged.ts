import { parseOverrides } from "../../app/apply/approval.ts";
import { type Cancellation, createCancellation } from "../../app/apply/cancellation.ts";
import { applyExitCode } from "../../app/io/io.ts";
import type { OpenStore } from "../../review/merchant-state.ts";
import { decideApply } from "../apply/apply-decision.ts";
import { applyDue } from "../apply/apply-due.ts";
import { APPLY_ENDS, reportApply } from "../apply/apply-page.ts";
import { coverPlans } from "../apply/covered-plans.ts";
import { readMerged } from "../apply/merged-files.ts";
import { recordEnd } from "../apply/record-end.ts";
import { reportEnd } from "../apply/report-end.ts";
import { runOutcomes } from "../apply/run-outcomes.ts";
import { showCovered } from "../apply/show-covered.ts";
import { type ActionContext, type ActionResult, failed } from "../context/action-context.ts";
import { actionErrorOf } from "../context/action-error.ts";
import { openReviewStore, recordedStatesOf } from "../context/open-repository.ts";
import { readingApprovals } from "../github/merged-pulls.ts";
import { setStatus } from "../review/commit-status.ts";
import { planFiles, withActionErrors } from "../review/load-and-plan.ts";
import { guardApplyBranch, guardCredentials, overridesIn } from "../review/secret-policy.ts";

/**
 * Runs `apply`: plans anew on the default branch, and applies what was reviewed and what is due; what nobody has
 * reviewed waits for approval. Runs `due`: the same for changes that only dates cause, at all merchants.
 */
export async function runApplyMerged(context: ActionContext): Promise<ActionResult> {
  const branch = await readingApprovals(() => guardApplyBranch(context, context.github));
  const isReported = context.inputs.command === "apply";
  try {
    const result = await withActionErrors(() => stoppable(context, branch, openReviewStore(context)));
    if (isReported) await setStatus(context, "apply", result);
    return result;
  } catch (error) {
    const failure = actionErrorOf(error);
    const report = {
      ...APPLY_ENDS.failed,
      lines: failure.lines(),
      outcomes: [],
      plans: [],
      placeOf: () => null,
    };
    await reportApply(context, report, []);
    if (isReported) await setStatus(context, "apply", failed("failed", failure.reason, failure.message));
    throw error;
  }
}

/** A cancelled workflow sends a signal and waits for a short time. */
async function stoppable(context: ActionContext, branch: string, store: OpenStore): Promise<ActionResult> {
  const cancellation = createCancellation((text) => context.io.stderr.write(`${text}\n`), context.io);
  try {
    return await apply(context, branch, store, cancellation);
  } finally {
    cancellation.close();
  }
}

/** Reads what was merged, decides which part may be applied, applies and records it, and reports. */
async function apply(
  context: ActionContext,
  branch: string,
  store: OpenStore,
  cancellation: Cancellation,
): Promise<ActionResult> {
  const { inputs, io, github } = context;
  const merged = await readMerged(context, branch, store);
  await guardCredentials(context, merged.current);
  const plannedAt = github.now();
  const files = await planFiles(merged.current, inputs, io, {
    signal: cancellation.cancelled,
    project: merged.loaded.project,
    recorded: recordedStatesOf(context, merged.current),
    onlyEnded: merged.records.unapplied,
  });
  try {
    const overrides = parseOverrides(overridesIn(inputs.allow));
    const covered = await coverPlans(context, merged, files, store, overrides);
    const decision = decideApply(context, merged, covered, store);
    const shown = await showCovered(context, merged, covered, decision, overrides);
    const ran = await applyDue(context, merged, decision, { ...shown, ...files, cancellation });
    const ended = runOutcomes(merged, decision, ran.outcomes, ran.superseded, store);
    ran.reporter.ended({ outcomes: ended.outcomes, leftOut: 0 }, applyExitCode(ended.outcomes));
    for (const note of ended.earlier) shown.reporter.say(note);
    const { undeclared, loaded } = merged;
    const { unread } = decision;
    const end = {
      plannedAt,
      looked: ended.looked,
      unread,
      undeclared,
      done: ran.done(),
      isWhole: loaded.isWhole,
    };
    const record = await recordEnd(context, store, merged, end);
    return await reportEnd(context, { merged, covered, decision, shown, ran, ended, record });
  } finally {
    await files.close();
  }
}
