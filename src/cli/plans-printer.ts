import type { Plan } from "../model/plan.ts";
import { plansJson } from "../render/json.ts";
import { renderPlans } from "../render/plan-text.ts";
import { type PlaceOf, planView } from "../render/plan-view.ts";
import type { Io } from "./io.ts";
import type { OutputOptions } from "./options.ts";
import { styleFor } from "./output.ts";

/** Prints plans on stdout in the format that was asked for. */
export function plansPrinter(
  options: OutputOptions,
  placeOf: PlaceOf,
  io: Io,
): (plans: readonly Plan[]) => void {
  return (plans) => {
    if (options.format === "json") io.stdout.write(plansJson(plans));
    else if (plans.length > 0)
      io.stdout.write(
        renderPlans(
          plans.map((plan) => planView(plan, placeOf)),
          styleFor(io.stdout, io, options.color),
        ),
      );
  };
}
