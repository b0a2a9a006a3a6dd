import { oneLine } from "../../lib/escape.ts";
import { counted, grouped } from "../../lib/text.ts";
import type { PastRun, RunStatus } from "../../model/apply.ts";
import type { Paint, Style } from "../style.ts";
import {
  type KnownRun,
  type ListedRun,
  RECORD_TRUST,
  type RecordOrigin,
  RUN_STATUS,
  type ShownRun,
} from "../view/run-view.ts";
import type { Table } from "../view/table.ts";
import { gridText } from "./grid-text.ts";
import { partText, verbOf } from "./run-part-text.ts";
import { doneTexts, failedTexts, remarkable, stopTexts } from "./run-summary-text.ts";

function statusText(status: RunStatus | null, style: Style): string {
  return statusPaint(status, style)(status === null ? UNREADABLE : RUN_STATUS[status]);
}

const UNREADABLE = "unreadable";

function statusPaint(status: RunStatus | null, style: Style): Paint {
  if (status === null) return style.red;
  if (status === "done") return style.green;
  return status === "running" ? style.cyan : style.yellow;
}

/** Formats past runs, one line each, the newest first. */
export function renderRuns(runs: readonly ShownRun[], style: Style): string {
  const rows = runs.map((run) => {
    const row = rowOf(run);
    const paint = (text: string, column: number): string =>
      column === STATUS ? statusPaint(run.status, style)(text) : text;
    return { cells: [...row.cells.map((cell) => cell || "-"), row.who], paint };
  });
  return gridText({ heads: [], rows }, style);
}

/** Returns past runs as a table with a row for each merchant of a run, the newest first. */
export function runsTable(runs: readonly ShownRun[]): Table {
  return {
    columns: ["run", "merchant", "environment", "status", "changes", "note"],
    rows: runs.flatMap((run) =>
      run.journals.map((journal) => {
        const status = "past" in journal ? journal.status : null;
        const { cells, who } = rowOf({ ...run, status, journals: [journal] });
        return [...cells, who];
      }),
    ),
  };
}

const STATUS = 3;

function unreadableOf({ journals }: ShownRun): readonly (ListedRun & { readonly unreadable: string })[] {
  return journals.flatMap((journal) => ("unreadable" in journal ? [journal] : []));
}

function unreadableText({ unreadable }: { readonly unreadable: string }, style: Style): string {
  return `${style.red(UNREADABLE)}  ${oneLine(unreadable)}`;
}

/** Returns the first readable journal of a run, for what all share, and all readable ones. */
function readableJournals({ journals }: ShownRun): readonly [KnownRun, readonly KnownRun[]] | null {
  const readable = journals.flatMap((journal) => ("past" in journal ? [journal] : []));
  const [first] = readable;
  return first === undefined ? null : [first, readable];
}

interface Row {
  readonly cells: readonly string[];
  readonly who: string;
}

function rowOf(shown: ShownRun): Row {
  const readable = readableJournals(shown);
  if (readable === null || shown.status === null) {
    const reasons = unreadableOf(shown).map((journal) => oneLine(journal.unreadable));
    return { cells: [oneLine(shown.name), "", "", UNREADABLE, ""], who: reasons.join("; ") };
  }
  const [{ past }, journals] = readable;
  const { run } = past;
  const commit = run.commit ? `at ${commitText(run.commit)}` : "";
  const undoes = run.undoes === null ? "" : `undoes ${oneLine(run.undoes)}`;
  const unreadable = unreadableOf(shown).length;
  const environments = new Set(journals.map((journal) => journal.past.run.environment ?? ""));
  return {
    cells: [
      oneLine(shown.name),
      shown.journals.length === 1 ? oneLine(run.merchant) : counted(shown.journals.length, "merchant"),
      [...environments].sort().join("+"),
      RUN_STATUS[shown.status],
      countsOf(journals.map((journal) => journal.past)),
    ],
    who: [
      `by ${whoOf(past)}`,
      commit,
      undoes,
      shown.record === undefined ? "" : `from ${oneLine(shown.record.place)}${trustMark(shown.record)}`,
      unreadable === 0 ? "" : `(${counted(unreadable, "journal")} unreadable)`,
    ]
      .filter((part) => part !== "")
      .join(" "),
  };
}

/** Returns what is wrong with the signature of a record; empty if nothing is, or it was not checked. */
function trustMark({ trust }: RecordOrigin): string {
  return trust === "verified" || trust === "unchecked" ? "" : ` (${RECORD_TRUST[trust]})`;
}

function commitText({ id, clean }: NonNullable<PastRun["run"]["commit"]>): string {
  return `${oneLine(id).slice(0, 10)}${clean ? "" : "+"}`;
}

/** Returns the user and host of a run: "ada@laptop". */
export function whoOf({ run: { user, host } }: PastRun): string {
  return `${oneLine(user ?? "somebody")}@${oneLine(host)}`;
}

/** Returns "3 of 5 changes", or the number of writes before the run has ended. */
function countsOf(journals: readonly PastRun[]): string {
  const ends = journals.flatMap(({ end }) => end ?? []);
  if (ends.length < journals.length) {
    const done = journals.flatMap(({ writes }) => writes).filter(({ outcome }) => outcome?.status === "done");
    return `${counted(done.length, "write")} done`;
  }
  // New passwords count as changes, but are not part of the plan.
  const total = ends
    .flatMap(({ outcomes }) => Object.values(outcomes))
    .reduce((sum, count) => sum + count, 0);
  const done = ends.reduce((sum, { outcomes }) => sum + outcomes.done, 0);
  return `${grouped(done)} of ${counted(total, "change")}`;
}

interface Verbose {
  /** Shows each write. */
  readonly verbose?: true;
}

/**
 * Formats one past run: its origin, and for each merchant the writes, the cause of a stop and the remaining changes. If
 * there are many writes, equal ones share a line, as do equal causes, and merchants with nothing else to report are
 * only counted.
 */
export function renderRun(shown: ShownRun, style: Style, { verbose }: Verbose = {}): string {
  const readable = readableJournals(shown);
  if (readable === null)
    return unreadableOf(shown)
      .map((journal) => `${unreadableText(journal, style)}\n`)
      .join("");
  const [first, journals] = readable;
  const { run } = first.past;
  const ends = journals.flatMap(({ past }) => past.end?.at ?? []).sort();
  const distinct = (texts: readonly string[]): string => [...new Set(texts)].map(oneLine).join(", ");
  const isSingle = shown.journals.length === 1;
  const facts: readonly (readonly [string, string])[] = [
    isSingle
      ? ["merchant", `${oneLine(run.merchant)}${environmentText(run)}`]
      : ["at", counted(shown.journals.length, "merchant")],
    ["service", distinct(journals.map(({ past }) => past.run.service))],
    ["started", oneLine(run.at)],
    ["ended", ends.length === journals.length ? oneLine(ends.at(-1) ?? "") : "not recorded"],
    ["by", `${whoOf(first.past)}, rolecall ${oneLine(run.version)}, process ${run.pid}`],
    ...(run.commit
      ? ([
          ["commit", `${oneLine(run.commit.id)}${run.commit.clean ? "" : ", with uncommitted changes"}`],
        ] as const)
      : []),
    ...(run.job === null ? [] : ([["job", oneLine(run.job)]] as const)),
    ...(isSingle ? ([["plan", planText(run)]] as const) : []),
    ...(run.undoes === null ? [] : ([["undoes", oneLine(run.undoes)]] as const)),
    ...(shown.record === undefined ? [] : recordFacts(shown.record)),
  ];
  return [
    `${style.bold(oneLine(shown.name))}  ${statusText(shown.status, style)}\n`,
    ...facts.map(([label, text]) => `  ${style.dim(label.padEnd(9))}${text}\n`),
    ...(verbose || journals.reduce((sum, { past }) => sum + past.writes.length + 4, 0) <= MAX_LINES
      ? partTexts(shown.journals, style)
      : [
          ...doneTexts(journals, style),
          ...failedTexts(journals, style),
          ...stopTexts(journals, style),
          ...partTexts(remarkable(shown.journals), style, isSingle),
        ]),
  ].join("");
}

function recordFacts({
  place,
  ref,
  trust,
  actor,
  pulls,
}: RecordOrigin): readonly (readonly [string, string])[] {
  return [
    ...(actor === null ? [] : [["started", `by ${oneLine(actor)}`] as const]),
    ...(pulls.length === 0 ? [] : [["pulls", pulls.map((pull) => `#${pull}`).join(", ")] as const]),
    ["record", `${oneLine(ref)} in ${oneLine(place)}, ${RECORD_TRUST[trust]}`],
  ];
}

function partTexts(
  journals: readonly ListedRun[],
  style: Style,
  isWhole = journals.length === 1,
): readonly string[] {
  return journals.map((journal) =>
    isWhole && "past" in journal ? partText(journal, style) : merchantText(journal, style),
  );
}

/** Maximum number of lines about single writes or merchants. */
const MAX_LINES = 60;

function environmentText({ environment }: PastRun["run"]): string {
  return environment ? `, ${environment}` : "";
}

function planText({ fingerprint, changes }: PastRun["run"]): string {
  return `${oneLine(fingerprint).slice(0, 12)}, ${counted(changes, "change")}`;
}

function merchantText(journal: ListedRun, style: Style): string {
  if ("unreadable" in journal) return `\n  ${oneLine(journal.name)}  ${unreadableText(journal, style)}\n`;
  const { run } = journal.past;
  return [
    `\n  ${style.bold(oneLine(run.merchant))}${environmentText(run)}  ${statusText(journal.status, style)}\n`,
    `    ${style.dim("plan".padEnd(9))}${planText(run)}\n`,
    partText(journal, style).replaceAll(/^(?=.)/gm, "  "),
  ].join("");
}

/** Returns the writes of a run as a table, by merchant. */
export function writesTable({ journals }: ShownRun): Table {
  return {
    columns: ["merchant", "environment", "write", "resource", "name", "id", "status", "note"],
    rows: journals.flatMap((journal) => {
      if ("unreadable" in journal)
        return [[journal.name, "", "", "", "", "", UNREADABLE, journal.unreadable]];
      const { run, writes } = journal.past;
      return writes.map(({ intent, outcome }) => [
        ...[run.merchant, run.environment ?? "", verbOf(intent), intent.resource, intent.name],
        ...[outcome?.id ?? intent.id ?? "", outcome?.status ?? "unknown", outcome?.failure?.message ?? ""],
      ]);
    }),
  };
}
