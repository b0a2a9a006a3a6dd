import { Command } from "commander";
import type { Drift } from "../../model/drift.ts";
import { ExitCode } from "../exit-code.ts";
import type { Io } from "../io.ts";
import {
  type OutputOptions,
  type ServiceOptions,
  withOutputOptions,
  withServiceOptions,
} from "../options.ts";
import { styleFor } from "../output.ts";
import type { Planned } from "../planning.ts";

type Options = ServiceOptions & OutputOptions;

/** `drift`: what differs, and which side moved. */
export function driftCommand(io: Io, done: (code: ExitCode) => void): Command {
  const command = new Command("drift")
    .summary("show what differs, and which side moved; changes nothing")
    .description(
      "Compares the files with what is live, and tells for each difference which side moved last: " +
        "the live one, outside git, or the file, merged but not applied. Changes nothing.",
    )
    .argument("[path...]", "files or folders (default: access/)")
    .addHelpText(
      "after",
      `
Examples:
  rolecall drift                        every merchant below access/
  rolecall drift --format json          for other programs

The time of a file's entry is that of the last commit that touched its lines; without git,
or for what is not there any more, it is not known which side moved.

Exits 0 without drift, 2 with drift, 1 when a merchant could not be read.
`,
    )
    .action(async (paths: readonly string[], options: Options) => done(await drift(paths, options, io)));
  return withOutputOptions(withServiceOptions(command));
}

async function drift(paths: readonly string[], options: Options, io: Io): Promise<ExitCode> {
  const { preparePlans } = await import("../prepare.ts");
  const prepared = await preparePlans(paths, options, io);
  try {
    const { showPlans } = await import("../show-plans.ts");
    const drifts = await Promise.all(prepared.planned.map((planned) => toDrift(planned, io)));
    await print(drifts.flat(), options, io);
    const { plans, complete } = showPlans(prepared.planned, () => undefined, options, io);
    const blocked = plans.some(({ findings }) => findings.some(({ severity }) => severity === "error"));
    if (!prepared.valid || !complete || blocked) return ExitCode.failed;
    return plans.some(({ changes }) => changes.length > 0) ? ExitCode.differences : ExitCode.ok;
  } finally {
    await prepared.close();
  }
}

async function toDrift(planned: Planned, io: Io): Promise<readonly Drift[]> {
  if (!("plan" in planned)) return [];
  const [{ driftOf }, { driftTimes }] = await Promise.all([
    import("../../plan/drift.ts"),
    import("../drift-times.ts"),
  ]);
  const { session, plan, live } = planned;
  if (plan.changes.length === 0) return [{ plan, changes: [] }];
  return [driftOf(plan, await driftTimes(session.state, live, io))];
}

async function print(drifts: readonly Drift[], options: Options, io: Io): Promise<void> {
  if (options.format === "json") {
    const { driftsJson } = await import("../../render/json.ts");
    io.stdout.write(driftsJson(drifts));
  } else if (drifts.length > 0) {
    const { renderDrifts } = await import("../../render/drift-text.ts");
    io.stdout.write(renderDrifts(drifts, styleFor(io.stdout, io, options.color)));
  }
}
