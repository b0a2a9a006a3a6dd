import type { PlanResult } from "../../app/session/session.ts";
import { laterViews } from "../../app/show/later-views.ts";
import { upcomingDates } from "../../kernel/plan/upcoming-dates.ts";
import { canonicalJson } from "../../lib/json-text.ts";
import { counted } from "../../lib/text.ts";
import type { DesiredState } from "../../model/desired.ts";
import type { Plan } from "../../model/plan.ts";
import { inlineCode } from "../../show/markdown/markdown-blocks.ts";
import { datesText, type UnplannedView } from "../../show/markdown/review-sections.ts";
import type { LaterView } from "../../show/view/date-lines.ts";
import { type ActionContext, type ActionResult, failed, passed } from "../context/action-context.ts";
import type { LoadedFiles } from "./load-and-plan.ts";
import { approvalText, type PlanApproval } from "./plan-approval.ts";

/**
 * Returns the lines about how many merchants are planned, and about files that are left out. The first is missing if all
 * are planned, or if files have errors: what these declare is not known.
 */
export function scopeText(planned: number, { states, valid, earlier }: LoadedFiles): readonly string[] {
  if (earlier !== null) return [earlier];
  const total = states.length;
  if (planned === total || !valid || total === 0) return [];
  const of = counted(total, "merchant");
  const [only] = states;
  return [
    planned === 0
      ? only !== undefined && total === 1
        ? `${only.merchant} is not planned, because this pull request does not change it.`
        : `None of ${of} is planned, because this pull request changes none of them.`
      : `${planned} of ${of} ${planned === 1 ? "is" : "are"} planned; this pull request does not change the others.`,
  ];
}

/** Returns the result of a plan, without its outputs. */
export function verdictOf(
  plans: readonly Plan[],
  unplanned: readonly UnplannedView[],
  fileErrors: number,
  later: readonly LaterView[],
): Omit<ActionResult, "outputs"> {
  const findings = plans.flatMap((plan) => plan.findings.filter(({ severity }) => severity === "error"));
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
  const refusals = plans.flatMap((plan) => plan.refusals);
  if (refusals.length > 0) {
    return failed(
      "refused",
      "refused",
      `An apply would be refused, for ${counted(refusals.length, "reason")}.`,
    );
  }
  if (plans.every(({ changes }) => changes.length === 0)) {
    const isRisky = later.some(({ gains }) => gains.length > 0);
    return {
      ...passed("no-changes"),
      message: isRisky ? "Nothing to apply now; risks on a later date" : null,
    };
  }
  return passed("changes");
}

/** Returns the paragraphs about what a merge does, or whether the plan was approved before. */
export function afterPlan(
  context: ActionContext,
  looks: readonly PlanResult[],
  later: readonly LaterView[],
  approval: PlanApproval | null,
): readonly string[] {
  const { group } = context.event;
  if (group === null && approval?.own.some(({ pull }) => pull.status !== "open")) return [];
  if (approval !== null && (group !== null || approval.objections.size > 0)) {
    return [approvalText(context, approval)];
  }
  const plans = looks.map(({ plan }) => plan);
  const dates = datesText(later);
  return [...onMerge(context, plans), ...(dates === "" ? [] : [dates])];
}

/** Returns the paragraph about what a merge does. */
function onMerge({ event }: ActionContext, plans: readonly Plan[]): readonly string[] {
  if (event.pull === null || plans.length === 0) return [];
  const changes = changesIn(plans);
  if (changes === 0) return ["**On merge**, nothing is changed."];
  const refused = plans.filter(isRefused);
  const made = changes - changesIn(refused);
  if (made === 0)
    return ["**On merge**, the apply would be refused for the reasons above, and change nothing."];
  return [
    refused.length === 0
      ? `**On merge**, the apply workflow plans again and makes ${changes === 1 ? "this change" : `these ${counted(changes, "change")}`}; anything that is not listed here waits for another approval.`
      : `**On merge**, the apply workflow plans again and makes ${counted(made, "change")} of these; ${namedMerchants(refused)} would be refused for the reasons above, and anything that is not listed here waits for another approval.`,
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

/**
 * Returns whether a plan shows dates that the base does not have, or changes only the files: a review has to show both.
 */
export function changesFiles(
  plans: readonly Plan[],
  states: readonly DesiredState[],
  base: readonly DesiredState[],
  now: number,
): boolean {
  const datesOf = (states: readonly DesiredState[]): ReadonlyMap<string, string> =>
    new Map(states.map((state) => [state.merchant, canonicalJson(upcomingDates(state, now))]));
  const before = datesOf(base);
  const isDated = [...datesOf(states)].some(([merchant, dates]) => (before.get(merchant) ?? "[]") !== dates);
  return isDated || plans.some(({ reviewed: { roles, members } }) => roles.length + members.length > 0);
}

/** Returns what future dates change at merchants, with who gains what on each day. */
export function datesToCome(
  { io, mask }: ActionContext,
  states: readonly DesiredState[],
  looks: readonly PlanResult[],
  project: readonly DesiredState[],
): readonly LaterView[] {
  const lookOf = new Map(looks.map((look) => [look.plan.merchant, look]));
  const run = states.map((state) => ({ state, planned: lookOf.get(state.merchant) }));
  return mask(laterViews(run, project, (state) => upcomingDates(state, io.now())));
}
