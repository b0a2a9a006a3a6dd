import type { Comparison } from "../../kernel/approval/compare-reviewed.ts";
import { runFingerprint } from "../../kernel/diff/fingerprint.ts";
import { applyOverrides, type Override } from "../../kernel/rules/overrides.ts";
import { oneLine } from "../../lib/escape.ts";
import { counted } from "../../lib/text.ts";
import type { MerchantOutcome, Outcome } from "../../model/apply.ts";
import { RolecallError } from "../../model/errors.ts";
import type { ApplyEvent, FailureJson, ReportEvent, StreamEvent } from "../../model/events.ts";
import type { Plan } from "../../model/plan.ts";
import { hasCutList } from "../../show/blocks/cut-list.ts";
import { renderEnding } from "../../show/documents/ending.ts";
import { eventJson, failureJson } from "../../show/machine/machine-formats.ts";
import type { Style } from "../../show/style.ts";
import {
  type MerchantPasswords,
  renderApplyEvent,
  renderDoneChanges,
  renderPasswords,
} from "../../show/text/apply-text.ts";
import { renderPlans } from "../../show/text/plans-text.ts";
import {
  type AppliedRun,
  type EndingRefusals,
  endingRefusals,
  remainingChanges,
  type Verification,
} from "../../show/view/ending-view.ts";
import { MIN_SHARED } from "../../show/view/equal-changes.ts";
import { fleetView } from "../../show/view/fleet-view.ts";
import { namesText } from "../../show/view/names-text.ts";
import { type PlaceOf, type PlanCommand, type PlanView, planView } from "../../show/view/plan-view.ts";
import { ExitCode, exitCodeFor, type Io } from "../io/io.ts";
import { styleFor, verbosityOf } from "../io/terminal.ts";
import type { ProgressDisplay } from "../progress/log-progress.ts";
import type { OutputOptions } from "../project/command-options.ts";

/** Reports the progress and the result of an apply. */
export interface ApplyReporter {
  /** Reports the plans, before anything is changed. */
  plans(plans: readonly Plan[]): void;
  /** Reports why merchants have no plan. */
  failed(failures: readonly FailureJson[]): void;
  /** Reports the merchants that are not applied, and why; `rest` other ones are applied. */
  skipped(skipped: readonly MerchantOutcome[], rest: number): void;
  /** Reports how the plans compare with what was approved. */
  compared(comparisons: readonly Comparison[]): void;
  /** Reports the passwords that are set in addition to the plans. */
  passwords(due: readonly MerchantPasswords[]): void;
  event(event: ApplyEvent): void;
  /** Reports the verification at a merchant, as soon as it is made. */
  verified(merchant: string, verification: Verification): void;
  /** Reports the results of all merchants where the apply was begun, and the journals. */
  applied(run: AppliedRun): void;
  /** Reports, last of all, how the run ended at every merchant, including those that were not applied. */
  ended(end: RunEnd, exitCode: ExitCode): void;
  /** Prints a sentence on stderr. */
  say(text: string): void;
}

/** The outcome of a run at every merchant; without any, nothing was to be done. */
export interface RunEnd {
  readonly outcomes: readonly MerchantOutcome[];
  /** Number of changes that the user left out. */
  readonly leftOut: number;
  /** Changes that were not made for lack of approval at merchants that were applied; absent: none. */
  readonly unapproved?: readonly MerchantOutcome[];
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
  const viewsOf = (plans: readonly Plan[], run: string): readonly PlanView[] =>
    plans.map((plan) => planView(plan, placeOf, applyOverrides(plan, overrides, run).overridden, command));
  const show = (plans: readonly Plan[], style: Style): string => {
    const run = runFingerprint(plans);
    return renderPlans(viewsOf(plans, run), style, verbosityOf(options), { run, command });
  };
  const refusalsIn = (plans: readonly Plan[], outcomes: readonly MerchantOutcome[]): EndingRefusals => {
    const refused = outcomes.flatMap(({ merchant, status }) => (status === "refused" ? merchant : []));
    const run = runFingerprint(plans);
    return endingRefusals(fleetView(viewsOf(plans, run), { run, command }), new Set(refused));
  };
  const say = (text: string): void => io.stderr.write(`${text}\n`);
  const printEnding: PrintEnding = (
    { outcomes, leftOut, unapproved = [] },
    applied,
    { plans, isOk, isCutAbove = false },
  ) => {
    if (outcomes.every(({ status }) => status === "unchanged")) return;
    const sink = isOk ? io.stdout : io.stderr;
    const style = styleFor(sink, io, options.color);
    const isRefused = outcomes.some(({ status }) => status === "refused");
    const refusals = isRefused && { refusals: refusalsIn(plans, outcomes) };
    sink.write(
      renderEnding({ command, applied, outcomes, leftOut, unapproved, isCutAbove, ...refusals }, style),
    );
  };
  return options.format === "json"
    ? jsonReporter(io, printEnding, say)
    : textReporter(options, show, printEnding, io, say);
}

/**
 * Prints the end of a run: on stdout, or on stderr if not everything is done, so that it is seen when stdout is
 * redirected.
 */
type PrintEnding = (
  end: RunEnd,
  applied: AppliedRun | null,
  shown: { readonly plans: readonly Plan[]; readonly isOk: boolean; readonly isCutAbove?: boolean },
) => void;

function jsonReporter(io: Io, printEnding: PrintEnding, say: (text: string) => void): ApplyReporter {
  const line = (event: StreamEvent): void =>
    io.stdout.write(eventJson(event, new Date(io.now()).toISOString()));
  let run: AppliedRun | null = null;
  let planned: readonly Plan[] = [];
  return {
    plans: (plans) => {
      planned = plans;
      for (const plan of plans) line({ type: "planned", merchant: plan.merchant, plan });
    },
    failed: (failures) => {
      for (const failure of failures) line({ type: "failed", ...failure });
    },
    compared: (comparisons) => {
      for (const { covered, refused, account } of comparisons) {
        const { merchant } = covered;
        line({ type: "compared", merchant, refused, account });
      }
    },
    skipped: (skipped, rest) => {
      const refused = skipped.filter(({ status }) => status === "refused");
      if (refused.length > 0) {
        const merchants = refused.map(({ merchant }) => merchant);
        line({ type: "refused", merchants, reasons: refused.flatMap(reasonLines) });
      }
      saySkipped(skipped, rest, say);
    },
    ended: (end, exitCode) => {
      if (exitCode !== ExitCode.ok) printEnding(end, run, { plans: planned, isOk: false });
      line({ ...summaryOf(run?.ends ?? [], exitCode), results: end.outcomes });
    },
    event: line,
    passwords: (due) => {
      for (const { plan, passwords } of due)
        for (const { name, passwordEnv } of passwords)
          line({ type: "password-planned", merchant: plan.merchant, name, passwordEnv });
    },
    verified: (merchant, verification) => {
      if (verification.status === "unverified") {
        const { why } = verification;
        const said = typeof why === "string" ? { message: why } : { message: why.message, failure: why };
        line({ type: "unverified", merchant, ...said });
        return;
      }
      const { plan, leftOut, refused } = verification;
      const { left: remaining, errors, notCreated } = remainingChanges(plan);
      const { deferred } = plan;
      line({
        type: "verified",
        merchant,
        remaining,
        errors,
        notCreated,
        deferred,
        leftOut,
        refused,
      });
    },
    applied: (applied) => {
      run = applied;
      if (applied.journals.length > 0) line({ type: "journals", run: applied.run, files: applied.journals });
    },
    say,
  };
}

/** Prints why merchants are refused if the apply continues at others; failures have already been printed. */
function saySkipped(skipped: readonly MerchantOutcome[], rest: number, say: (text: string) => void): void {
  if (rest === 0) return;
  const refused = skipped.filter(({ status }) => status === "refused");
  for (const reason of reasonTexts(refused)) say(reason);
  const names = oneLine(namesText(skipped.map(({ merchant }) => merchant)));
  const nothing = refused.length === skipped.length ? "Refused: nothing" : "Nothing";
  say(`${nothing} is changed at ${names}; the apply continues at ${counted(rest, "other merchant")}.`);
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
    ...refused.flatMap((refusal) =>
      reasonLines({ ...refusal, reasons: refusal.reasons.filter((reason) => !isEqual(reason)) }),
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
  reporter.ended({ outcomes: [], leftOut: 0 }, exitCodeFor(error));
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
  ends: AppliedRun["ends"],
  exitCode: ExitCode,
): Omit<ReportEvent & { readonly type: "summary" }, "results"> {
  const outcomes = ends.flatMap(({ result }) => result.outcomes);
  const sum = (status: Outcome["status"]): number =>
    outcomes.filter((outcome) => outcome.status === status).length;
  return {
    type: "summary",
    status: STATUSES[exitCode],
    exitCode,
    merchants: ends.length,
    writes: ends.reduce((sum, { result }) => sum + result.writes, 0),
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
  printEnding: PrintEnding,
  io: Io,
  say: (text: string) => void,
): ApplyReporter {
  const style = styleFor(io.stdout, io, options.color);
  let changes = 0;
  let failures = 0;
  let run: AppliedRun | null = null;
  let planned: readonly Plan[] = [];
  const isLong = (): boolean => options.verbose !== true && changes > MAX_LINES;
  return {
    plans: (plans) => {
      planned = plans;
      changes = plans.reduce((sum, plan) => sum + plan.changes.length, 0);
      if (plans.length > 0) io.stdout.write(`${show(plans, style)}\n`);
    },
    event: (event) => {
      if (options.quiet) return;
      if (isLong()) {
        if (isDone(event)) return;
        if (event.type === "change-ended") failures += 1;
        if (event.type === "change-ended" && failures > MAX_FAILURES) {
          if (failures === MAX_FAILURES + 1) io.stdout.write(`${MORE_FAILURES}\n`);
          return;
        }
      }
      const line = renderApplyEvent(event, style);
      if (line !== null) io.stdout.write(`${line}\n`);
    },
    passwords: (due) => io.stdout.write(renderPasswords(due, style)),
    verified: () => undefined,
    applied: (applied) => {
      run = applied;
    },
    // The commands print it on stderr in every format.
    failed: () => undefined,
    compared: () => undefined,
    skipped: (skipped, rest) => saySkipped(skipped, rest, say),
    ended: (end, exitCode) => {
      const done = run !== null && isLong() && !options.quiet ? renderDoneChanges(run.ends, style) : "";
      if (done !== "") io.stdout.write(done);
      printEnding(end, run, { plans: planned, isOk: exitCode === ExitCode.ok, isCutAbove: hasCutList(done) });
    },
    say,
  };
}

/** Maximum number of changes with lines of their own; beyond it, equal ones share a line when all have ended. */
const MAX_LINES = 60;

/** Maximum number of lines about failures during a large apply. */
const MAX_FAILURES = 10;

const MORE_FAILURES =
  "… more changes failed or did not start: the summary at the end lists each cause, and how many changes it affected.";

/** Returns a reporter that also updates the progress display. */
export function withProgress(
  reporter: ApplyReporter,
  progress: Pick<ProgressDisplay, "applied" | "verified">,
): ApplyReporter {
  return {
    ...reporter,
    event(event) {
      progress.applied(event);
      reporter.event(event);
    },
    verified(merchant, verification) {
      progress.verified(merchant);
      reporter.verified(merchant, verification);
    },
  };
}

function isDone(event: ApplyEvent): boolean {
  return event.type === "change-ended" && event.outcome.status === "done" && !event.outcome.adopted;
}
