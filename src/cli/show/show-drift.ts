import { adoptPlanned, ofDrift, undecidedNote } from "../../app/adopt/adopt-planned.ts";
import { ExitCode, type Io, type TextWriter } from "../../app/io/io.ts";
import { outputTo } from "../../app/io/output.ts";
import { styleFor } from "../../app/io/terminal.ts";
import { openLiveBranch } from "../../app/live-branch/open-live-branch.ts";
import { liveReadings, liveRecorder } from "../../app/live-branch/record-live.ts";
import { withRecordedSpans } from "../../app/live-branch/recorded-changes.ts";
import type { PlannedMerchants } from "../../app/plan/plan-merchants.ts";
import type { DocumentOptions, OutputOptions, ServiceOptions } from "../../app/project/command-options.ts";
import { isShallow, SHALLOW_WARNING } from "../../app/project/git-history.ts";
import { plannedOnly } from "../../app/session/session.ts";
import { driftsOf } from "../../app/show/drifts-of.ts";
import { printUnread, unplannedOf } from "../../app/show/show-plans.ts";
import { writeDocument } from "../../app/show/write-document.ts";
import { oneLine } from "../../lib/escape.ts";
import type { Drift } from "../../model/reports.ts";
import { patchText, renderPatch } from "../../show/text/patch-text.ts";
import { withPlans } from "../progress/with-plans.ts";

/** The options of `drift`. */
export type DriftCommandOptions = ServiceOptions &
  OutputOptions &
  DocumentOptions & {
    /** Shows the patch that adopts what happened outside git, instead of the differences. */
    readonly patch?: true;
  };

/** Shows the drift of the files' merchants; returns `differences` if there is any. */
export async function showDrift(
  paths: readonly string[],
  options: DriftCommandOptions,
  io: Io,
): Promise<ExitCode> {
  // A patch of a shared file concerns other merchants, too.
  return withPlans(paths, { ...options, everyFile: options.patch === true }, io, async (merchants) => {
    const sessions = plannedOnly(merchants.planned);
    const states = sessions.map(({ session }) => session.state);
    const say = (text: string): void => void (options.quiet || io.stderr.write(`${text}\n`));
    const warn = (text: string): void => void io.stderr.write(`warning: ${text}\n`);
    const branch = await openLiveBranch(states, "Live states cannot be recorded.", warn, io);
    if (branch) await liveRecorder(branch, { say, warn }, io)(liveReadings(sessions), "drift");
    const undated = await driftsOf(merchants.planned, merchants.project.project, io);
    const drifts = branch ? await withRecordedSpans(undated, branch, warn) : undated;
    await warnShallow(drifts, io);
    const { plans, complete } = printUnread(merchants.planned, options, io);
    if (options.patch) {
      const { sink, end } = outputTo(options.output, io);
      printPatch(drifts, merchants, { options, sink }, io);
      await end();
    } else {
      const unplanned = unplannedOf(merchants.planned);
      await writeDocument("drifts", { ...merchants, drifts, unplanned }, options, io);
    }
    const blocked = plans.some(({ findings }) => findings.some(({ severity }) => severity === "error"));
    if (!merchants.valid || !complete || blocked) return ExitCode.failed;
    const differs = drifts.some(({ changes, violations }) => changes.length + violations.length > 0);
    return differs ? ExitCode.differences : ExitCode.ok;
  });
}

/** Explains that the side that changed last is unknown if the clone is shallow. */
async function warnShallow(drifts: readonly Drift[], io: Io): Promise<void> {
  const isUnknown = drifts.some(({ changes }) => changes.some(({ cause }) => cause === "unknown"));
  if (isUnknown && (await isShallow(io.cwd))) io.stderr.write(`${SHALLOW_WARNING}\n`);
}

/** Prints the patch that adopts what happened outside git, for `git apply`; in colours on a terminal. */
function printPatch(
  drifts: readonly Drift[],
  { planned, project, failures }: PlannedMerchants,
  { options, sink }: { readonly options: DriftCommandOptions; readonly sink: TextWriter },
  io: Io,
): void {
  const drifted = plannedOnly(planned).flatMap((outcome, index) => {
    const drift = drifts[index];
    return drift === undefined ? [] : ofDrift(outcome, drift, ["outside-git"]);
  });
  const { patches, conflicts } = adoptPlanned(drifted, project, io.now());
  for (const conflict of conflicts) io.stderr.write(`not adopted: ${oneLine(conflict)}\n`);
  for (const note of drifts.flatMap(undecidedNote)) io.stderr.write(`${oneLine(note)}\n`);
  if (patches.length + failures.length === 0)
    io.stderr.write("The patch is empty: there is nothing to adopt.\n");
  const style = styleFor(sink, io, options.color);
  sink.write(sink.isTTY ? renderPatch(patches, style) : patchText(patches));
}
