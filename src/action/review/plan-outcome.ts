import type { PlanResult } from "../../app/session/session.ts";
import { laterView } from "../../app/show/show-plans.ts";
import { hashOfTimes } from "../../kernel/plan/due.ts";
import { daysOf, laterDays } from "../../kernel/plan/later.ts";
import { hasDates, upcomingDates } from "../../kernel/plan/upcoming-dates.ts";
import { counted } from "../../lib/text.ts";
import type { DesiredState } from "../../model/desired.ts";
import type { Plan } from "../../model/plan.ts";
import { inlineCode } from "../../show/markdown/markdown-blocks.ts";
import { datesText, type UnplannedView } from "../../show/markdown/review-sections.ts";
import { type ActionContext, type ActionResult, failed, passed } from "../context/action-context.ts";
import type { MergedApproval } from "../github/merged-approval.ts";
import type { KeptApproval } from "../github/pull-approval.ts";
import { maskText } from "./annotations.ts";
import type { LoadedFiles } from "./load-and-plan.ts";
import { approvalText } from "./reviewed-plan.ts";

/**
 * Returns the line about how many merchants are planned; empty if all are, or if files have errors: what these declare is
 * not known.
 */
export function scopeText(planned: number, { states, valid }: LoadedFiles): readonly string[] {
  const all = states.length;
  if (planned === all || !valid) return [];
  const of = counted(all, "merchant");
  return [
    planned === 0
      ? all === 1
        ? "The merchant is not planned: nothing changes for it."
        : `None of ${of} is planned: nothing changes for them.`
      : `${planned} of ${of} ${planned === 1 ? "is" : "are"} planned; nothing changes for the others.`,
  ];
}

/** Returns the result of a plan, without its outputs. */
export function verdictOf(
  { inputs }: ActionContext,
  plans: readonly Plan[],
  unplanned: readonly UnplannedView[],
  fileErrors: number,
): Omit<ActionResult, "outputs"> {
  const findings = plans.flatMap((one) => one.findings.filter(({ severity }) => severity === "error"));
  if (fileErrors > 0) {
    return failed("failed", "invalid-files", `The files have ${counted(fileErrors, "error")}.`);
  }
  if (unplanned.length > 0) {
    const isKeyless = unplanned.every(({ failure }) => failure.code === "key-missing");
    const reason = isKeyless ? "key-missing" : "service";
    return failed("failed", reason, `${counted(unplanned.length, "merchant")} could not be planned.`);
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
export function afterPlan(
  context: ActionContext,
  states: readonly DesiredState[],
  looks: readonly PlanResult[],
  plans: readonly Plan[],
  kept: KeptApproval,
  before: MergedApproval | null,
): readonly string[] {
  if (before !== null) return [approvalText(context, before)];
  return kept.closed ? [] : [...onMerge(context, plans, kept), ...announcedDates(context, states, looks)];
}

/** Returns the paragraph about what a merge does. */
function onMerge(
  { event, inputs }: ActionContext,
  plans: readonly Plan[],
  { stored, problem }: KeptApproval,
): readonly string[] {
  if (event.pull === null || plans.length === 0) return [];
  const changes = changesIn(plans);
  if (changes === 0) return ["**On merge**, nothing is changed."];
  const refused = plans.filter(isRefused);
  const made = changes - changesIn(refused);
  if (made === 0)
    return ["**On merge**, the apply would be refused for the reasons above, and change nothing."];
  if (problem !== null) return ["**On merge**, the apply would refuse these changes."];
  if (!stored || inputs.onPlanChange === "apply") {
    return ["**On merge**, the apply workflow plans again, and applies the new plan."];
  }
  return [
    refused.length === 0
      ? `**On merge**, the apply workflow plans again and makes ${changes === 1 ? "this change" : `these ${counted(changes, "change")}`}; anything that is not listed here is refused.`
      : `**On merge**, the apply workflow plans again and makes ${counted(made, "change")} of these; ${namedMerchants(refused)} would be refused for the reasons above, and so is anything that is not listed here.`,
  ];
}

function isRefused({ refusals, findings }: Plan): boolean {
  return refusals.length > 0 || findings.some(({ severity }) => severity === "error");
}

function changesIn(plans: readonly Plan[]): number {
  return plans.reduce((sum, { changes }) => sum + changes.length, 0);
}

const MAX_NAMED = 3;

function namedMerchants(plans: readonly Plan[]): string {
  if (plans.length > MAX_NAMED) return counted(plans.length, "merchant");
  return plans.map(({ merchant }) => inlineCode(merchant)).join(", ");
}

/** Returns whether the files leave something else to time than those of the base: a review has to see that. */
export function changesTimes(states: readonly DesiredState[], base: readonly DesiredState[]): boolean {
  const timesOf = (state: DesiredState): string => (hasDates(state) ? hashOfTimes(state, "") : "");
  const before = new Map(base.map((state) => [state.merchant, timesOf(state)]));
  return states.some((state) => timesOf(state) !== (before.get(state.merchant) ?? ""));
}

/** Announces the dates that are to come: what follows from them needs no approval of its own. */
function announcedDates(
  { event, io, masked }: ActionContext,
  states: readonly DesiredState[],
  looks: readonly PlanResult[],
): readonly string[] {
  if (event.pull === null) return [];
  const planAtOf = new Map(looks.map(({ plan, planAt }) => [plan.merchant, planAt]));
  const text = datesText(
    states.flatMap((state) => {
      const dates = upcomingDates(state, io.now());
      const planAt = planAtOf.get(state.merchant);
      const days = planAt === undefined ? daysOf(dates) : laterDays(dates, planAt);
      return days.map((day) => laterView(day, state.merchant));
    }),
  );
  if (text === "") return [];
  return [masked ? maskText(text) : text];
}
