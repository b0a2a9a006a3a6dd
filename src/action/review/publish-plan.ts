import type { Plan } from "../../model/plan.ts";
import { plansJson } from "../../render/json.ts";
import type { Step, StepResult } from "../action-context.ts";
import { GithubError } from "../github/github-api.ts";
import type { PullComment } from "../github/pull-comment.ts";
import { maskAddresses } from "./mask-addresses.ts";
import { aboutCommit, type ReviewPage, renderPage, renderSummary } from "./review-page.ts";

/** Everything that is published: a file, the job's summary, the comment. */
export async function publish(
  step: Step,
  page: ReviewPage,
  plans: readonly Plan[] | null,
  comment: PullComment,
  changes: boolean,
): Promise<StepResult["outputs"]> {
  const { scope, context } = step;
  const report = await step.keep(`rolecall-report-${scope.id}.md`, renderPage(page, Number.MAX_SAFE_INTEGER));
  const file = plans && (await step.keep(`rolecall-plan-${scope.id}.json`, plansJson(plans)));
  await step.summarise(renderSummary(page));
  const { views, unplanned, fileErrors } = page.review;
  const bad = unplanned.length > 0 || fileErrors > 0;
  const worth =
    changes ||
    bad ||
    views.some(({ refusals, errors, risks }) => refusals.length + errors.length + risks.length > 0);
  const url =
    context.pull && (await isNewest(step))
      ? await comment.show((size) => renderPage(page, size), worth)
      : null;
  return {
    "report-path": report,
    ...(file !== null && { "plan-path": file }),
    ...(url !== null && { "comment-url": url }),
  };
}

/** A run that was overtaken by a newer commit leaves the comment to that one's. */
export async function isNewest({ context, github, log }: Step, tell = true): Promise<boolean> {
  const { pull } = context;
  if (pull === null) return false;
  try {
    const { headSha } = await github.pull(pull.number);
    if (headSha !== pull.headSha && tell) {
      log.notice(`The pull request has a newer commit, ${headSha.slice(0, 7)}: its comment is left to that.`);
    }
    return headSha === pull.headSha;
  } catch (error) {
    if (error instanceof GithubError) return true;
    throw error;
  }
}

/** The line that says of which commit a page is. */
export function about({ context, scope }: Step): string {
  return aboutCommit(context.pull?.headSha ?? context.sha, context.runUrl, scope.title);
}

/** Plans as they may be published. */
export function shown({ masked }: Step, plans: readonly Plan[]): readonly Plan[] {
  return masked ? plans.map(maskAddresses) : plans;
}
