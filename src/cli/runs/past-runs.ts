import type { ExitCode, Io } from "../../app/io/io.ts";
import {
  beginningOf,
  EXTENSION,
  type FoundRun,
  isOf,
  jointStatus,
  listRuns,
  readRun,
  type StoredRun,
} from "../../app/journal/read-journals.ts";
import type { OutputOptions } from "../../app/project/command-options.ts";
import { writeAnswer } from "../../app/show/write-document.ts";
import { groupByKey } from "../../lib/text.ts";
import { RolecallError } from "../../model/errors.ts";
import { runsJson } from "../../show/machine/machine-formats.ts";
import type { Style } from "../../show/style.ts";
import { renderRun, renderRuns, runsTable, writesTable } from "../../show/text/runs-text.ts";
import type { ShownRun } from "../../show/view/run-view.ts";

/** One apply, with the journals of its merchants sorted by name. */
export interface Run extends ShownRun {
  readonly journals: readonly FoundRun[];
}

type World = Pick<Io, "cwd" | "now">;

/** Number of runs that a message names. */
const MAX_NAMED = 5;

const HINT = '"rolecall runs" lists them.';

/** Yields all runs, the newest first, and reads each when it is needed. */
async function* pastRuns(io: World): AsyncGenerator<Run> {
  for (const stored of together(await listRuns(io.cwd))) yield* await readTogether(stored, io);
}

/** Groups journals by the time in their names. */
function together(stored: readonly StoredRun[]): readonly (readonly StoredRun[])[] {
  return groupByKey(stored, ({ name }) => beginningOf(name));
}

/** Reads the journals of one time: one run, except for journals of former versions and runs that started together. */
async function readTogether(stored: readonly StoredRun[], io: World): Promise<readonly Run[]> {
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

/** Returns the part of a run at these merchants; `null` if there is none. An empty list means all merchants. */
function narrowed({ name, journals }: Run, merchants: readonly string[]): Run | null {
  const meant = merchants.length === 0 ? journals : journals.filter((journal) => isOf(journal, merchants));
  return meant.length === 0 ? null : runOf(name, meant);
}

/**
 * Finds one run by its id, by a unique prefix of it, or as "latest", and narrows it to these merchants; the name of a
 * journal stands for its merchant's part.
 */
export async function findRun(
  text: string,
  { merchants }: { readonly merchants: readonly string[] },
  io: World,
): Promise<Run> {
  const stored = await listRuns(io.cwd);
  if (stored.length === 0) {
    throw new RolecallError("run-unknown", "There are no runs yet.", {
      hint: "Every apply keeps a journal in .rolecall/runs, on the machine where it ran.",
    });
  }
  if (text === "latest") {
    for await (const run of pastRuns(io)) {
      const part = narrowed(run, merchants);
      if (part?.journals.some((journal) => !("unstarted" in journal))) return ofAll(run, merchants);
    }
    const whose = merchants.length === 0 ? "that sent anything" : `of ${merchants.join(", ")}`;
    throw new RolecallError("run-unknown", `There is no run ${whose}.`, { hint: HINT });
  }
  const name = text.endsWith(EXTENSION) ? text.slice(text.lastIndexOf("/") + 1, -EXTENSION.length) : text;
  const fitting = fittingTo(name, await readFitting(name, stored, io));
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
async function readFitting(name: string, stored: readonly StoredRun[], io: World): Promise<readonly Run[]> {
  const groups = together(stored).filter((group) =>
    group.some((storedRun) => storedRun.name.startsWith(name)),
  );
  const runs: Run[] = [];
  for (const group of groups.slice(0, MAX_NAMED + 1)) runs.push(...(await readTogether(group, io)));
  return runs;
}

/** Returns the runs of a name: the run with this id, else the one with this journal, else all with this prefix. */
function fittingTo(name: string, runs: readonly Run[]): readonly Run[] {
  const called = runs.filter((run) => run.name === name);
  if (called.length > 0) return called;
  const part = (fits: (journal: FoundRun) => boolean): readonly Run[] =>
    runs.flatMap((run) => {
      const journals = run.journals.filter(fits);
      return journals.length === 0 ? [] : [runOf(run.name, journals)];
    });
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
  /** Shows each write of a run. */
  readonly verbose?: true;
};

/** Prints past runs, the newest first. */
export async function listPastRuns(
  { merchant, limit, ...options }: RunsCommandOptions,
  io: Io,
): Promise<ExitCode> {
  const runs: Run[] = [];
  for await (const run of pastRuns(io)) {
    if (runs.length === limit) break;
    const part = narrowed(run, merchant);
    if (part !== null) runs.push(part);
  }
  const answer = {
    json: () => runsJson(runs),
    table: () => runsTable(runs),
    caveats: [],
    text: (style: Style) => renderRuns(runs, style),
  };
  if (runs.length === 0 && options.format !== "json") {
    const whose = merchant.length === 0 ? "" : ` of ${merchant.join(", ")}`;
    io.stderr.write(`There are no runs${whose} yet: every apply keeps a journal in .rolecall/runs.\n`);
  }
  return writeAnswer(answer, [], options, io);
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
    text: (style: Style) => renderRun(run, style, options),
  };
  return writeAnswer(answer, [], options, io);
}
