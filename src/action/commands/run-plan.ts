import { resolve } from "node:path";
import { type PlannedMerchant, plannedOnly } from "../../app/session/session.ts";
import { ruleLocations } from "../../app/show/rule-locations.ts";
import { unplannedOf } from "../../app/show/show-plans.ts";
import { runFingerprint } from "../../kernel/diff/fingerprint.ts";
import type { DesiredState } from "../../model/desired.ts";
import type { Plan } from "../../model/plan.ts";
import { fenced } from "../../show/markdown/markdown-blocks.ts";
import type { ReviewInput, UnplannedView } from "../../show/markdown/review-sections.ts";
import { PLAIN } from "../../show/style.ts";
import { renderFailure } from "../../show/text/failure-text.ts";
import { renderRules } from "../../show/text/plan-text.ts";
import { renderPlans } from "../../show/text/plans-text.ts";
import { planView } from "../../show/view/plan-view.ts";
import {
  type ActionContext,
  type ActionResult,
  failed,
  markerOf,
  passed,
} from "../context/action-context.ts";
import { ActionError } from "../context/action-error.ts";
import { annotate } from "../context/action-log.ts";
import type { EventContext, PullContext } from "../context/event-context.ts";
import { objectionLines } from "../github/merged-approval.ts";
import { keepApproval } from "../github/pull-approval.ts";
import { findComment, NO_COMMENT, type PullComment } from "../github/pull-comment.ts";
import {
  diagnosticAnnotations,
  maskAddresses,
  maskedAnnotations,
  maskText,
  planAnnotations,
  publishable,
} from "../review/annotations.ts";
import { type CommitStates, readableBase } from "../review/base-states.ts";
import { compareFiles } from "../review/compare-files.ts";
import { plannedMerchants } from "../review/covered-merchants.ts";
import {
  keysNamedBy,
  type LoadedFiles,
  lacksKeys,
  loadFiles,
  planFiles,
  underBaseRules,
  withActionErrors,
} from "../review/load-and-plan.ts";
import { afterPlan, changesTimes, scopeText, verdictOf } from "../review/plan-outcome.ts";
import { gatherPlans, partText, readParts } from "../review/plan-parts.ts";
import {
  aboutFiles,
  aboutRun,
  planOutputs,
  publish,
  pullHead,
  type ReviewPage,
  renderReviewSummary,
} from "../review/publish-plan.ts";
import { approvedBefore, howToApprove, isReview } from "../review/reviewed-plan.ts";
import { ruleNotes } from "../review/rule-notes.ts";
import { guardCredentials, guardPlanEvent } from "../review/secret-policy.ts";

/** Runs `plan`: shows the changes on the pull request and stores their approval for the apply after the merge. */
export async function runPlan(context: ActionContext): Promise<ActionResult> {
  const { github, log, scope, inputs } = context;
  const { pull, runUrl } = context.event;
  const isPublished = inputs.publish === "now" || inputs.command === "publish";
  const comment =
    pull && isPublished
      ? await findComment({ github, log, scope, inputs, pull: pull.number, heads: headsOf(pull) })
      : NO_COMMENT;
  const again = isReview(context.event);
  if (pull && isPublished && !again && (await pullHead(context, false)) === "newest") {
    await comment.planning(pull.headSha, runUrl);
  }
  try {
    return await withActionErrors(() => plan(context, comment));
  } catch (error) {
    const failure =
      error instanceof ActionError ? error : new ActionError("bug", "rolecall failed because of a bug.");
    // After a review, the comment keeps the plan that was reviewed.
    await showFailure(failure, context, again ? NO_COMMENT : comment);
    throw error;
  }
}

function headsOf({ headSha, previousSha }: PullContext): readonly string[] {
  return previousSha === null ? [headSha] : [headSha, previousSha];
}

async function plan(context: ActionContext, comment: PullComment): Promise<ActionResult> {
  const { inputs, io, event, log } = context;
  guardParts(context);
  const read = await loadFiles(inputs, io);
  const diagnostics = diagnosticAnnotations(read.diagnostics);
  const seal = { commit: headOf(event), key: inputs.approvalSecret };
  const parts = inputs.command === "publish" ? await readParts(resolve(io.cwd, inputs.plans), seal) : null;
  if (parts?.withoutKey ?? lacksKeys(read.states, inputs, io.env)) {
    annotate(diagnostics, log);
    return parts === null && inputs.publish === "later"
      ? writePart(context, partText(seal, [], [], true))
      : compareFiles(context, read, comment);
  }
  guardPlanEvent(event, read.states.length > 0);
  keysNamedBy(read.states, io.env).forEach(context.maskSecret);
  if (parts === null) await guardCredentials(context, read.states);
  const base = await readableBase(context);
  const loaded = await underBaseRules(read, base, inputs, io);
  const compared = inputs.scope === "all" ? [] : (base?.states ?? []);
  const { looks, plans, unplanned, close } =
    parts === null
      ? await madePlans(context, await plannedMerchants(context, loaded.states, base), base)
      : { looks: [], ...gatherPlans(parts, loaded.states, compared), close: async () => undefined };
  const covered = new Set([...plans, ...unplanned].map(({ merchant }) => merchant));
  const states = loaded.states.filter(({ merchant }) => covered.has(merchant));
  try {
    const isPart = parts === null && inputs.publish === "later";
    return await reviewed({ loaded, base, states, looks, plans, unplanned, isPart }, context, comment);
  } finally {
    await close();
  }
}

/** The plans of a run, and the files and states that they were made from. */
interface Reviewed extends Omit<MadePlans, "close"> {
  readonly loaded: LoadedFiles;
  /** `null` if there is none, or if it could not be read. */
  readonly base: CommitStates | null;
  /** Merchants that were to be planned. */
  readonly states: readonly DesiredState[];
  /** True if another job publishes the plans. */
  readonly isPart: boolean;
}

/** Logs plans, publishes them and stores their approval. */
async function reviewed(
  { loaded, base, states, looks, plans, unplanned, isPart }: Reviewed,
  context: ActionContext,
  comment: PullComment,
): Promise<ActionResult> {
  const { io, event, log } = context;
  const diagnostics = diagnosticAnnotations(loaded.diagnostics);
  const placeOf = ruleLocations(loaded.states, loaded.sources);
  io.stdout.write(
    renderPlans(
      plans.map((one) => planView(one, placeOf)),
      PLAIN,
      "normal",
      { run: runFingerprint(plans) },
    ),
  );
  const scope = scopeText(states.length, loaded);
  for (const line of scope) io.stdout.write(`${line}\n`);
  for (const { merchant, failure } of unplanned) {
    io.stdout.write(`${merchant} could not be planned.\n${renderFailure(failure, PLAIN)}`);
  }
  annotate(
    maskedIf(context, [...diagnostics, ...planAnnotations(plans, loaded.states, loaded.sources, placeOf)]),
    log,
  );
  const fileErrors = loaded.diagnostics.filter(({ severity, refusal }) => severity === "error" && !refusal);
  const rules =
    base === null && event.pull === null && event.group === null
      ? []
      : await ruleNotes({ loaded, base, plans }, context);
  io.stdout.write(renderRules(rules, PLAIN));
  const review: ReviewInput = {
    command: "plan",
    views: publishable(context, plans).map((one) => planView(one, placeOf)),
    unplanned: context.masked ? maskAddresses(unplanned) : unplanned,
    fileErrors: fileErrors.length,
    rules,
    run: runFingerprint(plans),
  };
  const verdict = verdictOf(context, plans, unplanned, fileErrors.length);
  if (isPart) {
    const seal = { commit: headOf(event), key: context.inputs.approvalSecret };
    const { outputs } = await writePart(context, partText(seal, plans, unplanned));
    const about = [aboutRun(context), ...aboutFiles(context, loaded.diagnostics)];
    await context.appendSummary(renderReviewSummary({ marker: "", review, about, after: [] }));
    return { ...verdict, outputs: { ...planOutputs(plans), ...outputs } };
  }
  const before = await approvedBefore(context, looks);
  const kept = await keepApproval(context, plans, states);
  const page: ReviewPage = {
    marker: markerOf("plan", context.scope),
    review: { ...review, unstored: kept.problem !== null },
    about: [aboutRun(context), ...scope, ...kept.remarks, ...aboutFiles(context, loaded.diagnostics)],
    after: afterPlan(context, states, looks, plans, kept, before),
  };
  const changes = plans.some((one) => one.changes.length > 0 || one.deferred.length > 0);
  const worth = changes || rules.length > 0 || (base !== null && changesTimes(states, base.states));
  const shown = before?.objections.size === 0 ? NO_COMMENT : comment;
  const outputs = { ...planOutputs(plans), ...(await publish(context, page, plans, shown, worth)) };
  if (verdict.reason !== null && verdict.reason !== "differences") return { ...verdict, outputs };
  if (kept.problem !== null) return failed("failed", "not-approved", kept.problem, outputs);
  const [objection] = before === null ? [] : objectionLines(before.objections);
  if (objection === undefined) return { ...verdict, outputs };
  return failed("refused", "not-approved", `${objection} ${howToApprove(event)}`, outputs);
}

/** Rejects runs of a matrix where the plans of its jobs could not be published together. */
function guardParts({ inputs, event, masked }: ActionContext): void {
  const isLater = inputs.command === "plan" && inputs.publish === "later";
  if (!isLater && inputs.command !== "publish") return;
  if (event.pull === null || event.name !== "pull_request") {
    throw new ActionError(
      "usage",
      `The jobs of a matrix cannot be published together on the event ${event.name}.`,
      "Do it on pull_request; for other events, plan in one job, or in shards with a label each.",
    );
  }
  if (isLater && masked) {
    throw new ActionError(
      "usage",
      "Parts have members' addresses, and anybody can read the artifacts of a public repository.",
      "Plan in one job, or in shards with a label each, without publish: later.",
    );
  }
}

function headOf({ pull, sha }: EventContext): string {
  return pull?.headSha ?? sha;
}

async function writePart(context: ActionContext, text: string): Promise<ActionResult> {
  const path = await context.saveFile(`rolecall-part-${context.scope.id}.json`, text);
  return passed("compared", { "part-path": path });
}

/** The plans of a run, and the merchants without one. */
interface MadePlans {
  readonly looks: readonly PlannedMerchant[];
  readonly plans: readonly Plan[];
  readonly unplanned: readonly UnplannedView[];
  close(): Promise<void>;
}

async function madePlans(
  { inputs, io }: ActionContext,
  states: readonly DesiredState[],
  base: CommitStates | null,
): Promise<MadePlans> {
  const { planned, close } = await planFiles(states, inputs, io, {
    base: inputs.rules === "both" ? (base?.states ?? []) : [],
  });
  const looks = plannedOnly(planned);
  return { looks, plans: looks.map(({ plan }) => plan), unplanned: unplannedOf(planned), close };
}

/** Publishes a failure to plan in comment and job summary. */
async function showFailure(error: ActionError, context: ActionContext, comment: PullComment): Promise<void> {
  const text = [error.message, ...(error.hint === null ? [] : [error.hint])].map((line) =>
    context.masked ? maskText(line) : line,
  );
  const [verdict, explained] = ["## ❌ rolecall plan: failed", fenced("text", text)];
  const body = [markerOf("plan", context.scope), verdict, aboutRun(context), explained].join("\n\n");
  await context.appendSummary(`${[verdict, aboutRun(context), explained].join("\n\n")}\n`);
  const head = await pullHead(context);
  if (head !== "overtaken") await comment.show(() => body, { worth: true, closed: head === "closed" });
}

function maskedIf<T extends Parameters<typeof maskedAnnotations>[0]>({ masked }: ActionContext, all: T) {
  return masked ? maskedAnnotations(all) : all;
}
