import { RolecallError } from "../../model/errors.ts";
import { jointStatus } from "../../plan/run-status.ts";
import type { ShownRun } from "../../render/text/runs-text.ts";
import type { Io } from "../io/io.ts";
import { EXTENSION, type FoundRun, isOf, listRuns, readRun, type StoredRun } from "./read-journals.ts";

/** One apply, with the journals of its merchants sorted by name. */
export interface Run extends ShownRun {
  readonly journals: readonly FoundRun[];
}

type World = Pick<Io, "cwd" | "now">;

/** Matches the time at the start of a journal's name, which the journals of one run share. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z/;

/** How many runs a message names. */
const MAX_NAMED = 5;

const HINT = '"rolecall runs" lists them.';

/** Returns the prefix that a run's journals share. */
export function beginningOf(name: string): string {
  return TIME.exec(name)?.[0] ?? name;
}

/** Yields all runs, the newest first, and reads each when it is needed. */
export async function* pastRuns(io: World): AsyncGenerator<Run> {
  for (const stored of together(await listRuns(io.cwd))) yield* await readTogether(stored, io);
}

/** Groups journals by the time in their names. */
function together(stored: readonly StoredRun[]): readonly (readonly StoredRun[])[] {
  const groups = new Map<string, StoredRun[]>();
  for (const one of stored) {
    const beginning = beginningOf(one.name);
    groups.set(beginning, [...(groups.get(beginning) ?? []), one]);
  }
  return [...groups.values()];
}

/** Reads the journals of one time: one run, except for journals of former versions and runs that started together. */
async function readTogether(stored: readonly StoredRun[], io: World): Promise<readonly Run[]> {
  const runs = new Map<string, { readonly name: string; readonly journals: FoundRun[] }>();
  const unreadable: FoundRun[] = [];
  for (const one of stored.toReversed()) {
    const found = await readRun(one, io);
    if (!("past" in found)) {
      unreadable.push(found);
      continue;
    }
    const { run, host, pid } = found.past.run;
    const key = JSON.stringify([run, host, pid]);
    const known = runs.get(key) ?? { name: run, journals: [] };
    known.journals.push(found);
    runs.set(key, known);
  }
  const whole = [...runs.values()];
  for (const one of unreadable) {
    const its = whole.find(({ name }) => name === beginningOf(one.name));
    if (its) its.journals.push(one);
    else whole.push({ name: one.name, journals: [one] });
  }
  return whole.map(({ name, journals }) => runOf(name, journals));
}

function runOf(name: string, journals: readonly FoundRun[]): Run {
  const statuses = journals.flatMap((one) => ("past" in one ? [one.status] : []));
  return { name, journals, status: jointStatus(statuses) };
}

/** Returns the part of a run at these merchants; `null` if there is none. An empty list means all merchants. */
export function narrowed({ name, journals }: Run, merchants: readonly string[]): Run | null {
  const meant = merchants.length === 0 ? journals : journals.filter((one) => isOf(one, merchants));
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
      hint: "Every apply leaves a journal in .rolecall/runs, on the machine that it ran on.",
    });
  }
  if (text === "latest") {
    for await (const run of pastRuns(io)) {
      if (narrowed(run, merchants)) return ofAll(run, merchants);
    }
    throw new RolecallError("run-unknown", `There is no run of ${merchants.join(", ")}.`, { hint: HINT });
  }
  const name = text.endsWith(EXTENSION) ? text.slice(text.lastIndexOf("/") + 1, -EXTENSION.length) : text;
  const fitting = fittingTo(name, await readFitting(name, stored, io));
  const meant = fitting.length > 1 ? fitting.filter((run) => narrowed(run, merchants)) : fitting;
  const [only, ...more] = meant.length === 0 ? fitting : meant;
  if (only === undefined)
    throw new RolecallError("run-unknown", `No run is called "${text}".`, { hint: HINT });
  if (more.length > 0) {
    const names = [...new Set(fitting.map((run) => run.name))];
    throw new RolecallError("run-unknown", `Several runs begin with "${text}".`, {
      hint:
        names.length === 1
          ? "They began together: give a merchant with --merchant, too."
          : `Give more of the name: ${names.slice(0, MAX_NAMED).join(", ")}${names.length > MAX_NAMED ? " …" : ""}`,
    });
  }
  return ofAll(only, merchants);
}

/** Returns the runs with a journal of this prefix; at most as many as a message names. */
async function readFitting(name: string, stored: readonly StoredRun[], io: World): Promise<readonly Run[]> {
  const groups = together(stored).filter((group) => group.some((one) => one.name.startsWith(name)));
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
  const journal = part((one) => one.name === name);
  if (journal.length > 0) return journal;
  const begun = runs.filter((run) => run.name.startsWith(name));
  return begun.length > 0 ? begun : part((one) => one.name.startsWith(name));
}

/** Narrows a run to merchants; throws RolecallError for one that is not part of it. */
function ofAll(run: Run, merchants: readonly string[]): Run {
  const missing = merchants.filter((merchant) => narrowed(run, [merchant]) === null);
  const part = narrowed(run, merchants);
  if (part !== null && missing.length === 0) return part;
  const own = run.journals.map((one) => ("past" in one ? one.past.run.merchant : one.name));
  const named = `${own.slice(0, MAX_NAMED).join(", ")}${own.length > MAX_NAMED ? ` and ${own.length - MAX_NAMED} more` : ""}`;
  throw new RolecallError("usage", `The run ${run.name} is of ${named}, not of ${missing.join(", ")}.`);
}
