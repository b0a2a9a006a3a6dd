import { adoptPlanned, type LoadedProject, ofDrift } from "../../app/adopt/adopt-planned.ts";
import { liveReadings } from "../../app/live-branch/record-live.ts";
import { withRecordedSpans } from "../../app/live-branch/recorded-changes.ts";
import { isFileError } from "../../app/project/file-errors.ts";
import { deepen, isShallow, SHALLOW_WARNING } from "../../app/project/git-history.ts";
import { type PlannedMerchant, plannedOnly } from "../../app/session/session.ts";
import { driftsOf } from "../../app/show/drifts-of.ts";
import { ruleLocations } from "../../app/show/rule-locations.ts";
import { unplannedOf } from "../../app/show/show-plans.ts";
import { oneLine } from "../../lib/escape.ts";
import type { Drift } from "../../model/reports.ts";
import { type OpenFailure, openFailures, undeclaredFailures } from "../../review/open-failures.ts";
import { driftsJson } from "../../show/machine/machine-formats.ts";
import { fenced, folded, inlineCode } from "../../show/markdown/markdown-blocks.ts";
import { PLAIN } from "../../show/style.ts";
import { renderDrifts } from "../../show/text/drift-text.ts";
import { type FilePatch, patchText } from "../../show/text/patch-text.ts";
import { driftView, withRisks } from "../../show/view/drift-view.ts";
import { type ActionContext, type ActionResult, failed, passed } from "../context/action-context.ts";
import { annotate } from "../context/action-log.ts";
import { liveBranchOf, liveRecorderOf, openReviewStore } from "../context/open-repository.ts";
import { differenceKeys, type FirstSeen, reasonsKey, updateDriftIssue } from "../github/drift-issue.ts";
import { diagnosticAnnotations, fileErrorLines } from "../review/annotations.ts";
import { placeTexts } from "../review/entry-places.ts";
import {
  keysNamedBy,
  type LoadedFiles,
  loadFiles,
  planFiles,
  withActionErrors,
} from "../review/load-and-plan.ts";
import {
  aboutFiles,
  linesSection,
  planOutputs,
  type ReviewPage,
  renderReviewPage,
  renderReviewSummary,
} from "../review/publish-plan.ts";
import { guardCredentials, guardDriftEvent } from "../review/secret-policy.ts";
import { unplannedLines } from "../review/unplanned-lines.ts";

/** Runs `drift`: maintains one issue with the differences, their age and both remedies. */
export async function runDrift(context: ActionContext): Promise<ActionResult> {
  return withActionErrors(() => drift(context));
}

async function drift(context: ActionContext): Promise<ActionResult> {
  const { inputs, io, log, event, mask } = context;
  guardDriftEvent(event);
  const loaded = await loadFiles(inputs, io);
  keysNamedBy(loaded.states, io.env).forEach(context.maskSecret);
  await guardCredentials(context, loaded.states);
  annotate(diagnosticAnnotations(loaded.diagnostics), log);
  await completeHistory(context);
  const { planned, close } = await planFiles(loaded.states, inputs, io, loaded);
  try {
    await liveRecorderOf(context, loaded.states)?.(liveReadings(plannedOnly(planned)), "drift");
    const found = await driftsOf(planned, loaded.project, io);
    const branch = liveBranchOf(context, loaded.states);
    const allDrifts = branch ? await withRecordedSpans(found, branch, log.notice) : found;
    const placeOf = ruleLocations(loaded.states, loaded.sources);
    const unplanned = unplannedOf(planned);
    io.stdout.write(
      renderDrifts(
        allDrifts.map((drift) => driftView(drift, placeOf)),
        PLAIN,
      ),
    );
    for (const { line } of unplannedLines(unplanned, "read")) io.stdout.write(`${line}\n`);
    const drifts = mask(allDrifts);
    const fileErrors = loaded.diagnostics.filter(isFileError);
    const failures = await failuresFound(context, plannedOnly(planned), loaded);
    const failed = failureLines(failures);
    for (const line of failed) io.stdout.write(`${line}\n`);
    const page: ReviewPage = {
      marker: "",
      review: {
        command: "drift",
        views: drifts.map((drift) => driftView(drift, placeOf)),
        unplanned: mask(unplanned),
        fileErrors: fileErrors.length,
      },
      about: [
        `[The run that found it](${event.runUrl})`,
        ...aboutFiles(context, loaded.diagnostics),
        ...linesSection(context, "Refused by an apply, or lost", failed),
      ],
      after: [],
      ...(failures.length > 0 && { verdict: "## ⛔ rolecall drift: some access was not reviewed" }),
    };
    const problems = [
      ...(loaded.valid ? [] : [reasonsKey("files", fileErrorLines(loaded.diagnostics))]),
      ...unplanned.map(({ merchant, failure }) => reasonsKey(merchant, [failure.code])),
      ...allDrifts.flatMap(({ plan: { merchant, findings } }) =>
        findings.flatMap(({ severity, message }) =>
          severity === "error" ? reasonsKey(merchant, [message]) : [],
        ),
      ),
    ];
    const complete = problems.length === 0;
    const patch = mask(patchText(adoptingPatches(plannedOnly(planned), allDrifts, loaded, io.now())));
    const url = await updateDriftIssue(context, {
      differences: [
        ...differenceKeys(allDrifts),
        ...failures.map(({ merchant, reasons }) => reasonsKey(merchant, reasons)),
        ...problems,
      ],
      complete,
      read: new Set(allDrifts.map(({ plan }) => plan.merchant)),
      render: (seen, size) => renderIssue(page, { drifts, patch, complete }, seen, size),
    });
    await context.appendSummary(renderReviewSummary(page));
    const plans = allDrifts.map(({ plan }) => plan);
    const outputs = {
      ...planOutputs(plans),
      "plan-path": await context.saveFile(
        `rolecall-drift-${context.scope.id}.json`,
        driftsJson(allDrifts.map(withRisks)),
      ),
      "report-path": await context.saveFile(
        `rolecall-report-${context.scope.id}.md`,
        renderReviewPage(page, Number.MAX_SAFE_INTEGER),
      ),
      ...(url !== null && { "issue-url": url }),
    };
    return { ...verdictOf(allDrifts, failures, complete, loaded.valid), outputs };
  } finally {
    await close();
  }
}

/** Returns what applies have refused or lost and not made since; nothing without the secret of the records. */
async function failuresFound(
  context: ActionContext,
  looks: readonly PlannedMerchant[],
  { sources, isWhole, states: all }: LoadedFiles,
): Promise<readonly OpenFailure[]> {
  if (context.inputs.approvalSecret === "") return [];
  const openStore = openReviewStore(context);
  const { states } = await openStore.store.read();
  return [
    ...openFailures(looks, states, openStore.seal, placeTexts(sources)),
    ...(isWhole ? undeclaredFailures(new Set(all.map(({ merchant }) => merchant)), states) : []),
  ];
}

function failureLines(failures: readonly OpenFailure[]): readonly string[] {
  return failures.flatMap(({ merchant, commit, pulls, reasons }) => {
    const where = commit === null ? "" : `, since the apply of ${commit.slice(0, 7)}`;
    const told = pulls.length === 0 ? "" : ` (${pulls.map((number) => `#${number}`).join(", ")})`;
    return [`${merchant}${where}${told}:`, ...reasons.map((reason) => `  ${oneLine(reason)}`)];
  });
}

/** Fetches the history of a shallow checkout, without which it is unknown which side changed last. */
async function completeHistory({ io, inputs, event, log }: ActionContext): Promise<void> {
  if (!(await isShallow(io.cwd))) return;
  if (await deepen(io, { serverUrl: event.serverUrl, token: inputs.githubToken })) {
    log.info("The checkout was shallow: its history has been fetched.");
  } else {
    log.notice(`${SHALLOW_WARNING} In a workflow: fetch-depth: 0 for actions/checkout.`);
  }
}

function verdictOf(
  drifts: readonly Drift[],
  failures: readonly OpenFailure[],
  complete: boolean,
  valid: boolean,
): Omit<ActionResult, "outputs"> {
  if (!complete) {
    return failed(
      "failed",
      valid ? "service" : "invalid-files",
      "Not every merchant could be read and compared.",
    );
  }
  const isClean = drifts.every(({ changes, violations }) => changes.length + violations.length === 0);
  return passed(isClean && failures.length === 0 ? "clean" : "drift");
}

/** Renders the issue; the longest parts are left out if they do not fit. */
function renderIssue(
  page: ReviewPage,
  {
    drifts,
    patch,
    complete,
  }: { readonly drifts: readonly Drift[]; readonly patch: string; readonly complete: boolean },
  seen: FirstSeen,
  size: number,
): string {
  const drifted = drifts.filter(({ changes, violations }) => changes.length + violations.length > 0);
  const causes = new Set([
    ...drifted.flatMap(({ changes }) => changes.map(({ cause }) => cause)),
    ...drifted.flatMap(({ violations }) => violations.map(() => "broken" as const)),
  ]);
  const since = drifted.map((drift) => sinceText(drift, seen)).join("\n");
  const isRefused = page.verdict !== undefined;
  const unread = complete ? [] : [UNREAD];
  const ways = (long: boolean): string => {
    const patched = long && patch !== "";
    const lines = [
      ...unread,
      ...(drifted.length === 0 || (causes.size === 1 && causes.has("due"))
        ? []
        : [
            `**Keep the live state:** change the files in a pull request, with \`rolecall pull\`${patched ? " or the patch below" : ""}.`,
            "**Keep the files:** run the apply workflow by hand with the scope `all`, and approve what waits. This reverts the differences.",
          ]),
      ...(isRefused
        ? [
            "**What an apply refused or lost:** propose the intended state in a new pull request, or run the apply workflow by hand and approve what waits. To leave a lost change as it is, merge a pull request that touches the merchant's file.",
          ]
        : []),
      ...(causes.has("due")
        ? [
            `**What is due:** the nightly \`due\` run or the next apply of the merchant does it${isRefused ? ", except for what is refused above." : "; no review is needed."}`,
          ]
        : []),
    ];
    return [
      "### What to do",
      ...lines.map((line, index) => (lines.length === 1 ? line : `${index + 1}. ${line}`)),
      ...(patched ? [folded("The patch", [fenced("diff", patch.trimEnd().split("\n").map(visible))])] : []),
    ].join("\n\n");
  };
  const whole = [since, ways(true)].join("\n\n").length < size / 2;
  const isShort = since !== "" && (whole || since.length < size / 4);
  const after = [...(isShort ? [`### Since when\n\n${since}`] : []), ways(whole)];
  return renderReviewPage({ ...page, after }, size);
}

const UNREAD =
  "**What could not be read or compared:** correct the files, or the key, and run this workflow again.";

/** Lists the differences of a merchant with the time when each was first seen. */
function sinceText({ plan, changes, violations }: Drift, seen: FirstSeen): string {
  const line = (fingerprint: string, what: string): string => {
    const time = seen.get(`${plan.merchant}:${fingerprint.slice(0, 16)}`);
    const when = time === undefined ? "earlier" : new Date(time).toISOString().slice(0, 16).replace("T", " ");
    return `- ${inlineCode(plan.merchant)} ${what}: first seen ${when} UTC`;
  };
  return [
    ...violations.map(({ fingerprint, rule, code, name }) =>
      line(fingerprint, `breaks ${rule} ${inlineCode(code)}${name === null ? "" : ` ${inlineCode(name)}`}`),
    ),
    ...plan.changes.map(({ resource, name, kind, fingerprint }, index) => {
      const { event = null, cause = "unknown" } = changes[index] ?? {};
      const what =
        event !== null && cause === "outside-git"
          ? `was ${event} outside git`
          : cause === "due"
            ? "is due by its date"
            : STATES[kind];
      return line(fingerprint, `${resource} ${inlineCode(name)} ${what}`);
    }),
  ].join("\n");
}

const STATES = {
  create: "is missing",
  update: "differs",
  replace: "differs",
  delete: "is not in the file",
} as const;

/** Escapes line separators and format characters, the only ones that YAML leaves unescaped. */
function visible(line: string): string {
  return line.replaceAll(
    /[\u2028\u2029\p{Cf}]/gu,
    (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16)}`,
  );
}

/** Returns the patches of the files that adopt what happened at the service, or may have happened there. */
function adoptingPatches(
  planned: readonly PlannedMerchant[],
  drifts: readonly Drift[],
  project: LoadedProject,
  now: number,
): readonly FilePatch[] {
  const wanted = planned.flatMap((plan, index) => {
    const drift = drifts[index];
    return drift === undefined ? [] : ofDrift(plan, drift, ["outside-git", "unknown"]);
  });
  return adoptPlanned(wanted, project, now).patches;
}
