import type { ApplyEvent, ApplyResult } from "../model/apply.ts";
import type { Plan } from "../model/plan.ts";
import { renderApplyEvent, renderApplyResult, type StopCause } from "../render/apply-text.ts";
import { renderPlans } from "../render/plan-text.ts";
import { type PlaceOf, planView } from "../render/plan-view.ts";
import type { Io } from "./io.ts";
import type { OutputOptions } from "./options.ts";
import { styleFor } from "./output.ts";

/** Tells how an apply goes, in the format that was asked for. */
export interface ApplyReporter {
  /** The plans, before anything is changed. */
  plans(plans: readonly Plan[]): void;
  event(event: ApplyEvent): void;
  /** How one merchant ended; `cause` is what stopped the run, where something did. */
  result(merchant: string, result: ApplyResult, cause: StopCause | null): void;
  /** What was found when everything was read again. */
  verified(plan: Plan): void;
  /** A sentence for people, on stderr. */
  say(text: string): void;
}

/** Text for people, or one JSON event per line for programs; data on stdout, the rest on stderr. */
export function applyReporter(options: OutputOptions, placeOf: PlaceOf, io: Io): ApplyReporter {
  const say = (text: string): void => io.stderr.write(`${text}\n`);
  return options.format === "json" ? jsonReporter(io, say) : textReporter(options, placeOf, io, say);
}

function jsonReporter(io: Io, say: (text: string) => void): ApplyReporter {
  const line = (event: object): void => io.stdout.write(`${JSON.stringify(event)}\n`);
  return {
    plans: (plans) => {
      for (const plan of plans) line({ type: "planned", merchant: plan.merchant, plan });
    },
    event: line,
    result: () => undefined,
    verified: (plan) => line({ type: "verified", merchant: plan.merchant, remaining: plan.changes }),
    say,
  };
}

function textReporter(
  options: OutputOptions,
  placeOf: PlaceOf,
  io: Io,
  say: (text: string) => void,
): ApplyReporter {
  const style = styleFor(io.stdout, io, options.color);
  return {
    plans: (plans) => {
      if (plans.length > 0)
        io.stdout.write(
          `${renderPlans(
            plans.map((plan) => planView(plan, placeOf)),
            style,
          )}\n`,
        );
    },
    event: (event) => {
      const line = renderApplyEvent(event, style);
      if (line !== null) io.stdout.write(`${line}\n`);
    },
    result: (merchant, result, cause) => io.stdout.write(renderApplyResult(merchant, result, cause, style)),
    verified: (plan) => {
      if (plan.changes.length === 0) {
        const waiting = plan.deferred.length === 0 ? "" : ` but what is deferred (${plan.deferred.length})`;
        io.stdout.write(
          `${style.green("✓")} ${plan.merchant}: read again, nothing is left to do${waiting}.\n`,
        );
        return;
      }
      io.stdout.write(
        `\n${style.red("This is left after the apply")}; somebody else may have changed it meanwhile:\n\n`,
      );
      io.stdout.write(renderPlans([planView(plan)], style));
    },
    say,
  };
}
