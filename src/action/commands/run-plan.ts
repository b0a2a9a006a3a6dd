import type { CommitStates } from "../../app/project/commit-states.ts";
import { isFileError } from "../../app/project/file-errors.ts";
import { type PlannedMerchant, plannedOnly } from "../../app/session/session.ts";
import { ruleLocations } from "../../app/show/rule-locations.ts";
import { unplannedOf } from "../../app/show/show-plans.ts";
import { runFingerprint } from "../../kernel/diff/fingerprint.ts";
import type { DesiredState } from "../../model/desired.ts";
import {
  type MergedReview,
  type OpenStore,
  type ReviewRecords,
  recordOf,
} from "../../review/merchant-state.ts";
import { overdueLines } from "../../review/overdue.ts";
import { onlyInFiles, type RecordedPlan } from "../../review/recorded-plan.ts";
import { fenced } from "../../show/markdown/markdown-blocks.ts";
import type { ReviewInput, UnplannedView } from "../../show/markdown/review-sections.ts";
import { PLAIN } from "../../show/style.ts";
import { renderRules } from "../../show/text/plan-text.ts";
import { renderPlans } from "../../show/text/plans-text.ts";
import { withLaterRisks } from "../../show/view/date-lines.ts";
import { planView } from "../../show/view/plan-view.ts";
import { type ActionContext, type ActionResult, failed, markerOf } from "../context/action-context.ts";
import { type ActionError, actionErrorOf } from "../context/action-error.ts";
import { annotate } from "../context/action-log.ts";
import { openReviewStore, recordedStatesOf } from "../context/open-repository.ts";
import { findComment, NO_COMMENT, type PullComment } from "../github/pull-comment.ts";
import { diagnosticAnnotations, planAnnotations } from "../review/annotations.ts";
import { baseStates } from "../review/base-commit.ts";
import { checkFiles } from "../review/check-files.ts";
import { setStatus } from "../review/commit-status.ts";
import { placeTexts } from "../review/entry-places.ts";
import {
  keysNamedBy,
  type LoadedFiles,
  lacksKeys,
  loadFiles,
  planFiles,
  underBaseRules,
  withActionErrors,
} from "../review/load-and-plan.ts";
import {
  approvalSoFar,
  changedRemarks,
  howToApprove,
  isReview,
  keepPlan,
  objectionLines,
  ownReviews,
  type PlanApproval,
} from "../review/plan-approval.ts";
import { afterPlan, changesFiles, datesToCome, scopeText, verdictOf } from "../review/plan-outcome.ts";
import { plannedMerchants } from "../review/planned-merchants.ts";
import {
  aboutFiles,
  aboutRun,
  linesSection,
  planOutputs,
  publish,
  pullHead,
  type ReviewPage,
} from "../review/publish-plan.ts";
import { ruleNotes } from "../review/rule-notes.ts";
import { guardCredentials, guardPlanEvent } from "../review/secret-policy.ts";
import { unplannedLines } from "../review/unplanned-lines.ts";

/** Runs `plan`: shows the changes on the pull request and records them for the apply after the merge. */
export async function runPlan(context: ActionContext): Promise<ActionResult> {
  const { github, log, scope, inputs, io } = context;
  const { pull, runUrl } = context.event;
  const again = isReview(context.event);
  let comment = NO_COMMENT;
  try {
    const result = await withActionErrors(async () => {
      const read = await loadFiles(inputs, io);
      const store = await readStore(context, read);
      const runs = pull === null ? [] : ((await store?.records.runsOf(recordOf(pull.number))) ?? []);
      const recorded = runs.at(-1)?.comment ?? null;
      if (pull) comment = await findComment({ github, log, scope, pull: pull.number, recorded });
      if (pull && !again && (await pullHead(context, false)) === "newest") {
        await comment.planning(pull.headSha, runUrl);
      }
      return plan(context, read, store, comment);
    });
    await setStatus(context, "plan", result);
    return result;
  } catch (error) {
    const failure = actionErrorOf(error);
    // After a review, the comment keeps the plan that was reviewed.
    await showFailure(failure, context, again ? NO_COMMENT : comment);
    await setStatus(context, "plan", failed("failed", failure.reason, failure.message));
    throw error;
  }
}

/** The records of a run, as they were read. */
interface ReadStore extends OpenStore {
  readonly records: ReviewRecords;
}

/** Reads the records; `null` for runs that make none, such as those for forks, which have neither keys nor secrets. */
async function readStore(context: ActionContext, { states }: LoadedFiles): Promise<ReadStore | null> {
  const { pull, group } = context.event;
  if (pull === null && group === null) return null;
  if (lacksKeys(states, context.inputs, context.io.env)) return null;
  const openStore = openReviewStore(context);
  return { ...openStore, records: await openStore.store.read() };
}

async function plan(
  context: ActionContext,
  read: LoadedFiles,
  store: ReadStore | null,
  comment: PullComment,
): Promise<ActionResult> {
  const { inputs, io, event, log } = context;
  if (lacksKeys(read.states, inputs, io.env)) {
    annotate(diagnosticAnnotations(read.diagnostics), log);
    return checkFiles(context, read, comment);
  }
  guardPlanEvent(event, read.states.length > 0);
  keysNamedBy(read.states, io.env).forEach(context.maskSecret);
  await guardCredentials(context, read.states);
  const base = await baseStates(context);
  const loaded = await underBaseRules(read, base, inputs, io);
  const own = store === null ? [] : await ownReviews(context, store.records);
  const states = await plannedMerchants(context, loaded.states, base, {
    recorded: store?.records.states ?? new Map(),
    approved: new Set(own.flatMap(({ run }) => [...(run?.merchants.keys() ?? [])])),
  });
  const { planned, close } = await planFiles(states, inputs, io, {
    base: base?.states ?? [],
    project: loaded.project,
    recorded: recordedStatesOf(context, states),
  });
  try {
    const looks = plannedOnly(planned);
    return await reviewed(
      { loaded, base, states, looks, unplanned: unplannedOf(planned), store, own },
      context,
      comment,
    );
  } finally {
    await close();
  }
}

/** The plans of a run, and the files and states that they were made from. */
interface Reviewed {
  readonly loaded: LoadedFiles;
  /** `null` if there is none. */
  readonly base: CommitStates | null;
  /** Merchants that were to be planned. */
  readonly states: readonly DesiredState[];
  readonly looks: readonly PlannedMerchant[];
  readonly unplanned: readonly UnplannedView[];
  readonly store: ReadStore | null;
  /** The reviews of the pull requests that the plans are of. */
  readonly own: readonly MergedReview[];
}

/** Logs plans, publishes and records them, and compares them with what was approved. */
async function reviewed(
  { loaded, base, states, looks, unplanned, store, own }: Reviewed,
  context: ActionContext,
  comment: PullComment,
): Promise<ActionResult> {
  const { io, event, log, github } = context;
  const plans = looks.map((look) => look.plan);
  const diagnostics = diagnosticAnnotations(loaded.diagnostics);
  const placeOf = ruleLocations(loaded.states, loaded.sources);
  // Later changes that follow from dates in the pull request need no separate approval.
  const later = event.pull === null ? [] : datesToCome(context, states, looks, loaded.project);
  const views = plans.map((plan) => withLaterRisks(planView(plan, placeOf), later));
  io.stdout.write(renderPlans(views, PLAIN, "normal", { run: runFingerprint(plans) }));
  const overdue = store ? overdueLines(loaded.states, store.records.states, github.now(), store.seal) : [];
  const scope = scopeText(states.length, loaded);
  for (const line of [...overdue, ...scope]) io.stdout.write(`${line}\n`);
  for (const { line } of unplannedLines(unplanned, "planned")) io.stdout.write(`${line}\n`);
  const annotations = [...diagnostics, ...planAnnotations(plans, loaded.states, loaded.sources, placeOf)];
  annotate(annotations, log);
  const fileErrors = loaded.diagnostics.filter(isFileError);
  const rules = base === null ? [] : await ruleNotes({ loaded, base, plans }, context);
  io.stdout.write(renderRules(rules, PLAIN));
  const review: ReviewInput = {
    command: "plan",
    views: context.mask(plans).map((plan) => withLaterRisks(planView(plan, placeOf), later)),
    unplanned: context.mask(unplanned),
    fileErrors: fileErrors.length,
    rules,
    run: runFingerprint(plans),
  };
  const verdict = verdictOf(plans, unplanned, fileErrors.length, later);
  const declared = loaded.isWhole ? new Set(loaded.states.map(({ merchant }) => merchant)) : null;
  const texts = placeTexts(loaded.sources);
  const approval = store && (await approvalSoFar(context, store, store.records, own, looks, declared, texts));
  const { settled = [], unseen = [] } = approval ?? {};
  const fileOnly = store === null || approval === null ? [] : onlyInFiles(plans, approval.merged, store);
  const page: ReviewPage = {
    marker: markerOf("plan", context.scope),
    review,
    about: [
      ...overdue.map((line) => `> [!CAUTION]\n> ${line}`),
      aboutRun(context),
      ...scope,
      ...changedRemarks(approval, event),
      ...linesSection(context, "Only in the files", fileOnly),
      ...linesSection(context, "Access lost earlier, not reported again after this merge", settled),
      ...linesSection(context, "Not shown by an earlier review, and approved by merging this", unseen),
      ...aboutFiles(context, loaded.diagnostics),
    ],
    after: afterPlan(context, looks, later, approval),
  };
  const worth =
    rules.length > 0 ||
    overdue.length + settled.length + unseen.length > 0 ||
    (base !== null && changesFiles(plans, states, base.states, io.now()));
  // A review that finds its plan leaves the comment as the reviewer saw it, unless that warns of an earlier review.
  const isApproved = isReview(event) && !isObjected(approval) && !comment.isWarning();
  const outputs = {
    ...planOutputs(plans),
    ...(await publish(context, page, plans, isApproved ? NO_COMMENT : comment, worth)),
  };
  // An approval would be of the earlier plan, which the comment still shows.
  if (comment.isStale()) return { ...failed("failed", "github", STALE), outputs };
  const kept = store && (await keepPlan(context, store, store.records, plans, comment.id()));
  if (verdict.reason !== null) return { ...verdict, outputs };
  const objection = objectionTo(approval, kept, event);
  return objection === null ? { ...verdict, outputs } : failed("refused", "not-approved", objection, outputs);
}

const STALE = "The comment does not show this plan, because it could not be written. Run it again.";

function isObjected(approval: PlanApproval | null): boolean {
  return approval !== null && (approval.isEarly || approval.objections.size > 0);
}

/** Returns why a plan must not be merged as it is: a review rejects it, or it differs from what was approved. */
function objectionTo(
  approval: PlanApproval | null,
  kept: RecordedPlan | null,
  event: ActionContext["event"],
): string | null {
  if (approval === null) return null;
  if (approval.isRejected)
    return "A review requests changes. Its author can approve the plan, or somebody can dismiss the review.";
  const before = approval.own.flatMap(({ approvals }) => approvals.map(({ id }) => id));
  const isLate = kept?.outcome === "recorded" && kept.approvals.some((id) => !before.includes(id));
  if (approval.isEarly || isLate) return `Approved before this plan was ready. ${howToApprove(event)}`;
  const [objection] = objectionLines(approval.objections);
  return objection === undefined ? null : `Not what was approved. ${howToApprove(event)} ${objection}`;
}

async function showFailure(error: ActionError, context: ActionContext, comment: PullComment): Promise<void> {
  const explained = fenced("text", context.mask(error.lines()));
  const text = ["## ❌ rolecall plan: failed", aboutRun(context), explained].join("\n\n");
  await context.appendSummary(`${text}\n`);
  const head = await pullHead(context).catch(() => null);
  if (head === "newest" || head === "closed")
    await comment.show(() => `${markerOf("plan", context.scope)}\n\n${text}`, {
      worth: true,
      closed: head === "closed",
    });
}
