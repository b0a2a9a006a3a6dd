import { membersInRecord } from "../../edit/adopt/live-record.ts";
import { oneLine } from "../../lib/escape.ts";
import { RolecallError } from "../../model/errors.ts";
import type { RecordedState } from "../session/invitations.ts";
import { type LiveBranch, recordPath } from "./live-branch.ts";

/** Returns the state of a merchant that was recorded last; `null` if there is none. */
export type RecordedStateOf = (merchant: string) => Promise<RecordedState | null>;

/**
 * Creates a function that returns the last recorded states; the branch is fetched once. If it cannot be read, there are
 * none, and a warning says so.
 */
export function recordedStates(branch: LiveBranch, warn: (text: string) => void): RecordedStateOf {
  // Fetched while the service answers.
  const states = readTip(branch, warn);
  return async (merchant) => (await states).get(merchant) ?? null;
}

async function readTip(
  branch: LiveBranch,
  warn: (text: string) => void,
): Promise<ReadonlyMap<string, RecordedState>> {
  try {
    return await branch.open(async (branches) => {
      const commit = (await branches.fetch([`${branch.name}*`])).get(branch.name);
      if (commit === undefined) return new Map();
      const [[described], entries] = [await branches.describe([commit]), await branches.entries(commit)];
      const texts = await branches.contents(entries.map(({ id }) => id));
      const states = new Map<string, RecordedState>();
      for (const [index, { path }] of entries.entries()) {
        const merchant = path.replace(/\.yaml$/, "");
        const members = membersInRecord(texts[index]?.toString("utf8") ?? "");
        if (path !== recordPath(merchant)) continue;
        if (members === null)
          warn(`${oneLine(path)} in ${branch.name} is not a record of a live state. ${NOBODY}`);
        else states.set(merchant, { commit, at: described?.time ?? 0, members });
      }
      return states;
    });
  } catch (error) {
    if (!(error instanceof RolecallError)) throw error;
    warn(`The branch ${branch.name} could not be read. ${oneLine(error.message)} ${NOBODY}`);
    return new Map();
  }
}

const NOBODY = "Members who left on their own are invited again.";
