import { ExitCode, type Io } from "../../app/io/io.ts";
import { timeOfRun } from "../../app/journal/read-journals.ts";
import type { OutputOptions } from "../../app/project/command-options.ts";
import { readPlace, withRunRecords } from "../../app/records/record-place.ts";
import { oneLine } from "../../lib/escape.ts";
import { counted } from "../../lib/text.ts";
import { RolecallError } from "../../model/errors.ts";
import { containsAddress } from "../../runs/contains-address.ts";
import type { RunRecord, RunRecords } from "../../store/run-records.ts";
import { confirmAll } from "../review/confirm-apply.ts";

/** The options of `runs prune`. */
export type PruneOptions = OutputOptions & {
  /** Minimum age of the records, in ms. */
  readonly olderThan?: number;
  /** Address that the records contain. */
  readonly who?: string;
  readonly yes?: true;
};

/** Lists the records of the remote repository that are old or contain an address, asks, and deletes them. */
export async function pruneRuns(options: PruneOptions, io: Io): Promise<ExitCode> {
  if (options.olderThan === undefined && options.who === undefined) {
    throw new RolecallError("usage", "runs prune needs --older-than or --who.", {
      hint: 'For example "rolecall runs prune --older-than 400d".',
    });
  }
  const place = await readPlace(io);
  const where = oneLine(place.name);
  return withRunRecords(place, io, async (records) => {
    const { records: all } = await records.fetch();
    const chosen = await chosenOf(all, options, records, io);
    requireKey(chosen);
    const list = options.format === "json" ? io.stderr : io.stdout;
    for (const record of chosen) list.write(`${recordText(record)}\n`);
    list.write(`${chosen.length} of ${counted(all.length, "record")} in ${where}.\n`);
    if (chosen.length > 0 && !options.yes) {
      const question = {
        lines: [
          `Delete ${counted(chosen.length, "record")} in ${where}?`,
          "What these runs did can then no longer be verified, and only the machines that made them can show or undo them.",
        ],
        answer: "yes",
      };
      const review = "Review the list above; to delete these records";
      if (!(await confirmAll([question], { color: options.color, review }, io))) return ExitCode.failed;
    }
    const names = chosen.map(({ name }) => name);
    // Listed as deleted first, so that no record seems to be lost if this is interrupted.
    await records.list([], names);
    await records.remove(chosen);
    if (options.format === "json") {
      io.stdout.write(`${JSON.stringify({ records: all.length, deleted: names }, null, 2)}\n`);
    } else if (chosen.length > 0) io.stdout.write(deletedText(chosen));
    return ExitCode.ok;
  });
}

async function chosenOf(
  all: readonly RunRecord[],
  { olderThan, who }: PruneOptions,
  records: RunRecords,
  io: Io,
): Promise<readonly RunRecord[]> {
  const isOld = ({ name }: RunRecord): boolean => {
    const time = timeOfRun(name);
    return olderThan === undefined || (time !== null && time < io.now() - olderThan);
  };
  const old = all.filter(isOld);
  if (who === undefined) return old;
  const chosen: RunRecord[] = [];
  for (const record of old) {
    const journals = [...(await records.journalsOf(record)).values()];
    if (journals.some((text) => containsAddress(text, who))) chosen.push(record);
  }
  return chosen;
}

/** Throws RolecallError if a signed record is to be deleted without the key: only the key can list it as deleted. */
function requireKey(chosen: readonly RunRecord[]): void {
  if (chosen.every(({ trust }) => trust !== "unchecked")) return;
  throw new RolecallError("usage", "Signed records can be deleted only with the key that signed them.", {
    hint: 'Set ROLECALL_APPROVAL_SECRET to that key. Without it, "runs verify" would report the records as missing.',
  });
}

function recordText({ name, summary: { merchants, outcome, by } }: RunRecord): string {
  return [name, merchants.join(", "), outcome, `by ${by}`].map(oneLine).join("  ");
}

function deletedText(chosen: readonly RunRecord[]): string {
  const foreign = chosen.filter(({ trust }) => trust === "foreign").length;
  const isListed = chosen.some(({ trust }) => trust === "verified" || trust === "altered");
  return [
    `Deleted ${counted(chosen.length, "record")}.`,
    ...(isListed
      ? [' The signed list names them as deleted, so "runs verify" does not report them as missing.']
      : []),
    ...(foreign > 0
      ? [
          ` ${counted(foreign, "record")} had been signed with another key, with which "runs verify" reports ${foreign === 1 ? "it" : "them"} as missing.`,
        ]
      : []),
    "\n",
  ].join("");
}
