import { resolve } from "node:path";
import { Command } from "commander";
import type { FailureJson } from "../../model/events.ts";
import type { Plan } from "../../model/plan.ts";
import { warnWithoutEffect } from "../args/option-hints.ts";
import {
  type DocumentOptions,
  type OutputOptions,
  parseAsOf,
  type ServiceOptions,
  withDocumentOptions,
  withOutputOptions,
  withQuietOption,
  withReinviteOption,
  withServiceOptions,
} from "../args/options.ts";
import { ExitCode } from "../exit-code.ts";
import { standardStream } from "../files/output-path.ts";
import type { Io, TextWriter } from "../io/io.ts";
import type { PlannedMerchants } from "../session/plan-merchants.ts";
import type { PrintPlans } from "../show/show-plans.ts";

const FORMATS = ["text", "json", "markdown", "html"] as const;

type Options = ServiceOptions &
  OutputOptions<(typeof FORMATS)[number]> &
  DocumentOptions & {
    readonly detailedExitcode?: true;
    readonly out?: string;
    readonly asOf?: number;
    readonly reinvite: readonly string[];
    readonly interactive?: true;
  };

/** `plan`: what an apply would change. */
export function planCommand(io: Io, done: (code: ExitCode) => void): Command {
  const command = new Command("plan")
    .summary("show what would change; changes nothing")
    .description(
      "Reads the live state, compares it with the files, and shows what an apply would change. Changes nothing.",
    )
    .argument("[path...]", "files or folders (default: access/)")
    .option("-i, --interactive", "look through the plan with the keyboard; it is printed when you leave")
    .option("--out <file>", "save the plan as JSON, for apply --approved")
    .option("--as-of <day>", "plan as if it were this day, or moment, for end dates to come", parseAsOf)
    .option("--detailed-exitcode", "exit 2 when there are changes, 0 when there are none")
    .addHelpText(
      "after",
      `
Examples:
  rolecall plan                         every merchant below access/
  rolecall plan access/shop.yaml        one file
  rolecall plan --interactive           fold, search, filter; ? lists the keys
  rolecall plan -m MC4F7K2P --format json
  rolecall plan --out plan.json         saves it for apply --approved plan.json
  rolecall plan --format markdown --output plan.md
                                        for a comment in a review
  rolecall plan --format html -o plan.html
                                        a page with the access before and after
  rolecall plan --reinvite bob@example.com
                                        renews an expired invitation; give the
                                        same option to apply
  rolecall plan --as-of 2027-02-01      what a run on that day would do

The API key comes from the environment: the variable that the file names in
api.key_env, else ROLECALL_API_KEY_<MERCHANT>, else ROLECALL_API_KEY.

Exits 0 (also if there are changes), 1 if it could not be done, 2 with
--detailed-exitcode if there are changes, or 3 if a guard, a policy or a check
would refuse the apply.
`,
    )
    .action(async (paths: readonly string[], options: Options, command: Command) => {
      if (options.format !== "markdown" && !options.quiet) {
        warnWithoutEffect(command, { maxSize: "without --format markdown" }, io.stderr.write);
      }
      done(await plan(paths, options, io));
    });
  return withDocumentOptions(
    withOutputOptions(withQuietOption(withServiceOptions(withReinviteOption(command))), FORMATS),
  );
}

async function plan(paths: readonly string[], options: Options, io: Io): Promise<ExitCode> {
  if (options.interactive) {
    (await import("../review/browse-plans.ts")).checkInteractive(options, io);
  }
  const { planMerchants } = await import("../session/plan-merchants.ts");
  const prepared = await planMerchants(paths, { ...options, waiting: loadPrinting }, io);
  try {
    const [{ showPlans }, { plansPrinter }, { outputTo }, { warnUnfinishedRuns }] = await loadPrinting();
    await warnUnfinishedRuns(prepared.planned, options, io);
    if (options.merchant.length === 0 && !options.quiet) {
      const { warnRemovedMerchants } = await import("../files/removed-merchants.ts");
      await warnRemovedMerchants(paths, prepared.declared, options, io);
    }
    if (options.interactive) await browse(prepared, options, io);
    // So that a plan that is saved to stdout stands there alone.
    const shown =
      options.out !== undefined && standardStream(options.out) === "stdout" ? "/dev/stderr" : undefined;
    const output = outputTo(options.output ?? shown, io);
    const { format } = options;
    const print =
      format === "html"
        ? await pagePrinter(prepared, options, output.sink, io)
        : plansPrinter({ ...prepared, options: { ...options, format }, sink: output.sink }, io);
    const { plans, complete } = showPlans(prepared.planned, print, options, io);
    await output.end();
    if (options.out !== undefined) await savePlans(plans, prepared.failures, options.out, io);
    const blocked = plans.some((one) => one.findings.some(({ severity }) => severity === "error"));
    if (!prepared.valid || !complete || blocked) return ExitCode.failed;
    if (plans.some(({ refusals }) => refusals.length > 0)) return ExitCode.refused;
    const differs = plans.some((one) => one.changes.length > 0);
    return options.detailedExitcode && differs ? ExitCode.differences : ExitCode.ok;
  } finally {
    await prepared.close();
  }
}

/** Loads what shows plans: asked for twice, it is loaded once. */
const loadPrinting = () =>
  Promise.all([
    import("../show/show-plans.ts"),
    import("../show/show-plans.ts"),
    import("../io/output.ts"),
    import("../journal/unfinished-runs.ts"),
  ]);

/** Whatever is looked at, nothing is decided: the plan stays the plan. */
async function browse({ planned }: PlannedMerchants, options: Options, io: Io): Promise<void> {
  const { browsePlans } = await import("../review/browse-plans.ts");
  const plans = planned.flatMap((one) => ("plan" in one ? [one.plan] : []));
  if (plans.length > 0) await browsePlans(plans, { ...options, selects: false }, io);
}

/** Prints the plans as one page, with the access before and after. */
async function pagePrinter(
  { planned, placeOf, fileErrors }: PlannedMerchants,
  options: Options,
  sink: TextWriter,
  io: Io,
): Promise<PrintPlans> {
  const [{ renderPage }, { reportOf }, { planView }] = await Promise.all([
    import("../../render/html/html-page.ts"),
    import("../show/show-plans.ts"),
    import("../../render/view/plan-view.ts"),
  ]);
  return (_, unplanned) => {
    const merchants = planned.flatMap((one) =>
      "plan" in one ? [{ report: reportOf(one, true), view: planView(one.plan, placeOf) }] : [],
    );
    sink.write(
      renderPage({ about: "plan", merchants, unplanned, fileErrors, now: options.asOf ?? io.now() }),
    );
  };
}

/** Saves plans as JSON, whole or not at all. */
export async function savePlans(
  plans: readonly Plan[],
  failures: readonly FailureJson[],
  out: string,
  io: Io,
): Promise<void> {
  const { plansJson } = await import("../../render/formats/json-output.ts");
  const stream = standardStream(out);
  if (stream !== null) return io[stream].write(plansJson(plans, failures));
  const { writeAtomically } = await import("../files/atomic-write.ts");
  await writeAtomically(resolve(io.cwd, out), plansJson(plans, failures), { shown: out });
  io.stderr.write(`Saved as ${out}.\n`);
}
