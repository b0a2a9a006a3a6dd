import { grouped } from "../../lib/text.ts";
import type { PastRun, PastWrite, RunStatus } from "../../model/apply.ts";
import { type Block, below, type Document, type Mark, sentence, toned } from "../blocks/block.ts";
import { adoptedText } from "../view/adopted-text.ts";
import { heldText } from "../view/held-text.ts";
import type { KnownRun } from "../view/run-view.ts";

/** Returns the result of one merchant's part. */
export function partDocument({
  past,
  status,
  unrestored = [],
  lost = [],
  doneWrites = 0,
}: KnownRun): Document {
  const { writes, end, verified, torn } = past;
  const unsure = writes.filter(({ outcome }) => outcome === null || outcome.status === "unknown");
  const rest = writes.filter((write) => !unsure.includes(write));
  const isBegun = status === "began";
  return [
    torn ? [sentence("The last line of the journal is incomplete, and was skipped.")] : [],
    unsure.length === 0 ? [] : unsureBlocks(unsure, status),
    unrestoredBlocks(unrestored, past.run),
    lostBlocks(lost, past.run),
    rest.length === 0 ? [] : [below("Writes:", rest.map(writeBlock))],
    isBegun
      ? [
          sentence(
            "Only its beginning is recorded: the machine that ran it has the rest, if it still exists.",
          ),
        ]
      : [],
    !isBegun && writes.length + doneWrites === 0 ? [sentence("Nothing was sent.")] : [],
    end?.status === "stopped"
      ? [sentence(`Stopped: ${end.cause ?? "no cause was recorded"}`, { isLogged: true })]
      : [],
    [
      ...(end ? [sentence(outcomesText(end.outcomes))] : []),
      ...(verified ? verifiedBlocks(verified.left, verified.deferred) : []),
    ],
  ];
}

function unsureBlocks(unsure: readonly PastWrite[], status: RunStatus): readonly Block[] {
  const isRunning = status === "running";
  const title = isRunning ? "In progress:" : "Outcome unknown; these may have taken effect:";
  const next = 'To find out, run "rolecall plan": it reads the live state, and shows what remains.';
  return [below(title, unsure.map(writeBlock)), ...(isRunning ? [] : [sentence(next, { mark: "next" })])];
}

/** Names fields that a plan does not show, since no file manages them. */
function unrestoredBlocks(
  members: NonNullable<KnownRun["unrestored"]>,
  { merchant }: PastRun["run"],
): readonly Block[] {
  if (members.length === 0) return [];
  const texts = members.map(
    ({ name, fields, before }) => `${name} at ${merchant}: ${fields.join(", ")}; before: ${heldText(before)}`,
  );
  return [
    below("The service may have cleared fields that an update did not send:", texts.map(logged)),
    sentence("Restore what is empty now at the service, or list it in the file and apply.", { mark: "next" }),
  ];
}

/** Lists the content of removed invitations that the run did not send again. */
function lostBlocks(
  lost: NonNullable<KnownRun["lost"]>,
  { run, merchant }: PastRun["run"],
): readonly Block[] {
  if (lost.length === 0) return [];
  const texts = lost.map(({ name, before }) => `${name} at ${merchant}: ${heldText(before)}`);
  const next = `To invite them with all of this, run "rolecall undo ${run} -m ${merchant}"; an apply uses what the files list.`;
  return [
    below("Expired invitations that were removed and not sent again, with their content:", texts.map(logged)),
    sentence(next, { mark: "next" }),
  ];
}

function logged(text: string): Block {
  return sentence(text, { isLogged: true });
}

/** The marks of writes by their status. */
export const MARKS: Readonly<Record<NonNullable<PastWrite["outcome"]>["status"], Mark>> = {
  done: "ok",
  failed: "failed",
  unknown: "unknown",
  stale: "failed",
  "not-sent": "idle",
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

function writeBlock({ intent, outcome }: PastWrite): Block {
  const status = outcome?.status ?? "unknown";
  // A new invitation exists beside the expired one, and does not have its id.
  const id = outcome?.id ?? (intent.part === "create" ? null : intent.id);
  const does = intent.part === "restore" ? "restore" : verbOf(intent);
  const what = `${does} ${intent.resource} ${intent.name}${PARTS[intent.part]}`;
  const more = [
    id ?? "",
    status === "done" ? "" : status.replace("-", " "),
    outcome?.adopted ? adoptedText(intent.password === true) : "",
    outcome?.already ? (intent.password ? "used before" : "already up to date; nothing was sent") : "",
    outcome?.failure?.message ?? "",
  ].filter((text) => text !== "");
  const notes = more.length === 0 ? [] : ["  ", toned("dim", more.join(" · "))];
  return sentence([what, ...notes], { mark: MARKS[status], isLogged: true });
}

/** Counts the changes of a run by their outcome. */
export function outcomesText(outcomes: Partial<PastOutcomes>): string {
  const parts = Object.entries(outcomes)
    .filter(([status, count]) => count > 0 || status === "done")
    .map(([status, count]) => `${grouped(count)} ${status.replace("-", " ")}`);
  return `Changes: ${parts.join(", ")}.`;
}

function verifiedBlocks(remaining: readonly string[], deferred: readonly string[]): readonly Block[] {
  return [
    remaining.length === 0
      ? sentence("Verified: no changes remained.")
      : below("Verified; these changes remained:", remaining.map(logged)),
    ...(deferred.length === 0 ? [] : [below("Deferred until others have accepted:", deferred.map(logged))]),
  ];
}

/** Numbers of changes by their outcome. */
export type PastOutcomes = NonNullable<PastRun["end"]>["outcomes"];

/** Returns what a write does. */
export function verbOf({ kind, password }: PastWrite["intent"]): string {
  return password ? "set the password of" : kind;
}
