import { oneLine } from "../../lib/escape.ts";
import { grouped } from "../../lib/text.ts";
import type { PastRun, PastWrite, RunStatus } from "../../model/apply.ts";
import type { Paint, Style } from "../style.ts";
import { heldText } from "../view/held-text.ts";
import type { KnownRun } from "../view/run-view.ts";
import { adoptedText } from "./adopted-text.ts";

/** Formats the result of one merchant's part. */
export function partText(
  { past, status, unrestored = [], lost = [], doneWrites = 0 }: KnownRun,
  style: Style,
): string {
  const { writes, end, verified, torn } = past;
  const unsure = writes.filter(({ outcome }) => outcome === null || outcome.status === "unknown");
  const rest = writes.filter((write) => !unsure.includes(write));
  return [
    ...(torn ? ["  The last line of the journal is incomplete, and was skipped.\n"] : []),
    ...(unsure.length === 0 ? [] : [unsureText(unsure, status, style)]),
    ...(unrestored.length === 0 ? [] : [unrestoredText(unrestored, past.run)]),
    ...lostTexts(lost, past.run),
    ...(rest.length === 0 ? [] : ["\n  Writes:\n", ...rest.map((write) => writeLine(write, style))]),
    ...(status === "began"
      ? ["\n  Only its beginning is recorded: the machine that ran it has the rest, if it still exists.\n"]
      : writes.length + doneWrites === 0
        ? ["\n  Nothing was sent.\n"]
        : []),
    ...(end?.status === "stopped" ? [`\n  Stopped: ${oneLine(end.cause ?? "no cause was recorded")}\n`] : []),
    ...(end ? [outcomesText(end.outcomes)] : []),
    ...(verified ? verifiedText(verified.left, verified.deferred) : []),
  ].join("");
}

function unsureText(unsure: readonly PastWrite[], status: RunStatus, style: Style): string {
  const head =
    status === "running" ? "\n  In progress:\n" : "\n  Outcome unknown; these may have taken effect:\n";
  const next =
    status === "running"
      ? ""
      : '  → To find out, run "rolecall plan": it reads the live state, and shows what remains.\n';
  return [head, ...unsure.map((write) => writeLine(write, style)), next].join("");
}

/** Names fields that a plan does not show, since no file manages them. */
function unrestoredText(members: NonNullable<KnownRun["unrestored"]>, { merchant }: PastRun["run"]): string {
  const lines = members.map(
    ({ name, fields, before }) =>
      `    ${oneLine(`${name} at ${merchant}: ${fields.join(", ")}; before: ${heldText(before)}`)}\n`,
  );
  return [
    "\n  The service may have cleared fields that an update did not send:\n",
    ...lines,
    "  → Restore what is empty now at the service, or list it in the file and apply.\n",
  ].join("");
}

/** Lists the content of removed invitations that the run did not send again. */
function lostTexts(
  lost: NonNullable<KnownRun["lost"]>,
  { run, merchant }: PastRun["run"],
): readonly string[] {
  if (lost.length === 0) return [];
  return [
    "\n  Expired invitations that were removed and not sent again, with their content:\n",
    ...lost.map(({ name, before }) => `    ${oneLine(`${name} at ${merchant}: ${heldText(before)}`)}\n`),
    `  → To invite them with all of this, run "rolecall undo ${oneLine(run)} -m ${oneLine(merchant)}"; an apply uses what the files list.\n`,
  ];
}

/** The marks of writes by their status. */
export const MARKS: Readonly<Record<NonNullable<PastWrite["outcome"]>["status"], string>> = {
  done: "✓",
  failed: "✗",
  unknown: "?",
  stale: "✗",
  "not-sent": "·",
};

/** The colours of writes by their status. */
export const PAINTS: Readonly<Record<keyof typeof MARKS, (style: Style) => Paint>> = {
  done: ({ green }) => green,
  failed: ({ red }) => red,
  unknown: ({ yellow }) => yellow,
  stale: ({ red }) => red,
  "not-sent": ({ dim }) => dim,
};

/** Describes the part of a change that one write makes. */
export const PARTS: Readonly<Record<PastWrite["intent"]["part"], string>> = {
  whole: "",
  "set-aside": " (temporary name)",
  create: " (the new one)",
  remove: " (the old one)",
  narrow: " (all but the new permissions)",
  widen: " (the new permissions)",
  restore: " (fields that the service had cleared)",
};

function writeLine({ intent, outcome }: PastWrite, style: Style): string {
  const status = outcome?.status ?? "unknown";
  const paint = PAINTS[status](style);
  // A new invitation exists beside the expired one, and does not have its id.
  const id = outcome?.id ?? (intent.part === "create" ? null : intent.id);
  const part = PARTS[intent.part];
  const does = intent.part === "restore" ? "restore" : verbOf(intent);
  const what = `${does} ${intent.resource} ${oneLine(intent.name)}${part}`;
  const more = [
    id === null ? "" : oneLine(id),
    status === "done" ? "" : status.replace("-", " "),
    outcome?.adopted ? adoptedText(intent.password === true) : "",
    outcome?.already ? (intent.password ? "used before" : "already up to date; nothing was sent") : "",
    outcome?.failure ? oneLine(outcome.failure.message) : "",
  ].filter((text) => text !== "");
  return `    ${paint(MARKS[status])} ${what}${more.length === 0 ? "" : `  ${style.dim(more.join(" · "))}`}\n`;
}

/** Counts the changes of a run by their outcome. */
export function outcomesText(outcomes: Partial<PastOutcomes>): string {
  const parts = Object.entries(outcomes)
    .filter(([status, count]) => count > 0 || status === "done")
    .map(([status, count]) => `${grouped(count)} ${status.replace("-", " ")}`);
  return `\n  Changes: ${parts.join(", ")}.\n`;
}

function verifiedText(remaining: readonly string[], deferred: readonly string[]): readonly string[] {
  const list = (items: readonly string[]): readonly string[] => items.map((item) => `    ${oneLine(item)}\n`);
  return [
    ...(remaining.length === 0
      ? ["  Verified: no changes remained.\n"]
      : ["  Verified; these changes remained:\n", ...list(remaining)]),
    ...(deferred.length === 0 ? [] : ["  Deferred until others have accepted:\n", ...list(deferred)]),
  ];
}

/** Numbers of changes by their outcome. */
export type PastOutcomes = NonNullable<PastRun["end"]>["outcomes"];

/** Returns what a write does. */
export function verbOf({ kind, password }: PastWrite["intent"]): string {
  return password ? "set the password of" : kind;
}
