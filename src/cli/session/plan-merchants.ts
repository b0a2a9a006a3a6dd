import type { Meanwhile } from "../../config/load-sources.ts";
import type { DesiredState } from "../../model/desired.ts";
import type { Diagnostic } from "../../model/diagnostic.ts";
import type { FailureJson, LiveEvent } from "../../model/events.ts";
import { diagnosticFailure, failureJson } from "../../render/formats/json-output.ts";
import type { PlaceOf } from "../../render/view/plan-view.ts";
import type { OutputOptions, ServiceOptions } from "../args/options.ts";
import { emptyShard, isInShard } from "../args/shard.ts";
import { isError, type Loaded, loadStates } from "../files/load-states.ts";
import type { Io } from "../io/io.ts";
import { styleFor } from "../io/output.ts";
import { openProgress, type Progress } from "../progress/progress.ts";
import { checkReinvited, warningsOfReinvited } from "./invitations.ts";
import { startPrefetch } from "./prefetch.ts";
import { openServices } from "./services.ts";
import { createSessions, type Planned, planSessions } from "./session.ts";

/** The merchants' plans, and how to let go of the service afterwards. */
export interface PlannedMerchants {
  readonly planned: readonly Planned[];
  /** The merchants that valid files are about, of those that `--merchant` leaves in. */
  readonly declared: readonly string[];
  /** No file has an error; those that have one are told, and have no plan. */
  readonly valid: boolean;
  /** How many errors the files have. */
  readonly fileErrors: number;
  /** Errors of the files, and reasons why merchants have no plan. */
  readonly failures: readonly FailureJson[];
  readonly placeOf: PlaceOf;
  /** At rest; for what comes after the plans. */
  readonly progress: Progress;
  close(): Promise<void>;
}

/**
 * Files → live state → plans: what `plan`, `apply` and `drift` begin with. What is wrong with the files is told. The
 * service is asked as soon as a file's beginning says for what; where the rest of it is wrong, that was for nothing.
 */
export async function planMerchants(
  paths: readonly string[],
  options: PrepareOptions,
  io: Io,
): Promise<PlannedMerchants> {
  const progress = options.progress ?? (await openProgress(options, io));
  const told = heldBack(progress.live);
  const opening = openServices({ ...options, emit: told.tell }, io);
  const isWanted = (merchant: string): boolean => isMeant(merchant, options);
  const reading = opening.then((services) => startPrefetch(services, isWanted, options.baseUrl, io));
  try {
    const { loaded, states, fileErrors } = await loadDeclared(paths, options, io, {
      begun: async (head) => (await reading).begin(head),
      pause: () => io.sleep(0),
    });
    if (options.reinvite) checkReinvited(options.reinvite, states);
    const [services, ahead] = await Promise.all([opening, reading]);
    const sessions = await createSessions(services, states, { ...options, ahead }, io);
    progress.reading(states.map(({ merchant }) => merchant));
    told.release();
    const planning = planSessions(sessions, progress.read);
    // Whatever is to be planned has been taken.
    ahead.drop();
    const [planned] = await Promise.all([planning, loadPlaces(), options.waiting?.()]);
    if (options.reinvite && !options.quiet && planned.every((one) => "plan" in one)) {
      const lives = planned.map(({ live }) => live);
      for (const warning of warningsOfReinvited(options.reinvite, lives)) io.stderr.write(`${warning}\n`);
    }
    const { ruleLocations } = await loadPlaces();
    const placeOf = ruleLocations(loaded.states, loaded.sources);
    return {
      planned,
      valid: fileErrors === 0,
      fileErrors,
      failures: failuresOf(loaded, planned),
      declared: loaded.states.map(({ merchant }) => merchant),
      placeOf,
      progress,
      close: sessions.close,
    };
  } catch (error) {
    await (await opening).close();
    throw error;
  } finally {
    await progress.rest();
  }
}

const loadPlaces = () => import("../show/rule-locations.ts");

/** Returns the reasons why merchants have no plan: errors in files, then failures of single merchants. */
export function failuresOf(
  { diagnostics }: Pick<Loaded, "diagnostics">,
  planned: readonly Planned[],
): readonly FailureJson[] {
  return [
    ...diagnostics.filter(isError).map(diagnosticFailure),
    ...planned.flatMap((one) => ("plan" in one ? [] : [failureJson(one.merchant, one.error.failure)])),
  ];
}

/** Keeps what is told until somebody is ready to hear it: before that a board does not know whom it is about. */
function heldBack(tell: (event: LiveEvent) => void): {
  readonly tell: (event: LiveEvent) => void;
  readonly release: () => void;
} {
  let held: LiveEvent[] | null = [];
  return {
    tell: (event) => (held === null ? tell(event) : void held.push(event)),
    release() {
      const events = held ?? [];
      held = null;
      for (const event of events) tell(event);
    },
  };
}

/** What the files say, before anything is read. */
export interface Declared {
  readonly loaded: Loaded;
  /** Of the merchants that are meant. */
  readonly states: readonly DesiredState[];
  readonly fileErrors: number;
  /** The moment that end dates are held against. */
  readonly now: number;
}

/** Reads the files, and tells what is wrong with them. */
export async function loadDeclared(
  paths: readonly string[],
  options: PrepareOptions,
  io: Io,
  meanwhile?: Meanwhile,
): Promise<Declared> {
  const now = options.asOf ?? io.now();
  const loaded = await loadStates(paths, {
    merchants: options.merchant,
    cwd: io.cwd,
    now,
    outputs: [options.output, options.out],
    ...(meanwhile && { meanwhile }),
  });
  await printDiagnostics(loaded.diagnostics, options, io);
  const states = loaded.states.filter(({ merchant }) => isMeant(merchant, options));
  if (options.shard && states.length === 0 && loaded.states.length > 0 && !options.quiet) {
    io.stderr.write(emptyShard(options.shard));
  }
  return { loaded, states, fileErrors: loaded.diagnostics.filter(isError).length, now };
}

/** Whether `--merchant` and `--shard` leave a merchant in. */
function isMeant(merchant: string, { merchant: picked, shard }: PrepareOptions): boolean {
  if (picked.length > 0 && !picked.includes(merchant)) return false;
  return shard === undefined || isInShard(merchant, shard);
}

type PrepareOptions = ServiceOptions &
  OutputOptions & {
    readonly asOf?: number;
    readonly reinvite?: readonly string[];
    /** Destinations of results, from `--output` and `--out`. */
    readonly output?: string;
    readonly out?: string;
    readonly signal?: AbortSignal;
    /** Loads what comes after the plans while the service is waited for. */
    readonly waiting?: () => Promise<unknown>;
    /** Where the caller tells something meanwhile, too. */
    readonly progress?: Progress;
  };

/** Tells on stderr what is wrong with files. */
export async function printDiagnostics(
  diagnostics: readonly Diagnostic[],
  options: OutputOptions,
  io: Io,
): Promise<void> {
  const shown = options.quiet ? diagnostics.filter(({ severity }) => severity === "error") : diagnostics;
  if (shown.length === 0) return;
  const { renderDiagnostics } = await import("../../render/text/diagnostics-text.ts");
  io.stderr.write(`${renderDiagnostics(shown, styleFor(io.stderr, io, options.color))}\n`);
}
