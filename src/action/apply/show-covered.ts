import { type ApplyReporter, applyReporter } from "../../app/apply/reporter.ts";
import { plannedOnly } from "../../app/session/session.ts";
import { ruleLocations } from "../../app/show/rule-locations.ts";
import { unplannedOf } from "../../app/show/show-plans.ts";
import type { Override } from "../../kernel/rules/overrides.ts";
import type { Plan } from "../../model/plan.ts";
import { plansJson } from "../../show/machine/machine-formats.ts";
import type { PlaceOf } from "../../show/view/plan-view.ts";
import type { ActionContext, ActionResult } from "../context/action-context.ts";
import { annotate } from "../context/action-log.ts";
import { diagnosticAnnotations, fileErrorLines, planAnnotations } from "../review/annotations.ts";
import { planOutputs } from "../review/publish-plan.ts";
import { type MerchantLine, unplannedLines } from "../review/unplanned-lines.ts";
import type { ApplyDecision } from "./apply-decision.ts";
import type { CoveredPlans } from "./covered-plans.ts";
import type { MergedFiles } from "./merged-files.ts";

/** The plans as logged. */
export interface LoggedPlans {
  readonly reporter: ApplyReporter;
  readonly placeOf: PlaceOf;
  readonly plans: readonly Plan[];
  /** Errors of files. */
  readonly broken: readonly string[];
  /** Failures to read merchants. */
  readonly unread: readonly MerchantLine[];
  readonly outputs: ActionResult["outputs"];
}

/** Logs the plans, and what is left as it is. */
export async function showCovered(
  context: ActionContext,
  { loaded, isBroken }: MergedFiles,
  { planned }: CoveredPlans,
  { due, left, unread, notes }: ApplyDecision,
  overrides: readonly Override[],
): Promise<LoggedPlans> {
  const { io, log, scope } = context;
  const plans = plannedOnly(planned).map(({ plan }) => plan);
  const placeOf = ruleLocations(loaded.states, loaded.sources);
  const annotations = [
    ...diagnosticAnnotations(loaded.diagnostics),
    ...planAnnotations(plans, loaded.states, loaded.sources, placeOf, overrides),
  ];
  annotate(annotations, log);
  const reporter = applyReporter({ format: "text", color: false }, placeOf, io, overrides);
  reporter.plans(plans);
  const outputs = {
    ...planOutputs(plans),
    "plan-path": await context.saveFile(`rolecall-plan-${scope.id}.json`, plansJson(plans)),
  };
  const broken = isBroken ? [BROKEN_FILES, ...fileErrorLines(loaded.diagnostics)] : [];
  const unreadLines = unplannedLines(unplannedOf(planned), "read").filter(
    ({ merchant }) => unread.get(merchant)?.since === null,
  );
  for (const line of [...broken, ...unreadLines.map((note) => note.line)]) reporter.say(line);
  if (left.length > 0) reporter.skipped(left, due.length);
  for (const { line } of notes) reporter.say(line);
  return { reporter, placeOf, plans, broken, unread: unreadLines, outputs };
}

const BROKEN_FILES = "Files have errors: their merchants are left as they are.";
