import { plannedOnly } from "../../cli/session/session.ts";
import { ruleLocations } from "../../cli/show/rule-locations.ts";
import { unplannedOf } from "../../cli/show/show-plans.ts";
import { counted } from "../../lib/text.ts";
import type { DesiredState } from "../../model/desired.ts";
import type { Plan } from "../../model/plan.ts";
import { upcomingEnds } from "../../plan/due.ts";
import { fenced } from "../../render/markdown/markdown-blocks.ts";
import { endsText, type ReviewInput } from "../../render/markdown/review-sections.ts";
import { PLAIN } from "../../render/style.ts";
import { renderFailure } from "../../render/text/failure-text.ts";
import { renderPlans, renderRules } from "../../render/text/plan-text.ts";
import { planView } from "../../render/view/plan-view.ts";
import { type ActionContext, type ActionResult, failed, markerOf, passed } from "../action-context.ts";
import { ActionError } from "../action-error.ts";
import { annotate } from "../action-log.ts";
import type { PullContext } from "../github/event-context.ts";
import { type MergedApproval, objectionLines } from "../github/merged-approval.ts";
import { type KeptApproval, keepApproval } from "../github/pull-approval.ts";
import { findComment, NO_COMMENT, type PullComment } from "../github/pull-comment.ts";
import { keysNamedBy, lacksKeys, loadFiles, planFiles, withActionErrors } from "../load-and-plan.ts";
import { diagnosticAnnotations, planAnnotations } from "../review/annotations.ts";
import { readableBase } from "../review/base-states.ts";
import { compareFiles } from "../review/compare-files.ts";
import { plannedMerchants } from "../review/covered-merchants.ts";
import { maskAddresses, maskedAnnotations, maskText, publishable } from "../review/mask-addresses.ts";
import {
  aboutFiles,
  aboutRun,
  planOutputs,
  publish,
  pullHead,
  type ReviewPage,
} from "../review/publish-plan.ts";
import { approvalText, approvedBefore, howToApprove, isReview } from "../review/reviewed-plan.ts";
import { ruleNotes } from "../review/rule-notes.ts";
import { guardCredentials, guardPlanEvent } from "../review/secret-policy.ts";

/** Runs `plan`: shows the changes on the pull request and stores their approval for the apply after the merge. */
export async function runPlan(context: ActionContext): Promise<ActionResult> {
  const { github, log, scope, inputs } = context;
  const { pull, runUrl } = context.event;
  const comment = pull
    ? await findComment({ github, log, scope, inputs, pull: pull.number, heads: headsOf(pull) })
    : NO_COMMENT;
  const again = isReview(context.event);
  if (pull && !again && (await pullHead(context, false)) === "newest") {
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
  const loaded = await loadFiles(inputs, io);
  const diagnostics = diagnosticAnnotations(loaded.diagnostics);
  if (lacksKeys(loaded.states, inputs, io.env)) {
    annotate(diagnostics, log);
    return compareFiles(context, loaded, comment);
  }
  guardPlanEvent(event, loaded.states.length > 0);
  keysNamedBy(loaded.states, io.env).forEach(context.maskSecret);
  await guardCredentials(context, loaded.states);
  const base = await readableBase(context);
  const states = await plannedMerchants(context, loaded.states, base);
  const { planned, close } = await planFiles(states, inputs, io, {
    base: inputs.rules === "both" ? (base?.states ?? []) : [],
  });
  try {
    const placeOf = ruleLocations(loaded.states, loaded.sources);
    const looks = plannedOnly(planned);
    const plans = looks.map(({ plan }) => plan);
    const unplanned = unplannedOf(planned);
    io.stdout.write(
      renderPlans(
        plans.map((one) => planView(one, placeOf)),
        PLAIN,
      ),
    );
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
        : ruleNotes({ loaded, base, plans }, context);
    io.stdout.write(renderRules(rules, PLAIN));
    const review: ReviewInput = {
      command: "plan",
      views: publishable(context, plans).map((one) => planView(one, placeOf)),
      unplanned: context.masked ? maskAddresses(unplanned) : unplanned,
      fileErrors: fileErrors.length,
      rules,
    };
    const before = await approvedBefore(context, looks);
    const kept = await keepApproval(context, plans);
    const page: ReviewPage = {
      marker: markerOf("plan", context.scope),
      review,
      about: [
        aboutRun(context),
        ...scopeText(states.length, loaded.states.length),
        ...kept.remarks,
        ...aboutFiles(context, loaded.diagnostics),
      ],
      after: afterPlan(context, states, plans, kept, before),
    };
    const changes = plans.some((one) => one.changes.length > 0 || one.deferred.length > 0);
    const worth = changes || rules.length > 0;
    const shown = before?.objections.size === 0 ? NO_COMMENT : comment;
    const outputs = { ...planOutputs(plans), ...(await publish(context, page, plans, shown, worth)) };
    const verdict = verdictOf(context, plans, unplanned.length, fileErrors.length);
    if (verdict.reason !== null && verdict.reason !== "differences") return { ...verdict, outputs };
    if (kept.problem !== null) return failed("failed", "not-approved", kept.problem, outputs);
    const [objection] = before === null ? [] : objectionLines(before.objections);
    if (objection === undefined) return { ...verdict, outputs };
    return failed("refused", "not-approved", `${objection} ${howToApprove(event)}`, outputs);
  } finally {
    await close();
  }
}

function scopeText(planned: number, all: number): readonly string[] {
  if (planned === all) return [];
  const of = counted(all, "merchant");
  return [
    planned === 0
      ? `None of ${of} is planned: nothing changes for them.`
      : `${planned} of ${of} ${planned === 1 ? "is" : "are"} planned; nothing changes for the others.`,
  ];
}

function verdictOf(
  { inputs }: ActionContext,
  plans: readonly Plan[],
  unplanned: number,
  fileErrors: number,
): Omit<ActionResult, "outputs"> {
  const findings = plans.flatMap((one) => one.findings.filter(({ severity }) => severity === "error"));
  if (fileErrors > 0) {
    return failed("failed", "invalid-files", `The files have ${counted(fileErrors, "error")}.`);
  }
  if (unplanned > 0) {
    return failed("failed", "service", `${counted(unplanned, "merchant")} could not be planned.`);
  }
  if (findings.length > 0) {
    return failed("failed", "invalid-files", `${counted(findings.length, "problem")} to fix first.`);
  }
  const refusals = plans.flatMap((one) => one.refusals);
  if (refusals.length > 0) {
    return failed(
      "refused",
      "refused",
      `An apply would be refused, for ${counted(refusals.length, "reason")}.`,
    );
  }
  if (plans.every(({ changes }) => changes.length === 0)) return passed("no-changes");
  return inputs.failOn === "changes"
    ? failed("changes", "differences", "There are changes, and fail-on is changes.")
    : passed("changes");
}

/** Returns the paragraphs about what a merge does, or whether the plan was approved before. */
function afterPlan(
  context: ActionContext,
  states: readonly DesiredState[],
  plans: readonly Plan[],
  kept: KeptApproval,
  before: MergedApproval | null,
): readonly string[] {
  if (before !== null) return [approvalText(context, before)];
  return kept.closed ? [] : [...onMerge(context, plans, kept), ...announcedEnds(context, states)];
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

/** Returns the paragraph about what a merge does. */
function onMerge(
  { event, inputs }: ActionContext,
  plans: readonly Plan[],
  { stored, problem }: KeptApproval,
): readonly string[] {
  if (event.pull === null || plans.length === 0) return [];
  const changes = plans.reduce((sum, one) => sum + one.changes.length, 0);
  if (changes === 0) return ["**On merge**, nothing is changed."];
  if (plans.some(({ refusals }) => refusals.length > 0)) {
    return ["**On merge**, the apply would be refused for the reasons above, and change nothing."];
  }
  if (problem !== null) return ["**On merge**, the apply would refuse these changes."];
  if (!stored || inputs.onPlanChange === "apply") {
    return ["**On merge**, the apply workflow plans again, and applies the new plan."];
  }
  return [
    `**On merge**, the apply workflow plans again and makes ${changes === 1 ? "this change" : `these ${counted(changes, "change")}`}; anything that is not listed here is refused.`,
  ];
}

/** Announces the ends of access that are to come: what follows from them needs no approval of its own. */
function announcedEnds(
  { event, io, masked }: ActionContext,
  states: readonly DesiredState[],
): readonly string[] {
  if (event.pull === null) return [];
  const text = endsText(
    states.flatMap((state) =>
      upcomingEnds(state, io.now()).map((end) => ({ ...end, merchant: state.merchant })),
    ),
  );
  if (text === "") return [];
  return [masked ? maskText(text) : text];
}

function maskedIf<T extends Parameters<typeof maskedAnnotations>[0]>({ masked }: ActionContext, all: T) {
  return masked ? maskedAnnotations(all) : all;
}
