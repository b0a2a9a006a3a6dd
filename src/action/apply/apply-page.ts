import { type ApplyReporter, applyReporter } from "../../app/apply/reporter.ts";
import type { ProgressDisplay } from "../../app/progress/log-progress.ts";
import { counted } from "../../lib/text.ts";
import type { MerchantOutcome } from "../../model/apply.ts";
import type { Plan } from "../../model/plan.ts";
import { fenced, folded, inlineCode } from "../../show/markdown/markdown-blocks.ts";
import { wrapText } from "../../show/text/wrap.ts";
import { type LaterView, withLaterRisks } from "../../show/view/date-lines.ts";
import { type PlaceOf, planView } from "../../show/view/plan-view.ts";
import type { ActionContext, ActionResult, ResultWord } from "../context/action-context.ts";
import type { FailureReason } from "../context/action-error.ts";
import { findComment } from "../github/pull-comment.ts";
import { aboutCommit, type ReviewPage, renderReviewPage } from "../review/publish-plan.ts";

/** The outcome of an apply. */
export interface ApplyEnd {
  readonly verdict: string;
  readonly result: ResultWord;
  readonly reason: FailureReason | null;
  /** One trusted sentence; inserted into Markdown unescaped. */
  readonly message: string;
}

/** The outcomes of an apply: of the merchants that it applied, and of those that it left as they are. */
interface ApplyOutcomes {
  readonly applied: readonly MerchantOutcome[];
  readonly left: readonly MerchantOutcome[];
  /** The objections to unapproved changes, by merchant. */
  readonly unapproved: ReadonlyMap<string, unknown>;
  /** Why merchants were left as they are, unless the service was the reason. */
  readonly causes: ReadonlyMap<string, FailureReason>;
  /** True if files have errors, so that their merchants were left. */
  readonly isBroken: boolean;
}

/** Returns whether a merchant is not as its file says after an apply. */
export function isOpen({ status }: MerchantOutcome): boolean {
  return status !== "applied" && status !== "unchanged";
}

export function applyEnd({ applied, left, unapproved, causes, isBroken }: ApplyOutcomes): ApplyEnd {
  const openOutcomes = [...applied, ...left].filter(isOpen);
  const changed = applied.filter(({ status }) => status === "applied" || status === "partial");
  if (isBroken && (openOutcomes.length === 0 || changed.length > 0)) {
    return changed.length > 0
      ? { ...APPLY_ENDS.partial, message: "Not everything was applied, because files have errors." }
      : APPLY_ENDS.invalid;
  }
  if (openOutcomes.length === 0) return changed.length > 0 ? APPLY_ENDS.applied : APPLY_ENDS.nothing;
  const isRefused = openOutcomes.every(({ merchant }) => unapproved.has(merchant));
  if (changed.length > 0) {
    // Another run would refuse the same changes.
    if (isRefused) return { ...APPLY_ENDS.partial, message: "Not everything is as reviewed." };
    if (!openOutcomes.some(({ merchant }) => unapproved.has(merchant))) return APPLY_ENDS.partial;
    const message =
      "Not everything was applied, and not everything is as reviewed. Another run only continues the reviewed changes.";
    return { ...APPLY_ENDS.partial, message };
  }
  const refused = left.filter(({ status }) => status === "refused");
  if (refused.length === 0) {
    const [reason = "service", ...others] = new Set(openOutcomes.map(({ merchant }) => causes.get(merchant)));
    const isSame = others.length === 0;
    return applied.length > 0
      ? APPLY_ENDS.stopped
      : { ...APPLY_ENDS.failed, reason: isSame ? reason : "service" };
  }
  const isUnapproved = refused.every(({ merchant }) => unapproved.has(merchant));
  return isUnapproved ? APPLY_ENDS.unapproved : APPLY_ENDS.refused;
}

export const APPLY_ENDS = {
  applied: endedAs("✅ rolecall apply: applied", "applied"),
  nothing: endedAs("✅ rolecall apply: nothing to do", "no-changes"),
  approved: endedAs("✅ rolecall apply: approved", "no-changes"),
  superseded: endedAs("⏭️ rolecall apply: left to a newer commit", "superseded"),
  partial: endedAs(
    "❌ rolecall apply: partly applied",
    "partial",
    "partial",
    "Not everything was applied. Run it again to continue.",
  ),
  stopped: endedAs("❌ rolecall apply: stopped before anything was changed", "failed", "service"),
  refused: endedAs("⛔ rolecall apply: refused", "refused", "refused"),
  unapproved: endedAs(
    "⛔ rolecall apply: refused, because not everything is as reviewed",
    "refused",
    "not-approved",
  ),
  invalid: endedAs("❌ rolecall apply: failed", "failed", "invalid-files"),
  failed: endedAs("❌ rolecall apply: failed", "failed", "service"),
} as const;

function endedAs(
  verdict: string,
  result: ResultWord,
  reason: FailureReason | null = null,
  message = reason === null ? "" : "Nothing was changed.",
): ApplyEnd {
  return { verdict, result, reason, message };
}

/** Maximum size in UTF-16 units: with three-byte characters it stays below GitHub's limit of 1 MiB. */
const SUMMARY_SIZE = 450_000;

/** An outcome with its log and plans. */
export interface ApplyReport extends ApplyEnd {
  /** The next step; empty if there is none. */
  readonly notes?: readonly string[];
  readonly lines: readonly string[];
  readonly outcomes: readonly MerchantOutcome[];
  readonly plans: readonly Plan[];
  /** Changes that nobody has reviewed and that wait for approval. */
  readonly rest?: readonly Plan[];
  /** Upcoming effects of dates at the merchants where something waits. */
  readonly later?: readonly LaterView[];
  /** Lines about the lost dates that an approval discards. */
  readonly givenUp?: readonly string[];
  readonly placeOf: PlaceOf;
}

/** Returns why an apply failed, in one line. */
export function failureText({ message, outcomes, lines }: ApplyReport): string {
  const [firstOpen, ...otherOpen] = outcomes.filter(isOpen);
  if (firstOpen === undefined) return `${lines[0] ?? ""} ${message}`.trim();
  const why = firstOpen.reasons.length === 0 ? "" : ` ${firstOpen.merchant}: ${firstOpen.reasons[0]}`;
  const more = otherOpen.length === 0 ? "" : ` (and ${counted(otherOpen.length, "more merchant")})`;
  return `${message}${why}${more}`;
}

const STATUS_WORDS = {
  applied: "applied",
  unchanged: "nothing to do",
  partial: "**partly applied**",
  refused: "**refused**",
  failed: "**failed**",
} as const satisfies Readonly<Record<MerchantOutcome["status"], string>>;

/** Maximum number of merchants that are as their files say and have a row each. */
const MAX_DONE = 10;

/** Returns a table of the outcomes, those with work left first; empty if all outcomes are the same. */
function outcomeTable(
  { outcomes, notes = [] }: ApplyReport,
  size: number,
  mask: ActionContext["mask"],
): string {
  const openOutcomes = outcomes.filter(isOpen);
  if (outcomes.length < 2 && openOutcomes.length === 0) return "";
  const done = outcomes.filter((outcome) => !isOpen(outcome));
  const rows = [...openOutcomes, ...(done.length > MAX_DONE ? [] : done)].map(
    ({ merchant, status, reasons }) => {
      const other = reasons.filter((reason) => !notes.includes(`${merchant}: ${reason}`));
      const why = other.map((reason) => inlineCode(mask(reason)));
      if (other.length < reasons.length) why.push("see below");
      return `| ${inlineCode(merchant)} | ${STATUS_WORDS[status]} | ${why.join(", ")} |`;
    },
  );
  for (const status of done.length > MAX_DONE ? (["applied", "unchanged"] as const) : []) {
    const count = done.filter((outcome) => outcome.status === status).length;
    if (count > 0) rows.push(`| ${counted(count, "merchant")} | ${STATUS_WORDS[status]} |  |`);
  }
  const shown = rows.slice(0, fitting(rows, size));
  const more = rows.length - shown.length;
  const rest = more === 0 ? "" : `\n\nand ${counted(more, "merchant")} more`;
  return `${["| Merchant | Result | Why |", "|---|---|---|", ...shown].join("\n")}${rest}`;
}

/** Number of lines from which the log of an apply is folded. */
const MAX_LOG_LINES = 12;

/** Width without a scroll bar. */
const NOTE_COLUMNS = 100;

/** Maximum number of pull requests that an apply comments on. */
const MAX_TOLD = 3;

/** A pull request that a run reports on. */
export interface ToldPull {
  readonly number: number;
  /** Id of its comment; `null` if unknown. */
  readonly comment: number | null;
  readonly report: ApplyReport;
  /** True if something that was lost there is no longer lost. */
  readonly isSettled: boolean;
}

/** Publishes the outcome of an apply in the job summary, and on pull requests the parts that concern them. */
export async function reportApply(
  context: ActionContext,
  report: ApplyReport,
  pulls: readonly ToldPull[],
): Promise<ActionResult["outputs"]> {
  const { github, log, scope } = context;
  await context.appendSummary(`${applyPage(context, report)(SUMMARY_SIZE)}\n`);
  const urls: (string | null)[] = [];
  for (const { number, comment: recorded, report: own, isSettled } of pulls.slice(0, MAX_TOLD)) {
    const comment = await findComment({ github, log, scope, pull: number, recorded });
    urls.push(await comment.showApplied(applyPage(context, own), isSettled || own.result !== "no-changes"));
  }
  const url = urls.find((candidate) => candidate !== null);
  return url === undefined ? {} : { "comment-url": url };
}

/** Returns a function that renders the outcome of an apply within a size. */
function applyPage(context: ActionContext, report: ApplyReport): (size: number) => string {
  const { event, inputs, scope, mask } = context;
  const plans = mask(report.plans.filter(({ changes, findings }) => changes.length + findings.length > 0));
  const rest = mask(report.rest ?? []);
  const shownLines = (lines: readonly string[]): readonly string[] =>
    mask(lines.filter((line) => line !== ""));
  const lines = shownLines(report.lines);
  const wrapped = (lines: readonly string[]): readonly string[] =>
    shownLines(lines).flatMap((line) => wrapText(line, NOTE_COLUMNS));
  const notes = wrapped(report.notes ?? []);
  const givenUp = wrapped(report.givenUp ?? []);
  const pageOf = (shown: readonly Plan[], dates: readonly LaterView[] = []): ReviewPage => ({
    marker: "",
    review: {
      command: "plan",
      views: shown.map((plan) => withLaterRisks(planView(plan, report.placeOf), dates)),
      unplanned: [],
      fileErrors: 0,
      later: dates,
    },
    about: [],
    after: [],
  });
  const verdict = report.verdict.replace("rolecall apply", `rolecall ${inputs.command}`);
  const head = [`## ${verdict}`, aboutCommit(event.sha, event.runUrl, scope.title), report.message];
  return (size) => {
    const half = Math.floor(size / 4);
    const table = outcomeTable(report, half, mask);
    const kept = lines.slice(0, fitting(lines, half));
    const more = lines.length - kept.length;
    const shown = more === 0 ? kept : [...kept, `and ${counted(more, "line")} more`];
    const next = notes.length === 0 ? "" : fenced("text", notes);
    const log = shown.length === 0 ? "" : fenced("text", shown);
    const done = shown.length > MAX_LOG_LINES ? folded("What was done", [log]) : log;
    const plan = plans.length === 0 ? "" : folded("The plan", [renderReviewPage(pageOf(plans), half)]);
    // Without its verdict, which would be a second heading.
    const [, ...waits] =
      rest.length === 0 ? [] : renderReviewPage(pageOf(rest, report.later), half).split("\n\n");
    const lost =
      givenUp.length === 0 ? [] : ["**Reviewed dates that an approval discards**", fenced("text", givenUp)];
    const waiting = waits.length === 0 ? "" : ["### Waits for approval", ...lost, ...waits].join("\n\n");
    return [...head, table, next, waiting, done, plan].filter((part) => part !== "").join("\n\n");
  };
}

function fitting(lines: readonly string[], size: number): number {
  let room = size;
  const last = lines.findIndex((line) => {
    room -= line.length + 1;
    return room < 0;
  });
  return last === -1 ? lines.length : last;
}

/** A reporter whose text is captured. */
export interface CapturedLog {
  readonly lines: () => readonly string[];
  /** Returns the fingerprints of the changes that were made, by merchant. */
  readonly done: () => ReadonlyMap<string, ReadonlySet<string>>;
  readonly reporter: ApplyReporter;
}

/** Wraps a reporter to capture its text for the comment and the job summary. */
export function captureApplyLog(
  reporter: ApplyReporter,
  progress: Pick<ProgressDisplay, "applied">,
): CapturedLog {
  const lines: string[] = [];
  const sink = {
    write: (text: string) => {
      lines.push(...text.trimEnd().split("\n"));
    },
    isTTY: false,
    columns: undefined,
  };
  const io = { stdout: sink, stderr: sink, env: {} };
  let begun: ReadonlySet<string> = new Set();
  const done = new Map<string, ReadonlySet<string>>();
  const copy = applyReporter(
    { format: "text", color: false },
    () => null,
    io as unknown as ActionContext["io"],
  );
  return {
    lines: () => lines,
    done: () => done,
    reporter: {
      ...reporter,
      event: (event) => {
        reporter.event(event);
        progress.applied(event);
        copy.event(event);
      },
      applied: (run) => {
        reporter.applied(run);
        begun = new Set(run.ends.map(({ plan }) => plan.merchant));
        for (const { plan, result } of run.ends) {
          const made = result.outcomes.filter(({ status }) => status === "done");
          done.set(plan.merchant, new Set(made.map(({ change }) => change.fingerprint)));
        }
        // The journals are files of this job, which nobody can open later.
        copy.applied({ ...run, journals: [] });
      },
      ended: (end, exitCode) => {
        reporter.ended(end, exitCode);
        // The page has a table of all merchants.
        const outcomes = end.outcomes.filter(({ merchant }) => begun.has(merchant));
        if (outcomes.length > 0) copy.ended({ ...end, outcomes }, exitCode);
      },
    },
  };
}
