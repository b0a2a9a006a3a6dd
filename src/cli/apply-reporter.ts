import type { ApplyEvent, ApplyResult, PasswordChange, StopCause } from "../model/apply.ts";
import type { Failure } from "../model/errors.ts";
import type { Plan } from "../model/plan.ts";
import { applyOverrides, type Override } from "../plan/overrides.ts";
import { renderApplyEvent, renderApplyResult, renderPasswords } from "../render/apply-text.ts";
import { oneLine } from "../render/escape.ts";
import { renderPlans } from "../render/plan-text.ts";
import { type PlaceOf, type PlanView, planView } from "../render/plan-view.ts";
import { renderUnverified, renderVerified, residueOf } from "../render/verified-text.ts";
import type { Io } from "./io.ts";
import type { OutputOptions } from "./options.ts";
import { extentOf, styleFor } from "./output.ts";

/** Tells how an apply goes, in the format that was asked for. */
export interface ApplyReporter {
  /** The plans, before anything is changed. */
  plans(plans: readonly Plan[]): void;
  /** The passwords that are to be set besides one merchant's plan. */
  passwords(merchant: string, passwords: readonly PasswordChange[]): void;
  event(event: ApplyEvent): void;
  /** How one merchant ended; `cause` is what stopped the run, where something did. */
  result(merchant: string, result: ApplyResult, cause: StopCause | null): void;
  /** What was found when everything was read again, but for so many changes that were left out. */
  verified(plan: Plan, leftOut: number): void;
  /** Why it is not known whether anything is left. */
  unverified(merchant: string, why: Failure | string): void;
  /** Where the journal is; an empty name stands for none. */
  journal(merchant: string, file: string): void;
  /** A sentence for people, on stderr. */
  say(text: string): void;
}

type ReporterOptions = OutputOptions & { readonly verbose?: true };

/** Text for people, or one JSON event per line for programs; data on stdout, the rest on stderr. */
export function applyReporter(
  options: ReporterOptions,
  placeOf: PlaceOf,
  io: Io,
  overrides: readonly Override[] = [],
): ApplyReporter {
  const viewOf = (plan: Plan): PlanView =>
    planView(plan, placeOf, applyOverrides(plan, overrides).overridden);
  const say = (text: string): void => io.stderr.write(`${text}\n`);
  return options.format === "json" ? jsonReporter(io, say) : textReporter(options, viewOf, io, say);
}

function jsonReporter(io: Io, say: (text: string) => void): ApplyReporter {
  const line = (event: object): void => io.stdout.write(`${JSON.stringify(event)}\n`);
  return {
    plans: (plans) => {
      for (const plan of plans) line({ type: "planned", merchant: plan.merchant, plan });
    },
    event: line,
    passwords: (merchant, passwords) => {
      for (const { name, passwordEnv } of passwords)
        line({ type: "password-planned", merchant, name, passwordEnv });
    },
    result: () => undefined,
    verified: (plan, leftOut) => {
      const { left, errors } = residueOf(plan);
      line({
        type: "verified",
        merchant: plan.merchant,
        remaining: left,
        errors,
        deferred: plan.deferred,
        leftOut,
      });
    },
    unverified: (merchant, why) =>
      line({
        type: "unverified",
        merchant,
        ...(typeof why === "string" ? { message: why } : { message: why.message, failure: why }),
      }),
    journal: (merchant, file) => line({ type: "journal", merchant, file }),
    say,
  };
}

function textReporter(
  options: ReporterOptions,
  viewOf: (plan: Plan) => PlanView,
  io: Io,
  say: (text: string) => void,
): ApplyReporter {
  const style = styleFor(io.stdout, io, options.color);
  return {
    plans: (plans) => {
      if (plans.length > 0) io.stdout.write(`${renderPlans(plans.map(viewOf), style, extentOf(options))}\n`);
    },
    event: (event) => {
      if (options.quiet) return;
      const line = renderApplyEvent(event, style);
      if (line !== null) io.stdout.write(`${line}\n`);
    },
    result: (merchant, result, cause) => io.stdout.write(renderApplyResult(merchant, result, cause, style)),
    passwords: (merchant, passwords) => {
      const lines = renderPasswords(merchant, passwords);
      if (lines !== null) io.stdout.write(`${lines}\n`);
    },
    verified: (plan, leftOut) => io.stdout.write(renderVerified(plan, leftOut, style)),
    unverified: (merchant, why) => io.stdout.write(renderUnverified(merchant, why, style)),
    journal: (_merchant, file) => say(`journal: ${oneLine(file)}`),
    say,
  };
}
