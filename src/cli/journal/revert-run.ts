import { RolecallError } from "../../model/errors.ts";
import { eventJson } from "../../render/formats/json-output.ts";
import { renderUndoNotes } from "../../render/text/run-notices.ts";
import { type ApplyOptions, applyPlanned, endedEarly } from "../apply/apply-merchants.ts";
import { createCancellation } from "../apply/cancellation.ts";
import type { OutputOptions, ServiceOptions } from "../args/options.ts";
import { ExitCode } from "../exit-code.ts";
import type { Io, TextWriter } from "../io/io.ts";
import { checkOutputs, standardStream, styleFor } from "../io/output.ts";
import { readConsent } from "../review/approval.ts";
import { plansPrinter, savePlans, showPlans } from "../show/show-plans.ts";
import { type PlannedUndo, planUndo } from "./plan-undo.ts";
import { journalFiles } from "./read-journals.ts";
import { fileJournals } from "./write-journal.ts";

/** The options of `undo`. */
export type UndoCommandOptions = Omit<ServiceOptions, "shard"> &
  OutputOptions<"text" | "json"> &
  Pick<ApplyOptions, "yes" | "allow" | "approved" | "recheck"> & {
    readonly out?: string;
    readonly dryRun?: true;
  };

/** Plans what reverts a run, shows what cannot be fully restored, asks, and applies it. */
export async function revertRun(
  run: string,
  paths: readonly string[],
  options: UndoCommandOptions,
  io: Io,
): Promise<ExitCode> {
  if (options.out !== undefined) {
    checkOutputs([options.out], [options.approved, ...(await journalFiles(io.cwd))], io.cwd);
  }
  const early = changesNothing(options) ? rethrow : endedEarly(options, io);
  const consent = await readConsent(options, io).catch(early);
  const cancellation = createCancellation((text) => io.stderr.write(`${text}\n`), io);
  try {
    const prepared = await planUndo(run, paths, { ...options, signal: cancellation.cancelled }, io).catch(
      early,
    );
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
  sink.write(renderUndoNotes(notes, styleFor(sink, io, options.color)));
}

/** Chooses the stream that shows the plan: stderr if the saved one goes to stdout. */
function shownOn({ out }: UndoCommandOptions, io: Io): TextWriter {
  return out !== undefined && standardStream(out) === "stdout" ? io.stderr : io.stdout;
}

async function onlyShow(prepared: PlannedUndo, options: UndoCommandOptions, io: Io): Promise<ExitCode> {
  if (options.yes) {
    throw new RolecallError("usage", "--yes applies, and --dry-run and --out change nothing.", {
      hint: "Leave one of them out.",
    });
  }
  const { plans, complete } = showPlans(
    prepared.planned,
    plansPrinter({ ...prepared, options, sink: shownOn(options, io) }, io),
    options,
    io,
  );
  if (options.out !== undefined && complete) {
    await savePlans(plans, prepared.failures, options.out, io);
  }
  if (!complete || !prepared.valid) return ExitCode.failed;
  return plans.some(({ refusals }) => refusals.length > 0) ? ExitCode.refused : ExitCode.ok;
}
