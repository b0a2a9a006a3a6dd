import { failedOutcome, parseOverrides, skippedMerchants } from "../../app/apply/approval.ts";
import { type Cancellation, createCancellation } from "../../app/apply/cancellation.ts";
import { passwordsFor, withoutPasswords } from "../../app/apply/passwords.ts";
import { applyReporter } from "../../app/apply/reporter.ts";
import { runApply } from "../../app/apply/run-apply.ts";
import { applyExitCode } from "../../app/io/io.ts";
import { fileJournals } from "../../app/journal/write-journal.ts";
import { type PlannedMerchant, type PlanResult, plannedOnly } from "../../app/session/session.ts";
import { ruleLocations } from "../../app/show/rule-locations.ts";
import { unplannedOf } from "../../app/show/show-plans.ts";
import { by } from "../../lib/text.ts";
import type { MerchantOutcome } from "../../model/apply.ts";
import { plansJson } from "../../show/machine/machine-formats.ts";
import { PLAIN } from "../../show/style.ts";
import { renderFailure } from "../../show/text/failure-text.ts";
import { type ActionContext, type ActionResult, failed, passed } from "../context/action-context.ts";
import { ActionError } from "../context/action-error.ts";
import { annotate } from "../context/action-log.ts";
import type { Pull } from "../context/github-api.ts";
import { markApplied, readBaselines } from "../github/apply-mark.ts";
import { dueObjections, openApprovals, unapprovedChanges } from "../github/merged-approval.ts";
import { mergedPulls, pullsMergedAs, readingApprovals } from "../github/merged-pulls.ts";
import { recordTrust } from "../github/pull-approval.ts";
import {
  diagnosticAnnotations,
  fileErrorLines,
  maskedAnnotations,
  planAnnotations,
} from "../review/annotations.ts";
import {
  APPLY_ENDS,
  type ApplyEnd,
  type ApplyReport,
  applyEnd,
  captureApplyLog,
  failureText,
  reportApply,
} from "../review/apply-page.ts";
import {
  applyCoverage,
  coverageText,
  leftTo,
  newerCommit,
  supersededEnd,
  tipAfter,
  withTimes,
} from "../review/covered-merchants.ts";
import { keysNamedBy, loadFiles, planFiles, soundStates, withActionErrors } from "../review/load-and-plan.ts";
import { planOutputs } from "../review/publish-plan.ts";
import {
  guardApplyBranch,
  guardCredentials,
  overridesIn,
  passwordEnvironment,
} from "../review/secret-policy.ts";
import { rotatePasswords } from "./rotate-passwords.ts";

/** Runs `apply`: plans anew on the default branch and applies what was approved in review. */
export async function runApplyMerged(context: ActionContext): Promise<ActionResult> {
  if (context.inputs.rotatePassword.length > 0) return rotatePasswords(context);
  const branch = await readingApprovals(() => guardApplyBranch(context, context.github));
  const { github, io, event } = context;
  const pulls = await readingApprovals(() => pullsMergedAs(event, branch, github, io.sleep));
  try {
    return await withActionErrors(() => stoppable(context, branch, pulls));
  } catch (error) {
    const failure =
      error instanceof ActionError ? error : new ActionError("bug", "rolecall failed because of a bug.");
    await reportApply(context, toldPulls(context, pulls), {
      ...APPLY_ENDS.failed,
      lines: [failure.message, failure.hint ?? ""],
      outcomes: [],
      plans: [],
      placeOf: () => null,
    });
    throw error;
  }
}

/**
 * Returns the pull requests that a run reports on from the start. What a daily run does is not about the commit that happens
 * to be the tip: it reports on those alone whose approvals it uses.
 */
function toldPulls({ inputs }: ActionContext, pulls: readonly Pull[]): readonly Pull[] {
  return inputs.only === "due" ? [] : pulls;
}

/** A cancelled workflow sends a signal and waits for a short time. */
async function stoppable(
  context: ActionContext,
  branch: string,
  pulls: readonly Pull[],
): Promise<ActionResult> {
  const cancellation = createCancellation((text) => context.io.stderr.write(`${text}\n`), context.io);
  try {
    return await apply(context, branch, pulls, cancellation);
  } finally {
    cancellation.close();
  }
}

async function apply(
  context: ActionContext,
  branch: string,
  pulls: readonly Pull[],
  cancellation: Cancellation,
): Promise<ActionResult> {
  const { inputs, io, log, event, github } = context;
  let told = toldPulls(context, pulls);
  const plannedAt = io.now();
  const loaded = await loadFiles(inputs, io);
  const states = soundStates(loaded);
  const keys = keysNamedBy(loaded.states, io.env);
  keys.forEach(context.maskSecret);
  const trust = recordTrust(inputs);
  const { approvals, baselines, covered, settled, waiting } = await readingApprovals(async () => {
    const codes = states.map(({ merchant }) => merchant);
    const tip = await tipAfter(context, branch);
    // Later merges take back approvals of other changes, also from a run that is run again late.
    const newest = tip === event.sha ? pulls : await mergedPulls(tip, branch, github);
    const approvals = openApprovals({ sha: tip, branch, pulls: newest }, trust, github);
    const place = { sha: event.sha, family: context.scope.family };
    const baselines = await readBaselines(codes, { ...place, tip }, trust, github);
    const coverage = await applyCoverage(context, states, baselines, approvals);
    return { approvals, baselines, ...coverage };
  });
  const coverage = coverageText(covered.length, states.length, waiting);
  if (coverage !== null && (loaded.valid || waiting.length > 0)) log.info(coverage);
  const newer = await readingApprovals(() => newerCommit(context, branch, covered));
  const current = covered.filter(({ merchant }) => !newer.merchants.has(merchant));
  await guardCredentials(context, current);
  const { planned, progress, close } = await planFiles(current, inputs, io, {
    signal: cancellation.cancelled,
    onlyDue: settled,
  });
  try {
    const placeOf = ruleLocations(loaded.states, loaded.sources);
    const looks = plannedOnly(planned);
    const plans = looks.map(({ plan }) => plan);
    const overrides = parseOverrides(overridesIn(inputs.allow));
    const annotations = [
      ...diagnosticAnnotations(loaded.diagnostics),
      ...planAnnotations(plans, loaded.states, loaded.sources, placeOf, overrides),
    ];
    annotate(context.masked ? maskedAnnotations(annotations) : annotations, log);
    const reporter = applyReporter({ format: "text", color: false }, placeOf, io, overrides);
    reporter.plans(plans);
    const outputs = {
      ...planOutputs(plans),
      "plan-path": await context.saveFile(`rolecall-plan-${context.scope.id}.json`, plansJson(plans)),
    };
    const end = async (how: ApplyEnd, part: Partial<ApplyReport>): Promise<ActionResult> => {
      const report = { ...how, lines: [], outcomes: [], plans, placeOf, ...part };
      const all = { ...outputs, ...(await reportApply(context, told, report)) };
      const { result, reason } = how;
      return reason === null ? passed(result, all) : failed(result, reason, failureText(report), all);
    };
    const broken = loaded.valid ? [] : [BROKEN_FILES, ...fileErrorLines(loaded.diagnostics)];
    for (const line of broken) reporter.say(line);
    const isSettled = ({ plan }: PlanResult): boolean => settled.has(plan.merchant);
    const others = looks.filter((look) => !isSettled(look));
    const before = await readingApprovals(() => withTimes(baselines, current, context));
    const { notes, ...approved } = await unapprovedChanges(others, before, approvals, inputs);
    const late = dueObjections(looks.filter(isSettled), baselines);
    const objections = new Map([...approved.objections, ...late]);
    const known = new Set(told.map(({ number }) => number));
    told = [...told, ...approved.pulls.filter(({ number }) => !known.has(number))];
    const refused = skippedMerchants(planned, overrides, objections);
    const unread = unplannedOf(planned).flatMap(({ merchant, failure }) => [
      `${merchant} could not be read.`,
      ...renderFailure(failure, PLAIN).trimEnd().split("\n"),
    ]);
    for (const line of unread) reporter.say(line);
    const env = passwordEnvironment(context, keys);
    const { due, left, unchanged } = divide(looks, refused, { env });
    if (left.length > 0) reporter.skipped(left, due.length);
    for (const note of notes) reporter.say(note);
    const password = passwordsFor(
      due.map(({ plan }) => plan),
      [],
      env,
    );
    // Check again: somebody may have merged during the planning.
    const newest = await readingApprovals(() => newerCommit(context, branch, current));
    const superseded = { ...newest, merchants: new Set([...newer.merchants, ...newest.merchants]) };
    const ready = due.filter(({ plan }) => !newest.merchants.has(plan.merchant));
    const remarks = superseded.merchants.size === 0 ? notes : [...notes, leftTo(superseded)];
    if (superseded.merchants.size > 0) log.notice(leftTo(superseded));
    const captured = captureApplyLog(reporter, progress);
    progress.applying(ready.map(({ plan }) => plan));
    const options = {
      password,
      concurrency: inputs.concurrency,
      recheck: true,
      onError: "continue" as const,
      cancellation,
      openJournal: fileJournals(io),
      sleep: io.sleep,
    };
    const applied = ready.length === 0 ? [] : await runApply(ready, options, captured.reporter);
    const outcomes = [...applied, ...left, ...unchanged].sort(by(({ merchant }) => merchant));
    captured.reporter.ended({ outcomes, leftOut: 0 }, applyExitCode(outcomes));
    const deferred = plans.flatMap((plan) => (plan.deferred.length > 0 ? plan.merchant : []));
    await markApplied(context, outcomes, {
      // Merchants that only files with errors declare are unknown, and stay as they were left.
      merchants: loaded.valid ? inputs.merchants : states.map(({ merchant }) => merchant),
      isBroken: !loaded.valid,
      plannedAt,
      baselines,
      settled,
      unfinished: deferred,
      skipped: waiting,
      superseded: superseded.merchants,
    });
    const how = applyEnd({ applied, left, unapproved: objections, isBroken: !loaded.valid });
    const isLeft = how === APPLY_ENDS.nothing && superseded.merchants.size > 0;
    const nothing = { ...APPLY_ENDS.nothing, message: plans.length === 0 ? (coverage ?? "") : "" };
    const ended = how === APPLY_ENDS.nothing ? nothing : how;
    return await end(isLeft ? supersededEnd(context, superseded) : ended, {
      notes: remarks,
      lines: [...broken, ...unread, ...captured.lines()],
      outcomes,
    });
  } finally {
    await close();
  }
}

const BROKEN_FILES = "Files have errors: their merchants are left as they are.";

/** The merchants that are applied, those that are not, and those with nothing to do. */
interface Divided {
  readonly due: readonly PlannedMerchant[];
  readonly left: readonly MerchantOutcome[];
  readonly unchanged: readonly MerchantOutcome[];
}

function divide(
  looks: readonly PlannedMerchant[],
  refused: readonly MerchantOutcome[],
  io: Pick<ActionContext["io"], "env">,
): Divided {
  const out = new Set(refused.map(({ merchant }) => merchant));
  const open = looks.filter(({ plan }) => !out.has(plan.merchant));
  const due = open.filter(({ plan }) => plan.changes.length > 0);
  const missing = withoutPasswords(
    due.map(({ plan }) => ({ plan, passwords: [] })),
    io,
  );
  // If no merchant can be applied, the error that ends the run names every password.
  const unready = missing.length < due.length || refused.length > 0 ? missing : [];
  const waiting = new Set(unready.map(({ merchant }) => merchant));
  return {
    due: due.filter(({ plan }) => !waiting.has(plan.merchant)),
    left: [...refused, ...unready.map(failedOutcome)],
    unchanged: open
      .filter(({ plan }) => plan.changes.length === 0)
      .map(({ plan: { merchant } }) => ({ merchant, status: "unchanged", reasons: [] })),
  };
}
