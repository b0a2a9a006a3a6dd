import type { MerchantNote } from "../../model/apply.ts";
import { type Document, fold, sentence, toned } from "../blocks/block.ts";
import type { Verbosity } from "../style.ts";
import { groupEqual } from "../view/equal-changes.ts";
import { messageAt } from "../view/equal-text.ts";
import { namesText } from "../view/names-text.ts";
import type { KnownRun } from "../view/run-view.ts";
import { whoOf } from "./runs.ts";

/** Notices about an unfinished run, shown before the next plan; equal parts together. */
export function unfinishedDocument(runs: readonly KnownRun[]): Document {
  const [first] = runs;
  if (first === undefined) return [];
  const { past, status } = first;
  const { run } = past;
  const merchants = namesText(runs.map((entry) => entry.past.run.merchant));
  if (status === "running") {
    const text = `another apply of ${merchants} has been running since ${run.at}: ${whoOf(past)}, process ${run.pid}.`;
    return note(text);
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
    unsure.length === 0 ? " The outcome of every write is known." : ` Outcome unknown: ${namesText(unsure)}.`;
  const emptied = runs.flatMap(({ unrestored = [] }) => unrestored.map(({ name }) => name));
  const next =
    emptied.length === 0
      ? "This plan is made from the live state, so it shows what remains."
      : `This plan is made from the live state, so it shows what remains, but not which fields of ${namesText(emptied)} the service may have cleared: "rolecall runs ${run.run}" lists them.`;
  return note(`the last apply of ${merchants}, ${run.run}, ${ended}.${unknown}`, next);
}

/** Names journals that are not read, each with the reason. */
export function distrustedDocument(journals: readonly string[]): Document {
  if (journals.length === 0) return [];
  return note(
    `a journal is not read: ${namesText(journals)}. Journals are only written by applies on this machine; if it came with the repository, remove it.`,
  );
}

function note(text: string, ...below: readonly string[]): Document {
  return [[sentence([toned("yellow", "note"), `: ${text}`], { below: below.map((each) => sentence(each)) })]];
}

/**
 * Says what an undo does not restore, or leaves alone, before its plan; equal notes once, with their names and merchants,
 * unless verbose.
 */
export function undoNotes(notes: readonly MerchantNote[], verbosity: Verbosity): Document {
  const merchants = [...new Set(notes.map(({ merchant }) => merchant))];
  const views = merchants.map((merchant) => ({ merchant }));
  const occurrences = notes.map((item, index) => ({
    at: merchants.indexOf(item.merchant),
    name: item.name,
    key: verbosity === "verbose" ? String(index) : JSON.stringify([item.code, item.message.split(item.name)]),
    item,
  }));
  const rows = groupEqual(occurrences, ({ key }) => key).map((group) =>
    sentence(messageAt({ views }, group).message, { mark: "warning" }),
  );
  return rows.length === 0 ? [] : [[fold("Cannot be fully restored", rows)]];
}
