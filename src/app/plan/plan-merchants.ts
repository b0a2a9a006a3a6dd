import { planDue } from "../../kernel/plan/due.ts";
import { withReviewedEnds } from "../../kernel/read/reviewed-ends.ts";
import { isAcross } from "../../kernel/rules/across-merchants.ts";
import type { DesiredState } from "../../model/desired.ts";
import type { FailureJson } from "../../model/events.ts";
import type { Refusal } from "../../model/plan.ts";
import { diagnosticFailure, failureJson } from "../../show/machine/machine-formats.ts";
import type { PlaceOf } from "../../show/view/plan-view.ts";
import type { Io } from "../io/io.ts";
import { journalFiles } from "../journal/read-journals.ts";
import { openLiveBranch } from "../live-branch/open-live-branch.ts";
import type { ProgressDisplay } from "../progress/log-progress.ts";
import type { OutputOptions, ServiceOptions } from "../project/command-options.ts";
import { isFileError } from "../project/file-errors.ts";
import { type Loaded, loadStates, reachNotes } from "../project/load-states.ts";
import { noneChanged } from "../project/pick-merchants.ts";
import { emptyShard, inShard } from "../project/shard.ts";
import type { ReachOptions } from "../session/clients.ts";
import { checkReinvited, warningsOfReinvited } from "../session/invitations.ts";
import { openServices } from "../session/services.ts";
import {
  type Planned,
  type PlanningOptions,
  plannedOnly,
  planStates,
  withRunOverrides,
} from "../session/session.ts";
import { printDiagnostics } from "../show/print-diagnostics.ts";

/** The merchants' plans, with a function that closes the connections. */
export interface PlannedMerchants {
  readonly planned: readonly Planned[];
  /** No file has an error. */
  readonly valid: boolean;
  /** Number of errors in the files. */
  readonly fileErrors: number;
  /** Errors of the files, and reasons why merchants have no plan. */
  readonly failures: readonly FailureJson[];
  readonly placeOf: PlaceOf;
  /** The files that were read, also of other merchants. */
  readonly project: Pick<
    Loaded,
    "all" | "project" | "sources" | "diagnostics" | "states" | "unmanaged" | "former"
  >;
  /** The display, at rest. */
  readonly progress: ProgressDisplay;
  close(): Promise<void>;
}

/**
 * Plans every selected merchant of the files, for `plan`, `apply`, `drift` and `report`; problems of the files are
 * printed.
 */
export async function planMerchants(
  paths: readonly string[],
  options: PlanMerchantsOptions,
  progress: ProgressDisplay,
  io: Io,
): Promise<PlannedMerchants> {
  const isDue = options.only === "due";
  const { judgePlans, ...making } = isDue ? duePlanner() : { judgePlans: withRunOverrides };
  try {
    const { loaded, states: declared } = await loadDeclared(paths, options, progress.io);
    // Nothing but dates decides what is due.
    const states = isDue ? declared.map((state) => withReviewedEnds(state, state)) : declared;
    checkReinvited(options.reinvite ?? [], states);
    const warn = (text: string): void => void progress.io.stderr.write(`warning: ${text}\n`);
    const branch =
      options.holdsBack && (await openLiveBranch(states, "No live states are recorded here.", warn, io));
    const recorded =
      branch && (await import("../live-branch/recorded-states.ts")).recordedStates(branch, warn);
    const planning = { ...options, ...making, ...(recorded && { recorded }) };
    const merchants = await planLoaded(loaded, states, judgePlans, planning, progress, io);
    warnReinvited(merchants.planned, options, io);
    return merchants;
  } finally {
    await progress.rest();
  }
}

/** Plans merchants of files that are loaded, and judges their plans together. */
export async function planLoaded(
  loaded: Loaded,
  states: readonly DesiredState[],
  judgePlans: Planner["judgePlans"],
  options: PlanningOptions & Omit<ReachOptions, "emit">,
  progress: ProgressDisplay,
  io: Io,
): Promise<PlannedMerchants> {
  const services = openServices({ ...options, emit: progress.live }, io);
  try {
    const [plans, { ruleLocations }] = await Promise.all([
      planStates(states, services, options, progress, io),
      // Loaded while the service responds: it needs the full YAML parser.
      import("../show/rule-locations.ts"),
    ]);
    const planned = judgePlans(plans, loaded.project);
    const fileErrors = loaded.diagnostics.filter(isFileError).length;
    return {
      planned,
      valid: fileErrors === 0,
      fileErrors,
      failures: failuresOf(loaded, planned),
      placeOf: ruleLocations(loaded.states, loaded.sources),
      project: loaded,
      progress,
      close: services.close,
    };
  } catch (error) {
    await services.close();
    throw error;
  } finally {
    await progress.rest();
  }
}

/** A way to make plans, and to judge those of a run together. */
interface Planner {
  readonly makePlan: NonNullable<PlanningOptions["makePlan"]>;
  readonly judgePlans: (planned: readonly Planned[], declared: readonly DesiredState[]) => readonly Planned[];
}

/**
 * Plans what is due. If a limit of the run refuses the access that this grants, plans the merchants again without it.
 */
function duePlanner(): Planner {
  const refused = new Map<string, readonly Refusal[]>();
  return {
    makePlan: (input) => planDue(input, refused.get(input.desired.merchant)),
    judgePlans: (planned, declared) => {
      const judged = withRunOverrides(planned, declared);
      for (const { plan } of plannedOnly(judged)) {
        const ofRun = plan.refusals.filter(({ code }) => code === "run-gains" || isAcross({ code }));
        if (ofRun.length > 0) refused.set(plan.merchant, ofRun);
      }
      if (refused.size === 0) return judged;
      const again = planned.map((outcome) =>
        outcome.status === "planned" ? { ...outcome, plan: outcome.planWithout(NONE) } : outcome,
      );
      return withRunOverrides(again, declared);
    },
  };
}

const NONE: ReadonlySet<string> = new Set();

function warnReinvited(
  planned: readonly Planned[],
  { reinvite = [], quiet }: Pick<PlanMerchantsOptions, "reinvite" | "quiet">,
  io: Io,
): void {
  const results = plannedOnly(planned);
  if (quiet || reinvite.length === 0 || results.length < planned.length) return;
  const warnings = warningsOfReinvited(reinvite, results);
  for (const warning of warnings) io.stderr.write(`${warning}\n`);
}

/** Returns the reasons why merchants have no plan: errors in files, then failures of single merchants. */
export function failuresOf(
  { diagnostics }: Pick<Loaded, "diagnostics">,
  planned: readonly Planned[],
): readonly FailureJson[] {
  return [
    ...diagnostics.filter(isFileError).map(diagnosticFailure),
    ...planned.flatMap((outcome) =>
      outcome.status === "planned" ? [] : [failureJson(outcome.merchant, outcome.error.failure)],
    ),
  ];
}

/** The merchants of the files, before live states are read. */
export interface DeclaredMerchants {
  readonly loaded: Loaded;
  /** The selected merchants. */
  readonly states: readonly DesiredState[];
  readonly fileErrors: number;
  /** Time against which end dates are compared, in ms since the epoch. */
  readonly now: number;
}

/** Loads the files and prints their problems. */
export async function loadDeclared(
  paths: readonly string[],
  options: PlanMerchantsOptions,
  io: Io,
): Promise<DeclaredMerchants> {
  const now = options.asOf ?? io.now();
  const loaded = await loadStates(paths, {
    merchants: options.merchant,
    cwd: io.cwd,
    now,
    everyFile: options.everyFile === true,
    ...(options.changedSince !== undefined && { changedSince: options.changedSince }),
    outputs: [options.output, options.out],
    inputs: await journalFiles(io.cwd),
  });
  const shown = options.fileErrorsOnly ? loaded.diagnostics.filter(isFileError) : loaded.diagnostics;
  printDiagnostics(shown, options, io);
  if (!options.quiet) io.stderr.write(reachNotes(loaded));
  const { shard } = options;
  const states = inShard(loaded.states, shard);
  if (states.length === 0 && !options.quiet)
    io.stderr.write(emptyShard(loaded.states, shard) || noneChanged(options, loaded));
  return { loaded, states, fileErrors: loaded.diagnostics.filter(isFileError).length, now };
}

/** Options of planning the merchants of files. */
export type PlanMerchantsOptions = ServiceOptions &
  OutputOptions & {
    readonly asOf?: number;
    readonly reinvite?: readonly string[];
    /** Returns role ids that are read besides those that a merchant's files name. */
    readonly roleIds?: (merchant: string) => readonly string[];
    /** Part of the changes to plan; absent: all. */
    readonly only?: "due";
    /** Makes the plans; absent: by comparison with the files. */
    readonly makePlan?: NonNullable<PlanningOptions["makePlan"]>;
    /** Does not invite members who left although no run removed them. */
    readonly holdsBack?: true;
    /** Also reads the files of merchants that are not selected. */
    readonly everyFile?: boolean;
    /** Prints no warnings and no violations of rules, which change no answer. */
    readonly fileErrorsOnly?: boolean;
    /** Destinations of results, from `--output` and `--out`. */
    readonly output?: string;
    readonly out?: string;
    readonly signal?: AbortSignal;
  };
