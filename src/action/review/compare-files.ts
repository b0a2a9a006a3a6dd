import { inlineCode } from "../../render/markdown.ts";
import { planView } from "../../render/plan-view.ts";
import { counted } from "../../render/words.ts";
import { failed, passed, type Step, type StepResult } from "../action-context.ts";
import { ActionError } from "../action-error.ts";
import { baseStates } from "../github/base-states.ts";
import { GithubError } from "../github/github-api.ts";
import type { PullComment } from "../github/pull-comment.ts";
import { type LoadedFiles, matchGlob } from "../prepare-action.ts";
import { markerOf } from "../scope.ts";
import { configDiff } from "./config-diff.ts";
import { withNewIgnores } from "./ignore-risks.ts";
import { planOutputs } from "./plan-outputs.ts";
import { about, publish, shown } from "./publish-plan.ts";
import type { ReviewPage } from "./review-page.ts";

/** Without any key: the files of the pull request against those of the branch that it is to be merged into. */
export async function withoutKeys(
  step: Step,
  loaded: LoadedFiles,
  comment: PullComment,
): Promise<StepResult> {
  const { inputs, context, github, io, log } = step;
  const { pull } = context;
  if (pull === null || inputs.withoutKey === "fail") {
    throw new ActionError(
      "key-missing",
      "There is no API key for any merchant.",
      "Give the inputs api-key or api-keys, or set the variables that the files name.",
    );
  }
  const base = await compared(() => baseStates(inputs.paths, pull, context, github, io.now()));
  const plans = configDiff(loaded.states, base, matchGlob, io.now());
  log.notice("There is no API key in this run: the files are compared with those of the base branch only.");
  const fileErrors = loaded.diagnostics.filter(({ severity, refusal }) => severity === "error" && !refusal);
  const views = await withNewIgnores(
    shown(step, plans).map((one) => planView(one)),
    loaded.states,
    step,
  );
  const head = new Set(loaded.states.map(({ merchant }) => merchant));
  const gone =
    loaded.valid && inputs.merchants.length === 0 && inputs.shard === null
      ? base.filter(({ merchant }) => !head.has(merchant))
      : [];
  const page: ReviewPage = {
    marker: markerOf("plan", step.scope),
    review: { command: "plan", views, unplanned: [], fileErrors: fileErrors.length },
    about: [
      about(step),
      "> [!IMPORTANT]\n> **Not compared with what is live.** This run has no API key, as every run for a fork or by Dependabot. It shows what the files of this pull request say otherwise than those of its base branch; an apply may do more or less.",
    ],
    after: gone.map(
      ({ merchant }) =>
        `${inlineCode(merchant)} has no file any more: nothing of it is managed from then on.`,
    ),
  };
  const changes = plans.some((one) => one.changes.length > 0);
  const outputs = { ...planOutputs(plans), ...(await publish(step, page, null, comment, changes)) };
  if (fileErrors.length > 0) {
    return failed(
      "failed",
      "invalid-files",
      `The files have ${counted(fileErrors.length, "error")}.`,
      outputs,
    );
  }
  if (loaded.diagnostics.some(({ refusal }) => refusal)) {
    return failed("refused", "refused", "The files break their own policies or checks.", outputs);
  }
  return passed("compared", outputs);
}

/** What the files of the base branch say; a failure of the step where they cannot be read. */
export async function compared<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof GithubError)) throw error;
    throw new ActionError(
      "github",
      `The files of the base branch could not be read: ${error.message}.`,
      "It takes the permission contents: read.",
    );
  }
}
