import type { Plan } from "../../model/plan.ts";
import { type FailureJson, plansJson } from "../../render/formats/json-output.ts";
import { renderReview, type UnplannedView } from "../../render/markdown/render-review.ts";
import { renderPlans } from "../../render/text/plan-text.ts";
import { type PlaceOf, planView } from "../../render/view/plan-view.ts";
import type { DocumentOptions, OutputOptions } from "../args/options.ts";
import type { Io, Sink } from "../io/io.ts";
import { extentOf, styleFor } from "../io/output.ts";

/** The formats of a plan that need no more than the plan itself. */
export type PlanFormat = "text" | "json" | "markdown";

/** What plans are printed with. */
export interface Printing {
  readonly options: OutputOptions<PlanFormat> & DocumentOptions & { readonly verbose?: true };
  readonly placeOf: PlaceOf;
  /** How many errors the files have. */
  readonly fileErrors: number;
  readonly failures: readonly FailureJson[];
  readonly sink: Sink;
}

/** Prints plans, and with them who has none. */
export type PrintPlans = (plans: readonly Plan[], unplanned: readonly UnplannedView[]) => void;

/** Prints plans in the format that was asked for. */
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
        return sink.write(renderPlans(views, styleFor(sink, io, options.color), extentOf(options)));
      default:
        return options.format satisfies never;
    }
  };
}
