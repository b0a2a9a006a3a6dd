import { Command } from "commander";
import type { Drift } from "../../model/drift.ts";
import { warnWithoutEffect } from "../args/option-hints.ts";
import {
  type DocumentOptions,
  type OutputOptions,
  type ServiceOptions,
  withDocumentOptions,
  withOutputOptions,
  withQuietOption,
  withServiceOptions,
} from "../args/options.ts";
import { ExitCode } from "../exit-code.ts";
import type { Io } from "../io/io.ts";
import { outputTo, styleFor, verbosityOf } from "../io/output.ts";
import type { PlannedMerchants } from "../session/plan-merchants.ts";

const FORMATS = ["text", "json", "markdown"] as const;

type Options = ServiceOptions & OutputOptions<(typeof FORMATS)[number]> & DocumentOptions;

/** `drift`: what differs, and which side moved. */
export function driftCommand(io: Io, done: (code: ExitCode) => void): Command {
  const command = new Command("drift")
    .summary("show what differs, and which side changed; changes nothing")
    .description(
      "Compares the files with the live state, and shows for each difference which side changed last: " +
        "live, outside git, or the file, merged but not applied. Shows who gained and lost which " +
        "permissions, and which policies and checks the live access breaks. Changes nothing.",
    )
    .argument("[path...]", "files or folders (default: access/)")
    .addHelpText(
      "after",
      `
Examples:
  rolecall drift                        every merchant below access/
  rolecall drift --format json          for other programs
  rolecall drift --format markdown      for a report or an issue

The time of a file's entry is that of the last commit that touched its lines.
Without git, or for an entry that is gone, the side that changed
last is unknown.

Exits 0 without drift, 2 with drift or if live access breaks a policy or check,
or 1 if a merchant could not be read.
`,
    )
    .action(async (paths: readonly string[], options: Options, command: Command) => {
      if (options.format !== "markdown" && !options.quiet) {
        warnWithoutEffect(command, { maxSize: "without --format markdown" }, io.stderr.write);
      }
      done(await drift(paths, options, io));
    });
  return withDocumentOptions(withOutputOptions(withQuietOption(withServiceOptions(command)), FORMATS));
}

async function drift(paths: readonly string[], options: Options, io: Io): Promise<ExitCode> {
  const { planMerchants } = await import("../session/plan-merchants.ts");
  const prepared = await planMerchants(paths, options, io);
  try {
    const { showPlans } = await import("../show/show-plans.ts");
    const { driftsOf } = await import("../show/drift-times.ts");
    const drifts = await driftsOf(prepared.planned, io);
    await print(drifts, prepared, options, io);
    const { plans, complete } = showPlans(prepared.planned, () => undefined, options, io);
    const blocked = plans.some(({ findings }) => findings.some(({ severity }) => severity === "error"));
    if (!prepared.valid || !complete || blocked) return ExitCode.failed;
    const differs = drifts.some(({ changes, violations }) => changes.length + violations.length > 0);
    return differs ? ExitCode.differences : ExitCode.ok;
  } finally {
    await prepared.close();
  }
}

async function print(
  drifts: readonly Drift[],
  prepared: PlannedMerchants,
  options: Options,
  io: Io,
): Promise<void> {
  const { format } = options;
  const { sink, end } = outputTo(options.output, io);
  switch (format) {
    case "json": {
      const { driftsJson } = await import("../../render/formats/json-output.ts");
      sink.write(driftsJson(drifts, prepared.failures));
      break;
    }
    case "markdown": {
      const [{ renderReview }, { driftView }, { unplannedOf }] = await Promise.all([
        import("../../render/markdown/render-review.ts"),
        import("../../render/view/drift-view.ts"),
        import("../show/show-plans.ts"),
      ]);
      const unplanned = unplannedOf(prepared.planned);
      const views = drifts.map((drift) => driftView(drift, prepared.placeOf));
      const { fileErrors } = prepared;
      sink.write(renderReview({ command: "drift", views, unplanned, fileErrors }, options.maxSize));
      break;
    }
    case "text": {
      if (drifts.length === 0) break;
      const { renderDrifts } = await import("../../render/text/drift-text.ts");
      const { driftView } = await import("../../render/view/drift-view.ts");
      const views = drifts.map((drift) => driftView(drift, prepared.placeOf));
      sink.write(renderDrifts(views, styleFor(sink, io, options.color), verbosityOf(options)));
      break;
    }
    default:
      format satisfies never;
  }
  await end();
}
