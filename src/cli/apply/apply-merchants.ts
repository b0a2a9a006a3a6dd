import { type Consent, failedOutcome, readConsent, skippedMerchants } from "../../app/apply/approval.ts";
import type { ApprovedPart } from "../../app/apply/approved-parts.ts";
import { createCancellation } from "../../app/apply/cancellation.ts";
import {
  lackingPasswords,
  passwordsFor,
  rotationPlanner,
  rotationsFor,
  withoutPasswords,
} from "../../app/apply/passwords.ts";
import {
  type ApplyReporter,
  applyReporter,
  failedWith,
  type RunEnd,
  withProgress,
} from "../../app/apply/reporter.ts";
import { type PendingApply, type RunOptions, runApply } from "../../app/apply/run-apply.ts";
import { applyExitCode, ExitCode, hasNoReader, type Io, type OutputLoss } from "../../app/io/io.ts";
import { alreadyRunning, runningApply } from "../../app/journal/running-applies.ts";
import { fileJournals } from "../../app/journal/write-journal.ts";
import { openLiveRecorder } from "../../app/live-branch/open-live-branch.ts";
import { type PlannedMerchants, planMerchants } from "../../app/plan/plan-merchants.ts";
import type { OutputOptions, ServiceOptions } from "../../app/project/command-options.ts";
import { openRecorder, type RecordOptions } from "../../app/records/open-recorder.ts";
import {
  type Planned,
  type PlannedMerchant,
  type PlanResult,
  plannedOnly,
  type UnplannedMerchant,
  withRunOverrides,
} from "../../app/session/session.ts";
import { printFailure, printUnread } from "../../app/show/show-plans.ts";
import type { Comparison } from "../../kernel/approval/compare-reviewed.ts";
import { keptAccess } from "../../kernel/plan/due.ts";
import { oneLine } from "../../lib/escape.ts";
import { by, counted, sortNaturally } from "../../lib/text.ts";
import type { MerchantOutcome, OnError } from "../../model/apply.ts";
import type { RolecallError } from "../../model/errors.ts";
import { failureJson } from "../../show/machine/machine-formats.ts";
import { remainingChanges } from "../../show/view/ending-view.ts";
import { openProgress } from "../progress/open-progress.ts";
import type { ChangeSelection } from "../review/browse-plans.ts";
import { confirmApply } from "../review/confirm-apply.ts";
import { warnUnfinishedRuns } from "../runs/warn-unfinished.ts";

/** The options that applying plans depends on. */
export type ApplyOptions = Pick<ServiceOptions, "concurrency"> &
  OutputOptions & {
    readonly yes?: true;
    readonly allow: readonly string[];
    readonly approved?: readonly string[];
    readonly recheck: boolean;
    /** Absent: `stop`. */
    readonly onError?: OnError;
    readonly rotatePassword: readonly string[];
    readonly interactive?: true;
    readonly only?: "due";
  } & RecordOptions;

/** The options of `apply`. */
export type ApplyCommandOptions = ServiceOptions &
  ApplyOptions & {
    readonly reinvite: readonly string[];
    /** Time to wait for another apply of a merchant, in ms. */
    readonly lockTimeout: number;
  };

/** Plans the merchants of the files again, asks, and applies what differs. */
export async function applyMerchants(
  paths: readonly string[],
  options: ApplyCommandOptions,
  io: Io,
): Promise<ExitCode> {
  if (options.interactive) (await import("../review/browse-plans.ts")).checkInteractive(options, io);
  const consent = await readConsent(options, io).catch(endedEarly(options, io));
  const progress = openProgress(options, io);
  const say = (text: string) => void progress.io.stderr.write(`${text}\n`);
  const cancellation = createCancellation(say, io, progress.interrupted);
  try {
    const { rotatePassword } = options;
    const planOptions = {
      ...options,
      ...(rotatePassword.length > 0 && { makePlan: rotationPlanner(rotatePassword) }),
      holdsBack: true as const,
      signal: cancellation.cancelled,
    };
    const plan = () => planMerchants(paths, planOptions, progress, io).catch(endedEarly(options, io));
    const merchants = await planUnlocked(plan, options, cancellation.cancelled, { ...io, say });
    try {
      await warnUnfinishedRuns(plannedOnly(merchants.planned), options, io);
      return await applyPlanned(
        merchants,
        options,
        { cancellation, openJournal: fileJournals(io), consent },
        io,
      );
    } finally {
      await merchants.close();
    }
  } finally {
    cancellation.close();
  }
}

/** Pause between two checks for applies of other processes, in ms. */
const LOCK_LOOK_MS = 500;

/**
 * Plans while no other process applies to one of the merchants: waits for `--lock-timeout` and plans again. A merchant
 * that is still locked then has no plan.
 */
async function planUnlocked(
  plan: () => Promise<PlannedMerchants>,
  { lockTimeout }: Pick<ApplyCommandOptions, "lockTimeout">,
  signal: AbortSignal,
  io: Io & { readonly say: (text: string) => void },
): Promise<PlannedMerchants> {
  const deadline = io.monotonic() + lockTimeout;
  for (;;) {
    const merchants = await plan();
    const locked = await lockedMerchants(merchants.planned, io);
    if (locked.size === 0) return merchants;
    const rest = deadline - io.monotonic();
    if (rest <= 0) return withoutPlans(merchants, locked);
    for (const { message } of locked.values()) io.say(`${message} Waiting for it (--lock-timeout).`);
    await merchants.close();
    let remaining = plannedOnly(merchants.planned).filter((outcome) => locked.has(outcome.plan.merchant));
    while (remaining.length > 0 && io.monotonic() < deadline) {
      await io.sleep(Math.min(LOCK_LOOK_MS, deadline - io.monotonic()), signal);
      const still = await lockedMerchants(remaining, io);
      remaining = remaining.filter((outcome) => still.has(outcome.plan.merchant));
    }
  }
}

/** Returns the merchants that another process is applying to, each with the error that says so. */
async function lockedMerchants(
  planned: readonly Planned[],
  io: Io,
): Promise<ReadonlyMap<string, RolecallError>> {
  const locked = new Map<string, RolecallError>();
  for (const { plan } of plannedOnly(planned)) {
    const other = await runningApply(plan, io).catch(() => null);
    if (other) locked.set(plan.merchant, alreadyRunning(plan.merchant, other, io.now()));
  }
  return locked;
}

function withoutPlans(
  merchants: PlannedMerchants,
  locked: ReadonlyMap<string, RolecallError>,
): PlannedMerchants {
  const planned = merchants.planned.map((outcome): Planned => {
    const error = outcome.status === "planned" ? locked.get(outcome.plan.merchant) : undefined;
    return error && outcome.status === "planned"
      ? { status: "failed", merchant: outcome.plan.merchant, error }
      : outcome;
  });
  const failures = [...locked].map(([merchant, error]) => failureJson(merchant, error.failure));
  return { ...merchants, planned, failures: [...merchants.failures, ...failures] };
}

/** Reports an error as a JSON event if there are no plans yet, and throws it again. */
export function endedEarly(options: OutputOptions, io: Io): (error: unknown) => Promise<never> {
  return async (error) => {
    failedWith(
      applyReporter(options, () => null, io),
      error,
    );
    throw error;
  };
}

/** Dependencies of an apply besides the plans. */
type Means = Pick<RunOptions, "cancellation" | "openJournal"> & {
  readonly consent: Consent;
  /** The run that is reverted; absent or `null` for an ordinary apply. */
  readonly undoes?: string | null;
};

/** Shows plans, lets the user select changes with `--interactive`, asks, and applies them unless they are refused. */
export async function applyPlanned(
  prepared: Omit<PlannedMerchants, "close">,
  options: ApplyOptions,
  means: Means,
  io: Io,
): Promise<ExitCode> {
  const { consent, undoes = null } = means;
  const command = undoes === null ? "apply" : "undo";
  const reporter = applyReporter(options, prepared.placeOf, prepared.progress.io, consent.overrides, command);
  try {
    const { code, ...end } = await reviewAndApply(prepared, options, means, reporter, io);
    reporter.ended(end, code);
    // The loss of the last output may only be noticed now.
    await io.sleep(0);
    return code === ExitCode.ok && end.outcomes.length > 0 && isCutOff(io) ? ExitCode.partial : code;
  } catch (error) {
    failedWith(reporter, error);
    throw error;
  }
}

async function reviewAndApply(
  prepared: Omit<PlannedMerchants, "close">,
  options: ApplyOptions,
  { cancellation, openJournal, consent, undoes = null }: Means,
  reporter: ApplyReporter,
  io: Io,
): Promise<RunEnd & { readonly code: ExitCode }> {
  const { valid, progress, failures } = prepared;
  const { onError = "stop" } = options;
  const selected = await select(prepared, options, consent, io);
  if (selected === null) {
    reporter.say("Nothing was changed.");
    return { code: ExitCode.failed, outcomes: [], leftOut: 0 };
  }
  const approved = await approvedSelection(prepared, selected, options, consent, io);
  const { selection, parts, objections } = approved;
  const { planned } = selection;
  const leftOut = [...selection.leftOut.values()].reduce((sum, count) => sum + count, 0);
  const nothing = { code: ExitCode.failed, outcomes: [], leftOut };
  reporter.plans(printUnread(planned, options, io).plans);
  reporter.failed(failures);
  if (!valid || (onError === "stop" && !isSound(planned))) {
    reporter.say("Nothing was changed: fix the problems above first.");
    return nothing;
  }
  const results = plannedOnly(planned);
  reporter.compared(parts.map(({ comparison }) => comparison));
  const refused = skippedMerchants(planned, consent.overrides, objections);
  if (refused.length > 0 && onError === "stop") {
    reporter.skipped(refused, 0);
    return { code: applyExitCode(refused), outcomes: refused, leftOut };
  }
  const unapproved = [...unapprovedOutcomes(parts, refused), ...keptOutcomes(results)];
  const { due, unready, unchanged } = divide(selection, refused, options, io);
  for (const { merchant, error } of unready) {
    reporter.failed([failureJson(merchant, error.failure)]);
    printFailure(merchant, "cannot be applied", error, options, io);
  }
  const notApplied = [...refused, ...unready.map(failedOutcome)];
  if (notApplied.length > 0) reporter.skipped(notApplied, due.length);
  if (due.length === 0) {
    const outcomes = [...notApplied, ...unapproved];
    if (outcomes.length === 0) reporter.say(nothingToDo(results, leftOut, options));
    return { code: applyExitCode(outcomes), outcomes, leftOut };
  }
  reporter.passwords(due);
  const password = passwordsFor(
    due.map(({ plan }) => plan),
    due.flatMap(({ passwords }) => passwords),
    io.env,
  );
  const recorder = await openRecorder(options, reporter.say, io);
  const warn = (text: string): void => reporter.say(`warning: ${text}`);
  const recordLive = await openLiveRecorder(
    due.map(({ session }) => session.state),
    { say: reporter.say, warn },
    io,
  );
  if (!(options.yes || (await confirmApply(due, { ...options, undoes }, io)))) {
    reporter.say("Nothing was changed.");
    return nothing;
  }
  // The loss of the last output may only be noticed now.
  await io.sleep(0);
  if (io.outputLost.aborted) {
    reporter.say("Nothing was changed, because the plan could not be shown completely.");
    return nothing;
  }
  progress.applying(due.map(({ plan }) => plan));
  cancellation.signal.addEventListener("abort", progress.stopping);
  try {
    const watched = withProgress(reporter, progress);
    const { concurrency, recheck } = options;
    const { sleep } = io;
    const recording = { openJournal, recorder, recordLive };
    const means = { password, concurrency, recheck, onError, cancellation, ...recording, sleep };
    const inOrder = sortNaturally(due, ({ plan }) => plan.merchant);
    const applied = await runApply(inOrder, means, watched);
    const made = [...applied, ...notApplied, ...unchanged].sort(by(({ merchant }) => merchant));
    const code = applyExitCode(made);
    await io.sleep(0);
    if (code === ExitCode.ok && isCutOff(io)) return { code: ExitCode.partial, outcomes: made, leftOut };
    const isLacking = code === ExitCode.ok && unapproved.length > 0;
    const outcomes = made.map((outcome) => withUnapproved(outcome, unapproved));
    return { code: isLacking ? ExitCode.refused : code, outcomes, leftOut, unapproved };
  } finally {
    await progress.rest();
  }
}

/** The approved part of a selection. */
interface ApprovedSelection {
  readonly selection: ChangeSelection;
  readonly parts: readonly ApprovedPart[];
  /** Why plans are not approved, by merchant. */
  readonly objections: ReadonlyMap<string, readonly string[]>;
}

/**
 * Returns the approved part of a selection. If the apply continues at some merchants, these are judged as one run, in
 * which the others remove nothing.
 */
async function approvedSelection(
  { project }: Pick<PlannedMerchants, "project">,
  selected: ChangeSelection,
  options: ApplyOptions,
  consent: Consent,
  io: Io,
): Promise<ApprovedSelection> {
  const parts = await approvedParts(plannedOnly(selected.planned), consent, io);
  const selection = options.onError === "continue" ? withoutUnapproved(selected, parts) : selected;
  const objections = objectionsOf(plannedOnly(selection.planned), selection, parts);
  if (options.onError !== "continue") return { selection, parts, objections };
  const unapplied = new Set([
    ...[...objections].flatMap(([merchant, reasons]) => (reasons.length > 0 ? merchant : [])),
    ...lackingPasswords(plannedOnly(selection.planned), options.rotatePassword, {
      env: io.env,
      now: io.now(),
    }),
  ]);
  const planned = withRunOverrides(selection.planned, project.project, { unapplied });
  return { selection: { ...selection, planned }, parts, objections };
}

/** The merchants that are not refused. */
interface DividedMerchants {
  readonly due: readonly (PlannedMerchant & Required<PendingApply>)[];
  /** Those whose apply needs a password that is missing, if others can be applied. */
  readonly unready: readonly UnplannedMerchant[];
  readonly unchanged: readonly MerchantOutcome[];
}

function divide(
  { planned, leftOut }: ChangeSelection,
  refused: readonly MerchantOutcome[],
  { onError, rotatePassword }: ApplyOptions,
  io: Io,
): DividedMerchants {
  const results = plannedOnly(planned);
  const rotations = rotationsFor(rotatePassword, results, io.now(), results.length === planned.length);
  const out = new Set(refused.map(({ merchant }) => merchant));
  const outcomes = results
    .filter(({ plan }) => !out.has(plan.merchant))
    .map((result) => ({
      ...result,
      passwords: rotations.get(result.plan.merchant) ?? [],
      leftOut: leftOut.get(result.plan.merchant) ?? 0,
    }));
  const isDue = ({ plan, passwords }: (typeof outcomes)[number]): boolean =>
    plan.changes.length + passwords.length > 0;
  const due = outcomes.filter(isDue);
  const missing = onError === "continue" ? withoutPasswords(due, io) : [];
  // If all passwords are missing, the error that ends the command names all of them.
  const unready = missing.length < due.length || refused.length > 0 ? missing : [];
  const waiting = new Set(unready.map(({ merchant }) => merchant));
  return {
    due: due.filter(({ plan }) => !waiting.has(plan.merchant)),
    unready,
    unchanged: outcomes
      .filter((change) => !isDue(change))
      .map(({ plan }) => ({ merchant: plan.merchant, status: "unchanged", reasons: [] })),
  };
}

/** Explains why there is nothing to do, if there is another reason than that nothing differs. */
function nothingToDo(results: readonly PlanResult[], leftOut: number, { only }: ApplyOptions): string {
  const missing = results.reduce((sum, { plan }) => sum + remainingChanges(plan).notCreated.length, 0);
  const rest = [
    ...(only === "due"
      ? [
          isDueLeftOut(results)
            ? "what is due is left out, as explained by the warnings above"
            : "nothing is due",
        ]
      : []),
    ...(leftOut > 0 ? [leftOutText(leftOut)] : []),
    ...(missing > 0 ? [`${counted(missing, "member")} cannot be created without roles`] : []),
  ];
  return rest.length > 0 ? `Nothing to do: ${rest.join("; ")}.` : "Nothing to do.";
}

function isDueLeftOut(results: readonly PlanResult[]): boolean {
  return results.some(({ plan }) => plan.findings.some(({ code }) => code === "due-left-out"));
}

/** Compares plans with the approved files; returns nothing without any. */
async function approvedParts(
  fresh: readonly PlanResult[],
  { approved }: Consent,
  { cwd }: Io,
): Promise<readonly ApprovedPart[]> {
  if (approved.length === 0) return [];
  const { compareApproved } = await import("../../app/apply/approved-parts.ts");
  return compareApproved(fresh, approved, cwd);
}

/** Returns the plans of the approved changes, for merchants that have any: the rest is not applied. */
function withoutUnapproved(selection: ChangeSelection, parts: readonly ApprovedPart[]): ChangeSelection {
  const comparisons = new Map(parts.map(({ merchant, comparison }) => [merchant, comparison]));
  const planned = selection.planned.map((outcome): Planned => {
    const comparison = outcome.status === "planned" ? comparisons.get(outcome.plan.merchant) : undefined;
    if (outcome.status === "failed" || !comparison || !isPart(comparison)) return outcome;
    const { covered, leaveOut } = comparison;
    const { session } = outcome;
    return { ...outcome, plan: covered, session: { ...session, plan: async () => session.plan(leaveOut) } };
  });
  return { ...selection, planned };
}

function isPart({ covered, refused }: Comparison): boolean {
  return refused.length > 0 && covered.changes.length > 0;
}

/** Returns why plans are not approved, by merchant: by the saved plan, or by what was shown for the selection. */
function objectionsOf(
  results: readonly PlanResult[],
  { objections }: ChangeSelection,
  parts: readonly ApprovedPart[],
): ReadonlyMap<string, readonly string[]> {
  const refusals = new Map(parts.map((part) => [part.merchant, part]));
  return new Map(
    results.map(({ plan }) => {
      const part = refusals.get(plan.merchant);
      const isWhole = part !== undefined && plan.changes.length > 0 && plan !== part.comparison.covered;
      const refused = isWhole ? [...part.refusals, ...part.dropped] : [];
      return [plan.merchant, [...(objections.get(plan.merchant) ?? []), ...refused]];
    }),
  );
}

/**
 * Returns the approved changes that are not made, and the changes that are not approved, at merchants that are not
 * refused as a whole.
 */
function unapprovedOutcomes(
  parts: readonly ApprovedPart[],
  refused: readonly MerchantOutcome[],
): readonly MerchantOutcome[] {
  const out = new Set(refused.map(({ merchant }) => merchant));
  return parts.flatMap(({ merchant, refusals, dropped }): readonly MerchantOutcome[] => {
    const reasons = [...refusals, ...dropped].map(oneLine);
    return reasons.length === 0 || out.has(merchant) ? [] : [{ merchant, status: "refused", reasons }];
  });
}

/** Returns the merchants where a run of what is due keeps access that has ended. */
function keptOutcomes(results: readonly PlanResult[]): readonly MerchantOutcome[] {
  return results.flatMap(({ plan }): readonly MerchantOutcome[] => {
    const reasons = keptAccess(plan).map(oneLine);
    return reasons.length === 0 ? [] : [{ merchant: plan.merchant, status: "refused", reasons }];
  });
}

/** Adds to an outcome what was not made at its merchant for lack of approval. */
function withUnapproved(outcome: MerchantOutcome, unapproved: readonly MerchantOutcome[]): MerchantOutcome {
  const lacking = unapproved.find(({ merchant }) => merchant === outcome.merchant);
  if (lacking === undefined) return outcome;
  const { merchant, status } = outcome;
  if (status === "unchanged") return lacking;
  return {
    merchant,
    status: status === "applied" ? "partial" : status,
    reasons: [...outcome.reasons, ...lacking.reasons],
  };
}

function leftOutText(count: number): string {
  return `${counted(count, "change")} left out; the next plan shows ${count === 1 ? "it" : "them"} again`;
}

/** Returns whether a part of the output is lost. */
function isCutOff({ outputLost }: Io): boolean {
  return outputLost.aborted && !hasNoReader(outputLost.reason as OutputLoss);
}

/**
 * Returns what the user selects with `--interactive`; without it, or with a problem to solve first, everything. If the
 * apply continues at other merchants, those with a problem are not offered.
 */
async function select(
  { planned, valid, progress, placeOf, project }: Omit<PlannedMerchants, "close">,
  options: ApplyOptions,
  { overrides }: Consent,
  io: Io,
): Promise<ChangeSelection | null> {
  const goesOn = options.onError === "continue";
  const offered = goesOn ? planned.filter((outcome) => isSound([outcome])) : planned;
  const due = plannedOnly(offered).some(({ plan }) => plan.changes.length > 0);
  if (!options.interactive || !valid || !due || !isSound(offered)) {
    return { planned, objections: new Map(), leftOut: new Map() };
  }
  const { selectChanges } = await import("../review/browse-plans.ts");
  const selection = await selectChanges(
    { planned: offered, placeOf, project, progress },
    { ...options, overrides, goesOn },
    io,
  );
  if (selection === null || offered.length === planned.length) return selection;
  return {
    ...selection,
    planned: [...selection.planned, ...planned.filter((outcome) => !isSound([outcome]))],
  };
}

/** Returns whether every merchant has a plan without an error. */
function isSound(planned: readonly Planned[]): boolean {
  return planned.every(
    (outcome) =>
      outcome.status === "planned" && outcome.plan.findings.every(({ severity }) => severity !== "error"),
  );
}
