import { ExitCode, type Io, VERSION } from "../../app/io/io.ts";
import { outputTo, standardStream } from "../../app/io/output.ts";
import { styleFor, verbosityOf } from "../../app/io/terminal.ts";
import type { PlannedMerchants } from "../../app/plan/plan-merchants.ts";
import type { DocumentOptions, OutputOptions, ServiceOptions } from "../../app/project/command-options.ts";
import { globMatcher, plannedOnly } from "../../app/session/session.ts";
import { laterViews } from "../../app/show/later-views.ts";
import { printUnread, savePlans, unplannedOf } from "../../app/show/show-plans.ts";
import { writeDocument } from "../../app/show/write-document.ts";
import { keptAccess } from "../../kernel/plan/due.ts";
import { soonDates } from "../../kernel/plan/upcoming-dates.ts";
import type { Plan } from "../../model/plan.ts";
import type { PlansDocument } from "../../show/formats/format.ts";
import { isEmptyPlan, renderEmptyPlans } from "../../show/text/plan-text.ts";
import { renderPlans } from "../../show/text/plans-text.ts";
import type { LaterView } from "../../show/view/date-lines.ts";
import { planView } from "../../show/view/plan-view.ts";
import type { RuleLine } from "../../show/view/rules-view.ts";
import { withPlans } from "../progress/with-plans.ts";
import { warnUnfinishedRuns } from "../runs/warn-unfinished.ts";
import { findRemoved, warnUnmanaged } from "./unmanaged-merchants.ts";

/** The options of `plan`. */
export type PlanCommandOptions = ServiceOptions &
  OutputOptions &
  DocumentOptions & {
    readonly detailedExitcode?: true;
    readonly out?: string;
    readonly asOf?: number;
    readonly reinvite: readonly string[];
    readonly interactive?: true;
    readonly only?: "due";
  };

/** Plans the merchants of the files and shows the plans; returns `refused` if an apply would be. */
export async function previewPlans(
  paths: readonly string[],
  options: PlanCommandOptions,
  io: Io,
): Promise<ExitCode> {
  const browser = options.interactive ? await import("../review/browse-plans.ts") : null;
  browser?.checkInteractive(options, io);
  const tellsUnmanaged = options.merchant.length === 0 && (!options.quiet || options.format === "markdown");
  // Git runs while files and live states are read.
  const removed = tellsUnmanaged ? findRemoved(paths, options, io) : [];
  const planOptions = { ...options, holdsBack: true as const };
  return withPlans(paths, planOptions, io, async (merchants) => {
    await warnUnfinishedRuns(plannedOnly(merchants.planned), options, io);
    const unmanaged = tellsUnmanaged ? warnUnmanaged(await removed, merchants.project, options, io) : [];
    const plans = plannedOnly(merchants.planned).map(({ plan }) => plan);
    if (plans.length > 0) {
      const { placeOf, project } = merchants;
      const planned = plannedOnly(merchants.planned);
      const browsed = { planned, placeOf, project, overrides: [], selects: false, goesOn: false };
      await browser?.browsePlans(browsed, options, io);
    }
    const { complete } = printUnread(merchants.planned, options, io);
    const document = {
      ...merchants,
      plans,
      unplanned: unplannedOf(merchants.planned),
      unmanaged,
      rules: await looserRules(merchants),
      later: laterOf(merchants, options.asOf ?? io.now()),
      access: accessOf(merchants, options, io),
    };
    const output = outputTo(options.output ?? streamBeside(options.out), io);
    await writeDocument("plans", document, options, io, output);
    if (options.out !== undefined) await savePlans(plans, merchants.failures, options.out, io);
    const code = exitCodeOf(plans, merchants.valid && complete);
    const differs = plans.some((plan) => plan.changes.length > 0);
    return code === ExitCode.ok && options.detailedExitcode && differs ? ExitCode.differences : code;
  });
}

/** Plans merchants whose files are new: shows the plans that have changes, and in one line how many have none. */
export async function previewNewFiles(
  paths: readonly string[],
  options: ServiceOptions & OutputOptions,
  io: Io,
): Promise<ExitCode> {
  return withPlans(paths, { ...options, quiet: true }, io, async (merchants) => {
    const { plans, complete } = printUnread(merchants.planned, options, io);
    const style = styleFor(io.stdout, io, options.color);
    const views = plans.map((plan) => planView(plan, merchants.placeOf));
    const changing = views.filter((view) => !isEmptyPlan(view));
    if (changing.length > 0) io.stdout.write(`${renderPlans(changing, style, verbosityOf(options))}\n`);
    io.stdout.write(renderEmptyPlans(views.filter(isEmptyPlan), style));
    return exitCodeOf(plans, merchants.valid && complete);
  });
}

function exitCodeOf(plans: readonly Plan[], complete: boolean): ExitCode {
  const blocked = plans.some((plan) => plan.findings.some(({ severity }) => severity === "error"));
  if (!complete || blocked) return ExitCode.failed;
  const isRefused = plans.some((plan) => plan.refusals.length > 0 || keptAccess(plan).length > 0);
  return isRefused ? ExitCode.refused : ExitCode.ok;
}

/** Returns another stream for the plans if stdout takes the saved ones. */
function streamBeside(out: string | undefined): string | undefined {
  return out !== undefined && standardStream(out) === "stdout" ? "/dev/stderr" : undefined;
}

/** Returns what is looser than at the commit of `--changed-since`; nothing without one. */
async function looserRules({ planned, project }: PlannedMerchants): Promise<readonly RuleLine[]> {
  const { states, former } = project;
  if (former === undefined) return [];
  const { compareRules } = await import("../../app/show/compare-rules.ts");
  const results = plannedOnly(planned);
  const shown = new Set(results.map(({ plan }) => plan.merchant));
  return compareRules(
    states.filter(({ merchant }) => shown.has(merchant)),
    former,
    results.map(({ plan }) => plan),
    globMatcher(),
  );
}

/** Returns what the dates in the files bring soon. */
function laterOf({ planned: outcomes, project }: PlannedMerchants, now: number): readonly LaterView[] {
  const run = plannedOnly(outcomes).map((planned) => ({ state: planned.session.state, planned }));
  return laterViews(run, project.project, (state) => soonDates(state, now));
}

/** Returns a function that reads the access before and after the plans. */
function accessOf(
  { planned, project }: PlannedMerchants,
  options: PlanCommandOptions,
  io: Io,
): NonNullable<PlansDocument["access"]> {
  return async () => {
    const [{ listedRulePlaces }, { reportOf, rulesOf }, { runOrigin }] = await Promise.all([
      import("../../app/show/rule-locations.ts"),
      import("../../app/show/report-plans.ts"),
      import("../../app/journal/write-journal.ts"),
    ]);
    const placeOfRule = listedRulePlaces(project.states, project.sources);
    const now = options.asOf ?? io.now();
    return {
      now,
      origin: { ...(await runOrigin(io)), version: VERSION, time: io.now() },
      reports: plannedOnly(planned).map((outcome) => ({
        report: reportOf(outcome, true),
        rules: rulesOf(outcome, placeOfRule, { planned: true, now }),
      })),
    };
  };
}
