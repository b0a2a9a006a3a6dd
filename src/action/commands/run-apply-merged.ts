import { type Cancellation, createCancellation } from "../../cli/apply/cancellation.ts";
import { passwordsFor } from "../../cli/apply/passwords.ts";
import { applyReporter } from "../../cli/apply/reporter.ts";
import { runApply } from "../../cli/apply/run-apply.ts";
import { applyExitCode, ExitCode } from "../../cli/io/io.ts";
import { fileJournals } from "../../cli/journal/write-journal.ts";
import { parseOverrides, standingRefusals } from "../../cli/review/approval.ts";
import { type Planned, type PlanResult, plannedOnly } from "../../cli/session/session.ts";
import { ruleLocations } from "../../cli/show/rule-locations.ts";
import { unplannedOf } from "../../cli/show/show-plans.ts";
import { oneLine } from "../../lib/escape.ts";
import type { Plan } from "../../model/plan.ts";
import { plansJson } from "../../render/machine-formats.ts";
import { PLAIN } from "../../render/style.ts";
import { renderFailure } from "../../render/text/failure-text.ts";
import { type ActionContext, type ActionResult, failed, passed } from "../action-context.ts";
import { ActionError } from "../action-error.ts";
import { annotate } from "../action-log.ts";
import { GithubError, type Pull } from "../github/github-api.ts";
import { mergedApproval } from "../github/merged-approval.ts";
import { type ApplyPlace, appliedMark, pullsMergedAs, readingApprovals } from "../github/merged-pulls.ts";
import { recordTrust } from "../github/pull-approval.ts";
import { keysNamedBy, loadFiles, planFiles, withActionErrors } from "../load-and-plan.ts";
import { diagnosticAnnotations, fileErrorLines, planAnnotations } from "../review/annotations.ts";
import { APPLY_ENDS, type ApplyEnd, captureApplyLog, reportApply } from "../review/apply-page.ts";
import { maskedAnnotations } from "../review/mask-addresses.ts";
import { planOutputs } from "../review/publish-plan.ts";
import { guardApplyBranch, guardCredentials, guardTip, overridesIn } from "../review/secret-policy.ts";

/** Runs `apply`: plans anew on the default branch and applies what was approved in review. */
export async function runApplyMerged(context: ActionContext): Promise<ActionResult> {
  const branch = await readingApprovals(() => guardApplyBranch(context, context.github));
  await readingApprovals(() => guardTip(context, branch, context.github));
  const { github, io, event } = context;
  const pulls = await readingApprovals(() => pullsMergedAs(event.sha, branch, github, io.sleep));
  const [pull = null] = pulls;
  try {
    return await withActionErrors(() => stoppable(context, branch, pulls));
  } catch (error) {
    const failure =
      error instanceof ActionError ? error : new ActionError("bug", "rolecall failed because of a bug.");
    await reportApply(context, pull, {
      ...APPLY_ENDS.failed,
      lines: [failure.message, failure.hint ?? ""],
      plans: [],
      placeOf: () => null,
    });
    throw error;
  }
}

/** A cancelled workflow sends a signal and waits for a short time. */
async function stoppable(
  context: ActionContext,
  branch: string,
  pulls: readonly Pull[],
): Promise<ActionResult> {
  const cancellation = createCancellation((text) => context.io.stderr.write(`${text}\n`), context.io);
  try {
    return await apply(context, branch, pulls, cancellation);
  } finally {
    cancellation.close();
  }
}

async function apply(
  context: ActionContext,
  branch: string,
  pulls: readonly Pull[],
  cancellation: Cancellation,
): Promise<ActionResult> {
  const { inputs, io, log, event, scope } = context;
  const [pull = null] = pulls;
  const loaded = await loadFiles(inputs, io);
  const keys = keysNamedBy(loaded.states, io.env);
  keys.forEach(context.maskSecret);
  await guardCredentials(context, loaded.states);
  const { planned, progress, close } = await planFiles(loaded.states, inputs, io, {
    signal: cancellation.cancelled,
  });
  try {
    const placeOf = ruleLocations(loaded.states, loaded.sources);
    const looks = plannedOnly(planned);
    const plans = looks.map(({ plan }) => plan);
    const overrides = parseOverrides(overridesIn(inputs.allow));
    const annotations = [
      ...diagnosticAnnotations(loaded.diagnostics),
      ...planAnnotations(plans, loaded.states, loaded.sources, placeOf, overrides),
    ];
    annotate(context.masked ? maskedAnnotations(annotations) : annotations, log);
    const reporter = applyReporter({ format: "text", color: false }, placeOf, io, overrides);
    reporter.plans(plans);
    const outputs = {
      ...planOutputs(plans),
      "plan-path": await context.saveFile(`rolecall-plan-${context.scope.id}.json`, plansJson(plans)),
    };
    const end = async (how: ApplyEnd, lines: readonly string[], why = how.message): Promise<ActionResult> => {
      const published = await reportApply(context, pull, { ...how, lines, plans, placeOf });
      const { result, reason } = how;
      const all = { ...outputs, ...published };
      return reason === null ? passed(result, all) : failed(result, reason, why, all);
    };
    const refuse = (how: ApplyEnd, reasons: readonly string[]): Promise<ActionResult> => {
      for (const line of reasons) reporter.say(line);
      return end(how, reasons, `${reasons[0]} ${how.message}`);
    };

    const unread = problemsOf(planned, fileErrorLines(loaded.diagnostics), plans);
    if (unread !== null) return await refuse(loaded.valid ? APPLY_ENDS.unread : APPLY_ENDS.invalid, unread);
    const standing = standingRefusals(plans, overrides).flatMap(({ merchant, refusals }) =>
      refusals.map(({ message }) => oneLine(`${merchant}: ${message}`)),
    );
    if (standing.length > 0) return await refuse(APPLY_ENDS.refused, standing);
    const due = looks.filter(({ plan }) => plan.changes.length > 0);
    if (due.length === 0) {
      await mark(context, "success", "Nothing to do");
      return await end(APPLY_ENDS.nothing, []);
    }
    const objections = await objectionsTo(due, { sha: event.sha, branch, scope, pulls }, context);
    if (objections.length > 0) return await refuse(APPLY_ENDS.unapproved, objections);
    const password = passwordsFor(
      due.map(({ plan }) => plan),
      [],
      withoutSecrets(io.env, [...context.secrets, ...keys]),
    );
    // Check again: somebody may have merged during the planning.
    await readingApprovals(() => guardTip(context, branch, context.github));
    const captured = captureApplyLog(reporter, progress);
    progress.applying(due.map(({ plan }) => plan));
    const options = {
      password,
      concurrency: inputs.concurrency,
      recheck: true,
      cancellation,
      openJournal: fileJournals(io),
      sleep: io.sleep,
    };
    const code = applyExitCode(await runApply(due, options, captured.reporter));
    await mark(
      context,
      code === ExitCode.ok ? "success" : "failure",
      code === ExitCode.ok ? "Applied" : "Stopped",
    );
    return await end(
      code === ExitCode.ok
        ? APPLY_ENDS.applied
        : code === ExitCode.partial
          ? APPLY_ENDS.partial
          : APPLY_ENDS.stopped,
      captured.lines(),
    );
  } finally {
    await close();
  }
}

/** Returns the objections to unapproved changes, with the next steps; empty if everything is approved. */
async function objectionsTo(
  due: readonly PlanResult[],
  place: ApplyPlace,
  context: ActionContext,
): Promise<readonly string[]> {
  const { onPlanChange } = context.inputs;
  if (onPlanChange === "apply") return [];
  const { objections, pulls, ignored } = await readingApprovals(() =>
    mergedApproval(due, place, onPlanChange, recordTrust(context.inputs), context.github),
  );
  return objections.length === 0 ? [] : [...objections.map(oneLine), ...ignored, howToGoOn(pulls)];
}

/** Returns the problems that prevent an apply; `null` if there are none. */
function problemsOf(
  planned: readonly Planned[],
  fileErrors: readonly string[],
  plans: readonly Plan[],
): readonly string[] | null {
  const unread = unplannedOf(planned).flatMap(({ merchant, failure }) => [
    `${merchant} could not be read.`,
    ...renderFailure(failure, PLAIN).trimEnd().split("\n"),
  ]);
  const found = plans.flatMap(({ merchant, findings }) =>
    findings.flatMap(({ severity, message }) =>
      severity === "error" ? [oneLine(`${merchant}: ${message}`)] : [],
    ),
  );
  const broken = fileErrors.length === 0 ? [] : ["The files have errors: fix them first.", ...fileErrors];
  const lines = [...broken, ...unread, ...found];
  return lines.length === 0 ? null : lines;
}

function howToGoOn(pulls: readonly Pull[]): string {
  const where =
    pulls.length === 0
      ? "No merged pull request contains this commit, so no plan was reviewed."
      : `The plan was reviewed on ${pulls.map(({ number }) => `#${number}`).join(", ")}.`;
  return `${where} Open a pull request, whose plan shows what is new; or, to apply the plan above, run this workflow once with on-plan-change: apply.`;
}

/** Removes keys and tokens from the environment, so that no file can use one as a first password. */
function withoutSecrets(
  env: ActionContext["io"]["env"],
  secrets: readonly string[],
): ActionContext["io"]["env"] {
  return Object.fromEntries(
    Object.entries(env).filter(([, value]) => !secrets.includes(value?.trim() ?? "")),
  );
}

/** Records the result on the commit as a check run, for later runs. */
async function mark(context: ActionContext, conclusion: "success" | "failure", title: string): Promise<void> {
  const { event, scope, github, log } = context;
  try {
    await github.addCheck({
      name: `rolecall apply${scope.title === "" ? "" : `: ${scope.title}`}`.slice(0, 200),
      sha: event.sha,
      externalId: appliedMark(scope),
      conclusion,
      title,
      summary: `[Run](${event.runUrl})`,
      text: "",
    });
  } catch (error) {
    if (!(error instanceof GithubError)) throw error;
    log.notice(`The result could not be recorded on the commit: ${error.because("checks: write")}.`);
  }
}
