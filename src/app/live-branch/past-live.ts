import { type LiveRecord, readLiveRecord } from "../../edit/adopt/live-record.ts";
import { emptyState } from "../../edit/adopt/new-file-text.ts";
import { oneLine } from "../../lib/escape.ts";
import { sortNaturally, utcMinute } from "../../lib/text.ts";
import type { DesiredState } from "../../model/desired.ts";
import { RolecallError } from "../../model/errors.ts";
import type { Io } from "../io/io.ts";
import type { PastTime } from "../project/command-options.ts";
import { loadFilesAt, type PastFiles } from "../project/files-at.ts";
import { isInShard, type Shard } from "../project/shard.ts";
import type { UnplannedMerchant } from "../session/session.ts";
import { type LiveBranch, openNamedBranch, recordPath } from "./live-branch.ts";

/** A live state that was recorded, with what the files declared then. */
export interface PastLiveState extends Pick<LiveRecord, "live" | "environment"> {
  readonly desired: DesiredState;
}

/** The live states that were recorded last at a moment. */
export interface PastLive {
  /** The last commit of the branch at that moment. */
  readonly commit: { readonly id: string; readonly time: number };
  /** In ms since the epoch. */
  readonly moment: number;
  readonly states: readonly PastLiveState[];
  /** Merchants without a record. */
  readonly failed: readonly UnplannedMerchant[];
  readonly sources: PastFiles["sources"];
}

/** Reads the live states that were recorded last at a moment, of the merchants that are selected. */
export async function readPastLive(
  { text, moment }: PastTime,
  paths: readonly string[],
  { merchant: codes, shard }: { readonly merchant: readonly string[]; readonly shard?: Shard },
  io: Io,
): Promise<PastLive> {
  const asked = Math.min(moment, io.now());
  const { commit, records } = await recordsAt(asked, text, await openNamedBranch(io), io);
  const files = await filesAt(asked, paths, codes, io);
  const declared = new Map(files.states.map((state) => [state.merchant, state]));
  const all = paths.length > 0 ? declared.keys() : [...declared.keys(), ...records.keys()];
  const selected = [...new Set(codes.length > 0 ? codes : all)].filter(
    (code) => shard === undefined || isInShard(code, shard),
  );
  const states: PastLiveState[] = [];
  const failed: UnplannedMerchant[] = [];
  for (const code of sortNaturally(selected, (name) => name)) {
    const record = records.get(code);
    if (record) states.push({ ...record, desired: declared.get(code) ?? emptyState(code, "") });
    else failed.push({ status: "failed", merchant: code, error: missing(code, text, record === null) });
  }
  return { commit, moment: asked, states, failed, sources: files.sources };
}

function missing(merchant: string, text: string, isUnreadable: boolean): RolecallError {
  const message = isUnreadable
    ? `The record of ${oneLine(merchant)} at ${text} is not a live state.`
    : `No live state of ${oneLine(merchant)} was recorded by ${text}.`;
  return new RolecallError("not-found", message);
}

/** Reads the files at a moment; none if there were none, unless somebody names them. */
async function filesAt(
  moment: number,
  paths: readonly string[],
  merchants: readonly string[],
  { cwd }: Io,
): Promise<Pick<PastFiles, "states" | "sources">> {
  try {
    const { states, sources } = await loadFilesAt(moment, paths, { merchants: [], cwd });
    return { states, sources };
  } catch (error) {
    if (!(error instanceof RolecallError) || (paths.length > 0 && merchants.length === 0)) throw error;
    return { states: [], sources: [] };
  }
}

interface RecordsAt {
  readonly commit: PastLive["commit"];
  /** By merchant; `null` for a file that is not a record. */
  readonly records: ReadonlyMap<string, LiveRecord | null>;
}

/** Reads the records of the last commit at a moment. */
async function recordsAt(
  moment: number,
  text: string,
  branch: LiveBranch,
  io: Pick<Io, "now">,
): Promise<RecordsAt> {
  return branch.open(async (branches) => {
    const history = await branches.history(branch.name);
    const commit = history.find(({ time }) => time <= moment);
    if (commit === undefined) {
      const since = history.at(-1)?.time ?? io.now();
      throw new RolecallError(
        "usage",
        history.length === 0
          ? `There is no branch ${branch.name} in ${oneLine(branch.place)}, so no live state was recorded.`
          : `The branch ${branch.name} begins after ${text}, on ${utcMinute(new Date(since).toISOString())}.`,
        { hint: "Omit --live to answer from the files at that time." },
      );
    }
    const entries = await branches.entries(commit.id);
    const texts = await branches.contents(entries.map(({ id }) => id));
    const records = entries.flatMap(({ path }, index): readonly (readonly [string, LiveRecord | null])[] => {
      const merchant = path.replace(/\.yaml$/, "");
      if (path !== recordPath(merchant)) return [];
      return [[merchant, readLiveRecord(texts[index]?.toString("utf8") ?? "", merchant)]];
    });
    return { commit, records: new Map(records) };
  });
}
