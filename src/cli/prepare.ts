import type { DesiredState } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { PlaceOf } from "../render/plan-view.ts";
import { isInShard } from "./in-shard.ts";
import type { Io } from "./io.ts";
import { isError, type Loaded, loadStates } from "./load.ts";
import type { OutputOptions, ServiceOptions } from "./options.ts";
import { styleFor } from "./output.ts";
import { rulePlaces } from "./places.ts";
import { openSessions, type Planned, planAll } from "./planning.ts";
import { openProgress, type Progress } from "./progress.ts";

/** The merchants' plans, and how to let go of the service afterwards. */
export interface Prepared {
  readonly planned: readonly Planned[];
  /** No file has an error; those that have one are told, and have no plan. */
  readonly valid: boolean;
  /** How many errors the files have. */
  readonly fileErrors: number;
  readonly placeOf: PlaceOf;
  /** At rest; for what comes after the plans. */
  readonly progress: Progress;
  close(): Promise<void>;
}

/** Files → live state → plans: what `plan`, `apply` and `drift` begin with. What is wrong with the files is told. */
export async function preparePlans(
  paths: readonly string[],
  options: PrepareOptions,
  io: Io,
): Promise<Prepared> {
  const { loaded, states, fileErrors } = await loadDeclared(paths, options, io);
  const progress = options.progress ?? (await openProgress(options, io));
  const sessions = await openSessions(states, { ...options, emit: progress.live }, io);
  try {
    const placeOf = rulePlaces(loaded.states, loaded.sources);
    progress.reading(states.map(({ merchant }) => merchant));
    const planned = await planAll(sessions, progress.read);
    return { planned, valid: fileErrors === 0, fileErrors, placeOf, progress, close: sessions.close };
  } catch (error) {
    await sessions.close();
    throw error;
  } finally {
    await progress.rest();
  }
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
): Promise<Declared> {
  const now = options.asOf ?? io.now();
  const loaded = await loadStates(paths, { merchants: options.merchant, cwd: io.cwd, now });
  await tellDiagnostics(loaded.diagnostics, options, io);
  const { shard } = options;
  const states = shard ? loaded.states.filter(({ merchant }) => isInShard(merchant, shard)) : loaded.states;
  return { loaded, states, fileErrors: loaded.diagnostics.filter(isError).length, now };
}

type PrepareOptions = ServiceOptions &
  OutputOptions & {
    readonly asOf?: number;
    readonly signal?: AbortSignal;
    /** Where the caller tells something meanwhile, too. */
    readonly progress?: Progress;
  };

/** Tells on stderr what is wrong with files. */
export async function tellDiagnostics(
  diagnostics: readonly Diagnostic[],
  options: OutputOptions,
  io: Io,
): Promise<void> {
  if (diagnostics.length === 0) return;
  const { renderDiagnostics } = await import("../render/diagnostics-text.ts");
  io.stderr.write(`${renderDiagnostics(diagnostics, styleFor(io.stderr, io, options.color))}\n`);
}
