import type { PastRun, PastWrite, RunStatus, UndoNote } from "../model/past-run.ts";
import { oneLine } from "./escape.ts";
import { cellWidth, padTo, wrapText } from "./lines.ts";
import type { Paint, Style } from "./style.ts";
import { counted, grouped } from "./words.ts";

/** A run whose journal can be read, and how it stands. */
export interface KnownRun {
  readonly name: string;
  readonly past: PastRun;
  readonly status: RunStatus;
}

/** A journal as it is listed. */
export type ListedRun =
  | KnownRun
  /** Why it cannot be read, with its place. */
  | { readonly name: string; readonly unreadable: string };

const STATUS: Readonly<Record<RunStatus, string>> = {
  running: "still running",
  "cut-short": "cut short",
  unsure: "stopped, not all known",
  stopped: "stopped",
  left: "something left",
  done: "done",
};

function paintOf(status: RunStatus, style: Style): Paint {
  if (status === "done") return style.green;
  return status === "running" ? style.cyan : style.yellow;
}

/** Past runs, one line each, the newest first. */
export function renderRuns(runs: readonly ListedRun[], style: Style): string {
  const rows = runs.map((run) => ("past" in run ? rowOf(run) : null));
  const width = (index: number): number =>
    Math.max(0, ...rows.map((row) => cellWidth(row?.cells[index] ?? "")));
  const widths = [0, 1, 2, 3, 4].map(width);
  return runs
    .map((run, at) => {
      const row = rows[at];
      if (!("past" in run) || !row) return `${oneLine(run.name)}  ${unreadableText(run, style)}\n`;
      const [name = "", merchant = "", environment = "", status = "", counts = ""] = row.cells.map(
        (cell, index) => padTo(cell, widths[index] ?? 0),
      );
      const line = [name, merchant, environment, paintOf(run.status, style)(status), counts, row.who];
      return `${line.join("  ").trimEnd()}\n`;
    })
    .join("");
}

function unreadableText(run: ListedRun, style: Style): string {
  return "unreadable" in run ? `${style.red("unreadable")}  ${oneLine(run.unreadable)}` : "";
}

function rowOf({ name, past, status }: KnownRun): {
  readonly cells: readonly string[];
  readonly who: string;
} {
  const { run } = past;
  const commit = run.commit ? `at ${commitText(run.commit)}` : "";
  const undoes = run.undoes === null ? "" : `takes back ${oneLine(run.undoes)}`;
  return {
    cells: [oneLine(name), oneLine(run.merchant), run.environment ?? "-", STATUS[status], countsOf(past)],
    who: [`by ${whoOf(past)}`, commit, undoes].filter((part) => part !== "").join(" "),
  };
}

function commitText({ id, clean }: NonNullable<PastRun["run"]["commit"]>): string {
  return `${oneLine(id).slice(0, 10)}${clean ? "" : "+"}`;
}

function whoOf({ run: { user, host } }: PastRun): string {
  return `${oneLine(user ?? "somebody")}@${oneLine(host)}`;
}

/** "3 of 5 changes"; before the end only the writes are known. */
function countsOf({ writes, end }: PastRun): string {
  // Passwords that are set count with the changes, and are none of the plan.
  const all = Object.values(end?.outcomes ?? {}).reduce((sum, count) => sum + count, 0);
  if (end) {
    const { done, unfinished } = end.outcomes;
    const half = unfinished === 0 ? "" : `, ${grouped(unfinished)} unfinished`;
    return `${grouped(done)} of ${counted(all, "change")}${half}`;
  }
  const done = writes.filter(({ outcome }) => outcome?.status === "done").length;
  return `${counted(done, "write")} done`;
}

/** One past run, whole: who, what became of each write, why it stopped, and what was left. */
export function renderRun({ name, past, status }: KnownRun, style: Style): string {
  const { run, writes, end, verified, torn } = past;
  const facts: readonly (readonly [string, string])[] = [
    ["merchant", `${oneLine(run.merchant)}${run.environment ? `, ${run.environment}` : ""}`],
    ["service", oneLine(run.service)],
    ["begun", oneLine(run.at)],
    ["ended", end ? oneLine(end.at) : "no end is written down"],
    ["by", `${whoOf(past)}, rolecall ${oneLine(run.version)}, process ${run.pid}`],
    ...(run.commit
      ? ([
          [
            "commit",
            `${oneLine(run.commit.id)}${run.commit.clean ? "" : ", with changes that were not committed"}`,
          ],
        ] as const)
      : []),
    ...(run.job === null ? [] : ([["job", oneLine(run.job)]] as const)),
    ["plan", `${oneLine(run.fingerprint).slice(0, 12)}, ${counted(run.changes, "change")}`],
    ...(run.undoes === null ? [] : ([["undoes", oneLine(run.undoes)]] as const)),
  ];
  const unsure = writes.filter(({ outcome }) => outcome === null || outcome.status === "unknown");
  const rest = writes.filter((write) => !unsure.includes(write));
  return [
    `${style.bold(oneLine(name))}  ${paintOf(status, style)(STATUS[status])}\n`,
    ...facts.map(([label, text]) => `  ${style.dim(label.padEnd(9))}${text}\n`),
    ...(torn ? ["  The last line of the journal was not written whole, and is left out.\n"] : []),
    ...(unsure.length === 0 ? [] : [unsureText(unsure, status, style)]),
    ...(rest.length === 0 ? [] : ["\n  Writes:\n", ...rest.map((write) => writeLine(write, style))]),
    ...(writes.length === 0 ? ["\n  Nothing was sent.\n"] : []),
    ...(end?.status === "stopped"
      ? [`\n  Stopped: ${oneLine(end.cause ?? "no cause is written down")}\n`]
      : []),
    ...(end ? [outcomesText(end.outcomes)] : []),
    ...(verified ? verifiedText(verified.left, verified.deferred) : []),
  ].join("");
}

function unsureText(unsure: readonly PastWrite[], status: RunStatus, style: Style): string {
  const head =
    status === "running"
      ? "\n  Under way:\n"
      : "\n  Nobody knows what became of these; the service may have done them:\n";
  const next =
    status === "running"
      ? ""
      : '  → To find out, run "rolecall plan": it reads what is live, and shows what is left.\n';
  return [head, ...unsure.map((write) => writeLine(write, style)), next].join("");
}

const MARKS: Readonly<Record<NonNullable<PastWrite["outcome"]>["status"], string>> = {
  done: "✓",
  failed: "✗",
  unknown: "?",
  stale: "✗",
  "not-sent": "·",
};

const PAINTS: Readonly<Record<keyof typeof MARKS, (style: Style) => Paint>> = {
  done: ({ green }) => green,
  failed: ({ red }) => red,
  unknown: ({ yellow }) => yellow,
  stale: ({ red }) => red,
  "not-sent": ({ dim }) => dim,
};

const PARTS: Readonly<Record<PastWrite["intent"]["part"], string>> = {
  whole: "",
  "set-aside": " (set aside)",
  create: " (the new one)",
  remove: " (the old one)",
  restore: " (what the service had emptied)",
};

function writeLine({ intent, outcome }: PastWrite, style: Style): string {
  const status = outcome?.status ?? "unknown";
  const paint = PAINTS[status](style);
  const id = outcome?.id ?? intent.id;
  const part = PARTS[intent.part];
  const does = intent.part === "restore" ? "restore" : intent.password ? "set the password of" : intent.kind;
  const what = `${does} ${intent.resource} ${oneLine(intent.name)}${part}`;
  const more = [
    id === null ? "" : oneLine(id),
    status === "done" ? "" : status.replace("-", " "),
    outcome?.adopted ? "its answer was lost; it was found" : "",
    outcome?.already ? "was so already; nothing was sent" : "",
    outcome?.failure ? oneLine(outcome.failure.message) : "",
  ].filter((text) => text !== "");
  return `    ${paint(MARKS[status])} ${what}${more.length === 0 ? "" : `  ${style.dim(more.join(" · "))}`}\n`;
}

function outcomesText(outcomes: NonNullable<PastRun["end"]>["outcomes"]): string {
  const parts = Object.entries(outcomes)
    .filter(([status, count]) => count > 0 || status === "done")
    .map(([status, count]) => `${grouped(count)} ${status.replace("-", " ")}`);
  return `\n  Changes: ${parts.join(", ")}.\n`;
}

function verifiedText(left: readonly string[], deferred: readonly string[]): readonly string[] {
  const list = (items: readonly string[]): readonly string[] => items.map((item) => `    ${oneLine(item)}\n`);
  return [
    ...(left.length === 0
      ? ["  Read again: nothing was left to do.\n"]
      : ["  Read again, this was left:\n", ...list(left)]),
    ...(deferred.length === 0 ? [] : ["  Waiting until others have accepted:\n", ...list(deferred)]),
  ];
}

/** What a run that was not finished means for the next one, told before the plan. */
export function renderUnfinished({ name, past, status }: KnownRun, style: Style): string {
  const { run, writes } = past;
  const merchant = oneLine(run.merchant);
  if (status === "running") {
    return `${style.yellow("note")}: another apply of ${merchant} is running since ${oneLine(run.at)}: ${whoOf(past)}, process ${run.pid}.\n`;
  }
  const unsure = writes.filter(({ outcome }) => outcome === null || outcome.status === "unknown");
  const ended = status === "cut-short" ? "was cut short" : "stopped";
  const unknown =
    unsure.length === 0
      ? " Every write that it began has an outcome."
      : ` Not known to be done or not: ${unsure
          .slice(0, MOST_NAMED)
          .map(({ intent }) => `${intent.kind} ${intent.resource} ${oneLine(intent.name)}`)
          .join(", ")}${unsure.length > MOST_NAMED ? `, and ${unsure.length - MOST_NAMED} more` : ""}.`;
  return [
    `${style.yellow("note")}: the last apply of ${merchant}, ${oneLine(name)}, ${ended}.${unknown}\n`,
    "  Planning again settles it: this plan is made from what is live now.\n",
  ].join("");
}

const MOST_NAMED = 5;

/** What an undo does not bring back, or leaves alone; told ahead of its plan. */
export function renderUndoNotes(notes: readonly UndoNote[], style: Style): string {
  if (notes.length === 0) return "";
  const rows = notes.flatMap(({ message }) => {
    const [first = "", ...rest] = wrapText(oneLine(message), style.columns - 4);
    return [`  ${style.yellow("!")} ${first}\n`, ...rest.map((line) => `    ${line}\n`)];
  });
  return [`${style.bold("Not quite as it was")}\n`, ...rows, "\n"].join("");
}
