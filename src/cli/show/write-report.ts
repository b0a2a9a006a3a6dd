import { ExitCode, type Io, VERSION } from "../../app/io/io.ts";
import { outputTo } from "../../app/io/output.ts";
import { runOrigin } from "../../app/journal/write-journal.ts";
import { readPastLive } from "../../app/live-branch/past-live.ts";
import { loadDeclared } from "../../app/plan/plan-merchants.ts";
import type { PastTime, ServiceOptions } from "../../app/project/command-options.ts";
import { globMatcher, plannedOnly } from "../../app/session/session.ts";
import { placed, reportOf, rulesOf } from "../../app/show/report-plans.ts";
import { listedRulePlaces } from "../../app/show/rule-locations.ts";
import { printUnread, unplannedOf } from "../../app/show/show-plans.ts";
import { ignoredPatterns } from "../../ask/access/ignored-access.ts";
import { declaredReport, liveReport } from "../../ask/report/build-access-report.ts";
import { acrossRuleResults, declaredRuleResults, liveRuleResults } from "../../ask/report/rule-results.ts";
import { resultsAcross } from "../../kernel/rules/across-merchants.ts";
import type { IgnoredAccess } from "../../model/questions.ts";
import { type PageInput, renderPage } from "../../show/html/html-page.ts";
import type { PageMerchantInput } from "../../show/html/page-data.ts";
import { ignoredTexts } from "../../show/text/ignored-text.ts";
import { withPlans } from "../progress/with-plans.ts";
import { ignoredPlanned, writeIgnored } from "./write-ignored.ts";

/** The options of `report`. */
export type ReportCommandOptions = ServiceOptions & {
  readonly declared?: true;
  /** Reports what was live, as it was recorded last at a time. */
  readonly at?: PastTime;
  readonly output?: string;
  readonly asOf?: number;
  readonly color: boolean;
};

/** Writes a page of the access that is live, or declared in the files. */
export async function writeReport(
  paths: readonly string[],
  options: ReportCommandOptions,
  io: Io,
): Promise<ExitCode> {
  if (options.at) return reportRecorded(options.at, paths, options, io);
  return options.declared ? reportDeclared(paths, options, io) : reportLive(paths, options, io);
}

async function reportRecorded(
  at: PastTime,
  paths: readonly string[],
  options: ReportCommandOptions,
  io: Io,
): Promise<ExitCode> {
  const { commit, moment, states, failed, sources } = await readPastLive(at, paths, options, io);
  printUnread(failed, options, io, "read");
  const placeOf = listedRulePlaces(
    states.map(({ desired }) => desired),
    sources,
  );
  const service = `recorded in commit ${commit.id.slice(0, 12)} of ${new Date(commit.time).toISOString()}`;
  const matches = globMatcher();
  const reports = states.map(({ live, desired, environment }) => {
    const rules = liveRuleResults({ live, desired, plan: null, now: moment, matches });
    return {
      report: liveReport({ live, desired, service, environment, plan: null }),
      rules: placed(rules, desired.merchant, placeOf),
    };
  });
  const page = { about: "live", fileErrors: 0, unplanned: unplannedOf(failed) } as const;
  await write(page, reports, [], { ...options, asOf: moment }, io);
  return failed.length > 0 ? ExitCode.failed : ExitCode.ok;
}

async function reportDeclared(
  paths: readonly string[],
  options: ReportCommandOptions,
  io: Io,
): Promise<ExitCode> {
  const { states, loaded, fileErrors, now } = await loadDeclared(paths, { ...options, format: "html" }, io);
  const placeOf = listedRulePlaces(loaded.states, loaded.sources);
  const across = resultsAcross([], loaded.project, now);
  const reports = states.map((state) => ({
    report: declaredReport(state, now),
    rules: placed(
      [...declaredRuleResults(state, now), ...acrossRuleResults(across, state)],
      state.merchant,
      placeOf,
    ),
  }));
  const page = { about: "declared", fileErrors, unplanned: [] } as const;
  await write(page, reports, ignoredPatterns(states), options, io);
  return fileErrors > 0 ? ExitCode.failed : ExitCode.ok;
}

async function reportLive(
  paths: readonly string[],
  options: ReportCommandOptions,
  io: Io,
): Promise<ExitCode> {
  return withPlans(paths, { ...options, format: "html" }, io, async ({ planned, fileErrors, project }) => {
    const placeOf = listedRulePlaces(project.states, project.sources);
    const now = options.asOf ?? io.now();
    const run = plannedOnly(planned).map(({ plan, live, session }) => ({ plan, live, files: session.state }));
    const across = resultsAcross(run, project.project, now);
    const reports = plannedOnly(planned).map((outcome) => ({
      report: reportOf(outcome, false),
      rules: [
        ...rulesOf(outcome, placeOf, { planned: false, now }),
        ...placed(acrossRuleResults(across, outcome.session.state), outcome.plan.merchant, placeOf),
      ],
    }));
    const page = { about: "live", fileErrors, unplanned: unplannedOf(planned) } as const;
    await write(page, reports, ignoredPlanned(plannedOnly(planned)), options, io);
    const { complete } = printUnread(planned, options, io);
    return complete && fileErrors === 0 ? ExitCode.ok : ExitCode.failed;
  });
}

async function write(
  page: Pick<PageInput, "about" | "fileErrors" | "unplanned">,
  reports: readonly Pick<PageMerchantInput, "report" | "rules">[],
  ignored: readonly IgnoredAccess[],
  { output, asOf, color }: ReportCommandOptions,
  io: Io,
): Promise<void> {
  const advice = page.about === "live" ? "" : "A report without --declared has their access.";
  if (page.about === "declared") writeIgnored(ignored, advice, { color }, io);
  const { sink, end } = outputTo(output, io);
  const merchants = reports.map((report) => ({ ...report, view: null }));
  const origin = { ...(await runOrigin(io)), version: VERSION, time: io.now() };
  sink.write(
    renderPage({
      ...page,
      merchants,
      ignored: ignoredTexts(ignored, advice),
      now: asOf ?? io.now(),
      origin,
    }),
  );
  await end();
}
