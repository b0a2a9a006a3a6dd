import { access } from "node:fs/promises";
import { resolve } from "node:path";
import type { DesiredState } from "../model/desired.ts";
import { RolecallError } from "../model/errors.ts";
import type { PastRun, UndoNote } from "../model/past-run.ts";
import { normalizeServiceUrl } from "../plan/service-url.ts";
import { netEffects } from "../plan/undo/net-effects.ts";
import { undoPlan } from "../plan/undo/undo-plan.ts";
import { accessFor } from "./credentials.ts";
import { defaultPath } from "./files.ts";
import type { Io } from "./io.ts";
import { isError, type Loaded, loadStates } from "./load.ts";
import type { OutputOptions, ServiceOptions } from "./options.ts";
import { type FoundRun, findRun } from "./past-runs.ts";
import { rulePlaces } from "./places.ts";
import { openSessions, planAll } from "./planning.ts";
import { failuresOf, type Prepared, tellDiagnostics } from "./prepare.ts";
import { openProgress } from "./progress.ts";

/** The plan that takes a run back, and what comes back differently or not at all. */
export interface UndoPrepared extends Prepared {
  /** The name of the run. */
  readonly run: string;
  readonly notes: readonly UndoNote[];
}

/** Journal and file → live state → the plan that takes the run back. */
export async function prepareUndo(
  text: string,
  paths: readonly string[],
  options: Omit<ServiceOptions, "shard"> &
    OutputOptions & { readonly signal?: AbortSignal; readonly out?: string },
  io: Io,
): Promise<UndoPrepared> {
  const found = await findRun(text, { merchants: options.merchant }, io);
  const past = readable(found, options.merchant);
  const { state, loaded } = await settingsFor(past, paths, options, io);
  sameService(past, accessFor(state, options.baseUrl, io.env).baseUrl);
  let notes: readonly UndoNote[] = [];
  const progress = await openProgress(options, io);
  const sessions = await openSessions(
    [state],
    {
      ...options,
      emit: progress.live,
      roleIds: rolesOf(past),
      makePlan: (input) => {
        const undo = undoPlan(past, input);
        notes = undo.notes;
        return undo.plan;
      },
    },
    io,
  );
  try {
    progress.reading([state.merchant]);
    const planned = await planAll(sessions, progress.read);
    const placeOf = rulePlaces(loaded.states, loaded.sources);
    const fileErrors = loaded.diagnostics.filter(isError).length;
    const valid = fileErrors === 0;
    const failures = failuresOf(loaded, planned);
    return {
      run: found.name,
      notes,
      planned,
      valid,
      fileErrors,
      failures,
      placeOf,
      progress,
      close: sessions.close,
    };
  } catch (error) {
    await sessions.close();
    throw error;
  } finally {
    await progress.rest();
  }
}

function readable(found: FoundRun, merchants: readonly string[]): PastRun {
  if (!("past" in found)) {
    throw new RolecallError("file-invalid", `This journal cannot be read: ${found.unreadable}.`, {
      hint: "Without it nobody knows what the run did. To go back, bring back the file as it was, and apply it.",
    });
  }
  const { past, name, status } = found;
  const { merchant, pid } = past.run;
  if (merchants.length > 0 && !merchants.includes(merchant)) {
    throw new RolecallError("usage", `The run ${name} is of ${merchant}, not of ${merchants.join(", ")}.`);
  }
  if (status === "running") {
    throw new RolecallError("usage", `The run ${name} is not over: process ${pid} is still at it.`, {
      hint: "Wait for its end, or stop it with Ctrl-C where it runs.",
    });
  }
  return past;
}

/** Guards, policies, checks and how the service is reached, from the merchant's file; without one, the defaults. */
async function settingsFor(
  { run: { merchant, environment } }: PastRun,
  paths: readonly string[],
  options: OutputOptions & { readonly out?: string },
  io: Io,
): Promise<{ readonly state: DesiredState; readonly loaded: Loaded }> {
  const without: Loaded = { sources: [], states: [], diagnostics: [] };
  const anyFile = paths.length > 0 || (await isThere(resolve(io.cwd, defaultPath(io.cwd))));
  const loaded = anyFile
    ? await loadStates(paths, { merchants: [], cwd: io.cwd, now: io.now(), outputs: [options.out] })
    : without;
  await tellDiagnostics(loaded.diagnostics, options, io);
  const state = loaded.states.find((one) => one.merchant === merchant);
  if (state) return { state, loaded };
  if (loaded.diagnostics.some(isError)) {
    throw new RolecallError("file-invalid", `The guards of ${merchant} cannot be read: a file has errors.`, {
      hint: "Solve them first, or name the merchant's own file after the run.",
    });
  }
  io.stderr.write(`No file is about ${merchant}: only the default guards are kept.\n`);
  return { state: { ...NO_FILE, merchant, ...(environment && { environment }) }, loaded };
}

const NO_FILE: Omit<DesiredState, "merchant"> = {
  sync: { roles: "additive", members: "additive", reinvite: true, replaceRoles: true },
  ignore: { roles: [], members: [] },
  guards: { protect: { roles: [], members: [] } },
  policies: { separate: [], maxHolders: {}, requireUntil: [], requireMfa: [], forbidPermissions: [] },
  checks: [],
  origin: { file: "", path: [] },
};

async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** A key is sent to no other place than the run's, and that one only where somebody else than the journal names it. */
function sameService({ run: { service } }: PastRun, baseUrl: string): void {
  if (normalizeServiceUrl(service) === baseUrl) return;
  throw new RolecallError("usage", `The run was at ${service}, and this would be at ${baseUrl}.`, {
    // No command to copy: a journal may come with somebody else's commit, and name any address.
    hint: "To take it back, your key would go to the address of the run, which only the journal tells. Make sure that it is yours before you give it with --base-url.",
  });
}

/** The roles that may come back to somebody: the service lists none that it provides itself. */
function rolesOf(past: PastRun): readonly string[] {
  const { members } = netEffects(past);
  const held = members.flatMap(({ before, after }) => [...(before?.roles ?? []), ...(after?.roles ?? [])]);
  return [...new Set(held.flatMap(({ id }) => id ?? []))].sort();
}
