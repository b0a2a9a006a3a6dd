import { failedOutcome, parseOverrides, skippedMerchants } from "../../app/apply/approval.ts";
import { type Cancellation, createCancellation } from "../../app/apply/cancellation.ts";
import { passwordsFor, withoutPasswords } from "../../app/apply/passwords.ts";
import { applyReporter } from "../../app/apply/reporter.ts";
import { runApply } from "../../app/apply/run-apply.ts";
import { applyExitCode } from "../../app/io/io.ts";
import { fileJournals } from "../../app/journal/write-journal.ts";
import type { CommitStates } from "../../app/project/commit-states.ts";
import { isFileError } from "../../app/project/file-errors.ts";
import {
  type Planned,
  type PlannedMerchant,
  plannedOnly,
  withRunOverrides,
} from "../../app/session/session.ts";
import { ruleLocations } from "../../app/show/rule-locations.ts";
import { unplannedOf } from "../../app/show/show-plans.ts";
import { by } from "../../lib/text.ts";
import type { MerchantOutcome } from "../../model/apply.ts";
import {
  type ApplyRun,
  failureReport,
  type LeftMerchant,
  type LookedMerchant,
  lookedAt,
  neverApplied,
  openReviews,
  type PullOf,
  type Report,
  type ReportedMerchant,
  reviewedRuns,
  type UndeclaredMerchant,
  undeclaredMerchants,
  withReports,
} from "../../review/apply-run.ts";
import { judgeMerchant, type PlaceOfEntry } from "../../review/judge-merchant.ts";
import type { OpenStore } from "../../review/merchant-state.ts";
import { type RecordedEnd, recordApply } from "../../review/record-apply.ts";
import { recordWaiting, unreviewedIn } from "../../review/waiting-changes.ts";
import { plansJson } from "../../show/machine/machine-formats.ts";
import type { UnplannedView } from "../../show/markdown/review-sections.ts";
import { PLAIN } from "../../show/style.ts";
import { renderFailure } from "../../show/text/failure-text.ts";
import { GitError } from "../../store/git-refs.ts";
import { type ActionContext, type ActionResult, failed, passed } from "../context/action-context.ts";
import { ActionError } from "../context/action-error.ts";
import { annotate } from "../context/action-log.ts";
import { GithubError } from "../context/github-api.ts";
import { openReviewStore, storeError } from "../context/open-repository.ts";
import { lastPulls } from "../github/last-pull.ts";
import { readingApprovals } from "../github/merged-pulls.ts";
import {
  diagnosticAnnotations,
  fileErrorLines,
  maskedAnnotations,
  planAnnotations,
} from "../review/annotations.ts";
import { type CoveredRecords, readApplyRecords } from "../review/apply-coverage.ts";
import {
  APPLY_ENDS,
  type ApplyEnd,
  type ApplyReport,
  applyEnd,
  captureApplyLog,
  failureText,
  reportApply,
  type ToldPull,
} from "../review/apply-page.ts";
import { setStatus } from "../review/commit-status.ts";
import {
  coverageText,
  leftTo,
  type NewerCommit,
  newerCommit,
  supersededEnd,
} from "../review/covered-merchants.ts";
import { placeTexts } from "../review/entry-places.ts";
import {
  failureReasonOf,
  keysNamedBy,
  loadFiles,
  planFiles,
  soundStates,
  withActionErrors,
  withoutEarlierErrors,
} from "../review/load-and-plan.ts";
import { planOutputs } from "../review/publish-plan.ts";
import {
  guardApplyBranch,
  guardCredentials,
  overridesIn,
  passwordEnvironment,
} from "../review/secret-policy.ts";

/**
 * Runs `apply`: plans anew on the default branch, and applies what was reviewed and what is due; what nobody has reviewed
 * waits for approval. Runs `due`: the same for what only time brings, at all merchants.
 */
export async function runApplyMerged(context: ActionContext): Promise<ActionResult> {
  const branch = await readingApprovals(() => guardApplyBranch(context, context.github));
  const isReported = context.inputs.command === "apply";
  try {
    const result = await withActionErrors(() => stoppable(context, branch, openReviewStore(context)));
    if (isReported) await setStatus(context, "apply", result);
    return result;
  } catch (error) {
    const failure =
      error instanceof ActionError ? error : new ActionError("bug", "rolecall failed because of a bug.");
    const lines = [failure.message, failure.hint ?? ""];
    await reportApply(context, [], {
      ...APPLY_ENDS.failed,
      lines,
      outcomes: [],
      plans: [],
      placeOf: () => null,
    });
    if (isReported) await setStatus(context, "apply", failed("failed", failure.reason, failure.message));
    throw error;
  }
}

/** A cancelled workflow sends a signal and waits for a short time. */
async function stoppable(context: ActionContext, branch: string, store: OpenStore): Promise<ActionResult> {
  const cancellation = createCancellation((text) => context.io.stderr.write(`${text}\n`), context.io);
  try {
    return await apply(context, branch, store, cancellation);
  } finally {
    cancellation.close();
  }
}

async function apply(
  context: ActionContext,
  branch: string,
  store: OpenStore,
  cancellation: Cancellation,
): Promise<ActionResult> {
  const { inputs, io, log, github } = context;
  const read = await loadFiles(inputs, io);
  const loaded = await withoutEarlierErrors(
    read,
    read.valid ? null : await filesAt(context, context.event.before),
  );
  const isBroken = loaded.diagnostics.some(isFileError);
  const states = soundStates(read);
  const keys = keysNamedBy(loaded.states, io.env);
  keys.forEach(context.maskSecret);
  const records = await readingApprovals(() => readApplyRecords(context, branch, store, states, isBroken));
  const { covered, told } = records;
  const coverage = coverageText(covered.length, states.length, inputs);
  if (coverage !== null && loaded.valid) log.info(coverage);
  const newer = await readingApprovals(() => newerCommit(context, branch, covered));
  const current = covered.filter(({ merchant }) => !newer.merchants.has(merchant));
  await guardCredentials(context, current);
  const plannedAt = github.now();
  const {
    planned: whole,
    progress,
    close,
  } = await planFiles(current, inputs, io, {
    signal: cancellation.cancelled,
  });
  try {
    const placeOf = ruleLocations(loaded.states, loaded.sources);
    const run = runOf(context);
    const pullOf = lastPulls(context, mergedCommits(run, records));
    const judged = await judge(run, plannedOnly(whole), records, store, placeTexts(loaded.sources), pullOf);
    const byMerchant = new Map(judged.map((look) => [look.merchant, look]));
    const planned = withRunOverrides(
      whole.map((plan) => coveredPart(plan, byMerchant)),
      reviewedRuns(judged),
    );
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
    const unplanned = unplannedOf(planned);
    const unread = new Map(
      unplanned.map(({ merchant }) => [
        merchant,
        failureReport(run, records, merchant, [UNREAD], store.seal),
      ]),
    );
    const shown = [
      ...(isBroken ? [BROKEN_FILES, ...fileErrorLines(loaded.diagnostics)] : []),
      ...unplanned.flatMap((one) => (unread.get(one.merchant)?.since === null ? unreadLines(one) : [])),
    ];
    for (const line of shown) reporter.say(line);
    const skipped = skippedMerchants(planned, overrides, new Map());
    const isWhole = loaded.valid && inputs.shard === null && inputs.merchants.length === 0;
    const undeclared = isWhole
      ? await withRemovers(context, undeclaredMerchants(run, records, store.seal), records, pullOf)
      : [];
    const gone = run.isDue ? neverApplied(records, states) : undeclared.filter(isNews);
    const env = passwordEnvironment(context, keys);
    const { due, left, unready, unchanged } = divide(looks, skipped, { env });
    const failing = (before: readonly ReportedMerchant[], merchants: ReadonlySet<string>) =>
      before.map((one) => {
        if (!merchants.has(one.merchant)) return one;
        return { ...one, ...failureReport(run, records, one.merchant, [one.digest, UNMADE], store.seal) };
      });
    const expected = failing(withReports(run, records, judged, skipped, store.seal), unready);
    const { objections, notes } = objectionsIn(expected, gone);
    const known = quietIn(expected, unread);
    const skippedLoudly = left.filter(({ merchant }) => !known.has(merchant));
    const remaining = [
      ...skippedLoudly,
      ...gone.map(
        ({ merchant, sentence }) => ({ merchant, status: "refused", reasons: [sentence] }) as const,
      ),
    ];
    if (skippedLoudly.length > 0) reporter.skipped(skippedLoudly, due.length);
    for (const note of notes) reporter.say(note);
    const password = passwordsFor(
      due.map(({ plan }) => plan),
      [],
      env,
    );
    // Check again: somebody may have merged during the planning.
    const newest =
      due.length === 0 ? newer : await readingApprovals(() => newerCommit(context, branch, current));
    const superseded = { ...newest, merchants: new Set([...newer.merchants, ...newest.merchants]) };
    const ready = due.filter(({ plan }) => !superseded.merchants.has(plan.merchant));
    for (const line of leftTo(superseded)) log.notice(line);
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
    const ran = ready.length === 0 ? [] : await runApply(ready, options, captured.reporter);
    // The run for the newer commit asks for an approval of its own.
    const tooLate = lateOutcomes(records, superseded);
    const isHere = ({ merchant }: { readonly merchant: string }): boolean =>
      !superseded.merchants.has(merchant);
    const unmade = new Set(ran.flatMap(({ merchant, status }) => (status === "applied" ? [] : merchant)));
    const looked = failing(expected, unmade).filter(isHere);
    const quiet = quietIn(looked, unread);
    const isRun = new Set(ran.map(({ merchant }) => merchant));
    const outcomes = [...ran, ...unchanged]
      .map((outcome) => withObjections(outcome, objections))
      .concat(remaining)
      .filter(isHere)
      .concat(tooLate)
      .flatMap((outcome) => (quiet.has(outcome.merchant) ? madeBesides(outcome) : outcome))
      .sort(by(({ merchant }) => merchant));
    captured.reporter.ended({ outcomes, leftOut: 0 }, applyExitCode(outcomes));
    const earlier = [...quiet.values(), ...undeclared.flatMap(undeclaredNote)];
    for (const note of earlier) reporter.say(note);
    const end = { plannedAt, looked, unread, undeclared, done: captured.done(), isWhole };
    const { problem, waiting } = await recorded(context, store, branch, records, end);
    const toTell = told.filter(
      ({ number, merchants }) =>
        records.ofCommit.includes(number) || merchants.some((merchant) => !quiet.has(merchant)),
    );
    const next = howToGoOn(looked, toTell, waiting !== null);
    const how = applyEnd({
      applied: outcomes.filter(({ merchant }) => isRun.has(merchant)),
      left: outcomes.filter(({ merchant }) => !isRun.has(merchant)),
      unapproved: new Map([...objections, ...tooLate.map((late) => [late.merchant, late.reasons] as const)]),
      causes: new Map([
        ...unplanned.map(({ merchant, failure }) => [merchant, failureReasonOf(failure)] as const),
        ...looks.filter(hasProblem).map(({ plan }) => [plan.merchant, "invalid-files"] as const),
        ...[...unready].map((merchant) => [merchant, "key-missing"] as const),
      ]),
      isBroken,
    });
    const ended = endOf(context, how, superseded, plans.length === 0 ? coverage : null);
    const remarks = [
      ...notes,
      ...earlier,
      ...(loaded.earlier === null ? [] : [loaded.earlier]),
      ...next,
      ...leftTo(superseded),
    ];
    const report: ApplyReport = {
      ...ended,
      notes: remarks,
      lines: [...shown, ...captured.lines()],
      outcomes,
      plans,
      rest: waiting === null ? [] : unreviewedIn(looked).map(({ rest }) => rest),
      placeOf,
    };
    const everyOutcome = {
      ...outputs,
      ...(waiting !== null && { waiting }),
      ...(await reportApply(
        context,
        toldPulls(
          toTell,
          [...looked.map(({ blamed }) => blamed), ...gone.map(({ pulls }) => pulls)].flat(),
          outcomes,
        ),
        report,
      )),
    };
    return resultOf(problem, report, everyOutcome);
  } finally {
    await close();
  }
}

function unreadLines({ merchant, failure }: UnplannedView): readonly string[] {
  return [`${merchant} could not be read.`, ...renderFailure(failure, PLAIN).trimEnd().split("\n")];
}

function isNews({ since }: Report): boolean {
  return since === null;
}

function undeclaredNote({ merchant, since }: UndeclaredMerchant): readonly string[] {
  return since === null
    ? [`${merchant}: to leave it so, run the apply workflow by hand.`]
    : [`${merchant}: no file declares it any longer, as reported for ${since.slice(0, 7)}.`];
}

function resultOf(
  problem: ActionError | null,
  report: ApplyReport,
  outputs: ActionResult["outputs"],
): ActionResult {
  const { result, reason } = report;
  if (problem !== null) {
    const text = [problem.message, problem.hint ?? ""].join(" ").trim();
    return failed("failed", problem.reason, text, outputs);
  }
  return reason === null ? passed(result, outputs) : failed(result, reason, failureText(report), outputs);
}

/** Stand for what the service or a missing password refused, which is told in other words each time. */
const UNREAD = "unread";
const UNMADE = "unmade";

const BROKEN_FILES = "Files have errors: their merchants are left as they are.";

const WAITING = "Unreviewed changes wait: review them below, and approve the waiting job of this run.";

const PROPOSE =
  "Open a pull request that touches the merchant's file, even if only by a comment: its plan shows what is new.";

/** Returns how a run ended; one without anything to do may have left that to a newer commit. */
function endOf(
  context: ActionContext,
  how: ApplyEnd,
  superseded: NewerCommit,
  coverage: string | null,
): ApplyEnd {
  if (how !== APPLY_ENDS.nothing) return how;
  if (superseded.merchants.size > 0) return supersededEnd(context, superseded);
  return { ...how, message: coverage ?? "" };
}

function hasProblem({ plan }: PlannedMerchant): boolean {
  return plan.findings.some(({ severity }) => severity === "error");
}

/** Returns what a run has to report of merchants that are not as reviewed. */
function objectionsIn(
  reported: readonly ReportedMerchant[],
  gone: readonly LeftMerchant[],
): {
  readonly objections: ReadonlyMap<string, readonly string[]>;
  readonly notes: readonly string[];
} {
  const loud = reported.filter(isNews);
  const objected = loud.filter(({ objections }) => objections.length > 0);
  return {
    objections: new Map([
      ...objected.map(({ merchant, objections }) => [merchant, objections] as const),
      ...gone.map(({ merchant, sentence }) => [merchant, [sentence]] as const),
    ]),
    notes: [
      ...gone.map(({ merchant, sentence }) => `${merchant}: ${sentence}`),
      ...loud.flatMap(({ merchant, objections, remarks }) =>
        [...objections, ...remarks].map((one) => `${merchant}: ${one}`),
      ),
    ],
  };
}

/** Returns the merchants whose failure an earlier run has reported, with a line about each. */
function quietIn(
  looked: readonly ReportedMerchant[],
  unread: ReadonlyMap<string, Report>,
): ReadonlyMap<string, string> {
  const differing = looked.map((one) => [one.merchant, one, "differs from its files"] as const);
  const all = [
    ...differing,
    ...[...unread].map(([merchant, one]) => [merchant, one, "could not be read"] as const),
  ];
  return new Map(
    all.flatMap(([merchant, { since }, what]) =>
      since === null
        ? []
        : [[merchant, `${merchant}: ${what}, as reported for ${since.slice(0, 7)}.`] as const],
    ),
  );
}

/** Returns the outcome of a merchant whose failure is reported elsewhere: what was made there all the same. */
function madeBesides(outcome: MerchantOutcome): readonly MerchantOutcome[] {
  const isMade = outcome.status === "applied" || outcome.status === "partial";
  return isMade ? [{ ...outcome, status: "applied", reasons: [] }] : [];
}

/** Compares the plans of merchants with their reviews. */
async function judge(
  run: ApplyRun,
  looks: readonly PlannedMerchant[],
  records: CoveredRecords,
  store: OpenStore,
  placeOf: PlaceOfEntry,
  pullOf: PullOf,
): Promise<readonly LookedMerchant[]> {
  const judged = looks.map((look) => {
    const { merchant } = look.plan;
    const reviews = openReviews(records, merchant, run);
    return judgeMerchant({ ...look, desired: look.session.state }, reviews, store.seal, placeOf);
  });
  return lookedAt(run, records, judged, pullOf);
}

/** Returns the merged pull requests by the commit that they became. */
function mergedCommits({ sha }: ApplyRun, { merged, ofCommit }: CoveredRecords): ReadonlyMap<string, number> {
  return new Map([
    ...ofCommit.map((number) => [sha, number] as const),
    ...merged.map(({ pull }) => [pull.mergedAs ?? "", pull.number] as const),
  ]);
}

/** Adds the pull requests that removed the files of merchants, as far as they are known. */
async function withRemovers(
  context: ActionContext,
  undeclared: readonly UndeclaredMerchant[],
  { records }: CoveredRecords,
  pullOf: PullOf,
): Promise<readonly UndeclaredMerchant[]> {
  const named: UndeclaredMerchant[] = [];
  for (const one of undeclared) {
    const { merchant, sentence, pulls } = one;
    const before = isNews(one) ? await filesAt(context, records.states.get(merchant)?.commit ?? null) : null;
    const file = before?.states.find((state) => state.merchant === merchant)?.origin.file;
    const remover = file === undefined ? null : await pullOf(file);
    const isOther = remover !== null && !pulls.includes(remover);
    const text = sentence.replace(/\.$/, `; #${remover} changed its file last.`);
    named.push(isOther ? { ...one, sentence: text, pulls: [...pulls, remover] } : one);
  }
  return named;
}

function runOf({ event, inputs }: ActionContext): ApplyRun {
  return { sha: event.sha, isDue: inputs.command === "due", isPush: event.name === "push" };
}

/** Returns the outcomes of merchants whose approved changes a newer commit has overtaken. */
function lateOutcomes(
  { waiting }: CoveredRecords,
  { sha, merchants }: NewerCommit,
): readonly MerchantOutcome[] {
  if (waiting === null) return [];
  const reason = `the approval came too late: ${sha.slice(0, 7)} changes it, and its run asks for approval again.`;
  return [...merchants].map((merchant) => ({ merchant, status: "refused", reasons: [reason] }));
}

/** Returns the part of a plan that may be applied; its verification leaves out the rest. */
function coveredPart(planned: Planned, judged: ReadonlyMap<string, LookedMerchant>): Planned {
  const look = planned.status === "planned" ? judged.get(planned.plan.merchant) : undefined;
  if (planned.status !== "planned" || look === undefined) return planned;
  const { covered, leaveOut } = look.comparison;
  const { session } = planned;
  return { ...planned, plan: covered, session: { ...session, plan: () => session.plan(leaveOut) } };
}

/** Records how a run has ended, and what waits for approval. */
async function recorded(
  context: ActionContext,
  store: OpenStore,
  branch: string,
  records: CoveredRecords,
  end: RecordedEnd,
): Promise<{ readonly problem: ActionError | null; readonly waiting: string | null }> {
  try {
    await recordApply(runOf(context), store, records, end);
    return { problem: null, waiting: await leaveWaiting(context, store, branch, end.looked) };
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    return { problem: storeError(error), waiting: null };
  }
}

/** Records what waits for approval; returns the output that starts its job, or `null` if nothing waits. */
async function leaveWaiting(
  { event, inputs, github, log }: ActionContext,
  store: OpenStore,
  branch: string,
  looked: readonly ReportedMerchant[],
): Promise<string | null> {
  const waiting = unreviewedIn(looked);
  if (inputs.command === "due" || inputs.environment !== "" || waiting.length === 0) return null;
  try {
    const approvals = await github.approvals();
    return await recordWaiting(event, store, { head: event.sha, base: branch, approvals }, waiting);
  } catch (error) {
    if (!(error instanceof GithubError)) throw error;
    log.notice(`Nothing can wait for approval: ${error.because("actions: read")}.`);
    return null;
  }
}

/** Returns the outcome of a merchant where something was not approved. */
function withObjections(
  outcome: MerchantOutcome,
  objections: ReadonlyMap<string, readonly string[]>,
): MerchantOutcome {
  const sentences = objections.get(outcome.merchant);
  if (sentences === undefined) return outcome;
  const status =
    outcome.status === "unchanged" ? "refused" : outcome.status === "applied" ? "partial" : outcome.status;
  return { ...outcome, status, reasons: [...outcome.reasons, ...sentences] };
}

/** Returns the pull requests to report on, those where something is wrong first. */
function toldPulls(
  told: CoveredRecords["told"],
  blamedPulls: readonly number[],
  outcomes: readonly MerchantOutcome[],
): readonly ToldPull[] {
  const openMerchants = new Set(
    outcomes.flatMap(({ merchant, status }) =>
      status === "applied" || status === "unchanged" ? [] : [merchant],
    ),
  );
  const blamed = new Set(blamedPulls);
  const rank = (pull: (typeof told)[number]): number =>
    blamed.has(pull.number) || pull.merchants.some((merchant) => openMerchants.has(merchant)) ? 0 : 1;
  const extra = [...blamed].filter((number) => !told.some((pull) => pull.number === number));
  return [
    ...told.toSorted((a, b) => rank(a) - rank(b)),
    ...extra.map((number) => ({ number, comment: null })),
  ];
}

/** Returns what to do about changes that nobody has approved, and about lost ones; empty without any. */
function howToGoOn(
  looked: readonly ReportedMerchant[],
  told: CoveredRecords["told"],
  isWaiting: boolean,
): readonly string[] {
  const loud = looked.filter(isNews);
  const names = told.map(({ number }) => `#${number}`).join(", ");
  const where = `No approved plan${names === "" ? "" : ` of ${names}`} shows it.`;
  return [
    ...(loud.some(({ refusals }) => refusals.length > 0)
      ? [`${where} ${isWaiting ? WAITING : PROPOSE}`]
      : []),
    ...(loud.some(({ lost }) => lost.length > 0) ? [AGAIN] : []),
  ];
}

const AGAIN =
  "To make a lost change, propose it again in a new pull request. To leave it as it is, merge one that touches the merchant's file, even by a comment only; until then the nightly issue lists it.";

/** The merchants that are applied, those that are not, and those without changes. */
interface Divided {
  readonly due: readonly PlannedMerchant[];
  readonly left: readonly MerchantOutcome[];
  /** Those of them that lack passwords. */
  readonly unready: ReadonlySet<string>;
  readonly unchanged: readonly MerchantOutcome[];
}

function divide(
  looks: readonly PlannedMerchant[],
  skipped: readonly MerchantOutcome[],
  io: Pick<ActionContext["io"], "env">,
): Divided {
  const out = new Set(skipped.map(({ merchant }) => merchant));
  const openLooks = looks.filter(({ plan }) => !out.has(plan.merchant));
  const due = openLooks.filter(({ plan }) => plan.changes.length > 0);
  const missing = withoutPasswords(
    due.map(({ plan }) => ({ plan, passwords: [] })),
    io,
  );
  const unready = new Set(missing.map(({ merchant }) => merchant));
  return {
    due: due.filter(({ plan }) => !unready.has(plan.merchant)),
    left: [...skipped, ...missing.map(failedOutcome)],
    unready,
    unchanged: openLooks
      .filter(({ plan }) => plan.changes.length === 0)
      .map(({ plan: { merchant } }) => ({ merchant, status: "unchanged", reasons: [] })),
  };
}

/** Returns the files of a commit; `null` if they cannot be read, or without a commit. */
async function filesAt({ statesAt }: ActionContext, commit: string | null): Promise<CommitStates | null> {
  if (commit === null) return null;
  try {
    return await statesAt(commit);
  } catch (error) {
    if (error instanceof ActionError) return null;
    throw error;
  }
}
