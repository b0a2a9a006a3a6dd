import { failedOutcome, parseOverrides, skippedMerchants } from "../../app/apply/approval.ts";
import { type Cancellation, createCancellation } from "../../app/apply/cancellation.ts";
import { passwordsFor, withoutPasswords } from "../../app/apply/passwords.ts";
import { type ApplyReporter, applyReporter } from "../../app/apply/reporter.ts";
import { runApply } from "../../app/apply/run-apply.ts";
import { applyExitCode } from "../../app/io/io.ts";
import { fileJournals } from "../../app/journal/write-journal.ts";
import {
  type Planned,
  type PlannedMerchant,
  plannedOnly,
  withRunOverrides,
} from "../../app/session/session.ts";
import { ruleLocations } from "../../app/show/rule-locations.ts";
import { unplannedOf } from "../../app/show/show-plans.ts";
import type { Override } from "../../kernel/rules/overrides.ts";
import { by } from "../../lib/text.ts";
import type { MerchantOutcome } from "../../model/apply.ts";
import type { DesiredState } from "../../model/desired.ts";
import type { Plan } from "../../model/plan.ts";
import {
  type ApplyRun,
  type LookedMerchant,
  lookedAt,
  openReviews,
  type ReportedMerchant,
  type UndeclaredMerchant,
  undeclaredMerchants,
  withReports,
} from "../../review/apply-run.ts";
import { judgeMerchant } from "../../review/judge-merchant.ts";
import type { OpenStore } from "../../review/merchant-state.ts";
import { type RecordedEnd, recordApply } from "../../review/record-apply.ts";
import { recordWaiting, unreviewedIn } from "../../review/waiting-changes.ts";
import { plansJson } from "../../show/machine/machine-formats.ts";
import { PLAIN } from "../../show/style.ts";
import { renderFailure } from "../../show/text/failure-text.ts";
import type { PlaceOf } from "../../show/view/plan-view.ts";
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
  keysNamedBy,
  type LoadedFiles,
  loadFiles,
  type PlannedFiles,
  planFiles,
  soundStates,
  withActionErrors,
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
  const { inputs, io, github } = context;
  const merged = await readMerged(context, branch, store);
  await guardCredentials(context, merged.current);
  const plannedAt = github.now();
  const { planned, progress, close } = await planFiles(merged.current, inputs, io, {
    signal: cancellation.cancelled,
  });
  try {
    const judged = await judge(context, plannedOnly(planned), merged, store);
    const shown = await showPlans(context, merged, planned, judged);
    const decided = decide(context, merged, shown, judged, store);
    const ran = await applyDue(context, merged, shown, decided, { cancellation, progress });
    const { superseded, done } = ran;
    const looked = decided.reported.filter(({ merchant }) => !superseded.merchants.has(merchant));
    const end = { plannedAt, looked, done, isWhole: decided.isWhole };
    const record = await recorded(context, store, merged, end);
    return await reportEnd(context, { merged, shown, decided, ran, looked, record });
  } finally {
    await close();
  }
}

/** The files of the checkout, and the merchants that the run covers. */
interface MergedFiles {
  readonly branch: string;
  readonly loaded: LoadedFiles;
  /** The API keys that the files name. */
  readonly keys: readonly string[];
  readonly records: CoveredRecords;
  /** A sentence about the merchants that the run leaves out; `null` if there are none. */
  readonly coverage: string | null;
  readonly newer: NewerCommit;
  /** The covered merchants that no newer commit changes. */
  readonly current: readonly DesiredState[];
}

async function readMerged(context: ActionContext, branch: string, store: OpenStore): Promise<MergedFiles> {
  const { inputs, io, log } = context;
  const loaded = await loadFiles(inputs, io);
  const states = soundStates(loaded);
  const keys = keysNamedBy(loaded.states, io.env);
  keys.forEach(context.maskSecret);
  const records = await readingApprovals(() => readApplyRecords(context, branch, store, states));
  const { covered } = records;
  const coverage = coverageText(covered.length, states.length, inputs);
  if (coverage !== null && loaded.valid) log.info(coverage);
  const newer = await readingApprovals(() => newerCommit(context, branch, covered));
  const current = covered.filter(({ merchant }) => !newer.merchants.has(merchant));
  return { branch, loaded, keys, records, coverage, newer, current };
}

/** The parts of the plans that may be applied, as logged. */
interface ShownPlans {
  readonly planned: readonly Planned[];
  readonly looks: readonly PlannedMerchant[];
  readonly plans: readonly Plan[];
  readonly overrides: readonly Override[];
  readonly placeOf: PlaceOf;
  readonly reporter: ApplyReporter;
  readonly outputs: ActionResult["outputs"];
  /** Errors of files, and failures to read merchants. */
  readonly errorLines: readonly string[];
}

async function showPlans(
  context: ActionContext,
  { loaded }: MergedFiles,
  whole: readonly Planned[],
  judged: readonly LookedMerchant[],
): Promise<ShownPlans> {
  const { inputs, io, log } = context;
  const placeOf = ruleLocations(loaded.states, loaded.sources);
  const byMerchant = new Map(judged.map((look) => [look.merchant, look]));
  const planned = withRunOverrides(whole.map((plan) => coveredPart(plan, byMerchant)));
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
  const errorLines = [
    ...(loaded.valid ? [] : [BROKEN_FILES, ...fileErrorLines(loaded.diagnostics)]),
    ...unplannedOf(planned).flatMap(({ merchant, failure }) => [
      `${merchant} could not be read.`,
      ...renderFailure(failure, PLAIN).trimEnd().split("\n"),
    ]),
  ];
  for (const line of errorLines) reporter.say(line);
  return { planned, looks, plans, overrides, placeOf, reporter, outputs, errorLines };
}

/** The merchants to apply, and the reasons not to apply the others. */
interface Decided extends Objections {
  /** True if the run reads every merchant of the repository. */
  readonly isWhole: boolean;
  readonly reported: readonly ReportedMerchant[];
  readonly gone: readonly UndeclaredMerchant[];
  readonly due: readonly PlannedMerchant[];
  readonly unchanged: readonly MerchantOutcome[];
  /** Outcomes of merchants that are not applied, unless an earlier run has reported them. */
  readonly remaining: readonly MerchantOutcome[];
  readonly password: ReturnType<typeof passwordsFor>;
}

/** Decides which merchants to apply, and logs which not. */
function decide(
  context: ActionContext,
  { loaded, records, keys }: MergedFiles,
  { planned, looks, overrides, reporter }: ShownPlans,
  judged: readonly LookedMerchant[],
  store: OpenStore,
): Decided {
  const { inputs } = context;
  const refused = skippedMerchants(planned, overrides, new Map());
  const reported = withReports(runOf(context), records, judged, refused, store.seal);
  const isWhole = loaded.valid && inputs.shard === null && inputs.merchants.length === 0;
  const gone =
    isWhole && inputs.command === "apply" && records.waiting === null ? undeclaredMerchants(records) : [];
  const objected = objectionsIn(reported, gone);
  const env = passwordEnvironment(context, keys);
  const { due, left, unchanged } = divide(looks, refused, { env });
  const remaining = [
    ...left.filter(({ merchant }) => !objected.quiet.has(merchant)),
    ...gone.map(({ merchant, sentence }) => ({ merchant, status: "refused", reasons: [sentence] }) as const),
  ];
  if (remaining.length > 0) reporter.skipped(remaining, due.length);
  for (const note of objected.notes) reporter.say(note);
  const password = passwordsFor(
    due.map(({ plan }) => plan),
    [],
    env,
  );
  return { ...objected, isWhole, reported, gone, due, unchanged, remaining, password };
}

/** The outcomes of a run. */
interface Ran {
  readonly applied: readonly MerchantOutcome[];
  /** Those of all merchants, sorted. */
  readonly outcomes: readonly MerchantOutcome[];
  /** Merchants left to a newer commit. */
  readonly superseded: NewerCommit;
  /** Fingerprints of the changes that were made, by merchant. */
  readonly done: RecordedEnd["done"];
  /** The log. */
  readonly lines: readonly string[];
}

async function applyDue(
  context: ActionContext,
  { branch, newer, current }: MergedFiles,
  { reporter }: ShownPlans,
  { due, unchanged, remaining, objections, password }: Decided,
  { cancellation, progress }: { readonly cancellation: Cancellation } & Pick<PlannedFiles, "progress">,
): Promise<Ran> {
  const { inputs, io, log } = context;
  // Check again: somebody may have merged during the planning.
  const newest =
    due.length === 0 ? newer : await readingApprovals(() => newerCommit(context, branch, current));
  const superseded = { ...newest, merchants: new Set([...newer.merchants, ...newest.merchants]) };
  const ready = due.filter(({ plan }) => !superseded.merchants.has(plan.merchant));
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
  const ran = ready.length === 0 ? [] : await runApply(ready, options, captured.reporter);
  const applied = ran.map((outcome) => withObjections(outcome, objections));
  const notApplied = [...remaining, ...unchanged.map((outcome) => withObjections(outcome, objections))];
  const outcomes = [...applied, ...notApplied]
    .filter(({ merchant }) => !superseded.merchants.has(merchant))
    .sort(by(({ merchant }) => merchant));
  captured.reporter.ended({ outcomes, leftOut: 0 }, applyExitCode(outcomes));
  return { applied, outcomes, superseded, done: captured.done(), lines: captured.lines() };
}

/** The steps of a run, for its report. */
interface EndedRun {
  readonly merged: MergedFiles;
  readonly shown: ShownPlans;
  readonly decided: Decided;
  readonly ran: Ran;
  /** The merchants that the run has looked at, without those left to a newer commit. */
  readonly looked: readonly ReportedMerchant[];
  readonly record: Recorded;
}

/** Reports the end of a run on its page and pull requests, and returns its result. */
async function reportEnd(context: ActionContext, run: EndedRun): Promise<ActionResult> {
  const { merged, shown, decided, ran, looked } = run;
  const { problem, waiting } = run.record;
  const { applied, outcomes, superseded } = ran;
  const { plans } = shown;
  const how = applyEnd({
    applied,
    left: outcomes.filter(({ merchant }) => !applied.some((outcome) => outcome.merchant === merchant)),
    unapproved: decided.objections,
    isBroken: !merged.loaded.valid,
  });
  const ended = endOf(context, how, superseded, plans.length === 0 ? merged.coverage : null);
  const report: ApplyReport = {
    ...ended,
    notes: [
      ...decided.notes,
      ...howToGoOn(looked, merged.records, waiting !== null),
      ...(superseded.merchants.size === 0 ? [] : [leftTo(superseded)]),
    ],
    lines: [...shown.errorLines, ...ran.lines],
    outcomes,
    plans,
    rest:
      waiting === null
        ? []
        : looked.flatMap(({ isQuiet, rest }) => (isQuiet ? [] : [rest])).filter(hasChanges),
    placeOf: shown.placeOf,
  };
  const blamed = [
    ...decided.reported.map(({ blamed: pulls }) => pulls),
    ...decided.gone.map(({ pulls }) => pulls),
  ].flat();
  const outputs = {
    ...shown.outputs,
    ...(waiting !== null && { waiting }),
    ...(await reportApply(context, toldPulls(merged.records.told, blamed, outcomes), report)),
  };
  if (problem !== null) return failed("failed", problem.reason, problem.message, outputs);
  const { result, reason } = ended;
  return reason === null ? passed(result, outputs) : failed(result, reason, failureText(report), outputs);
}

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

function hasChanges({ changes }: Plan): boolean {
  return changes.length > 0;
}

/** The merchants that are not as reviewed. */
interface Objections {
  /** What to report of them. */
  readonly objections: ReadonlyMap<string, readonly string[]>;
  readonly notes: readonly string[];
  /** Those that an earlier run has reported. */
  readonly quiet: ReadonlySet<string>;
}

function objectionsIn(
  reported: readonly ReportedMerchant[],
  gone: readonly UndeclaredMerchant[],
): Objections {
  const [quiet, loud] = [
    reported.filter(({ isQuiet }) => isQuiet),
    reported.filter(({ isQuiet }) => !isQuiet),
  ];
  const objected = loud.filter(({ objections }) => objections.length > 0);
  return {
    objections: new Map([
      ...objected.map(({ merchant, objections }) => [merchant, objections] as const),
      ...gone.map(({ merchant, sentence }) => [merchant, [sentence]] as const),
    ]),
    notes: [
      ...gone.map(({ merchant, sentence }) => `${merchant}: ${sentence}`),
      ...loud.flatMap(({ merchant, objections, superseded }) =>
        [...objections, ...superseded].map((one) => `${merchant}: ${one}`),
      ),
      ...quiet.map(({ merchant, state }) => {
        return `${merchant}: differs from its files, as reported for ${state?.failure?.commit.slice(0, 7)}.`;
      }),
    ],
    quiet: new Set(quiet.map(({ merchant }) => merchant)),
  };
}

/** Compares the plans of merchants with their reviews. */
async function judge(
  context: ActionContext,
  looks: readonly PlannedMerchant[],
  { loaded, records }: MergedFiles,
  store: OpenStore,
): Promise<readonly LookedMerchant[]> {
  const run = runOf(context);
  const placeOf = placeTexts(loaded.sources);
  const judged = looks.map((look) => {
    const { merchant } = look.plan;
    const reviews = openReviews(records, merchant, run);
    return judgeMerchant({ ...look, desired: look.session.state }, reviews, store.seal, placeOf);
  });
  const { merged, ofCommit } = records;
  const states = new Map([
    ...ofCommit.map((number) => [run.sha, number] as const),
    ...merged.map(({ pull }) => [pull.mergedAs ?? "", pull.number] as const),
  ]);
  return lookedAt(run, records, judged, { reveal: store.reveal, pullOf: lastPulls(context, states) });
}

function runOf({ event, inputs }: ActionContext): ApplyRun {
  return { sha: event.sha, isDue: inputs.command === "due", isPush: event.name === "push" };
}

/** Returns the part of a plan that may be applied; its verification leaves out the rest. */
function coveredPart(planned: Planned, judged: ReadonlyMap<string, LookedMerchant>): Planned {
  const look = planned.status === "planned" ? judged.get(planned.plan.merchant) : undefined;
  if (planned.status !== "planned" || look === undefined) return planned;
  const { covered, leaveOut } = look.comparison;
  const { session } = planned;
  return { ...planned, plan: covered, session: { ...session, plan: () => session.plan(leaveOut) } };
}

/** The result of recording a run. */
interface Recorded {
  readonly problem: ActionError | null;
  /** The output that starts the job of the changes that wait for approval; `null` if none wait. */
  readonly waiting: string | null;
}

/** Records how a run has ended, and what waits for approval. */
async function recorded(
  context: ActionContext,
  store: OpenStore,
  { branch, records }: MergedFiles,
  end: RecordedEnd,
): Promise<Recorded> {
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
  { told }: CoveredRecords,
  isWaiting: boolean,
): readonly string[] {
  const loud = looked.filter(({ isQuiet }) => !isQuiet);
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
  readonly unchanged: readonly MerchantOutcome[];
}

function divide(
  looks: readonly PlannedMerchant[],
  refused: readonly MerchantOutcome[],
  io: Pick<ActionContext["io"], "env">,
): Divided {
  const out = new Set(refused.map(({ merchant }) => merchant));
  const openLooks = looks.filter(({ plan }) => !out.has(plan.merchant));
  const due = openLooks.filter(({ plan }) => plan.changes.length > 0);
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
    unchanged: openLooks
      .filter(({ plan }) => plan.changes.length === 0)
      .map(({ plan: { merchant } }) => ({ merchant, status: "unchanged", reasons: [] })),
  };
}
