import type { ExitCode, Io } from "../../app/io/io.ts";
import {
  beginningOf,
  EXTENSION,
  type FoundRun,
  isLater,
  isOf,
  jointStatus,
  listRuns,
  readRun,
  type StoredRun,
  timeOfRun,
} from "../../app/journal/read-journals.ts";
import type { OutputOptions } from "../../app/project/command-options.ts";
import { type FetchedRun, withRecordedRuns } from "../../app/records/recorded-runs.ts";
import { runBy } from "../../app/records/run-recorder.ts";
import { writeAnswer } from "../../app/show/write-document.ts";
import { groupByKey } from "../../lib/text.ts";
import { RolecallError } from "../../model/errors.ts";
import { containsAddress } from "../../runs/contains-address.ts";
import { runDocument, runsDocument, runsTable, writesTable } from "../../show/documents/runs.ts";
import { runsJson } from "../../show/machine/machine-formats.ts";
import type { ShownRun } from "../../show/view/run-view.ts";

/** One apply, with the journals of its merchants sorted by name. */
export interface Run extends ShownRun {
  readonly journals: readonly FoundRun[];
}

type World = Pick<Io, "cwd" | "now">;

/** Number of runs that a message names. */
const MAX_NAMED = 5;

const HINT = '"rolecall runs" lists them.';

/** The journals of this machine and the records with one time in their names. */
interface Moment {
  readonly stored: readonly StoredRun[];
  readonly recorded: readonly FetchedRun[];
}

/** Groups runs by the time in their names, the newest first. */
function together(stored: readonly StoredRun[], recorded: readonly FetchedRun[]): readonly Moment[] {
  const all = [
    ...stored.map((journal) => ({ name: journal.name, stored: [journal], recorded: [] })),
    ...recorded.map((record) => ({ name: record.name, stored: [], recorded: [record] })),
  ].sort((a, b) => (isLater(a.name, b.name) ? -1 : 1));
  return groupByKey(all, ({ name }) => beginningOf(name)).map((group) => ({
    stored: group.flatMap((one) => one.stored),
    recorded: group.flatMap((one) => one.recorded),
  }));
}

/** Reads the runs of one time. A run with journals on this machine is not read from its record. */
async function readTogether({ stored, recorded }: Moment, io: World): Promise<readonly Run[]> {
  const own = await readStored(stored, io);
  const known = new Set(
    own.flatMap(({ journals }) =>
      journals.flatMap((journal) =>
        "past" in journal ? [runKey(journal.past.run.run, runBy(journal.past.run))] : [],
      ),
    ),
  );
  const others: Run[] = [];
  for (const { name, summary, origin, journals } of recorded) {
    if (known.has(runKey(summary.run, summary.by))) continue;
    others.push({ ...runOf(name, await journals()), record: origin });
  }
  return [...own, ...others];
}

/** Identifies a run: several machines may begin one at the same time. */
function runKey(run: string, by: string): string {
  return JSON.stringify([run, by]);
}

/** Reads the journals of one time: one run, except for journals of former versions and runs that started together. */
async function readStored(stored: readonly StoredRun[], io: World): Promise<readonly Run[]> {
  const runs = new Map<string, { readonly name: string; readonly journals: FoundRun[] }>();
  const unreadable: FoundRun[] = [];
  for (const storedRun of stored.toReversed()) {
    const journal = await readRun(storedRun, io);
    if (!("past" in journal)) {
      unreadable.push(journal);
      continue;
    }
    const { run, host, pid } = journal.past.run;
    const key = JSON.stringify([run, host, pid]);
    const sameRun = runs.get(key) ?? { name: run, journals: [] };
    sameRun.journals.push(journal);
    runs.set(key, sameRun);
  }
  const whole = [...runs.values()];
  for (const journal of unreadable) {
    const its = whole.find(({ name }) => name === beginningOf(journal.name));
    if (its) its.journals.push(journal);
    else whole.push({ name: journal.name, journals: [journal] });
  }
  return whole.map(({ name, journals }) => runOf(name, journals));
}

function runOf(name: string, journals: readonly FoundRun[]): Run {
  const statuses = journals.flatMap((journal) => ("past" in journal ? [journal.status] : []));
  return { name, journals, status: jointStatus(statuses) };
}

/** Returns the part of a run with these journals; `null` if there is none. */
function partOf({ name, journals, record }: Run, isMeant: (journal: FoundRun) => boolean): Run | null {
  const meant = journals.filter(isMeant);
  return meant.length === 0 ? null : { ...runOf(name, meant), ...(record && { record }) };
}

/** Returns the part of a run at these merchants; `null` if there is none. An empty list means all merchants. */
function narrowed(run: Run, merchants: readonly string[]): Run | null {
  return partOf(run, (journal) => merchants.length === 0 || isOf(journal, merchants));
}

/**
 * Finds one run by its id, by a unique prefix of it, or as "latest", and narrows it to these merchants; the name of a
 * journal stands for its merchant's part. Records are fetched unless this machine has the journals of a whole id.
 */
export async function findRun(
  text: string,
  { merchants }: { readonly merchants: readonly string[] },
  io: Io,
): Promise<Run> {
  const stored = await listRuns(io.cwd);
  const name = text.endsWith(EXTENSION) ? text.slice(text.lastIndexOf("/") + 1, -EXTENSION.length) : text;
  if (timeOfRun(name) !== null) {
    const own = fittingTo(name, await readFitting(name, together(stored, []), io));
    if (own.length > 0) return onlyOf(own, text, merchants);
  }
  return withRecordedRuns(warnOn(io), io, async (recorded) => {
    const moments = together(stored, recorded);
    if (moments.length === 0) {
      throw new RolecallError("run-unknown", "There are no runs yet.", {
        hint: "Every apply keeps a journal in .rolecall/runs, on the machine where it ran, and can record its run in git (--records push).",
      });
    }
    if (text === "latest") return latestOf(moments, merchants, io);
    return onlyOf(fittingTo(name, await readFitting(name, moments, io)), text, merchants);
  });
}

function warnOn(io: Io): (text: string) => void {
  return (text) => io.stderr.write(`${text}\n`);
}

async function latestOf(moments: readonly Moment[], merchants: readonly string[], io: World): Promise<Run> {
  for (const moment of moments) {
    for (const run of await readTogether(moment, io)) {
      const part = narrowed(run, merchants);
      if (part?.journals.some((journal) => !("unstarted" in journal))) return ofAll(run, merchants);
    }
  }
  const whose = merchants.length === 0 ? "that sent anything" : `of ${merchants.join(", ")}`;
  throw new RolecallError("run-unknown", `There is no run ${whose}.`, { hint: HINT });
}

/** Returns the only run that a text stands for, narrowed to merchants. */
function onlyOf(fitting: readonly Run[], text: string, merchants: readonly string[]): Run {
  const meant = fitting.length > 1 ? fitting.filter((run) => narrowed(run, merchants)) : fitting;
  const [only, ...more] = meant.length === 0 ? fitting : meant;
  if (only === undefined)
    throw new RolecallError("run-unknown", `No run is called "${text}".`, { hint: HINT });
  if (more.length > 0) {
    const names = [...new Set(fitting.map((run) => run.name))];
    throw new RolecallError("run-unknown", `The ids of several runs begin with "${text}".`, {
      hint:
        names.length === 1
          ? "They started at the same time: also select a merchant with --merchant."
          : `Use a longer part of the id: ${names.slice(0, MAX_NAMED).join(", ")}${names.length > MAX_NAMED ? " …" : ""}`,
    });
  }
  return ofAll(only, merchants);
}

/** Returns the runs with a journal of this prefix; at most as many as a message names. */
async function readFitting(name: string, moments: readonly Moment[], io: World): Promise<readonly Run[]> {
  const fitting = moments.filter(({ stored, recorded }) =>
    [...stored, ...recorded].some((run) => run.name.startsWith(name) || name.startsWith(`${run.name}-`)),
  );
  const runs: Run[] = [];
  for (const moment of fitting.slice(0, MAX_NAMED + 1)) runs.push(...(await readTogether(moment, io)));
  return runs;
}

/** Returns the runs of a name: the run with this id, else the one with this journal, else all with this prefix. */
function fittingTo(name: string, runs: readonly Run[]): readonly Run[] {
  const called = runs.filter((run) => run.name === name);
  if (called.length > 0) return called;
  const part = (fits: (journal: FoundRun) => boolean): readonly Run[] =>
    runs.flatMap((run) => partOf(run, fits) ?? []);
  const journal = part((each) => each.name === name);
  if (journal.length > 0) return journal;
  const begun = runs.filter((run) => run.name.startsWith(name));
  return begun.length > 0 ? begun : part((each) => each.name.startsWith(name));
}

/** Narrows a run to merchants; throws RolecallError for one that is not part of it. */
function ofAll(run: Run, merchants: readonly string[]): Run {
  const missing = merchants.filter((merchant) => narrowed(run, [merchant]) === null);
  const part = narrowed(run, merchants);
  if (part !== null && missing.length === 0) return part;
  const codes = run.journals.map((journal) => ("past" in journal ? journal.past.run.merchant : journal.name));
  const places = `${codes.slice(0, MAX_NAMED).join(", ")}${codes.length > MAX_NAMED ? ` and ${codes.length - MAX_NAMED} more` : ""}`;
  throw new RolecallError("usage", `The run ${run.name} was at ${places}, not at ${missing.join(", ")}.`);
}

/** The options of `runs`. */
export type RunsCommandOptions = OutputOptions & {
  readonly merchant: readonly string[];
  readonly limit: number;
  /** Address that a journal contains. */
  readonly who?: string;
  /** In ms since the epoch. */
  readonly since?: number;
  /** Shows each write of a run. */
  readonly verbose?: true;
};

/** Prints past runs, the newest first. */
export async function listPastRuns(options: RunsCommandOptions, io: Io): Promise<ExitCode> {
  const stored = await listRuns(io.cwd);
  const runs = await withRecordedRuns(warnOn(io), io, (recorded) =>
    chosenRuns(together(stored, recorded), options, io),
  );
  const answer = {
    json: () => runsJson(runs),
    table: () => runsTable(runs),
    caveats: [],
    report: () => runsDocument(runs),
  };
  if (runs.length === 0 && options.format !== "json") {
    const { merchant, who, since } = options;
    const whose = merchant.length === 0 ? "" : ` of ${merchant.join(", ")}`;
    io.stderr.write(
      who === undefined && since === undefined
        ? `There are no runs${whose} yet: every apply keeps a journal in .rolecall/runs.\n`
        : "No run matches.\n",
    );
  }
  return writeAnswer(answer, [], options, io);
}

/** Reads the newest runs with what the options select of each. */
async function chosenRuns(
  moments: readonly Moment[],
  { merchant, limit, who, since }: RunsCommandOptions,
  io: World,
): Promise<readonly Run[]> {
  const isMeant = (journal: FoundRun): boolean =>
    (merchant.length === 0 || isOf(journal, merchant)) &&
    (who === undefined || ("past" in journal && containsAddress(JSON.stringify(journal.past), who)));
  const chosen: Run[] = [];
  for (const moment of moments) {
    const [one] = [...moment.stored, ...moment.recorded];
    const time = timeOfRun(one?.name ?? "");
    if (since !== undefined && (time === null || time < since)) continue;
    for (const run of await readTogether(moment, io)) {
      const part = partOf(run, isMeant);
      if (part !== null && chosen.length < limit) chosen.push(part);
    }
    if (chosen.length === limit) break;
  }
  return chosen;
}

/** Prints one past run. */
export async function showPastRun(text: string, options: RunsCommandOptions, io: Io): Promise<ExitCode> {
  const run = await findRun(text, { merchants: options.merchant }, io);
  const [first] = run.journals;
  if (run.status === null && first && "unreadable" in first) {
    throw new RolecallError("file-invalid", `This journal cannot be read: ${first.unreadable}.`, {
      hint: "Only undo needs journals: plans are made from the files and the live state.",
    });
  }
  const answer = {
    json: () => runsJson([run]),
    table: () => writesTable(run),
    caveats: [],
    report: (isVerbose: boolean) => runDocument(run, isVerbose),
  };
  return writeAnswer(answer, [], options, io);
}
