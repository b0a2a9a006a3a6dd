import type { LoadHooks } from "../../config/load-sources.ts";
import type { DesiredState } from "../../model/desired.ts";
import type { Diagnostic } from "../../model/diagnostic.ts";
import type { FailureJson, LiveEvent } from "../../model/events.ts";
import { planDue } from "../../plan/due.ts";
import { diagnosticFailure, failureJson } from "../../render/machine-formats.ts";
import { renderDiagnostics } from "../../render/text/failure-text.ts";
import type { PlaceOf } from "../../render/view/plan-view.ts";
import type { OutputOptions, ServiceOptions } from "../args/options.ts";
import { emptyShard, isInShard } from "../args/shard.ts";
import { isFileError, type Loaded, loadStates, noneChanged } from "../files/load-states.ts";
import type { Io } from "../io/io.ts";
import { styleFor } from "../io/output.ts";
import { journalFiles } from "../journal/read-journals.ts";
import type { ProgressDisplay } from "../progress/log-progress.ts";
import { openProgress } from "../progress/open-progress.ts";
import { checkReinvited, warningsOfReinvited } from "./invitations.ts";
import { openServices, startPrefetch } from "./services.ts";
import { createSessions, type Planned, plannedOnly, planSessions } from "./session.ts";

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
  readonly project: Pick<Loaded, "all" | "sources" | "states" | "unmanaged">;
  /** The display, at rest. */
  readonly progress: ProgressDisplay;
  close(): Promise<void>;
}

/**
 * Plans every selected merchant of the files, for `plan`, `apply`, `drift` and `report`; problems of the files are
 * printed. Reading live states starts as soon as the head of a file names the service.
 */
export async function planMerchants(
  paths: readonly string[],
  options: PlanMerchantsOptions,
  io: Io,
): Promise<PlannedMerchants> {
  const progress = options.progress ?? openProgress(options, io);
  const events = bufferEvents(progress.live);
  const services = openServices({ ...options, emit: events.emit }, io);
  const prefetch = startPrefetch(services, (code) => isSelected(code, options), options.baseUrl, io);
  try {
    const { loaded, states, fileErrors } = await loadDeclared(paths, options, io, {
      onHeader: async (head) => prefetch.start(head),
      pause: io.turn,
    });
    checkReinvited(options.reinvite ?? [], states);
    const making = options.only === "due" ? { makePlan: planDue } : {};
    const sessions = createSessions(services, states, { ...options, ...making, prefetch }, io);
    progress.reading(states.map(({ merchant }) => merchant));
    events.release();
    const planning = planSessions(sessions, progress.read);
    // By now every session has claimed its live state.
    prefetch.cancel();
    // Loaded while the service responds: it needs the full YAML parser.
    const { ruleLocations } = await import("../show/rule-locations.ts");
    const planned = await planning;
    warnReinvited(planned, options, io);
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

function warnReinvited(
  planned: readonly Planned[],
  { reinvite = [], quiet }: Pick<PlanMerchantsOptions, "reinvite" | "quiet">,
  io: Io,
): void {
  const results = plannedOnly(planned);
  if (quiet || results.length < planned.length) return;
  const warnings = warningsOfReinvited(
    reinvite,
    results.map(({ live }) => live),
  );
  for (const warning of warnings) io.stderr.write(`${warning}\n`);
}

/** Returns the reasons why merchants have no plan: errors in files, then failures of single merchants. */
export function failuresOf(
  { diagnostics }: Pick<Loaded, "diagnostics">,
  planned: readonly Planned[],
): readonly FailureJson[] {
  return [
    ...diagnostics.filter(isFileError).map(diagnosticFailure),
    ...planned.flatMap((one) =>
      one.status === "planned" ? [] : [failureJson(one.merchant, one.error.failure)],
    ),
  ];
}

/** Buffers events until `release()`: the progress display does not know the merchants before that. */
function bufferEvents(emit: (event: LiveEvent) => void): {
  readonly emit: (event: LiveEvent) => void;
  readonly release: () => void;
} {
  let buffered: LiveEvent[] | null = [];
  return {
    emit: (event) => (buffered === null ? emit(event) : void buffered.push(event)),
    release() {
      const events = buffered ?? [];
      buffered = null;
      for (const event of events) emit(event);
    },
  };
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
  hooks?: LoadHooks,
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
    ...(hooks && { hooks }),
  });
  printDiagnostics(loaded.diagnostics, options, io);
  const states = loaded.states.filter(({ merchant }) => isSelected(merchant, options));
  if (states.length === 0 && !options.quiet) {
    if (options.shard && loaded.states.length > 0) io.stderr.write(emptyShard(options.shard));
    else io.stderr.write(noneChanged(options, loaded));
  }
  return { loaded, states, fileErrors: loaded.diagnostics.filter(isFileError).length, now };
}

/** Returns whether `--merchant` and `--shard` select a merchant. */
function isSelected(merchant: string, { merchant: picked, shard }: PlanMerchantsOptions): boolean {
  if (picked.length > 0 && !picked.includes(merchant)) return false;
  return shard === undefined || isInShard(merchant, shard);
}

type PlanMerchantsOptions = ServiceOptions &
  OutputOptions & {
    readonly asOf?: number;
    readonly reinvite?: readonly string[];
    /** Part of the changes to plan; absent: all. */
    readonly only?: "due";
    /** Also reads the files of merchants that are not selected. */
    readonly everyFile?: boolean;
    /** Destinations of results, from `--output` and `--out`. */
    readonly output?: string;
    readonly out?: string;
    readonly signal?: AbortSignal;
    /** The display that the caller writes to as well; absent: one of its own. */
    readonly progress?: ProgressDisplay;
  };

/** Prints the problems of files on stderr. */
export function printDiagnostics(diagnostics: readonly Diagnostic[], options: OutputOptions, io: Io): void {
  const shown = options.quiet ? diagnostics.filter(({ severity }) => severity === "error") : diagnostics;
  if (shown.length === 0) return;
  io.stderr.write(`${renderDiagnostics(shown, styleFor(io.stderr, io, options.color))}\n`);
}
