import type { Plan } from "../../model/plan.ts";
import type { UnplannedView } from "../../render/markdown/render-review.ts";
import { renderFailure } from "../../render/text/failure-text.ts";
import type { Io } from "../io/io.ts";
import { styleFor } from "../io/output.ts";
import type { Planned } from "../session/session.ts";
import type { PrintPlans } from "./plans-printer.ts";

/** The plans that were made; `complete` when every merchant has one. */
export interface Shown {
  readonly plans: readonly Plan[];
  readonly complete: boolean;
}

/** Prints the plans, and on stderr why a merchant has none. */
export function showPlans(
  planned: readonly Planned[],
  print: PrintPlans,
  options: { readonly color: boolean },
  io: Io,
): Shown {
  const plans = planned.flatMap((one) => ("plan" in one ? [one.plan] : []));
  print(plans, unplannedOf(planned));
  const style = styleFor(io.stderr, io, options.color);
  for (const one of planned) {
    if ("plan" in one) continue;
    io.stderr.write(`\n${style.bold(one.merchant)} could not be planned.\n`);
    io.stderr.write(renderFailure(one.error.failure, style));
  }
  return { plans, complete: plans.length === planned.length };
}

/** The merchants without a plan, as a review shows them. */
export function unplannedOf(planned: readonly Planned[]): readonly UnplannedView[] {
  return planned.flatMap((one) =>
    "plan" in one ? [] : [{ merchant: one.merchant, failure: one.error.failure }],
  );
}
