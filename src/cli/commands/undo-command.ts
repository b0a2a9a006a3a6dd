import { Command, Option } from "commander";
import { RolecallError } from "../../model/errors.ts";
import { warnWithoutEffect } from "../args/option-hints.ts";
import {
  type OutputOptions,
  type ServiceOptions,
  withConnectionOptions,
  withMerchantOption,
  withOutputOptions,
  withQuietOption,
} from "../args/options.ts";
import { ExitCode } from "../exit-code.ts";
import { checkOutputs, standardStream } from "../files/output-path.ts";
import type { Io, TextWriter } from "../io/io.ts";
import { styleFor } from "../io/output.ts";
import type { PlannedUndo } from "../journal/plan-undo.ts";
import { type ApplyOptions, endedEarly } from "./apply-command.ts";

type Options = Omit<ServiceOptions, "shard"> &
  OutputOptions<"text" | "json"> &
  Pick<ApplyOptions, "yes" | "allow" | "approved" | "recheck"> & {
    readonly out?: string;
    readonly dryRun?: true;
  };

/** `undo`: takes a past apply back. */
export function undoCommand(io: Io, done: (code: ExitCode) => void): Command {
  const command = new Command("undo")
    .summary("revert a past apply, after asking")
    .description(
      "Plans the changes that revert a past apply at all its merchants, from its journals and the live state, shows what cannot be fully restored, asks, and applies them. Leaves alone what the apply did not touch, and what was changed since.",
    )
    .argument("<run>", 'a run\'s id, a unique prefix of it, or "latest"')
    .argument("[path...]", "files or folders with the merchants' guards and policies (default: access/)")
    .option("-y, --yes", "do not ask; needed where there is no terminal")
    .option("--dry-run", "show the plan; change nothing")
    .option("--out <file>", "save the plan as JSON, for undo --approved; change nothing")
    .option("--approved <file>", "apply only what this saved plan holds; anything new is refused")
    .addOption(
      new Option("--allow <override>", "override a refusal; the plan prints the value to give here")
        .argParser((text: string, all: readonly string[]) => [...all, text])
        .default([], "none"),
    )
    .option("--no-recheck", "do not read each role and member again right before it is changed")
    .addHelpText(
      "after",
      `
Examples:
  rolecall undo latest --dry-run        what it would do, and what it cannot do
  rolecall undo latest                  asks before it changes anything
  rolecall undo latest -m MC4F7K2P      the last run of one merchant, only there
  rolecall undo 2026-11-21T13-05 --yes  for pipelines: no question

One apply is one run. Without --merchant, which may be given more than once, it
is reverted at all its merchants, in one run of its own. Guards, policies and
checks come from the merchants' files, if there are any, and refuse as they do
for apply. What cannot be restored is shown first: a member whose accepted
membership was removed is invited again and has to accept again; recreated roles
and members have new ids; the password of a managed user comes from the file's
password_env.

Change the file as well, or the next apply makes the reverted changes again. An
undo leaves a journal too, so it can be reverted itself.

Exits 0 if everything is done, 1 if nothing was changed, 3 if the undo was
refused, or 4 if it stopped part-way or changes remain.
`,
    )
    .action(async (run: string, paths: readonly string[], options: Options, command: Command) => {
      if (changesNothing(options) && !options.quiet) {
        const unused = `with ${options.dryRun ? "--dry-run" : "--out"}, which changes nothing`;
        warnWithoutEffect(command, { approved: unused, allow: unused, recheck: unused }, io.stderr.write);
      }
      done(await undo(run, paths, options, io));
    });
  return withOutputOptions(withQuietOption(withConnectionOptions(withMerchantOption(command))));
}

async function undo(run: string, paths: readonly string[], options: Options, io: Io): Promise<ExitCode> {
  if (options.out !== undefined) {
    const { journalFiles } = await import("../journal/read-journals.ts");
    checkOutputs([options.out], [options.approved, ...(await journalFiles(io.cwd))], io.cwd);
  }
  const [{ planUndo }, { createCancellation }, { readConsent }] = await Promise.all([
    import("../journal/plan-undo.ts"),
    import("../apply/cancellation.ts"),
    import("../review/approval.ts"),
  ]);
  const early = changesNothing(options) ? rethrow : endedEarly(options, io);
  const consent = await readConsent(options, io).catch(early);
  const cancellation = createCancellation((text) => io.stderr.write(`${text}\n`), io);
  try {
    const prepared = await planUndo(run, paths, { ...options, signal: cancellation.cancelled }, io).catch(
      early,
    );
    try {
      await tellNotes(prepared, options, io);
      if (changesNothing(options)) return await onlyShow(prepared, options, io);
      const [{ applyPlanned }, { fileJournals }] = await Promise.all([
        import("./apply-command.ts"),
        import("../journal/write-journal.ts"),
      ]);
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

function changesNothing({ dryRun, out }: Options): boolean {
  return dryRun === true || out !== undefined;
}

function rethrow(error: unknown): never {
  throw error;
}

/** What does not come back stands ahead of the plan; for programs as the first event, or beside the plan on stderr. */
async function tellNotes({ run, notes }: PlannedUndo, options: Options, io: Io): Promise<void> {
  if (options.format === "json" && !changesNothing(options)) {
    const { eventJson } = await import("../../render/formats/json-output.ts");
    io.stdout.write(eventJson({ type: "undo", run, notes }, new Date(io.now()).toISOString()));
    return;
  }
  const { renderUndoNotes } = await import("../../render/text/run-notices.ts");
  const sink = options.format === "json" ? io.stderr : shownOn(options, io);
  sink.write(renderUndoNotes(notes, styleFor(sink, io, options.color)));
}

/** Chooses the stream that shows the plan: stderr if the saved one goes to stdout. */
function shownOn({ out }: Options, io: Io): TextWriter {
  return out !== undefined && standardStream(out) === "stdout" ? io.stderr : io.stdout;
}

async function onlyShow(prepared: PlannedUndo, options: Options, io: Io): Promise<ExitCode> {
  if (options.yes) {
    throw new RolecallError("usage", "--yes applies, and --dry-run and --out change nothing.", {
      hint: "Leave one of them out.",
    });
  }
  const [{ showPlans }, { plansPrinter }] = await Promise.all([
    import("../show/show-plans.ts"),
    import("../show/show-plans.ts"),
  ]);
  const { plans, complete } = showPlans(
    prepared.planned,
    plansPrinter({ ...prepared, options, sink: shownOn(options, io) }, io),
    options,
    io,
  );
  if (options.out !== undefined && complete) {
    const { savePlans } = await import("./plan-command.ts");
    await savePlans(plans, prepared.failures, options.out, io);
  }
  if (!complete || !prepared.valid) return ExitCode.failed;
  return plans.some(({ refusals }) => refusals.length > 0) ? ExitCode.refused : ExitCode.ok;
}
