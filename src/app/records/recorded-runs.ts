import { existsSync } from "node:fs";
import { join } from "node:path";
import { oneLine } from "../../lib/escape.ts";
import { RolecallError, rolecallErrorOf } from "../../model/errors.ts";
import { parseJournal } from "../../runs/journal-file.ts";
import type { RecordOrigin } from "../../show/view/run-view.ts";
import type { RunRecord, RunRecords } from "../../store/run-records.ts";
import type { Io } from "../io/io.ts";
import { EXTENSION, type FoundRun, foundRun, timeOfRun } from "../journal/read-journals.ts";
import { projectRoot } from "../project/project-root.ts";
import { RECORD_REFS, type RecordPlace, recordPlace, withRunRecords } from "./record-place.ts";
import { recordSetting } from "./record-setting.ts";

/** A run as recorded in a repository. Unless its origin is verified, anybody who can push may have forged it. */
export interface FetchedRun extends Pick<RunRecord, "name" | "summary"> {
  readonly origin: RecordOrigin;
  /** Reads its journals, sorted by name. Throws RolecallError. */
  journals(): Promise<readonly FoundRun[]>;
}

/**
 * Fetches the records of the remote repository and of this clone for `use`. Warns of records that cannot be read; reads
 * nothing if the project's file says that runs are not recorded.
 */
export async function withRecordedRuns<T>(
  warn: (text: string) => void,
  io: Io,
  use: (runs: readonly FetchedRun[]) => Promise<T>,
): Promise<T> {
  const isOff = (await recordSetting(io.cwd).catch(() => undefined)) === "off";
  if (isOff || !existsSync(join(projectRoot(io.cwd, io.cwd), ".git"))) return use([]);
  const within = async (
    [keeping, ...rest]: readonly ("push" | "local")[],
    earlier: readonly FetchedRun[],
  ): Promise<T> => {
    if (keeping === undefined) return use(earlier);
    const place = await recordPlace(keeping, io).catch(rolecallErrorOf);
    if (place instanceof RolecallError) return within(rest, earlier);
    return withRunRecords(place, io, async (records) => {
      const runs = await fetchRuns(records, place, warn);
      const names = new Set(earlier.map(({ name }) => name));
      return within(rest, [...earlier, ...runs.filter(({ name }) => !names.has(name))]);
    });
  };
  return within(["push", "local"], []);
}

async function fetchRuns(
  records: RunRecords,
  place: RecordPlace,
  warn: (text: string) => void,
): Promise<readonly FetchedRun[]> {
  try {
    const fetched = await records.fetch();
    const ofRuns = fetched.records.filter(({ name }) => timeOfRun(name) !== null);
    return ofRuns.map((record) => recordedRun(record, records, place));
  } catch (error) {
    if (!(error instanceof RolecallError)) throw error;
    warn(`warning: The records in ${oneLine(place.name)} could not be read: ${oneLine(error.message)}`);
    return [];
  }
}

/** Returns a record as a run whose journals can be read. */
export function recordedRun(record: RunRecord, records: RunRecords, place: RecordPlace): FetchedRun {
  const { name, summary, trust } = record;
  const ref = `${RECORD_REFS}/runs/${name}`;
  const { actor, pulls } = summary;
  return {
    name,
    summary,
    origin: { place: place.name, ref, trust, actor, pulls },
    journals: async () => {
      const files = [...(await records.journalsOf(record))].filter(([path]) => JOURNAL.test(path));
      return files
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([path, text]): FoundRun => {
          const journal = foundRun(
            { name: path.slice(0, -EXTENSION.length), file: `${ref}:${path}` },
            parseJournal(text),
            () => false,
          );
          return "past" in journal && summary.outcome === BEGAN ? { ...journal, status: BEGAN } : journal;
        });
    },
  };
}

/** The outcome of a record whose run has not ended yet, as far as is known. */
const BEGAN = "began";

/** Matches the names of journals; other files of a record are not read. */
const JOURNAL = /^[\w-]+\.jsonl$/;
