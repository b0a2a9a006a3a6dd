import { resolve } from "node:path";
import type { AccessReport } from "../../model/access-report.ts";
import type { FailureJson } from "../../model/events.ts";
import type { Plan } from "../../model/plan.ts";
import { liveReport } from "../../plan/report/build-access-report.ts";
import { plansJson } from "../../render/formats/json-output.ts";
import { renderReview } from "../../render/markdown/render-review.ts";
import type { UnplannedView } from "../../render/markdown/review-input.ts";
import { renderFailure } from "../../render/text/failure-text.ts";
import { renderPlans } from "../../render/text/plan-text.ts";
import { type PlaceOf, planView } from "../../render/view/plan-view.ts";
import type { DocumentOptions, OutputOptions } from "../args/options.ts";
import { writeAtomically } from "../files/atomic-write.ts";
import { standardStream } from "../files/output-path.ts";
import type { Io, TextWriter } from "../io/io.ts";
import { styleFor, verbosityOf } from "../io/output.ts";
import { type Planned, plannedOnly } from "../session/session.ts";

/** The plans that were shown; `complete` if every merchant has one. */
export interface ShownPlans {
  readonly plans: readonly Plan[];
  readonly complete: boolean;
}

/** Prints the plans, and on stderr why a merchant has none. */
export function showPlans(
  planned: readonly Planned[],
  print: PrintPlans,
  options: { readonly color: boolean },
  io: Io,
): ShownPlans {
  const plans = plannedOnly(planned).map(({ plan }) => plan);
  print(plans, unplannedOf(planned));
  const style = styleFor(io.stderr, io, options.color);
  for (const one of planned) {
    if (one.status === "planned") continue;
    io.stderr.write(`\n${style.bold(one.merchant)} could not be planned.\n`);
    io.stderr.write(renderFailure(one.error.failure, style));
  }
  return { plans, complete: plans.length === planned.length };
}

/** Returns the merchants without a plan, for a review. */
export function unplannedOf(planned: readonly Planned[]): readonly UnplannedView[] {
  return planned.flatMap((one) =>
    one.status === "planned" ? [] : [{ merchant: one.merchant, failure: one.error.failure }],
  );
}

/** The formats of a plan that need only the plan. */
export type PlanFormat = "text" | "json" | "markdown";

/** Options for printing plans. */
export interface Printing {
  readonly options: OutputOptions<PlanFormat> & DocumentOptions & { readonly verbose?: true };
  readonly placeOf: PlaceOf;
  /** Number of errors in the files. */
  readonly fileErrors: number;
  readonly failures: readonly FailureJson[];
  readonly sink: TextWriter;
}

/** Prints plans, and the merchants without one. */
export type PrintPlans = (plans: readonly Plan[], unplanned: readonly UnplannedView[]) => void;

/** Returns a printer of plans in the selected format. */
export function plansPrinter({ options, placeOf, fileErrors, failures, sink }: Printing, io: Io): PrintPlans {
  return (plans, unplanned) => {
    const views = plans.map((plan) => planView(plan, placeOf));
    switch (options.format) {
      case "json":
        return sink.write(plansJson(plans, failures));
      case "markdown":
        return sink.write(renderReview({ command: "plan", views, unplanned, fileErrors }, options.maxSize));
      case "text":
        if (plans.length === 0) return;
        return sink.write(renderPlans(views, styleFor(sink, io, options.color), verbosityOf(options)));
      default:
        return options.format satisfies never;
    }
  };
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
  io.stderr.write(`Saved as ${out}.\n`);
}
