import type { Cancellation } from "../../app/apply/cancellation.ts";
import { runApply } from "../../app/apply/run-apply.ts";
import { fileJournals } from "../../app/journal/write-journal.ts";
import type { MerchantOutcome } from "../../model/apply.ts";
import type { ActionContext } from "../context/action-context.ts";
import { liveRecorderOf } from "../context/open-repository.ts";
import { readingApprovals } from "../github/merged-pulls.ts";
import type { PlannedFiles } from "../review/load-and-plan.ts";
import type { ApplyDecision } from "./apply-decision.ts";
import { type CapturedLog, captureApplyLog } from "./apply-page.ts";
import { applyRecorder } from "./apply-recorder.ts";
import type { MergedFiles } from "./merged-files.ts";
import { leftTo, type NewerCommit, newerCommit } from "./newer-commit.ts";
import type { LoggedPlans } from "./show-covered.ts";

export interface AppliedPlans extends CapturedLog {
  readonly outcomes: readonly MerchantOutcome[];
  /** The newer commit, and the merchants that are left to it. */
  readonly superseded: NewerCommit;
}

/** Applies the plans of merchants that no newer commit changes. */
export async function applyDue(
  context: ActionContext,
  { branch, newer, current, records }: MergedFiles,
  { due, password }: ApplyDecision,
  {
    reporter,
    progress,
    cancellation,
  }: Pick<LoggedPlans, "reporter"> & Pick<PlannedFiles, "progress"> & { readonly cancellation: Cancellation },
): Promise<AppliedPlans> {
  const { inputs, io, log } = context;
  // Check again: somebody may have merged during the planning.
  const newest =
    due.length === 0 ? newer : await readingApprovals(() => newerCommit(context, branch, current));
  const superseded = { ...newest, merchants: new Set([...newer.merchants, ...newest.merchants]) };
  const ready = due.filter(({ plan }) => !superseded.merchants.has(plan.merchant));
  const merchants = ready.map(({ plan }) => plan.merchant);
  const recorder = ready.length === 0 ? undefined : await applyRecorder(context, records, merchants);
  for (const line of leftTo(superseded)) log.notice(line);
  const captured = captureApplyLog(reporter, progress);
  progress.applying(ready.map(({ plan }) => plan));
  const options = {
    password,
    concurrency: inputs.concurrency,
    recheck: true,
    onError: "continue" as const,
    cancellation,
    openJournal: fileJournals(io),
    recorder,
    recordLive: liveRecorderOf(
      context,
      ready.map(({ session }) => session.state),
    ),
    sleep: io.sleep,
  };
  const outcomes = ready.length === 0 ? [] : await runApply(ready, options, captured.reporter);
  return { ...captured, outcomes, superseded };
}
