import { counted, grouped } from "../../lib/text.ts";
import type { PastRun, RunStatus } from "../../model/apply.ts";
import {
  type Block,
  below,
  type Document,
  type Fact,
  indented,
  sentence,
  type TonedText,
  toned,
} from "../blocks/block.ts";
import type { Tone } from "../style.ts";
import {
  type KnownRun,
  type ListedRun,
  RECORD_TRUST,
  type RecordOrigin,
  RUN_STATUS,
  type ShownRun,
} from "../view/run-view.ts";
import type { Table } from "../view/table.ts";
import { partDocument, verbOf } from "./run-part.ts";
import { doneWrites, failedBlocks, remarkable, stopDocument } from "./run-summary.ts";

const UNREADABLE = "unreadable";

function statusTone(status: RunStatus | null): Tone {
  if (status === null) return "red";
  if (status === "done") return "green";
  return status === "running" ? "cyan" : "yellow";
}

function statusSpan(status: RunStatus | null): TonedText {
  return toned(statusTone(status), status === null ? UNREADABLE : RUN_STATUS[status]);
}

/** Returns past runs, one line each, the newest first. */
export function runsDocument(runs: readonly ShownRun[]): Document {
  const rows = runs.map((run) => {
    const { cells, who } = rowOf(run);
    const tone = cells.map((_, column) => (column === STATUS ? statusTone(run.status) : undefined));
    return { cells: [...cells.map((cell) => cell || "-"), who], tone };
  });
  return [[{ kind: "grid", heads: [], rows }]];
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
    const reasons = unreadableOf(shown).map((journal) => journal.unreadable);
    return { cells: [shown.name, "", "", UNREADABLE, ""], who: reasons.join("; ") };
  }
  const [{ past }, journals] = readable;
  const { run } = past;
  const commit = run.commit ? `at ${commitText(run.commit)}` : "";
  const undoes = run.undoes === null ? "" : `undoes ${run.undoes}`;
  const unreadable = unreadableOf(shown).length;
  const environments = new Set(journals.map((journal) => journal.past.run.environment ?? ""));
  return {
    cells: [
      shown.name,
      shown.journals.length === 1 ? run.merchant : counted(shown.journals.length, "merchant"),
      [...environments].sort().join("+"),
      RUN_STATUS[shown.status],
      countsOf(journals.map((journal) => journal.past)),
    ],
    who: [
      `by ${whoOf(past)}`,
      commit,
      undoes,
      shown.record === undefined ? "" : `from ${shown.record.place}${trustMark(shown.record)}`,
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
  return `${id.slice(0, 10)}${clean ? "" : "+"}`;
}

/** Returns the user and host of a run: "ada@laptop". */
export function whoOf({ run: { user, host } }: PastRun): string {
  return `${user ?? "somebody"}@${host}`;
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

/**
 * Returns one past run: its origin, and for each merchant the writes, the cause of a stop and the remaining changes. If
 * there are many writes, equal ones share a line unless verbose, as do equal causes, and merchants with nothing else to
 * report are only counted.
 */
export function runDocument(shown: ShownRun, isVerbose: boolean): Document {
  const readable = readableJournals(shown);
  if (readable === null) return [unreadableOf(shown).map((journal) => sentence(unreadableText(journal)))];
  const [first, journals] = readable;
  const { run } = first.past;
  const ends = journals.flatMap(({ past }) => past.end?.at ?? []).sort();
  const isSingle = shown.journals.length === 1;
  const facts: readonly (readonly [string, string | null])[] = [
    isSingle
      ? ["merchant", `${run.merchant}${environmentText(run)}`]
      : ["at", counted(shown.journals.length, "merchant")],
    ["service", [...new Set(journals.map(({ past }) => past.run.service))].join(", ")],
    ["started", run.at],
    ["ended", ends.length === journals.length ? (ends.at(-1) ?? "") : "not recorded"],
    ["by", `${whoOf(first.past)}, rolecall ${run.version}, process ${run.pid}`],
    ["commit", run.commit && `${run.commit.id}${run.commit.clean ? "" : ", with uncommitted changes"}`],
    ["job", run.job],
    ["plan", isSingle ? planText(run) : null],
    ["undoes", run.undoes],
    ...(shown.record === undefined ? [] : recordFacts(shown.record)),
  ];
  const isWhole =
    isVerbose || journals.reduce((sum, { past }) => sum + past.writes.length + 4, 0) <= MAX_LINES;
  const rows = facts.flatMap(([label, text]) => (text === null ? [] : [{ label, text }]));
  const parts = isWhole
    ? partParagraphs(shown.journals)
    : [
        ...doneWrites(journals),
        failedBlocks(journals),
        ...stopDocument(journals),
        ...partParagraphs(remarkable(shown.journals), isSingle),
      ];
  return [
    [below([toned("bold", shown.name), "  ", statusSpan(shown.status)], [factsOf(rows)])],
    ...parts.map((blocks) => [indented(blocks)]),
  ];
}

function factsOf(rows: readonly Fact[]): Block {
  return { kind: "facts", rows, width: LABEL, isLogged: true };
}

/** Width of the longest label. */
const LABEL = 8;

function unreadableText({ unreadable }: { readonly unreadable: string }): readonly (string | TonedText)[] {
  return [toned("red", UNREADABLE), `  ${unreadable}`];
}

function recordFacts({
  place,
  ref,
  trust,
  actor,
  pulls,
}: RecordOrigin): readonly (readonly [string, string])[] {
  return [
    ...(actor === null ? [] : [["started", `by ${actor}`] as const]),
    ...(pulls.length === 0 ? [] : [["pulls", pulls.map((pull) => `#${pull}`).join(", ")] as const]),
    ["record", `${ref} in ${place}, ${RECORD_TRUST[trust]}`],
  ];
}

function partParagraphs(journals: readonly ListedRun[], isWhole = journals.length === 1): Document {
  return journals.flatMap((journal) =>
    isWhole && "past" in journal ? partDocument(journal) : merchantDocument(journal),
  );
}

/** Maximum number of lines about single writes or merchants. */
const MAX_LINES = 60;

function environmentText({ environment }: PastRun["run"]): string {
  return environment ? `, ${environment}` : "";
}

function planText({ fingerprint, changes }: PastRun["run"]): string {
  return `${fingerprint.slice(0, 12)}, ${counted(changes, "change")}`;
}

function merchantDocument(journal: ListedRun): Document {
  if ("unreadable" in journal) return [[sentence([journal.name, "  ", ...unreadableText(journal)])]];
  const { run } = journal.past;
  const title = [toned("bold", run.merchant), `${environmentText(run)}  `, statusSpan(journal.status)];
  return [
    [below(title, [factsOf([{ label: "plan", text: planText(run) }])])],
    ...partDocument(journal).map((blocks) => [indented(blocks)]),
  ];
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
