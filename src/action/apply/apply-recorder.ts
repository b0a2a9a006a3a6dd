import { recordSetting } from "../../app/records/record-setting.ts";
import { jobActor, type RunRecorder, runRecorder } from "../../app/records/run-recorder.ts";
import { openRunRecords } from "../../store/run-records.ts";
import type { ActionContext } from "../context/action-context.ts";
import { ActionError } from "../context/action-error.ts";
import type { CoveredRecords } from "./apply-coverage.ts";

/**
 * Returns the recorder of an apply at these merchants; undefined if it is not recorded. Throws ActionError if everybody
 * could read the record.
 */
export async function applyRecorder(
  { inputs, event, io, log, git, isPublic }: ActionContext,
  { merged, ofCommit }: CoveredRecords,
  merchants: readonly string[],
): Promise<RunRecorder | undefined> {
  const chosen = inputs.records ?? (await recordSetting(event.workspace));
  // The runner's clone is deleted when the job ends.
  if (chosen === "off" || chosen === "local") return undefined;
  if (isPublic && !inputs.allowPublic) {
    const why = "This repository is public, and the record of a run contains the addresses of members";
    if (chosen === "push") {
      throw new ActionError(
        "usage",
        `${why}.`,
        "Set records to off, or allow-public to true to publish them.",
      );
    }
    log.notice(`${why}: this run is not recorded in git. To record it anyway, set the input allow-public.`);
    return undefined;
  }
  const theirs = merged.filter((review) => merchants.some((merchant) => review.merchants.has(merchant)));
  const pulls = [...ofCommit, ...theirs.map(({ pull }) => pull.number)];
  return runRecorder(
    {
      open: (use) => use(openRunRecords(git, inputs.approvalSecret, (ms) => io.sleep(ms))),
      place: `${event.owner}/${event.repo}`,
      refs: inputs.refs,
      pulls: [...new Set(pulls)].sort((a, b) => a - b),
      actor: jobActor(io.env),
      applied: event.sha,
      say: log.info,
      warn: log.warning,
    },
    io,
  );
}
