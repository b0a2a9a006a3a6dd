import { oneLine } from "../../lib/escape.ts";
import { counted } from "../../lib/text.ts";
import type { ApplyResult, MerchantOutcome, Outcome, StopCause } from "../../model/apply.ts";
import { type Failure, RolecallError } from "../../model/errors.ts";
import type { ApplyEvent, FailureJson, ReportEvent, StreamEvent } from "../../model/events.ts";
import type { Plan } from "../../model/plan.ts";
import { runFingerprint } from "../../plan/fingerprint.ts";
import { applyOverrides, type Override } from "../../plan/judge/overrides.ts";
import { eventJson, failureJson } from "../../render/machine-formats.ts";
import type { Style } from "../../render/style.ts";
import {
  type MerchantPasswords,
  renderApplyEvent,
  renderApplyResult,
  renderApplyTotal,
  renderPasswords,
} from "../../render/text/apply-text.ts";
import { renderPlans } from "../../render/text/plans-text.ts";
import {
  namesOf,
  remainingChanges,
  renderJournals,
  renderOutcomes,
  renderUnverified,
  renderVerified,
} from "../../render/text/verified-text.ts";
import { MIN_SHARED } from "../../render/view/equal-changes.ts";
import { namesText } from "../../render/view/equal-text.ts";
import { type PlaceOf, type PlanCommand, planView } from "../../render/view/plan-view.ts";
import type { OutputOptions } from "../args/options.ts";
import { ExitCode, exitCodeFor, type Io } from "../io/io.ts";
import { styleFor, verbosityOf } from "../io/output.ts";
import type { ProgressDisplay } from "../progress/log-progress.ts";

/** Reports the progress and the result of an apply. */
export interface ApplyReporter {
  /** Reports the plans, before anything is changed. */
  plans(plans: readonly Plan[]): void;
  /** Reports why merchants have no plan. */
  failed(failures: readonly FailureJson[]): void;
  /** Reports the merchants that are not applied, and why; `rest` other ones are applied. */
  skipped(skipped: readonly MerchantOutcome[], rest: number): void;
  /** Reports the passwords that are set in addition to the plans. */
  passwords(due: readonly MerchantPasswords[]): void;
  event(event: ApplyEvent): void;
  /** Reports the result of each merchant; `cause` is what stopped the run, if anything. */
  results(ends: readonly MerchantEnd[], cause: StopCause | null): void;
  /** Reports the verification, apart from changes that were left out or refused for now. */
  verified(plan: Plan, leftOut: number, refused: number): void;
  /** Reports why the result could not be verified. */
  unverified(merchant: string, why: Failure | string): void;
  /** Reports how the run ended at every merchant, also at those that were not applied. */
  outcomes(outcomes: readonly MerchantOutcome[]): void;
  /** Reports the paths of the run's journals. */
  journals(run: string, files: readonly string[]): void;
  /** Reports the exit code, as the last event. */
  ended(exitCode: ExitCode): void;
  /** Prints a sentence on stderr. */
  say(text: string): void;
}

/** The result of an apply at one merchant. */
export interface MerchantEnd {
  readonly merchant: string;
  readonly result: ApplyResult;
}

type ReporterOptions = OutputOptions & { readonly verbose?: true };

/** Creates a reporter of text, or of one JSON event per line; data goes to stdout, the rest to stderr. */
export function applyReporter(
  options: ReporterOptions,
  placeOf: PlaceOf,
  io: Io,
  overrides: readonly Override[] = [],
  command: PlanCommand = "apply",
): ApplyReporter {
  const show = (plans: readonly Plan[], style: Style): string => {
    const run = runFingerprint(plans);
    const views = plans.map((plan) =>
      planView(plan, placeOf, applyOverrides(plan, overrides, run).overridden, command),
    );
    return renderPlans(views, style, verbosityOf(options), { run, command });
  };
  const say = (text: string): void => io.stderr.write(`${text}\n`);
  return options.format === "json" ? jsonReporter(io, say) : textReporter(options, show, io, say);
}

function jsonReporter(io: Io, say: (text: string) => void): ApplyReporter {
  const line = (event: StreamEvent): void =>
    io.stdout.write(eventJson(event, new Date(io.now()).toISOString()));
  let ended: readonly MerchantEnd[] = [];
  let known: readonly MerchantOutcome[] = [];
  return {
    plans: (plans) => {
      for (const plan of plans) line({ type: "planned", merchant: plan.merchant, plan });
    },
    failed: (failures) => {
      for (const failure of failures) line({ type: "failed", ...failure });
    },
    skipped: (skipped, rest) => {
      known = skipped;
      const refused = skipped.filter(({ status }) => status === "refused");
      if (refused.length > 0) {
        const merchants = refused.map(({ merchant }) => merchant);
        line({ type: "refused", merchants, reasons: refused.flatMap(reasonLines) });
      }
      saySkipped(skipped, rest, say);
    },
    outcomes: (outcomes) => {
      known = outcomes;
    },
    ended: (exitCode) => line({ ...summaryOf(ended, exitCode), results: known }),
    event: line,
    passwords: (due) => {
      for (const { plan, passwords } of due)
        for (const { name, passwordEnv } of passwords)
          line({ type: "password-planned", merchant: plan.merchant, name, passwordEnv });
    },
    results: (ends) => {
      ended = ends;
    },
    verified: (plan, leftOut, refused) => {
      const { left, errors, notCreated } = remainingChanges(plan);
      line({
        type: "verified",
        merchant: plan.merchant,
        remaining: left,
        errors,
        notCreated,
        deferred: plan.deferred,
        leftOut,
        refused,
      });
    },
    unverified: (merchant, why) =>
      line({
        type: "unverified",
        merchant,
        ...(typeof why === "string" ? { message: why } : { message: why.message, failure: why }),
      }),
    journals: (run, files) => line({ type: "journals", run, files }),
    say,
  };
}

/** Prints why merchants are refused, and what is changed nevertheless; failures have been printed before. */
function saySkipped(skipped: readonly MerchantOutcome[], rest: number, say: (text: string) => void): void {
  const refused = skipped.filter(({ status }) => status === "refused");
  for (const reason of reasonTexts(refused)) say(reason);
  const isRefused = refused.length === skipped.length;
  if (rest === 0) {
    say(isRefused ? "Refused: nothing was changed." : "Nothing was changed: fix the problems above first.");
    return;
  }
  const names = namesOf(skipped.map(({ merchant }) => merchant));
  const nothing = isRefused ? "Refused: nothing" : "Nothing";
  say(`${nothing} is changed at ${names}; the apply goes on at ${counted(rest, "other merchant")}.`);
}

/** Returns the reasons with their merchants; equal ones of several merchants are one. */
function reasonTexts(refused: readonly MerchantOutcome[]): readonly string[] {
  const groups = new Map<string, string[]>();
  for (const { merchant, reasons } of refused) {
    for (const reason of reasons) groups.set(reason, [...(groups.get(reason) ?? []), merchant]);
  }
  const isEqual = (reason: string): boolean => (groups.get(reason) ?? []).length >= MIN_SHARED;
  return [
    ...[...groups].flatMap(([reason, merchants]) =>
      isEqual(reason)
        ? [`${counted(merchants.length, "merchant")} (${oneLine(namesText(merchants))}): ${reason}`]
        : [],
    ),
    ...refused.flatMap((one) =>
      reasonLines({ ...one, reasons: one.reasons.filter((reason) => !isEqual(reason)) }),
    ),
  ];
}

function reasonLines({ merchant, reasons }: MerchantOutcome): readonly string[] {
  return reasons.map((reason) => `${oneLine(merchant)}: ${reason}`);
}

/** Reports an error that ended an apply as JSON events. */
export function failedWith(reporter: ApplyReporter, error: unknown): void {
  if (!(error instanceof RolecallError)) return;
  reporter.failed([failureJson(null, error.failure)]);
  reporter.ended(exitCodeFor(error));
}

const STATUSES: Readonly<Record<ExitCode, string>> = {
  [ExitCode.ok]: "done",
  [ExitCode.failed]: "failed",
  [ExitCode.differences]: "done",
  [ExitCode.refused]: "refused",
  [ExitCode.partial]: "partial",
  [ExitCode.bug]: "failed",
};

/** Returns the totals over all merchants' outcomes. */
function summaryOf(
  ends: readonly MerchantEnd[],
  exitCode: ExitCode,
): Omit<ReportEvent & { readonly type: "summary" }, "results"> {
  const outcomes = ends.flatMap(({ result }) => result.outcomes);
  const sum = (status: Outcome["status"]): number => outcomes.filter((one) => one.status === status).length;
  return {
    type: "summary",
    status: STATUSES[exitCode],
    exitCode,
    merchants: ends.length,
    writes: ends.reduce((all, { result }) => all + result.writes, 0),
    changes: {
      done: sum("done"),
      failed: sum("failed"),
      stale: sum("stale"),
      unknown: sum("unknown"),
      unfinished: sum("unfinished"),
      "not-started": sum("not-started"),
    },
  };
}

function textReporter(
  options: ReporterOptions,
  show: (plans: readonly Plan[], style: Style) => string,
  io: Io,
  say: (text: string) => void,
): ApplyReporter {
  const style = styleFor(io.stdout, io, options.color);
  let isStopped = false;
  // If quiet, and of many, merchants where all went well are counted: their changes have had their lines.
  let isBrief = false;
  let clean = 0;
  return {
    plans: (plans) => {
      if (plans.length > 0) io.stdout.write(`${show(plans, style)}\n`);
    },
    event: (event) => {
      if (options.quiet) return;
      const line = renderApplyEvent(event, style);
      if (line !== null) io.stdout.write(`${line}\n`);
    },
    results: (ends, cause) => {
      const several = ends.length > 1;
      isStopped = cause !== null;
      isBrief = several && (options.quiet === true || (ends.length > MAX_ENDS && options.verbose !== true));
      for (const { merchant, result } of ends)
        if (!isBrief || result.status !== "done")
          io.stdout.write(renderApplyResult(merchant, result, cause, style, several));
      if (several)
        io.stdout.write(
          renderApplyTotal(
            ends.map(({ result }) => result),
            cause,
            style,
          ),
        );
    },
    passwords: (due) => io.stdout.write(renderPasswords(due, style)),
    verified: (plan, leftOut, refused) => {
      const { left, errors, notCreated } = remainingChanges(plan);
      const open = left.length + errors.length + notCreated.length + plan.deferred.length + leftOut + refused;
      if (isBrief && open === 0) clean += 1;
      else io.stdout.write(renderVerified(plan, leftOut, style, refused));
    },
    unverified: (merchant, why) => io.stdout.write(renderUnverified(merchant, why, style)),
    journals: (run, files) => say(renderJournals(run, files)),
    // The commands print it on stderr in every format.
    failed: () => undefined,
    skipped: (skipped, rest) => saySkipped(skipped, rest, say),
    outcomes: (outcomes) => {
      if (clean > 0)
        io.stdout.write(`${style.green("✓")} ${counted(clean, "merchant")}: verified, no changes remain.\n`);
      // The total has told what stopped the run at all merchants.
      if (!isStopped) io.stdout.write(renderOutcomes(outcomes, style));
    },
    ended: () => undefined,
    say,
  };
}

/** Maximum number of merchants that have lines of their own at the end although all went well. */
const MAX_ENDS = 20;

/** Maximum number of changes with lines of their own on a terminal; above it only failures have one. */
const MAX_LINES = 200;

/** Returns a reporter that also updates the progress display; on a terminal it omits the lines of a large apply. */
export function withProgress(
  reporter: ApplyReporter,
  progress: ProgressDisplay,
  changes: number,
  { format }: Pick<OutputOptions, "format">,
): ApplyReporter {
  const brief = format === "text" && progress.draws && progress.io.stdout.isTTY && changes > MAX_LINES;
  return {
    ...reporter,
    event(event) {
      progress.applied(event);
      if (!(brief && isDone(event))) reporter.event(event);
    },
    verified(plan, leftOut, refused) {
      progress.verified(plan.merchant);
      reporter.verified(plan, leftOut, refused);
    },
    unverified(merchant, why) {
      progress.verified(merchant);
      reporter.unverified(merchant, why);
    },
  };
}

function isDone(event: ApplyEvent): boolean {
  return event.type === "change-ended" && event.outcome.status === "done" && !event.outcome.adopted;
}
