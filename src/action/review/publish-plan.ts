import { runFingerprint } from "../../kernel/diff/fingerprint.ts";
import { firstOf } from "../../lib/text.ts";
import type { Diagnostic } from "../../model/diagnostic.ts";
import type { Plan } from "../../model/plan.ts";
import { plansJson } from "../../show/machine/machine-formats.ts";
import { fenced, inlineCode } from "../../show/markdown/markdown-blocks.ts";
import { renderReview } from "../../show/markdown/render-review.ts";
import type { ReviewInput } from "../../show/markdown/review-sections.ts";
import { addCounts, planView } from "../../show/view/plan-view.ts";
import type { ActionContext, ActionResult, Outputs } from "../context/action-context.ts";
import { GithubError } from "../context/github-api.ts";
import type { PullComment } from "../github/pull-comment.ts";
import { fileErrorLines } from "./annotations.ts";

/** Publishes a plan as files, job summary and comment. */
export async function publish(
  context: ActionContext,
  page: ReviewPage,
  plans: readonly Plan[] | null,
  comment: PullComment,
  changes: boolean,
): Promise<ActionResult["outputs"]> {
  const { scope } = context;
  const report = await context.saveFile(
    `rolecall-report-${scope.id}.md`,
    renderReviewPage(page, Number.MAX_SAFE_INTEGER),
  );
  const file = plans && (await context.saveFile(`rolecall-plan-${scope.id}.json`, plansJson(plans)));
  await context.appendSummary(renderReviewSummary(page));
  const { views, unplanned, fileErrors } = page.review;
  const bad = unplanned.length > 0 || fileErrors > 0;
  const worth =
    changes ||
    bad ||
    views.some(({ refusals, errors, risks }) => refusals.length + errors.length + risks.length > 0);
  const head = await pullHead(context);
  const url =
    head === "newest" || head === "closed"
      ? await comment.show((size) => renderReviewPage(page, size), { worth, closed: head === "closed" })
      : null;
  return {
    "report-path": report,
    ...(file !== null && { "plan-path": file }),
    ...(url !== null && { "comment-url": url }),
  };
}

/** The place of a run's commit in its pull request: only a run for the newest commit writes the comment. */
export type PullHead = "newest" | "overtaken" | "closed" | "none";

/** Returns the place of this run's commit in its pull request as it is now; the newest if the token may not read it. */
export async function pullHead(
  { event, github, log }: Pick<ActionContext, "event" | "github" | "log">,
  notify = true,
): Promise<PullHead> {
  const { pull } = event;
  if (pull === null) return "none";
  try {
    const { headSha, open } = await github.pull(pull.number);
    if (headSha === pull.headSha) return open ? "newest" : "closed";
    if (notify) {
      log.notice(
        `The pull request has a newer commit, ${headSha.slice(0, 7)}: the run for that commit writes the comment.`,
      );
    }
    return "overtaken";
  } catch (error) {
    if (error instanceof GithubError && error.isForbidden) return "newest";
    throw error;
  }
}

export function aboutRun({ event, scope }: ActionContext): string {
  return aboutCommit(event.pull?.headSha ?? event.sha, event.runUrl, scope.title);
}

/** Returns the section that names the errors of files; empty without errors. */
export function aboutFiles(context: ActionContext, diagnostics: readonly Diagnostic[]): readonly string[] {
  return linesSection(context, "❌ Errors in files", fileErrorLines(diagnostics));
}

const MAX_LINES = 60;

/** Returns a section of lines, masked; empty without any. */
export function linesSection(
  { mask }: ActionContext,
  title: string,
  lines: readonly string[],
): readonly string[] {
  if (lines.length === 0) return [];
  return [`### ${title}\n\n${fenced("text", mask(firstOf(lines, MAX_LINES, "line")))}`];
}

/** Returns the outputs of plans: totals and a common fingerprint. */
export function planOutputs(plans: readonly Plan[]): Outputs {
  const counts = addCounts(plans.map((plan) => planView(plan).counts));
  const deferred = plans.reduce((sum, plan) => sum + plan.deferred.length, 0);
  return {
    "has-changes": String(plans.some(({ changes }) => changes.length > 0)),
    creates: String(counts.create),
    updates: String(counts.update),
    replaces: String(counts.replace),
    deletes: String(counts.delete),
    deferred: String(deferred),
    fingerprint: runFingerprint(plans),
  };
}

/** A review with its marker and surrounding text. */
export interface ReviewPage {
  readonly marker: string;
  readonly review: ReviewInput;
  /** The heading, instead of that of the review. */
  readonly verdict?: string;
  /** Lines below the verdict. */
  readonly about: readonly string[];
  /** Paragraphs after the review. */
  readonly after: readonly string[];
}

/** GitHub's limit is 1 MiB per step. */
const SUMMARY_BYTES = 1_000_000;

/** Renders a page of at most `maxSize` UTF-16 units; parts that do not fit are left out. */
export function renderReviewPage(page: ReviewPage, maxSize: number): string {
  const { marker, review, about, after } = page;
  const around = [marker, ...about, ...after].join("\n\n").length + 20;
  const [verdict = "", ...rest] = renderReview(review, maxSize - around).split("\n\n");
  return [marker, page.verdict ?? verdict, ...about, rest.join("\n\n"), ...after]
    .filter((part) => part !== "")
    .join("\n\n");
}

/** Renders the job summary, limited in bytes and without marker. */
export function renderReviewSummary(page: ReviewPage): string {
  const render = (size: number): string => `${renderReviewPage({ ...page, marker: "" }, size)}\n`;
  const text = render(SUMMARY_BYTES);
  const bytes = Buffer.byteLength(text);
  return bytes <= SUMMARY_BYTES ? text : render(Math.floor((SUMMARY_BYTES * text.length) / bytes) - 1000);
}

/** Returns a line such as "Commit 1a2b3c4 · full report in the job summary". */
export function aboutCommit(sha: string, runUrl: string, scopeTitle: string): string {
  const scope = scopeTitle === "" ? "" : ` · ${inlineCode(scopeTitle)}`;
  return `Commit ${inlineCode(sha.slice(0, 7))} · [full report in the job summary](${runUrl})${scope}`;
}
