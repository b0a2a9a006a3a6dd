import { Command } from "commander";
import type { AccessReport } from "../../model/access-report.ts";
import { warnWithoutEffect } from "../args/option-hints.ts";
import {
  parseAsOf,
  type ServiceOptions,
  withOutputFileOption,
  withQuietOption,
  withServiceOptions,
} from "../args/options.ts";
import { ExitCode } from "../exit-code.ts";
import type { Io } from "../io/io.ts";
import { outputTo } from "../io/output.ts";

type Options = ServiceOptions & {
  readonly declared?: true;
  readonly output?: string;
  readonly asOf?: number;
  readonly color: boolean;
};

/** `report`: who may do what, as a page for auditors. */
export function reportCommand(io: Io, done: (code: ExitCode) => void): Command {
  const command = new Command("report")
    .summary("write a page that shows who may do what")
    .description(
      "Writes one self-contained HTML page: who holds which role, what roles grant, what each member may do and " +
        "why, end dates, and open invitations. Changes nothing.",
    )
    .argument("[path...]", "files or folders (default: access/)")
    .option("--declared", "show the access in the files, without the network, instead of the live access")
    .option("--as-of <day>", "judge end dates as if it were this day, or moment", parseAsOf)
    .option("--no-color", "print without colours (also: NO_COLOR)")
    .addHelpText(
      "after",
      `
Examples:
  rolecall report --output report.html  the live access of every merchant below
                                        access/
  rolecall report --declared -o report.html
                                        the access in the files, without the
                                        network
  rolecall plan --format html -o plan.html
                                        the same page, with a plan and the
                                        access before and after

The page loads nothing from the network, and can be printed. The service knows
no end dates: they come from the files.

Exits 0, or 1 if a file has an error or a merchant could not be read.
`,
    )
    .action(async (paths: readonly string[], options: Options, command: Command) => {
      if (options.declared && !options.quiet) {
        const offline = "with --declared, which asks no service";
        warnWithoutEffect(
          command,
          { baseUrl: offline, concurrency: offline, retryFor: offline, verbose: offline },
          io.stderr.write,
        );
      }
      done(await report(paths, options, io));
    });
  return withOutputFileOption(withQuietOption(withServiceOptions(command)));
}

async function report(paths: readonly string[], options: Options, io: Io): Promise<ExitCode> {
  return options.declared ? reportDeclared(paths, options, io) : reportLive(paths, options, io);
}

async function reportDeclared(paths: readonly string[], options: Options, io: Io): Promise<ExitCode> {
  const [{ loadDeclared }, { declaredReport }] = await Promise.all([
    import("../session/plan-merchants.ts"),
    import("../../plan/report/build-access-report.ts"),
  ]);
  const { states, fileErrors, now } = await loadDeclared(paths, { ...options, format: "html" }, io);
  const reports = states.map((state) => declaredReport(state, now));
  await write("declared", reports, { options, fileErrors, unplanned: [] }, io);
  return fileErrors > 0 ? ExitCode.failed : ExitCode.ok;
}

async function reportLive(paths: readonly string[], options: Options, io: Io): Promise<ExitCode> {
  const [{ planMerchants }, { showPlans, unplannedOf }, { reportOf }] = await Promise.all([
    import("../session/plan-merchants.ts"),
    import("../show/show-plans.ts"),
    import("../show/show-plans.ts"),
  ]);
  const prepared = await planMerchants(paths, { ...options, format: "html" }, io);
  try {
    const { planned, fileErrors } = prepared;
    const reports = planned.flatMap((one) => ("plan" in one ? [reportOf(one, false)] : []));
    await write("live", reports, { options, fileErrors, unplanned: unplannedOf(planned) }, io);
    const { complete } = showPlans(planned, () => undefined, options, io);
    return complete && fileErrors === 0 ? ExitCode.ok : ExitCode.failed;
  } finally {
    await prepared.close();
  }
}

async function write(
  about: "live" | "declared",
  reports: readonly AccessReport[],
  {
    options,
    ...rest
  }: {
    readonly options: Options;
    readonly fileErrors: number;
    readonly unplanned: ReturnType<typeof import("../show/show-plans.ts").unplannedOf>;
  },
  io: Io,
): Promise<void> {
  const { renderPage } = await import("../../render/html/html-page.ts");
  const { sink, end } = outputTo(options.output, io);
  const merchants = reports.map((report) => ({ report, view: null }));
  sink.write(renderPage({ about, merchants, now: options.asOf ?? io.now(), ...rest }));
  await end();
}
