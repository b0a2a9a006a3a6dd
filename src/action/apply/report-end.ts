import { globMatcher, plannedOnly } from "../../app/session/session.ts";
import { unplannedOf } from "../../app/show/show-plans.ts";
import { counted, listText } from "../../lib/text.ts";
import type { Plan } from "../../model/plan.ts";
import type { ReportedMerchant } from "../../review/apply-run.ts";
import { givenUpLines, unreviewedIn, waitingPlan } from "../../review/waiting-changes.ts";
import { inlineCode } from "../../show/markdown/markdown-blocks.ts";
import { type ActionContext, type ActionResult, failed, passed } from "../context/action-context.ts";
import type { ActionError } from "../context/action-error.ts";
import { failureReasonOf } from "../review/load-and-plan.ts";
import { datesToCome } from "../review/plan-outcome.ts";
import { touchedMerchants } from "../review/planned-merchants.ts";
import type { MerchantLine } from "../review/unplanned-lines.ts";
import type { ApplyDecision } from "./apply-decision.ts";
import type { AppliedPlans } from "./apply-due.ts";
import {
  APPLY_ENDS,
  type ApplyEnd,
  type ApplyReport,
  applyEnd,
  failureText,
  isOpen,
  reportApply,
  type ToldPull,
} from "./apply-page.ts";
import type { CoveredPlans } from "./covered-plans.ts";
import { filesAt, type MergedFiles } from "./merged-files.ts";
import { leftTo, type NewerCommit } from "./newer-commit.ts";
import type { EndRecord } from "./record-end.ts";
import type { RunOutcomes } from "./run-outcomes.ts";
import type { LoggedPlans } from "./show-covered.ts";

export interface EndedRun {
  readonly merged: MergedFiles;
  readonly covered: CoveredPlans;
  readonly decision: ApplyDecision;
  readonly shown: LoggedPlans;
  readonly ran: AppliedPlans;
  readonly ended: RunOutcomes;
  readonly record: EndRecord;
}

/** Reports the end of a run on its page and on pull requests, and returns its result. */
export async function reportEnd(context: ActionContext, run: EndedRun): Promise<ActionResult> {
  const { problem, waiting } = run.record;
  const pulls = concernedPulls(run, await pushedMerchants(context, run));
  const names = listText(pulls.map(({ number }) => `#${number}`));
  const report = reportOf(context, run, names);
  const told: readonly ToldPull[] = pulls.map(({ isConcerned, ...pull }) => ({
    ...pull,
    report: reportOf(context, partOf(run, isConcerned), names),
  }));
  const outputs = {
    ...run.shown.outputs,
    ...(waiting !== null && { waiting }),
    ...(await reportApply(context, report, told)),
  };
  return resultOf(problem, report, outputs);
}

/** Returns the parts of a run that concern some merchants. */
function partOf(run: EndedRun, isConcerned: Concern): EndedRun {
  const { decision, shown, ran, ended } = run;
  const here = <One extends { readonly merchant: string }>(all: readonly One[]): readonly One[] =>
    all.filter(({ merchant }) => isConcerned(merchant));
  const { sha, merchants } = ran.superseded;
  return {
    ...run,
    decision: { ...decision, notes: here(decision.notes) },
    shown: { ...shown, plans: here(shown.plans), unread: here(shown.unread) },
    ran: { ...ran, superseded: { sha, merchants: new Set([...merchants].filter(isConcerned)) } },
    ended: { ...ended, outcomes: here(ended.outcomes), looked: here(ended.looked) },
  };
}

/** Returns the report of a run, or of a part of it; `names` are of the pull requests that it reports on. */
function reportOf(context: ActionContext, run: EndedRun, names: string): ApplyReport {
  const { merged, covered, decision, shown, ran, ended, record } = run;
  const { outcomes, looked, earlier } = ended;
  const { waiting } = record;
  const done = ran.done();
  const waitsAt = (one: ReportedMerchant): Plan =>
    waitingPlan(one, done.get(one.merchant) ?? new Set(), globMatcher());
  const unreviewed = waiting === null ? [] : unreviewedIn(looked);
  const states = unreviewed.map(({ fresh }) => fresh.desired);
  const later = datesToCome(context, states, plannedOnly(covered.planned), merged.loaded.project);
  const linesOf = (notes: readonly MerchantLine[]): readonly string[] => notes.map(({ line }) => line);
  return {
    ...endOf(context, run),
    notes: [
      ...linesOf(decision.notes),
      ...earlier,
      ...(merged.loaded.earlier === null ? [] : [merged.loaded.earlier]),
      ...howToGoOn(looked, names, waiting !== null),
      ...leftTo(ran.superseded),
    ],
    lines: [...shown.broken, ...linesOf(shown.unread), ...ran.lines()],
    outcomes,
    plans: shown.plans,
    rest: unreviewed
      .map(waitsAt)
      .filter(
        ({ merchant, changes, deferred }) =>
          changes.length + deferred.length > 0 || later.some((day) => day.merchant === merchant),
      ),
    later,
    givenUp: unreviewed.flatMap(givenUpLines),
    placeOf: shown.placeOf,
  };
}

/** Returns how a run ended; a run with nothing to do may have left the work to a newer commit. */
function endOf(context: ActionContext, { merged, covered, decision, shown, ran, ended }: EndedRun): ApplyEnd {
  const isRun = new Set(ran.outcomes.map(({ merchant }) => merchant));
  const { outcomes, tooLate } = ended;
  const end = applyEnd({
    applied: outcomes.filter(({ merchant }) => isRun.has(merchant)),
    left: outcomes.filter(({ merchant }) => !isRun.has(merchant)),
    unapproved: new Map([
      ...decision.objections,
      ...tooLate.map((late) => [late.merchant, late.reasons] as const),
    ]),
    causes: new Map([
      ...unplannedOf(covered.planned).map(
        ({ merchant, failure }) => [merchant, failureReasonOf(failure)] as const,
      ),
      ...shown.plans.filter(hasProblem).map(({ merchant }) => [merchant, "invalid-files"] as const),
      ...[...decision.unready].map((merchant) => [merchant, "key-missing"] as const),
    ]),
    isBroken: merged.isBroken,
  });
  if (end !== APPLY_ENDS.nothing) return end;
  if (ran.superseded.merchants.size > 0) return supersededEnd(context, ran.superseded);
  const dates = ended.looked.flatMap(({ approvedDates }) => approvedDates).length;
  if (dates > 0) return { ...APPLY_ENDS.approved, message: approvedText(dates) };
  return { ...end, message: (shown.plans.length === 0 ? merged.coverage : null) ?? "" };
}

function approvedText(dates: number): string {
  return `Approved: ${counted(dates, "date")} to come ${dates === 1 ? "counts" : "count"} from now on.`;
}

function hasProblem({ findings }: Plan): boolean {
  return findings.some(({ severity }) => severity === "error");
}

function resultOf(
  problem: ActionError | null,
  report: ApplyReport,
  outputs: ActionResult["outputs"],
): ActionResult {
  const { result, reason } = report;
  if (problem !== null) return failed("failed", problem.reason, problem.lines().join(" "), outputs);
  if (report.verdict === APPLY_ENDS.approved.verdict)
    return { ...passed(result, outputs), message: report.message };
  return reason === null ? passed(result, outputs) : failed(result, reason, failureText(report), outputs);
}

const WAITING = "Unreviewed changes wait: review them on this page, and approve the waiting job of this run.";

const PROPOSE =
  "Open a pull request that touches the merchant's file, even if only by a comment: its plan shows what is new.";

/** Returns the outcome of an apply that leaves everything to the run for a newer commit. */
function supersededEnd({ event }: ActionContext, { sha }: NewerCommit): ApplyEnd {
  const url = `${event.serverUrl}/${event.owner}/${event.repo}/commit/${sha}/checks`;
  const message = `A newer commit changes the same merchants: [the run for ${inlineCode(sha.slice(0, 7))}](${url}) applies both changes, or asks for approval again.`;
  return { ...APPLY_ENDS.superseded, message };
}

/** Returns whether a merchant has something to report. */
type Concern = (merchant: string) => boolean;

interface ConcernedPull extends Omit<ToldPull, "report"> {
  readonly isConcerned: Concern;
}

/**
 * Returns the merchants whose access or files the run's push changed, if the run has to report on a pull request
 * without a recorded plan; else `null`.
 */
async function pushedMerchants(
  context: ActionContext,
  { merged: { loaded, records }, ended }: EndedRun,
): Promise<ReadonlySet<string> | null> {
  const isKnown = records.told.every(({ merchants }) => merchants.length > 0);
  const open = new Set(ended.outcomes.filter(isOpen).map(({ merchant }) => merchant));
  const before = isKnown || open.size === 0 ? null : await filesAt(context, context.event.before);
  const openStates = loaded.states.filter(({ merchant }) => open.has(merchant));
  return before && (await touchedMerchants(loaded.states, before, openStates));
}

/**
 * Returns the pull requests to report on, those where something is wrong first. The report on one without a recorded
 * plan has what concerns no other pull request, limited to the merchants that its merge changed if these are known.
 */
function concernedPulls(
  { merged: { records, gone }, ended }: EndedRun,
  pushed: ReadonlySet<string> | null,
): readonly ConcernedPull[] {
  const { looked, quiet, outcomes } = ended;
  const told = records.told.filter(
    ({ number, merchants }) =>
      records.ofCommit.includes(number) || merchants.some((merchant) => !quiet.has(merchant)),
  );
  const blamed = [
    ...gone,
    ...looked.flatMap(({ merchant, since, blamed, settled }) =>
      since === null ? { merchant, pulls: [...blamed, ...settled] } : [],
    ),
  ];
  const settled = new Set(looked.flatMap((one) => one.settled));
  const numbers = new Set([...told.map(({ number }) => number), ...blamed.flatMap(({ pulls }) => pulls)]);
  const known = [...numbers].map((number) => {
    const { comment = null, merchants = [] } = told.find((pull) => pull.number === number) ?? {};
    const others = blamed.flatMap(({ merchant, pulls }) => (pulls.includes(number) ? merchant : []));
    return { number, comment, merchants: new Set([...merchants, ...others]) };
  });
  const claimed = new Set(known.flatMap(({ merchants }) => [...merchants]));
  const rank = ({ isConcerned }: Pick<ConcernedPull, "isConcerned">): number =>
    outcomes.some((outcome) => isOpen(outcome) && isConcerned(outcome.merchant)) ? 0 : 1;
  return known
    .map(({ number, comment, merchants }) => ({
      number,
      comment,
      isSettled: settled.has(number),
      isConcerned: (merchant: string) =>
        merchants.size === 0
          ? !claimed.has(merchant) && pushed?.has(merchant) !== false
          : merchants.has(merchant),
    }))
    .toSorted((a, b) => rank(a) - rank(b));
}

/** Returns what to do about changes that nobody has approved, and about lost ones; empty without any. */
function howToGoOn(
  looked: readonly ReportedMerchant[],
  names: string,
  isWaiting: boolean,
): readonly string[] {
  const loud = looked.filter(({ since }) => since === null);
  const where = `No approved plan${names === "" ? "" : ` of ${names}`} shows it.`;
  return [
    ...(loud.some(({ refusals }) => refusals.length > 0)
      ? [`${where} ${isWaiting ? WAITING : PROPOSE}`]
      : []),
    ...(loud.some(({ lost }) => lost.length > 0) ? [AGAIN] : []),
  ];
}

const AGAIN =
  "To make a lost change, propose it again in a new pull request. To leave it as it is, merge one that touches the merchant's file, even if only by a comment; until then, the nightly issue lists it.";
