import type { LateEnd } from "../../ask/evidence/late-ends.ts";
import { counted, listText, utcMinute } from "../../lib/text.ts";
import type {
  AccessChange,
  CommitReview,
  Evidence,
  EvidenceCommit,
  EvidenceRun,
  Gap,
} from "../../model/evidence.ts";
import type { FileHistory } from "./file-history.ts";
import { isoTime } from "./iso-time.ts";

/** Returns the changes that no run has made, as gaps. */
export function outsideGaps(changes: readonly AccessChange[]): readonly Gap[] {
  return changes.flatMap((change): readonly Gap[] => {
    if (change.run !== null) return [];
    const {
      merchant,
      at,
      since,
      seenIn,
      change: { kind, resource, name },
    } = change;
    const verb = kind === "create" ? "added" : kind === "delete" ? "removed" : "changed";
    const when = since === null ? "" : `, ${between(Date.parse(since), Date.parse(at))}`;
    return [
      {
        kind: "outside-git",
        at,
        merchant,
        run: null,
        commit: seenIn,
        what: `${resource} ${name} was ${verb}, and no recorded run did it${when}`,
      },
    ];
  });
}

/** Returns commits to files of access that no pull request with an approval has brought, as far as a code host was asked. */
export function pushGaps(commits: readonly EvidenceCommit[], reviews: Evidence["reviews"]): readonly Gap[] {
  return commits.flatMap(({ id, at, author }): readonly Gap[] => {
    const review = reviews.get(id);
    const what = review && unreviewed(review, author);
    return what ? [{ kind: "unreviewed-push", at, merchant: null, run: null, commit: id, what }] : [];
  });
}

function unreviewed(review: CommitReview, author: string): string | null {
  if ("problem" in review) return null;
  const { pulls } = review;
  if (pulls.length === 0) return `${author} pushed to the files without a pull request`;
  if (pulls.some(({ approvedBy }) => approvedBy.length > 0)) return null;
  const names = pulls.map(({ number, author: by }) => `#${number} of ${by}`);
  return `${listText(names)} was merged without an approval`;
}

/** Returns what runs have overridden or applied without a review, by their journals and the history of the branch. */
export function runGaps(runs: readonly EvidenceRun[], files: FileHistory): readonly Gap[] {
  return runs.flatMap((run): readonly Gap[] => {
    const base = { at: run.at, run: run.run, commit: run.commit };
    const merchant = run.merchants.length === 1 ? (run.merchants[0] ?? null) : null;
    const why = unreviewedApply(run, files);
    return [
      ...run.overridden.map(({ merchant, refusal }) => {
        return {
          ...base,
          kind: "override" as const,
          merchant,
          what: `${run.by} overrode a refusal: ${refusal}`,
        };
      }),
      ...(why === null ? [] : [{ ...base, kind: "unreviewed-apply" as const, merchant, what: why }]),
    ];
  });
}

function unreviewedApply(
  { by, undoes, commit, uncommitted }: EvidenceRun,
  { hasCommit, isAncestor, branch }: FileHistory,
): string | null {
  if (undoes !== null) return `${by} reverted the run ${undoes}, which no commit shows`;
  if (commit === null) return `${by} applied files that are in no commit`;
  if (uncommitted) return `${by} applied with uncommitted changes in the working tree`;
  // Of a commit that the clone does not have, nothing is known.
  return isAncestor(commit) || !hasCommit(commit)
    ? null
    : `${by} applied a commit that is not in the history of ${branch}`;
}

/** Returns access that ended late, as gaps. */
export function lateGaps(merchant: string, ends: readonly LateEnd[]): readonly Gap[] {
  return ends.map(({ name, roles, ended, liveAt, run, isLive }) => {
    const access = roles.length === 0 ? "the access" : listText(roles);
    const how = isLive
      ? `was still live on ${minute(liveAt)}`
      : run === null
        ? `was still live on ${minute(liveAt)}, and was then removed outside git`
        : `was removed on ${minute(liveAt)}`;
    const what = `${access} of member ${name} ended on ${minute(ended)}, and ${how}, ${lateBy(liveAt - ended)} late`;
    return { kind: "ended-late", at: isoTime(liveAt), merchant, run, commit: null, what };
  });
}

const HOUR = 3_600_000;

function lateBy(ms: number): string {
  const hours = Math.floor(ms / HOUR);
  return hours < 48 ? counted(hours, "hour") : counted(Math.floor(hours / 24), "day");
}

/** Formats a range of time to the minute, or to the second within a minute. */
function between(from: number, to: number): string {
  const text = minute(from) === minute(to) ? second : minute;
  return `between ${text(from)} and ${text(to)}`;
}

function second(time: number): string {
  return `${isoTime(time).slice(0, 19).replace("T", " ")} UTC`;
}

function minute(time: number): string {
  return utcMinute(isoTime(time));
}
