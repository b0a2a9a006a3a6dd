import { access } from "node:fs/promises";
import { resolve } from "node:path";
import { readConsent } from "../../app/apply/approval.ts";
import { createCancellation } from "../../app/apply/cancellation.ts";
import { ExitCode, type Io, type TextWriter } from "../../app/io/io.ts";
import { checkOutputs, standardStream } from "../../app/io/output.ts";
import { styleFor, verbosityOf } from "../../app/io/terminal.ts";
import { journalFiles } from "../../app/journal/read-journals.ts";
import { fileJournals } from "../../app/journal/write-journal.ts";
import { type PlannedMerchants, planLoaded } from "../../app/plan/plan-merchants.ts";
import type { ProgressDisplay } from "../../app/progress/log-progress.ts";
import type { OutputOptions, ServiceOptions } from "../../app/project/command-options.ts";
import { isFileError } from "../../app/project/file-errors.ts";
import { defaultPath } from "../../app/project/find-files.ts";
import { type Loaded, loadStates } from "../../app/project/load-states.ts";
import { resolveConnection } from "../../app/session/connection.ts";
import { type Planned, withRunOverrides } from "../../app/session/session.ts";
import { printDiagnostics } from "../../app/show/print-diagnostics.ts";
import { printUnread, savePlans, unplannedOf } from "../../app/show/show-plans.ts";
import { writeDocument } from "../../app/show/write-document.ts";
import type { PlanInput } from "../../kernel/plan/build-plan.ts";
import { NO_POLICIES } from "../../kernel/rules/settings/every-setting.ts";
import { oneLine } from "../../lib/escape.ts";
import { normalizeServiceUrl } from "../../lib/text.ts";
import type { MerchantNote, PastRun, UndoNote } from "../../model/apply.ts";
import type { DesiredState } from "../../model/desired.ts";
import { RolecallError } from "../../model/errors.ts";
import { netEffects } from "../../runs/net-effects.ts";
import { withRestoredViolations } from "../../runs/restored-violations.ts";
import { undoPlan } from "../../runs/undo-plan.ts";
import { documentText } from "../../show/blocks/text-blocks.ts";
import { undoNotes } from "../../show/documents/run-notes.ts";
import { eventJson } from "../../show/machine/machine-formats.ts";
import { RECORD_TRUST } from "../../show/view/run-view.ts";
import { type ApplyOptions, applyPlanned, endedEarly } from "../apply/apply-merchants.ts";
import { openProgress } from "../progress/open-progress.ts";
import { findRun, type Run } from "../runs/past-runs.ts";

/** The options of `undo`. */
export type UndoCommandOptions = Omit<ServiceOptions, "shard"> &
  OutputOptions<"text" | "json"> &
  Pick<ApplyOptions, "yes" | "allow" | "approved" | "recheck" | "records" | "allowPublic"> & {
    readonly out?: string;
    readonly dryRun?: true;
    /** Also reverts a run by a record whose authenticity is not proven. */
    readonly allowUnverified?: true;
  };

/** Plans what reverts a run, shows what cannot be fully restored, asks, and applies it. */
export async function revertRun(
  run: string,
  paths: readonly string[],
  options: UndoCommandOptions,
  io: Io,
): Promise<ExitCode> {
  if (options.out !== undefined) {
    checkOutputs([options.out], [...(options.approved ?? []), ...(await journalFiles(io.cwd))], io.cwd);
  }
  const early = changesNothing(options) ? rethrow : endedEarly(options, io);
  const consent = await readConsent(options, io).catch(early);
  const progress = openProgress(options, io);
  const say = (text: string) => void progress.io.stderr.write(`${text}\n`);
  const cancellation = createCancellation(say, io, progress.interrupted);
  try {
    const planOptions = { ...options, signal: cancellation.cancelled, display: progress };
    const prepared = await planUndo(run, paths, planOptions, io).catch(early);
    try {
      printUndoNotes(prepared, options, io);
      if (changesNothing(options)) return await onlyShow(prepared, options, io);
      const openJournal = fileJournals(io, { undoes: prepared.run });
      return await applyPlanned(
        prepared,
        { ...options, rotatePassword: [] },
        { cancellation, openJournal, consent, undoes: prepared.run },
        io,
      );
    } finally {
      await prepared.close();
    }
  } finally {
    cancellation.close();
  }
}

function changesNothing({ dryRun, out }: UndoCommandOptions): boolean {
  return dryRun === true || out !== undefined;
}

function rethrow(error: unknown): never {
  throw error;
}

/** Prints what cannot be fully restored: as the first JSON event of an apply, else ahead of the plan or on stderr. */
function printUndoNotes({ run, notes }: PlannedUndo, options: UndoCommandOptions, io: Io): void {
  if (options.format === "json" && !changesNothing(options)) {
    io.stdout.write(eventJson({ type: "undo", run, notes }, new Date(io.now()).toISOString()));
    return;
  }
  const sink = options.format === "json" ? io.stderr : shownOn(options, io);
  const text = documentText(undoNotes(notes, verbosityOf(options)), styleFor(sink, io, options.color));
  if (text !== "") sink.write(`${text}\n`);
}

/** Chooses the stream that shows the plan: stderr if the saved one goes to stdout. */
function shownOn({ out }: UndoCommandOptions, io: Io): TextWriter {
  return out !== undefined && standardStream(out) === "stdout" ? io.stderr : io.stdout;
}

async function onlyShow(prepared: PlannedUndo, options: UndoCommandOptions, io: Io): Promise<ExitCode> {
  if (options.yes) {
    throw new RolecallError(
      "usage",
      "--yes cannot be combined with --dry-run or --out, which change nothing.",
      {
        hint: "Remove one of them.",
      },
    );
  }
  const { plans, complete } = printUnread(prepared.planned, options, io);
  const unplanned = unplannedOf(prepared.planned);
  const output = { sink: shownOn(options, io), end: async () => undefined };
  await writeDocument("plans", { ...prepared, plans, unplanned, command: "undo" }, options, io, output);
  if (options.out !== undefined && complete) {
    await savePlans(plans, prepared.failures, options.out, io);
  }
  if (!complete || !prepared.valid) return ExitCode.failed;
  return plans.some(({ refusals }) => refusals.length > 0) ? ExitCode.refused : ExitCode.ok;
}

/** The plans that revert a run, and notes on what cannot be fully restored. */
interface PlannedUndo extends PlannedMerchants {
  /** The id of the run. */
  readonly run: string;
  readonly notes: readonly MerchantNote[];
}

/** Plans the changes that revert a run, from its journals, the files and the live state; one plan for each merchant. */
async function planUndo(
  text: string,
  paths: readonly string[],
  options: Omit<ServiceOptions, "shard"> &
    OutputOptions & {
      readonly signal?: AbortSignal;
      readonly out?: string;
      readonly allowUnverified?: true;
      readonly display: ProgressDisplay;
    },
  io: Io,
): Promise<PlannedUndo> {
  const run = await findRun(text, { merchants: options.merchant }, io);
  requireTrust(run, options);
  const parts = readable(run);
  const { states, loaded } = await settingsFor(parts, paths, options, io);
  const undone = new Map(parts.map((past) => [past.run.merchant, past]));
  for (const state of states) {
    sameService(undone.get(state.merchant), resolveConnection(state, options.baseUrl, io.env).baseUrl);
  }
  const notes = new Map<string, readonly UndoNote[]>();
  const planning = {
    ...options,
    roleIds: (merchant: string) => rolesOf(undone.get(merchant)),
    makePlan: (input: PlanInput) => {
      const { merchant } = input.desired;
      const past = undone.get(merchant);
      if (past === undefined) throw new Error(`${merchant} is not part of the run`);
      const undo = undoPlan(past, input);
      notes.set(merchant, undo.notes);
      return undo.plan;
    },
  };
  const merchants = await planLoaded(loaded, states, judgedTogether, planning, options.display, io);
  return {
    ...merchants,
    run: run.name,
    notes: states.flatMap(({ merchant }) =>
      (notes.get(merchant) ?? []).map((note) => ({ ...note, merchant })),
    ),
  };
}

/** Judges the plans by the limits of a run and the rules across merchants. */
function judgedTogether(planned: readonly Planned[], project: readonly DesiredState[]): readonly Planned[] {
  return withRunOverrides(planned, project).map((outcome) =>
    outcome.status === "planned" ? { ...outcome, plan: withRestoredViolations(outcome.plan) } : outcome,
  );
}

/** Throws RolecallError for a run whose record somebody else may have written, or that has no end. */
function requireTrust({ name, record, status }: Run, options: { readonly allowUnverified?: true }): void {
  if (record === undefined) return;
  const { place, trust } = record;
  const who = `Anybody who can push to ${oneLine(place)} may have written it, to make an undo grant what no file declares.`;
  const isAllowed = options.allowUnverified && trust !== "altered";
  if (trust !== "verified" && !isAllowed) {
    const hints = {
      altered: "Revert the commit of the files instead, and apply them.",
      unsigned: WITHOUT_PROOF,
      foreign: `Set ROLECALL_APPROVAL_SECRET to the key that signed it. ${WITHOUT_PROOF}`,
      unchecked: `Set ROLECALL_APPROVAL_SECRET to the key that signed it. ${WITHOUT_PROOF}`,
    };
    throw new RolecallError(
      "record-untrusted",
      `The record of ${oneLine(name)} is ${RECORD_TRUST[trust]}. ${who}`,
      { hint: hints[trust] },
    );
  }
  if (status === "began") {
    throw new RolecallError("usage", `Only the beginning of ${oneLine(name)} is recorded, not what it did.`, {
      hint: 'It may still be running. If its machine is lost, "rolecall plan" shows how the live state differs from the files.',
    });
  }
}

const WITHOUT_PROOF =
  'To revert it anyway, first check it with "rolecall runs", then add --allow-unverified.';

/** Returns the parts of a run that changed something; all parts if none did. */
function readable({ name, journals, status }: Run): readonly PastRun[] {
  const parts = journals.map((journal) => {
    if ("past" in journal) return journal.past;
    const hint = journals.length > 1 ? " To revert the rest, select its merchants with --merchant." : "";
    throw new RolecallError("file-invalid", `This journal cannot be read: ${journal.unreadable}.`, {
      hint: `Without it, the outcome of the run is unknown. To revert it, restore the earlier file and apply it.${hint}`,
    });
  });
  if (status === "running") {
    throw new RolecallError("usage", `The run ${name} is still running: process ${parts[0]?.run.pid}.`, {
      hint: "Wait until it ends, or stop it with Ctrl-C.",
    });
  }
  const did = parts.filter((past) => Object.values(netEffects(past)).some((effects) => effects.length > 0));
  return did.length > 0 ? did : parts;
}

/**
 * Loads guards, policies, checks and the connection from the merchants' files; the defaults for a merchant without a
 * file.
 */
async function settingsFor(
  parts: readonly PastRun[],
  paths: readonly string[],
  options: OutputOptions & { readonly out?: string },
  io: Io,
): Promise<{ readonly states: readonly DesiredState[]; readonly loaded: Loaded }> {
  const without: Loaded = {
    sources: [],
    states: [],
    all: [],
    project: [],
    diagnostics: [],
    previousNames: [],
  };
  const anyFile = paths.length > 0 || (await isThere(resolve(io.cwd, defaultPath(io.cwd))));
  const loaded = anyFile
    ? await loadStates(paths, {
        merchants: [],
        cwd: io.cwd,
        now: io.now(),
        outputs: [options.out],
        inputs: await journalFiles(io.cwd),
      })
    : without;
  printDiagnostics(loaded.diagnostics, options, io);
  const statesByMerchant = new Map(loaded.states.map((state) => [state.merchant, state]));
  const missing = parts.map(({ run }) => run.merchant).filter((merchant) => !statesByMerchant.has(merchant));
  if (missing.length > 0) {
    const names = oneLine(missing.join(", "));
    if (loaded.diagnostics.some(isFileError)) {
      throw new RolecallError("file-invalid", `The guards of ${names} cannot be read: a file has errors.`, {
        hint: "Fix them first, or pass the merchant's own file after the run.",
      });
    }
    io.stderr.write(`No file declares ${names}: only the default guards apply.\n`);
  }
  const states = parts.map(
    ({ run: { merchant, environment } }) =>
      statesByMerchant.get(merchant) ?? { ...NO_FILE, merchant, ...(environment && { environment }) },
  );
  return { states, loaded };
}

const NO_FILE: Omit<DesiredState, "merchant"> = {
  sync: { roles: "additive", members: "additive", reinvite: true, replaceRoles: true },
  ignore: { roles: [], members: [] },
  guards: { protect: { roles: [], members: [] } },
  policies: NO_POLICIES,
  checks: [],
  // The default guards apply.
  members: [],
  origin: { file: "", path: [] },
};

async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/**
 * Checks that the key is sent only to the run's service, and only if a file, an option or the environment names it too.
 */
function sameService(past: PastRun | undefined, baseUrl: string): void {
  if (past === undefined || normalizeServiceUrl(past.run.service) === baseUrl) return;
  throw new RolecallError(
    "usage",
    `The run was at ${past.run.service}, but the configured service is ${baseUrl}.`,
    {
      // The hint holds no command to copy: a journal may come with another person's commit, and name any address.
      hint: "Reverting it would send your API key to the address in the journal. Make sure that you trust that address, then pass it with --base-url.",
    },
  );
}

/** Returns the roles that an undo may grant again; the service does not list its predefined ones. */
function rolesOf(past: PastRun | undefined): readonly string[] {
  const { members } = netEffects(past ?? { writes: [] });
  const held = members.flatMap(({ before, after }) => [...(before?.roles ?? []), ...(after?.roles ?? [])]);
  return [...new Set(held.flatMap(({ id }) => id ?? []))].sort();
}
