import { isFileError } from "../../app/project/file-errors.ts";
import { counted } from "../../lib/text.ts";
import {
  type ActionContext,
  type ActionResult,
  failed,
  markerOf,
  passed,
} from "../context/action-context.ts";
import { ActionError } from "../context/action-error.ts";
import type { PullComment } from "../github/pull-comment.ts";
import { baseStates } from "./base-commit.ts";
import { type LoadedFiles, underBaseRules } from "./load-and-plan.ts";
import { aboutFiles, aboutRun, publish, type ReviewPage } from "./publish-plan.ts";
import { ruleNotes } from "./rule-notes.ts";

/** Checks the files of a pull request, and compares their rules with those of its base branch, without an API key. */
export async function checkFiles(
  context: ActionContext,
  read: LoadedFiles,
  comment: PullComment,
): Promise<ActionResult> {
  const { inputs, event, io, log } = context;
  if (event.pull === null) {
    throw new ActionError(
      "key-missing",
      "There is no API key for any merchant.",
      "Set the input api-key or api-keys, or the variables that the files name.",
    );
  }
  const base = await baseStates(context);
  const loaded = await underBaseRules(read, base, inputs, io);
  log.notice("This run has no API key: it checks the files, and plans nothing.");
  const fileErrors = loaded.diagnostics.filter(isFileError);
  const rules = base === null ? [] : await ruleNotes({ loaded, base, plans: null }, context);
  const page: ReviewPage = {
    marker: markerOf("plan", context.scope),
    review: { command: "plan", views: [], unplanned: [], fileErrors: fileErrors.length, rules },
    ...(fileErrors.length === 0 && { verdict: "## ⏭️ rolecall plan: not planned" }),
    about: [
      aboutRun(context),
      "> [!IMPORTANT]\n> **Nothing is planned.** This run has no API key, like every run for a fork or by Dependabot. It checks the files, and lists what is looser than on the base branch. After a merge, the changes wait for approval.",
      ...(loaded.earlier === null ? [] : [loaded.earlier]),
      ...aboutFiles(context, loaded.diagnostics),
    ],
    after: [],
  };
  const outputs = await publish(context, page, null, comment, rules.length > 0);
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
  return passed("unplanned", outputs);
}
