import { oneLine } from "../../lib/escape.ts";
import { cellWidth, counted, groupByKey, grouped, sortNaturally } from "../../lib/text.ts";
import type { PastRun, PastWrite, RunStatus } from "../../model/apply.ts";
import type { MemberImage } from "../../model/plan.ts";
import type { Paint, Style } from "../style.ts";
import { heldText } from "../view/held-text.ts";
import { namesText } from "../view/names-text.ts";
import { adoptedText } from "./adopted-text.ts";
import { hangingLines, padTo } from "./wrap.ts";

/** An expired invitation that was removed, as it was. */
export interface LostInvitation {
  readonly name: string;
  readonly before: MemberImage;
}

/** A readable journal, with the status of its merchant's part of the run. */
export interface KnownRun {
  readonly name: string;
  readonly past: PastRun;
  readonly status: RunStatus;
  /** Members whose fields the service may have emptied, and that are not restored for certain; absent: none. */
  readonly unrestored?: readonly (LostInvitation & { readonly fields: readonly string[] })[];
  /** Expired invitations that were removed and not sent again; absent: none. */
  readonly lost?: readonly LostInvitation[];
  /** Number of writes that are told elsewhere; absent: none. */
  readonly doneWrites?: number;
}

/** A journal in a list, readable or not. */
export type ListedRun =
  | KnownRun
  /** The reason that it cannot be read, with its path. */
  | { readonly name: string; readonly unreadable: string };

/** A run with the journal of each merchant. */
export interface ShownRun {
  /** The run's id. */
  readonly name: string;
  /** The status of all merchants together; `null` if no journal is readable. */
  readonly status: RunStatus | null;
  readonly journals: readonly ListedRun[];
}

const STATUS: Readonly<Record<RunStatus, string>> = {
  running: "still running",
  interrupted: "interrupted",
  "unknown-outcome": "outcome unknown",
  stopped: "stopped",
  incomplete: "incomplete",
  done: "done",
};

function statusText(status: RunStatus | null, style: Style, width = 0): string {
  if (status === null) return style.red(padTo("unreadable", width));
  const text = padTo(STATUS[status], width);
  if (status === "done") return style.green(text);
  return (status === "running" ? style.cyan : style.yellow)(text);
}

/** Formats past runs, one line each, the newest first. */
export function renderRuns(runs: readonly ShownRun[], style: Style): string {
  const rows = runs.map(rowOf);
  const width = (index: number): number =>
    Math.max(0, ...rows.map((row) => cellWidth(row?.cells[index] ?? "")));
  const widths = [0, 1, 2, 3, 4].map(width);
  return runs
    .map((run, index) => {
      const row = rows[index];
      if (!row)
        return `${oneLine(run.name)}  ${unreadableOf(run)
          .map((journal) => unreadableText(journal, style))
          .join("  ")}\n`;
      const [name = "", merchant = "", environment = "", , counts = ""] = row.cells.map((cell, index) =>
        padTo(cell, widths[index] ?? 0),
      );
      const line = [name, merchant, environment, statusText(run.status, style, widths[3]), counts, row.who];
      return `${line.join("  ").trimEnd()}\n`;
    })
    .join("");
}

function unreadableOf({ journals }: ShownRun): readonly (ListedRun & { readonly unreadable: string })[] {
  return journals.flatMap((journal) => ("unreadable" in journal ? [journal] : []));
}

function unreadableText({ unreadable }: { readonly unreadable: string }, style: Style): string {
  return `${style.red("unreadable")}  ${oneLine(unreadable)}`;
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

function rowOf(shown: ShownRun): Row | null {
  const readable = readableJournals(shown);
  if (readable === null || shown.status === null) return null;
  const [{ past }, journals] = readable;
  const { run } = past;
  const commit = run.commit ? `at ${commitText(run.commit)}` : "";
  const undoes = run.undoes === null ? "" : `undoes ${oneLine(run.undoes)}`;
  const unreadable = unreadableOf(shown).length;
  const environments = new Set(journals.map((journal) => journal.past.run.environment ?? "-"));
  return {
    cells: [
      oneLine(shown.name),
      shown.journals.length === 1 ? oneLine(run.merchant) : counted(shown.journals.length, "merchant"),
      [...environments].sort().join("+"),
      STATUS[shown.status],
      countsOf(journals.map((journal) => journal.past)),
    ],
    who: [
      `by ${whoOf(past)}`,
      commit,
      undoes,
      unreadable === 0 ? "" : `(${counted(unreadable, "journal")} unreadable)`,
    ]
      .filter((part) => part !== "")
      .join(" "),
  };
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
  // Passwords that are set count with the changes, and are none of the plan.
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
 * Formats one past run: its origin, and for each merchant the writes, the cause of a stop and the remaining changes. Of
 * many writes, equal ones are one line, as are causes, and merchants without anything else to say are only counted.
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

function partTexts(
  journals: readonly ListedRun[],
  style: Style,
  isWhole = journals.length === 1,
): readonly string[] {
  return journals.map((journal) =>
    isWhole && "past" in journal ? partText(journal, style) : merchantText(journal, style),
  );
}

/** Maximum number of lines of which each is about one write or one merchant. */
const MAX_LINES = 60;

const SETTLED = "Done and verified, no changes remained";

/** Maximum number of lines of equal writes. */
const DONE_SHOWN = 20;

/** Returns whether there is no more to say of a write than that it is done. */
function isPlainlyDone({ outcome }: PastWrite): boolean {
  return outcome?.status === "done" && !outcome.adopted && !outcome.already;
}

function doneTexts(journals: readonly KnownRun[], style: Style): readonly string[] {
  const groups = new Map<string, { readonly name: string; readonly merchant: string }[]>();
  for (const { past } of journals) {
    for (const { intent } of past.writes.filter(isPlainlyDone)) {
      const effect = effectText(intent);
      const key = JSON.stringify([
        verbOf(intent),
        intent.resource,
        `${PARTS[intent.part]}${effect && `: ${effect}`}`,
      ]);
      const { merchant } = past.run;
      const group = groups.get(key) ?? [];
      group.push({ name: intent.name, merchant });
      groups.set(key, group);
    }
  }
  const largest = [...groups].toSorted(([, a], [, b]) => b.length - a.length);
  const lines = largest.slice(0, DONE_SHOWN).flatMap(([key, writes]) => {
    const [verb, resource, effect] = JSON.parse(key) as readonly [string, string, string];
    const names = [...new Set(writes.map(({ name }) => name))];
    const merchants = sortNaturally([...new Set(writes.map(({ merchant }) => merchant))], (code) => code);
    const what = names.length === 1 ? `${resource} ${names[0]}` : counted(writes.length, resource);
    const where = journals.length === 1 ? "" : ` at ${placeText(merchants, journals.length)}`;
    const text = oneLine(`${verb} ${what}${effect}${where}`);
    return hangingLines(text, style.columns, `    ${style.green("✓")} `, "        ");
  });
  const hidden = largest.slice(DONE_SHOWN).reduce((sum, [, writes]) => sum + writes.length, 0);
  const settled = sortNaturally(
    journals.flatMap((journal) => (isSettled(journal) ? journal.past.run.merchant : [])),
    (code) => code,
  );
  return [
    ...(lines.length === 0 ? [] : ["\n  Writes that are done; --verbose shows each:\n"]),
    ...lines.map((line) => `${line}\n`),
    ...(hidden === 0 ? [] : [`    ${style.dim(`… and ${counted(hidden, "more write")}`)}\n`]),
    ...(settled.length === 0 || journals.length === 1
      ? []
      : [
          "",
          ...hangingLines(
            `${SETTLED}: ${oneLine(placeText(settled, journals.length))}.`,
            style.columns,
            "  ",
            "    ",
          ),
        ].map((line) => `${line}\n`)),
  ];
}

/** A write that failed, with its merchant and the cause without what differs from write to write. */
interface FailedWrite {
  readonly merchant: string;
  readonly write: PastWrite;
  readonly cause: string;
}

/** Returns the writes that failed or were not sent, whose outcome is known. */
function failedWrites(journals: readonly KnownRun[]): readonly FailedWrite[] {
  return journals.flatMap(({ past: { run, writes } }) =>
    writes.filter(isFailed).map((write) => {
      const cause = write.outcome?.failure?.message ?? "";
      return { merchant: run.merchant, write, cause: withoutNames(cause, run.merchant, [write]) };
    }),
  );
}

function isFailed({ outcome }: PastWrite): boolean {
  return outcome !== null && outcome.status !== "done" && outcome.status !== "unknown";
}

/** Replaces the code of a merchant, and the names and ids of writes. */
function withoutNames(text: string, merchant: string, writes: readonly PastWrite[]): string {
  const particulars = [merchant, ...writes.flatMap(({ intent: { name, id } }) => [id ?? "", name])];
  return particulars.reduce((rest, part) => (part === "" ? rest : rest.replaceAll(part, "…")), text);
}

function failedTexts(journals: readonly KnownRun[], style: Style): readonly string[] {
  const groups = groupByKey(failedWrites(journals), ({ write: { intent, outcome }, cause }) =>
    JSON.stringify([outcome?.status, verbOf(intent), intent.resource, intent.part, cause]),
  );
  if (groups.length === 0) return [];
  const lines = groups.slice(0, DONE_SHOWN).flatMap((group) => {
    const [{ write, cause }] = group;
    const { intent, outcome } = write;
    const status = outcome?.status ?? "unknown";
    const where = journals.length === 1 ? "" : ` at ${placeText(distinctCodes(group), journals.length)}`;
    const names = [...new Set(group.map((each) => each.write.intent.name))];
    const [only = ""] = names;
    const whom = names.length === 1 ? `${intent.resource} ${only}` : counted(group.length, intent.resource);
    const what = `${status.replace("-", " ")}: ${verbOf(intent)} ${whom}${PARTS[intent.part]}${where}`;
    const mark = `    ${PAINTS[status](style)(MARKS[status])} `;
    const texts = [...(names.length === 1 ? [] : [namesText(names)]), ...(cause === "" ? [] : [cause])];
    return [
      ...hangingLines(oneLine(what), style.columns, mark, "        "),
      ...texts.flatMap((text) => hangingLines(oneLine(text), style.columns, "        ", "        ")),
    ];
  });
  const hidden = groups.slice(DONE_SHOWN).reduce((sum, { length }) => sum + length, 0);
  return [
    "\n  Writes that are not done:\n",
    ...lines.map((line) => `${line}\n`),
    ...(hidden === 0 ? [] : [`    ${style.dim(`… and ${counted(hidden, "more write")}`)}\n`]),
  ];
}

/** Returns why merchants stopped, if no write tells it, and the outcomes of all changes. */
function stopTexts(journals: readonly KnownRun[], style: Style): readonly string[] {
  if (journals.length === 1) return [];
  const told = new Set(failedWrites(journals).map(({ cause }) => cause));
  const stops = journals.filter(isTold).flatMap((journal) => {
    if (isSettled(journal)) return [];
    const { past, status } = journal;
    const { run, writes, end } = past;
    const { merchant } = run;
    if (status === "done") return [{ merchant, how: "done, not verified", cause: "" }];
    const none = writes.length === 0 ? "nothing was sent" : "";
    const cause = withoutNames(end?.cause ?? none, merchant, writes.filter(isFailed));
    return told.has(cause) ? [] : [{ merchant, how: STATUS[status], cause }];
  });
  const lines = groupByKey(stops, ({ how, cause }) => `${how}: ${cause}`).flatMap((group) => {
    const [{ how, cause }] = group;
    const what = `${how.slice(0, 1).toUpperCase()}${how.slice(1)} at ${placeText(distinctCodes(group), journals.length)}`;
    return hangingLines(oneLine(cause === "" ? what : `${what}: ${cause}`), style.columns, "  ", "    ");
  });
  const ends = journals.flatMap(({ past }) => past.end ?? []);
  const outcomes = ends.reduce<Partial<PastOutcomes>>(
    (sum, end) =>
      Object.fromEntries(
        Object.entries(end.outcomes).map(([status, count]) => [
          status,
          count + (sum[status as keyof PastOutcomes] ?? 0),
        ]),
      ),
    {},
  );
  return [
    ...(lines.length === 0 ? [] : ["\n", ...lines.map((line) => `${line}\n`)]),
    ...(ends.length === 0 ? [] : [outcomesText(outcomes)]),
  ];
}

type PastOutcomes = NonNullable<PastRun["end"]>["outcomes"];

function verbOf({ kind, password }: PastWrite["intent"]): string {
  return password ? "set the password of" : kind;
}

function distinctCodes(items: readonly { readonly merchant: string }[]): readonly string[] {
  return sortNaturally([...new Set(items.map(({ merchant }) => merchant))], (code) => code);
}

function placeText(merchants: readonly string[], of: number): string {
  if (merchants.length === 1) return merchants[0] ?? "";
  const count = counted(merchants.length, "merchant");
  return merchants.length === of ? `all ${count}` : `${count} (${namesText(merchants)})`;
}

/** Returns what a write gives and takes, as in "+ Cashier, - Clerk"; empty if it is nothing of that kind. */
function effectText({ before, after }: PastWrite["intent"]): string {
  if (after === null) return "";
  const [grantsBefore, grantsAfter] = [grantsOf(before), grantsOf(after)];
  return [
    ...grantsBefore.filter((grant) => !grantsAfter.includes(grant)).map((grant) => `- ${grant}`),
    ...grantsAfter.filter((grant) => !grantsBefore.includes(grant)).map((grant) => `+ ${grant}`),
  ].join(", ");
}

function grantsOf(image: PastWrite["intent"]["before"]): readonly string[] {
  if (image === null) return [];
  return "permissions" in image ? image.permissions : image.roles.map(({ name }) => name);
}

/** Returns whether the lines about all merchants say everything of this one. */
function isTold({ past, status, unrestored = [], lost = [] }: KnownRun): boolean {
  const { writes, verified, torn } = past;
  const remaining = verified === null ? 0 : verified.left.length + verified.deferred.length;
  return (
    (status === "done" || status === "stopped" || status === "interrupted") &&
    !torn &&
    remaining + unrestored.length + lost.length === 0 &&
    writes.every((write) => isPlainlyDone(write) || isFailed(write))
  );
}

/** Returns whether everything of a merchant's part is done, and nothing remained. */
function isSettled(journal: KnownRun): boolean {
  return isTold(journal) && journal.status === "done" && journal.past.verified !== null;
}

/** Returns the journals of which there is more to say, without the writes that other lines tell. */
function remarkable(journals: readonly ListedRun[]): readonly ListedRun[] {
  const some = journals.filter((journal) => journals.length === 1 || !("past" in journal && isTold(journal)));
  return some.map((journal) => {
    if (!("past" in journal)) return journal;
    const writes = journal.past.writes.filter((write) => !isPlainlyDone(write) && !isFailed(write));
    return {
      ...journal,
      past: { ...journal.past, writes },
      doneWrites: journal.past.writes.length - writes.length,
    };
  });
}

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

/** Formats the result of one merchant's part. */
function partText(
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
    ...(writes.length + doneWrites === 0 ? ["\n  Nothing was sent.\n"] : []),
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

/** Lists what removed invitations held that the run did not send again. */
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
  // A new invitation stands beside the expired one, whose id it does not have.
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

function outcomesText(outcomes: Partial<PastOutcomes>): string {
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
