import { resolve } from "node:path";
import { liveReport } from "../../ask/report/build-access-report.ts";
import { type DriftTimes, driftOf } from "../../ask/report/detect-drift.ts";
import { liveRuleResults } from "../../ask/report/rule-results.ts";
import { laterDays } from "../../kernel/plan/later.ts";
import type { UpcomingDate } from "../../kernel/plan/upcoming-dates.ts";
import { withReviewedEnds } from "../../kernel/read/reviewed-ends.ts";
import { resultsAcross } from "../../kernel/rules/across-merchants.ts";
import type { DesiredState } from "../../model/desired.ts";
import type { RolecallError } from "../../model/errors.ts";
import type { FailureJson } from "../../model/events.ts";
import type { Plan } from "../../model/plan.ts";
import type { AccessReport, Drift, ReportedRule } from "../../model/reports.ts";
import type { PlacedRule } from "../../show/html/page-data.ts";
import { plansJson } from "../../show/machine/machine-formats.ts";
import type { UnplannedView } from "../../show/markdown/review-sections.ts";
import { renderFailure, renderUnread } from "../../show/text/failure-text.ts";
import type { LaterView } from "../../show/view/date-lines.ts";
import { writeAtomically } from "../io/atomic-write.ts";
import type { Io } from "../io/io.ts";
import { standardStream } from "../io/output.ts";
import { styleFor } from "../io/terminal.ts";
import { driftTimes } from "../project/drift-times.ts";
import { globMatcher, type Planned, type PlanResult, plannedOnly } from "../session/session.ts";
import type { ListedPlaceOf } from "./rule-locations.ts";

/** The plans of the merchants that could be planned; `complete` if every merchant has one. */
interface PlansOfRun {
  readonly plans: readonly Plan[];
  readonly complete: boolean;
}

/** Prints which merchants could not be `done` and why, on stderr, ahead of the plans: totals never hide a failure. */
export function printUnread(
  planned: readonly Planned[],
  options: { readonly color: boolean },
  io: Io,
  done: "planned" | "read" = "planned",
): PlansOfRun {
  const plans = plannedOnly(planned).map(({ plan }) => plan);
  const failed = planned.flatMap((outcome) => (outcome.status === "failed" ? [outcome] : []));
  const style = styleFor(io.stderr, io, options.color);
  if (failed.length > 0) io.stderr.write(`${renderUnread(done, failed, style)}\n`);
  return { plans, complete: plans.length === planned.length };
}

/** Prints a merchant's failure on stderr. */
export function printFailure(
  merchant: string,
  what: string,
  { failure }: RolecallError,
  options: { readonly color: boolean },
  io: Io,
): void {
  const style = styleFor(io.stderr, io, options.color);
  io.stderr.write(`\n${style.bold(merchant)} ${what}.\n${renderFailure(failure, style)}`);
}

/** Returns the merchants without a plan, for a review. */
export function unplannedOf(planned: readonly Planned[]): readonly UnplannedView[] {
  return planned.flatMap((outcome) =>
    outcome.status === "planned" ? [] : [{ merchant: outcome.merchant, failure: outcome.error.failure }],
  );
}

/**
 * Returns what dates bring at the merchants of a run, for printing; `declared` are all merchants that rules across merchants
 * count.
 */
export function laterViews(
  run: readonly { readonly state: DesiredState; readonly planned: PlanResult | undefined }[],
  declared: readonly DesiredState[],
  datesOf: (state: DesiredState) => readonly UpcomingDate[],
): readonly LaterView[] {
  const merchants = run.map(({ state, planned }) => ({
    dates: datesOf(state),
    planned,
    // By then the dates are reviewed.
    files: withReviewedEnds(state, state.reviewedEnds && state),
  }));
  return laterDays(merchants, declared).flatMap((days, index) =>
    days.map((day) => ({
      ...day,
      merchant: run[index]?.state.merchant ?? "",
      moment: new Date(day.at).toISOString(),
    })),
  );
}

/** Returns the access report of a merchant; with `planned`, also the access after its plan. */
export function reportOf(
  { session, live, plan }: Extract<Planned, { readonly plan: unknown }>,
  planned: boolean,
): AccessReport {
  const { state, environment } = session;
  return liveReport({
    live,
    desired: state,
    service: plan.service,
    environment,
    plan: planned ? plan : null,
  });
}

/** Returns the results of a merchant's rules in the live access; with `planned`, also in the access after its plan. */
export function rulesOf(
  { session: { state }, live, plan }: Extract<Planned, { readonly plan: unknown }>,
  placeOf: ListedPlaceOf,
  { planned, now }: { readonly planned: boolean; readonly now: number },
): readonly PlacedRule[] {
  const input = { live, desired: state, plan: planned ? plan : null, now, matches: globMatcher() };
  return placed(liveRuleResults(input), state.merchant, placeOf);
}

/** Adds the lines of rules. */
export function placed(
  rules: readonly ReportedRule[],
  merchant: string,
  placeOf: ListedPlaceOf,
): readonly PlacedRule[] {
  return rules.map((rule) => ({ ...rule, place: placeOf(merchant, rule.rule) }));
}

/** Returns the drift of the planned merchants; `declared` are all merchants that rules across merchants count. */
export async function driftsOf(
  planned: readonly Planned[],
  declared: readonly DesiredState[],
  io: Io,
): Promise<readonly Drift[]> {
  const run = plannedOnly(planned).map(({ plan, live, session }) => ({ plan, live, files: session.state }));
  const broken = resultsAcross(run, declared, io.now()).flatMap((rule) => rule.broken);
  const drifts = await Promise.all(
    planned.map(async (outcome): Promise<readonly Drift[]> => {
      if (outcome.status === "failed") return [];
      const { session, plan, live } = outcome;
      const times =
        plan.changes.length + plan.refusals.length === 0
          ? NO_TIMES
          : await driftTimes(session.state, { live, matches: globMatcher() }, plan, io);
      const across = broken.flatMap(({ refusal, of }) => (of.has(plan.merchant) ? refusal : []));
      return [driftOf({ desired: session.state, live }, plan, times, across)];
    }),
  );
  return drifts.flat();
}

const NO_TIMES: DriftTimes = { file: () => null, live: () => null };

/** Saves plans as JSON, atomically. */
export async function savePlans(
  plans: readonly Plan[],
  failures: readonly FailureJson[],
  out: string,
  io: Io,
): Promise<void> {
  const stream = standardStream(out);
  if (stream !== null) return io[stream].write(plansJson(plans, failures));
  await writeAtomically(resolve(io.cwd, out), plansJson(plans, failures), { shown: out });
  const besides =
    failures.length === 0 ? "" : plans.length === 0 ? ": no plan, only what failed" : ", with what failed";
  io.stderr.write(`Saved as ${out}${besides}.\n`);
}
