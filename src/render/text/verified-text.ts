import { oneLine } from "../../lib/escape.ts";
import { counted, grouped } from "../../lib/text.ts";
import type { MerchantNote, MerchantOutcome } from "../../model/apply.ts";
import type { Failure } from "../../model/errors.ts";
import type { Change, Deferred, Finding, Plan } from "../../model/plan.ts";
import type { Style } from "../style.ts";
import { MIN_SHARED } from "../view/equal-changes.ts";
import { namesText } from "../view/equal-text.ts";
import { renderFailure } from "./failure-text.ts";
import { type KnownRun, whoOf } from "./runs-text.ts";
import { wrapIfNarrow, wrapText } from "./wrap.ts";

/** The differences that remain after an apply, and the problems that hide others. */
export interface RemainingChanges {
  readonly left: readonly Change[];
  readonly errors: readonly Finding[];
  /** Declared members without roles in the file, who cannot be created; they count as no difference. */
  readonly notCreated: readonly string[];
}

/** Returns the changes that a plan made after an apply still holds, without deferred ones. */
export function remainingChanges(plan: Plan): RemainingChanges {
  return {
    left: plan.changes,
    errors: plan.findings.filter(({ severity }) => severity === "error"),
    notCreated: plan.findings.filter(({ code }) => code === "member-needs-roles").map(({ name }) => name),
  };
}

/** Formats the result of the verification: success with its exceptions, or the remaining changes by name. */
export function renderVerified(plan: Plan, leftOut: number, style: Style, refused = 0): string {
  const { left, errors, notCreated } = remainingChanges(plan);
  const merchant = oneLine(plan.merchant);
  const deferred = plan.deferred.map(deferredLine);
  const missing = notCreated.map(
    (name) => `    member ${oneLine(name)}: not created, since the file declares no roles for it\n`,
  );
  if (left.length + errors.length === 0) {
    const exceptions = [
      ...(plan.deferred.length === 0 ? [] : [`${grouped(plan.deferred.length)} deferred`]),
      ...(leftOut === 0 ? [] : [`${grouped(leftOut)} left out`]),
      ...(refused === 0 ? [] : [`${grouped(refused)} refused`]),
      ...(missing.length === 0 ? [] : [`${grouped(missing.length)} that cannot be created`]),
    ];
    const but = exceptions.length === 0 ? "" : ` except ${exceptions.join(" and ")}`;
    return [
      paragraph(`${merchant}: verified, no changes remain${but}.`, style.green("✓"), style),
      ...deferred,
      ...missing,
    ].join("");
  }
  const counts = [
    ...(left.length > 0 ? [counted(left.length, "remaining change")] : []),
    ...(errors.length > 0 ? [counted(errors.length, "problem")] : []),
  ].join(" and ");
  const sentence = `${merchant}: verification found ${counts}; somebody else may have changed something in the meantime:`;
  return [
    `\n${paragraph(sentence, style.red("✗"), style)}`,
    ...left.map((change) => `    ${changeText(change)}\n`),
    ...errors.map(({ message }) => `    error: ${oneLine(message)}\n`),
    ...missing,
    ...(deferred.length > 0 ? ["  Deferred:\n", ...deferred] : []),
    'Run "rolecall plan" to see more, and apply again.\n',
  ].join("");
}

/** Formats a sentence after its mark, wrapped on narrow terminals. */
function paragraph(text: string, mark: string, style: Style): string {
  return `${wrapIfNarrow(text, style, `${mark} `, "  ").join("\n")}\n`;
}

/** Formats the report of a complete apply that could not be verified. */
export function renderUnverified(merchant: string, why: Failure | string, style: Style): string {
  const [reason, details] =
    typeof why === "string"
      ? [uncapital(oneLine(why)), ""]
      : ["it could not be read again.", renderFailure(why, style)];
  return [
    `\n${paragraph(`${oneLine(merchant)}: the changes are done, but not verified: ${reason}`, style.yellow("?"), style)}`,
    details,
    'Run "rolecall plan" to see whether changes remain.\n',
  ].join("");
}

function uncapital(text: string): string {
  return `${text.slice(0, 1).toLowerCase()}${text.slice(1)}`;
}

/** Returns the kind, resource and name of a change. */
export function summaryOf({ kind, resource, name }: Change): string {
  return `${kind} ${resource} ${name}`;
}

function changeText(change: Change): string {
  const fields = change.fields.map(({ field }) => field);
  return `${oneLine(summaryOf(change))}${fields.length > 0 ? `: ${fields.join(", ")}` : ""}`;
}

function deferredLine({ change, role, waitsFor }: Deferred): string {
  const who = waitsFor.map(oneLine).join(" or ");
  return `    ${oneLine(summaryOf(change))}: waits until ${who} has accepted, so that "${oneLine(role)}" keeps enough holders\n`;
}

/** Notices about an unfinished run, shown before the next plan; equal parts together. */
export function renderUnfinished(runs: readonly KnownRun[], style: Style): string {
  const [first] = runs;
  if (first === undefined) return "";
  const { past, status } = first;
  const { run } = past;
  const merchants = namesOf(runs.map((one) => one.past.run.merchant));
  if (status === "running") {
    const text = `another apply of ${merchants} has been running since ${oneLine(run.at)}: ${whoOf(past)}, process ${run.pid}.`;
    return note([text], style);
  }
  const unsure = runs.flatMap((one) =>
    one.past.writes
      .filter(({ outcome }) => outcome === null || outcome.status === "unknown")
      .map(({ intent: { kind, resource, name } }) => {
        const at = runs.length === 1 ? "" : ` at ${one.past.run.merchant}`;
        return `${kind} ${resource} ${name}${at}`;
      }),
  );
  const ended = status === "interrupted" ? "was interrupted" : "stopped";
  const unknown =
    unsure.length === 0 ? " The outcome of every write is known." : ` Outcome unknown: ${namesOf(unsure)}.`;
  const next = "This plan is made from the live state, so it shows what remains.";
  return note([`the last apply of ${merchants}, ${oneLine(run.run)}, ${ended}.${unknown}`, next], style);
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

/** Returns the first names of a list, and how many more there are. */
export function namesOf(names: readonly string[]): string {
  const more = names.length - MOST_NAMED;
  const shown = names.slice(0, MOST_NAMED).map(oneLine).join(", ");
  return more > 0 ? `${shown}, and ${grouped(more)} more` : shown;
}

const STATUS_WORDS = {
  applied: "applied",
  unchanged: "with nothing to do",
  partial: "partly applied",
  refused: "refused",
  failed: "failed",
} as const satisfies Record<MerchantOutcome["status"], string>;

/**
 * Formats how an apply ended at several merchants: the counts, and each merchant that is not as its file says, with the
 * first reason. Empty if there is nothing that the result of each merchant has not said.
 */
export function renderOutcomes(outcomes: readonly MerchantOutcome[], style: Style): string {
  const open = outcomes.filter(({ status }) => status !== "applied" && status !== "unchanged");
  if (open.length === 0 || outcomes.length === 1) return "";
  const counts = Object.entries(STATUS_WORDS).flatMap(([status, word]) => {
    const count = outcomes.filter((one) => one.status === status).length;
    return count === 0 ? [] : [`${grouped(count)} ${word}`];
  });
  const rows = equalOutcomes(open).map(({ merchants, status, said }) => {
    const names = merchants.length === 1 ? merchants.join("") : `${namesText(merchants)}:`;
    const text = `${oneLine(names)}  ${said}`;
    return paragraph(text, status === "partial" ? style.yellow("!") : style.red("✗"), style);
  });
  const head = `${style.bold(counted(outcomes.length, "merchant"))}: ${counts.join(", ")}.`;
  return `\n${head}\n${rows.join("")}`;
}

interface EqualOutcomes {
  readonly merchants: readonly string[];
  readonly status: MerchantOutcome["status"];
  readonly said: string;
}

/** Combines outcomes that say the same of several merchants, but for their codes. */
function equalOutcomes(outcomes: readonly MerchantOutcome[]): readonly EqualOutcomes[] {
  const groups = new Map<string, MerchantOutcome[]>();
  for (const outcome of outcomes) {
    const { merchant, status, reasons } = outcome;
    const key = JSON.stringify([status, reasons.map((reason) => reason.split(merchant))]);
    const group = groups.get(key);
    if (group) group.push(outcome);
    else groups.set(key, [outcome]);
  }
  return [...groups.values()].flatMap((group): readonly EqualOutcomes[] => {
    const alone = group.map((one) => ({ merchants: [one.merchant], status: one.status, said: saidOf(one) }));
    const [first] = alone;
    if (first === undefined || group.length < MIN_SHARED) return alone;
    const merchants = group.map(({ merchant }) => merchant);
    return [{ ...first, merchants, said: first.said.replaceAll(merchants[0] ?? "", "…") }];
  });
}

function saidOf({ status, reasons: [first, ...more] }: MerchantOutcome): string {
  const others = more.length === 0 ? "" : ` (and ${counted(more.length, "more reason")})`;
  return `${STATUS_WORDS[status]}${first === undefined ? "" : `: ${first}${others}`}`;
}

/** Returns the paths of a run's journals in one line. */
export function renderJournals(run: string, files: readonly string[]): string {
  const [first = "", ...more] = files;
  if (more.length === 0) return `journal: ${oneLine(first)}`;
  const folder = first.slice(0, Math.max(first.lastIndexOf("/"), first.lastIndexOf("\\")) + 1);
  return `journals: ${oneLine(`${folder}${run}-*.jsonl`)} (${counted(files.length, "merchant")})`;
}

/** Formats the notes on what an undo does not restore, or leaves alone, shown before its plan. */
export function renderUndoNotes(notes: readonly MerchantNote[], style: Style): string {
  if (notes.length === 0) return "";
  const several = new Set(notes.map(({ merchant }) => merchant)).size > 1;
  const rows = notes.flatMap(({ merchant, message }) => {
    const text = oneLine(several ? `${merchant}: ${message}` : message);
    const [first = "", ...rest] = wrapText(text, style.columns - 4);
    return [`  ${style.yellow("!")} ${first}\n`, ...rest.map((line) => `    ${line}\n`)];
  });
  return [`${style.bold("Cannot be fully restored")}\n`, ...rows, "\n"].join("");
}
