import { imagesOf, type KnownResource } from "../../ask/evidence/access-history.ts";
import { readLiveRecord } from "../../edit/adopt/live-record.ts";
import { differingParts } from "../../kernel/diff/change-parts.ts";
import { oneLine } from "../../lib/escape.ts";
import { RolecallError } from "../../model/errors.ts";
import type { Change } from "../../model/plan.ts";
import type { Drift, DriftedChange, RecordedCommit, RecordedSpan } from "../../model/reports.ts";
import type { GitRefs, HistoryCommit } from "../../store/git-refs.ts";
import { type LiveBranch, recordPath } from "./live-branch.ts";

/**
 * Adds to each change at the service the recorded states between which it was made. If the branch cannot be read, nothing
 * is added, and a warning says so.
 */
export async function withRecordedSpans(
  drifts: readonly Drift[],
  branch: LiveBranch,
  warn: (text: string) => void,
): Promise<readonly Drift[]> {
  if (!drifts.some(({ changes }) => changes.some(isAtService))) return drifts;
  try {
    return await branch.open(async (branches) => {
      const history = await branches.history(branch.name);
      const dated: Drift[] = [];
      for (const drift of drifts) dated.push(await datedDrift(drift, history, branches));
      return dated;
    });
  } catch (error) {
    if (!(error instanceof RolecallError)) throw error;
    warn(
      `The branch ${branch.name} could not be read, so it is unknown when differences came. ${oneLine(error.message)}`,
    );
    return drifts;
  }
}

function isAtService({ event }: DriftedChange): boolean {
  return event !== null;
}

/** A change that all newer records have, and the oldest of these records. */
interface OpenChange {
  readonly change: Change;
  readonly since: RecordedCommit | null;
}

async function datedDrift(
  drift: Drift,
  history: readonly HistoryCommit[],
  branches: Pick<GitRefs, "contents">,
): Promise<Drift> {
  const { merchant } = drift.plan;
  const spans = new Map<Change, RecordedSpan>();
  let open = drift.plan.changes.flatMap((change, index): readonly OpenChange[] => {
    const drifted = drift.changes[index];
    return drifted && isAtService(drifted) ? [{ change, since: null }] : [];
  });
  for (const { id, time, files } of history) {
    if (open.length === 0) break;
    const content = files.get(recordPath(merchant));
    if (content == null) continue;
    const [text = ""] = (await branches.contents([content])).map((bytes) => bytes.toString("utf8"));
    const record = readLiveRecord(text, merchant);
    if (record === null) continue;
    const resources = imagesOf(record.live, time);
    const commit = { commit: id, at: new Date(time).toISOString() };
    for (const { change, since } of open) {
      if (!isThere(change, resources)) spans.set(change, { from: commit, to: since });
    }
    open = open.flatMap(({ change }) => (spans.has(change) ? [] : { change, since: commit }));
  }
  for (const { change, since } of open) {
    // What was never live cannot have been removed.
    if (since !== null && change.kind !== "create") spans.set(change, { from: null, to: since });
  }
  const changes = drift.changes.map((drifted, index) => {
    const change = drift.plan.changes[index];
    const recorded = change && spans.get(change);
    return recorded ? { ...drifted, recorded } : drifted;
  });
  return { ...drift, changes };
}

/** Returns whether a record already has what a change would revert. */
function isThere(change: Change, resources: readonly KnownResource[]): boolean {
  const { kind, resource, id, name, before, after } = change;
  const isSame = (text: string): boolean =>
    resource === "role" ? text === name : text.toLowerCase() === name.toLowerCase();
  const then = resources.find(
    (one) => one.resource === resource && (id === null ? isSame(one.name) : one.id === id),
  );
  switch (kind) {
    case "create":
      return then === undefined;
    case "delete":
      return then !== undefined;
    case "update":
    case "replace": {
      if (then?.image == null) return false;
      const parts = new Set(differingParts(before, after));
      return !differingParts(then.image, before).some((part) => parts.has(part));
    }
    default:
      return kind satisfies never;
  }
}
