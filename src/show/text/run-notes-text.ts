import { oneLine } from "../../lib/escape.ts";
import { grouped } from "../../lib/text.ts";
import type { MerchantNote } from "../../model/apply.ts";
import type { Style, Verbosity } from "../style.ts";
import { groupEqual } from "../view/equal-changes.ts";
import { messageAt } from "../view/equal-text.ts";
import type { KnownRun } from "../view/run-view.ts";
import { whoOf } from "./runs-text.ts";
import { hangingLines, wrapText } from "./wrap.ts";

/** Notices about an unfinished run, shown before the next plan; equal parts together. */
export function renderUnfinished(runs: readonly KnownRun[], style: Style): string {
  const [first] = runs;
  if (first === undefined) return "";
  const { past, status } = first;
  const { run } = past;
  const merchants = namesOf(runs.map((entry) => entry.past.run.merchant));
  if (status === "running") {
    const text = `another apply of ${merchants} has been running since ${oneLine(run.at)}: ${whoOf(past)}, process ${run.pid}.`;
    return note([text], style);
  }
  const unsure = runs.flatMap((entry) =>
    entry.past.writes
      .filter(({ outcome }) => outcome === null || outcome.status === "unknown")
      .map(({ intent: { kind, resource, name } }) => {
        const place = runs.length === 1 ? "" : ` at ${entry.past.run.merchant}`;
        return `${kind} ${resource} ${name}${place}`;
      }),
  );
  const ended = status === "interrupted" ? "was interrupted" : "stopped";
  const unknown =
    unsure.length === 0 ? " The outcome of every write is known." : ` Outcome unknown: ${namesOf(unsure)}.`;
  const emptied = runs.flatMap(({ unrestored = [] }) => unrestored.map(({ name }) => name));
  const next =
    emptied.length === 0
      ? "This plan is made from the live state, so it shows what remains."
      : `This plan is made from the live state, so it shows what remains, but not which fields of ${namesOf(emptied)} the service may have cleared: "rolecall runs ${oneLine(run.run)}" lists them.`;
  return note([`the last apply of ${merchants}, ${oneLine(run.run)}, ${ended}.${unknown}`, next], style);
}

/** Names journals that are not read, each with the reason. */
export function renderDistrusted(journals: readonly string[], style: Style): string {
  if (journals.length === 0) return "";
  const text = `a journal is not read: ${namesOf(journals)}. Journals are only written by applies on this machine; if it came with the repository, remove it.`;
  return note([text], style);
}

/** Formats paragraphs as a note, with the lines after the first indented. */
function note(paragraphs: readonly string[], style: Style): string {
  const [first = "", ...rest] = paragraphs.flatMap((text, index) =>
    wrapText(index === 0 ? `note: ${text}` : text, style.columns - 2),
  );
  const marked = first.replace("note", style.yellow("note"));
  return `${[marked, ...rest.map((line) => `  ${line}`)].join("\n")}\n`;
}

const MOST_NAMED = 5;

/** Returns the first names of a list, and the number of the others. */
function namesOf(names: readonly string[]): string {
  const more = names.length - MOST_NAMED;
  const shown = names.slice(0, MOST_NAMED).map(oneLine).join(", ");
  return more > 0 ? `${shown}, and ${grouped(more)} more` : shown;
}

/**
 * Formats the notes on what an undo does not restore, or leaves alone, shown before its plan; equal ones once, with their
 * names and merchants, unless verbose.
 */
export function renderUndoNotes(notes: readonly MerchantNote[], style: Style, verbosity: Verbosity): string {
  if (notes.length === 0) return "";
  const merchants = [...new Set(notes.map(({ merchant }) => merchant))];
  const views = merchants.map((merchant) => ({ merchant }));
  const occurrences = notes.map((item, index) => ({
    at: merchants.indexOf(item.merchant),
    name: item.name,
    key: verbosity === "verbose" ? String(index) : JSON.stringify([item.code, item.message.split(item.name)]),
    item,
  }));
  const rows = groupEqual(occurrences, ({ key }) => key).flatMap((group) =>
    hangingLines(
      oneLine(messageAt({ views }, group).message),
      style.columns,
      `  ${style.yellow("!")} `,
      "    ",
    ),
  );
  return [style.bold("Cannot be fully restored"), ...rows, "\n"].join("\n");
}
