import { oneLine } from "../../lib/escape.ts";
import { counted, grouped } from "../../lib/text.ts";
import type { MerchantNote } from "../../model/past-run.ts";
import type { Style } from "../style.ts";
import { type KnownRun, whoOf } from "./runs-text.ts";
import { wrapText } from "./wrap.ts";

/** The last run at a merchant, which is not finished. */
export interface UnfinishedRun extends KnownRun {
  /** Members whose fields the service may have emptied, and that are not restored for certain; absent: none. */
  readonly unrestored?: readonly { readonly name: string; readonly fields: readonly string[] }[];
}

/** Notices about an unfinished run, shown before the next plan; equal parts together. */
export function renderUnfinished(runs: readonly UnfinishedRun[], style: Style): string {
  const [first] = runs;
  if (first === undefined) return "";
  const { past, status } = first;
  const { run } = past;
  const merchants = namesOf(runs.map((one) => one.past.run.merchant));
  if (status === "running") {
    return `${style.yellow("note")}: another apply of ${merchants} is running since ${oneLine(run.at)}: ${whoOf(past)}, process ${run.pid}.\n`;
  }
  const unsure = runs.flatMap((one) =>
    one.past.writes
      .filter(({ outcome }) => outcome === null || outcome.status === "unknown")
      .map(({ intent: { kind, resource, name } }) => {
        const at = runs.length === 1 ? "" : ` at ${one.past.run.merchant}`;
        return `${kind} ${resource} ${name}${at}`;
      }),
  );
  const ended = status === "cut-short" ? "was cut short" : "stopped";
  const unknown =
    unsure.length === 0
      ? " Every write that it began has an outcome."
      : ` Not known to be done or not: ${namesOf(unsure)}.`;
  return [
    `${style.yellow("note")}: the last apply of ${merchants}, ${oneLine(run.run)}, ${ended}.${unknown}\n`,
    unrestoredText(runs, run.run) ??
      "  Planning again settles it: this plan is made from what is live now.\n",
  ].join("");
}

/** No plan shows such a field where no file manages it, so planning again settles nothing. */
function unrestoredText(runs: readonly UnfinishedRun[], run: string): string | null {
  const members = runs.flatMap(({ unrestored = [] }) =>
    unrestored.map(({ name, fields }) => `${fields.join(" and ")} of ${name}`),
  );
  if (members.length === 0) return null;
  return [
    `  The service may have emptied fields that an update did not send: ${namesOf(members)}.\n`,
    `  → To restore them, run "rolecall undo ${oneLine(run)}", then apply again.\n`,
  ].join("");
}

const MOST_NAMED = 5;

function namesOf(names: readonly string[]): string {
  const more = names.length - MOST_NAMED;
  const shown = names.slice(0, MOST_NAMED).map(oneLine).join(", ");
  return more > 0 ? `${shown}, and ${grouped(more)} more` : shown;
}

/** Returns the paths of a run's journals in one line. */
export function renderJournals(run: string, files: readonly string[]): string {
  const [first = "", ...more] = files;
  if (more.length === 0) return `journal: ${oneLine(first)}`;
  const folder = first.slice(0, Math.max(first.lastIndexOf("/"), first.lastIndexOf("\\")) + 1);
  return `journals: ${oneLine(`${folder}${run}-*.jsonl`)} (${counted(files.length, "merchant")})`;
}

/** Notes on what an undo does not restore, or leaves alone, shown before its plan. */
export function renderUndoNotes(notes: readonly MerchantNote[], style: Style): string {
  if (notes.length === 0) return "";
  const several = new Set(notes.map(({ merchant }) => merchant)).size > 1;
  const rows = notes.flatMap(({ merchant, message }) => {
    const text = oneLine(several ? `${merchant}: ${message}` : message);
    const [first = "", ...rest] = wrapText(text, style.columns - 4);
    return [`  ${style.yellow("!")} ${first}\n`, ...rest.map((line) => `    ${line}\n`)];
  });
  return [`${style.bold("Not quite as it was")}\n`, ...rows, "\n"].join("");
}
