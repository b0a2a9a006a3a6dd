import { RolecallError } from "../../model/errors.ts";
import { jointStatus } from "../../plan/run-status.ts";
import type { ShownRun } from "../../render/text/runs-text.ts";
import type { Io } from "../io/io.ts";
import { EXTENSION, type FoundRun, isOf, listRuns, readRun, type StoredRun } from "./read-journals.ts";

/** One apply: a journal for each of its merchants, in the order of their names. */
export interface Run extends ShownRun {
  readonly journals: readonly FoundRun[];
}

type World = Pick<Io, "cwd" | "now">;

/** The time that a name begins with; the journals of one run have it in common. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z/;

/** How many runs a message names. */
const MOST_NAMED = 5;

const HINT = '"rolecall runs" lists them.';

/** The prefix of the names of a run's journals. */
export function beginningOf(name: string): string {
  return TIME.exec(name)?.[0] ?? name;
}

/** All runs, the newest first; each is read when it is asked for. */
export async function* pastRuns(io: World): AsyncGenerator<Run> {
  for (const stored of together(await listRuns(io.cwd))) yield* await readTogether(stored, io);
}

/** Journals whose names begin with the same time, in the order in which they come. */
function together(stored: readonly StoredRun[]): readonly (readonly StoredRun[])[] {
  const groups = new Map<string, StoredRun[]>();
  for (const one of stored) {
    const beginning = beginningOf(one.name);
    groups.set(beginning, [...(groups.get(beginning) ?? []), one]);
  }
  return [...groups.values()];
}

/** Of one moment there is one run, but for journals of former versions, and two that began together. */
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

/** The part of a run that is about these merchants, null where there is none; no merchants mean all. */
export function narrowed({ name, journals }: Run, merchants: readonly string[]): Run | null {
  const meant = merchants.length === 0 ? journals : journals.filter((one) => isOf(one, merchants));
  return meant.length === 0 ? null : runOf(name, meant);
}

/**
 * Finds one run by its id, by a beginning of it that no other one has, or as "latest", and narrows it to these
 * merchants; the name of a journal stands for its merchant's part.
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
          : `Give more of the name: ${names.slice(0, MOST_NAMED).join(", ")}${names.length > MOST_NAMED ? " …" : ""}`,
    });
  }
  return ofAll(only, merchants);
}

/** The runs of which a journal's name begins so; of very many only as many as a message needs. */
async function readFitting(name: string, stored: readonly StoredRun[], io: World): Promise<readonly Run[]> {
  const groups = together(stored).filter((group) => group.some((one) => one.name.startsWith(name)));
  const runs: Run[] = [];
  for (const group of groups.slice(0, MOST_NAMED + 1)) runs.push(...(await readTogether(group, io)));
  return runs;
}

/** The runs that a name stands for: one that is called so, else one with a journal that is, else all that begin so. */
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

/** A run narrowed to merchants, each of which must be one of its own. */
function ofAll(run: Run, merchants: readonly string[]): Run {
  const missing = merchants.filter((merchant) => narrowed(run, [merchant]) === null);
  const part = narrowed(run, merchants);
  if (part !== null && missing.length === 0) return part;
  const own = run.journals.map((one) => ("past" in one ? one.past.run.merchant : one.name));
  const named = `${own.slice(0, MOST_NAMED).join(", ")}${own.length > MOST_NAMED ? ` and ${own.length - MOST_NAMED} more` : ""}`;
  throw new RolecallError("usage", `The run ${run.name} is of ${named}, not of ${missing.join(", ")}.`);
}
