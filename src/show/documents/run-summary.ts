import { counted, groupByKey, sortNaturally } from "../../lib/text.ts";
import type { PastWrite } from "../../model/apply.ts";
import { type Block, below, type Document, indented, sentence } from "../blocks/block.ts";
import { namesText } from "../view/names-text.ts";
import { type KnownRun, type ListedRun, RUN_STATUS } from "../view/run-view.ts";
import { MARKS, outcomesText, PARTS, type PastOutcomes, verbOf } from "./run-part.ts";

const SETTLED = "Done and verified, no changes remained";

/** Maximum number of lines of equal writes. */
const DONE_SHOWN = 20;

/** Returns whether there is nothing to report about a write except that it is done. */
function isPlainlyDone({ outcome }: PastWrite): boolean {
  return outcome?.status === "done" && !outcome.adopted && !outcome.already;
}

/** Returns the writes that are done, equal ones once, and the merchants where nothing is left. */
export function doneWrites(journals: readonly KnownRun[]): Document {
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
  const texts = largest.slice(0, DONE_SHOWN).map(([key, writes]) => {
    const [verb, resource, effect] = JSON.parse(key) as readonly [string, string, string];
    const names = [...new Set(writes.map(({ name }) => name))];
    const merchants = sortNaturally([...new Set(writes.map(({ merchant }) => merchant))], (code) => code);
    const what = names.length === 1 ? `${resource} ${names[0]}` : counted(writes.length, resource);
    const where = journals.length === 1 ? "" : ` at ${placeText(merchants, journals.length)}`;
    return `${verb} ${what}${effect}${where}`;
  });
  const hidden = largest.slice(DONE_SHOWN).reduce((sum, [, writes]) => sum + writes.length, 0);
  const settled = sortNaturally(
    journals.flatMap((journal) => (isSettled(journal) ? journal.past.run.merchant : [])),
    (code) => code,
  );
  const shown = texts.map((text) => sentence(text, { mark: "ok" }));
  return [
    shown.length === 0
      ? []
      : [below("Writes that are done; --verbose shows each:", [...shown, ...moreWrites(hidden)])],
    settled.length === 0 || journals.length === 1
      ? []
      : [sentence(`${SETTLED}: ${placeText(settled, journals.length)}.`)],
  ];
}

function moreWrites(count: number): readonly Block[] {
  return count === 0 ? [] : [sentence(`… and ${counted(count, "more write")}`, { tone: "dim" })];
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

/** Returns the writes that failed or were not sent, equal ones once. */
export function failedBlocks(journals: readonly KnownRun[]): readonly Block[] {
  const groups = groupByKey(failedWrites(journals), ({ write: { intent, outcome }, cause }) =>
    JSON.stringify([outcome?.status, verbOf(intent), intent.resource, intent.part, cause]),
  );
  if (groups.length === 0) return [];
  const shown = groups.slice(0, DONE_SHOWN).map((group) => {
    const [{ write, cause }] = group;
    const { intent, outcome } = write;
    const status = outcome?.status ?? "unknown";
    const where = journals.length === 1 ? "" : ` at ${placeText(distinctCodes(group), journals.length)}`;
    const names = [...new Set(group.map((each) => each.write.intent.name))];
    const [only = ""] = names;
    const whom = names.length === 1 ? `${intent.resource} ${only}` : counted(group.length, intent.resource);
    const texts = [...(names.length === 1 ? [] : [namesText(names)]), ...(cause === "" ? [] : [cause])];
    return sentence(`${status.replace("-", " ")}: ${verbOf(intent)} ${whom}${PARTS[intent.part]}${where}`, {
      mark: MARKS[status],
      below: [indented(texts.map((text) => sentence(text)))],
    });
  });
  const hidden = groups.slice(DONE_SHOWN).reduce((sum, { length }) => sum + length, 0);
  return [below("Writes that are not done:", [...shown, ...moreWrites(hidden)])];
}

/** Returns why merchants stopped, if no write shows it, and the outcomes of all changes. */
export function stopDocument(journals: readonly KnownRun[]): Document {
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
    return told.has(cause) ? [] : [{ merchant, how: RUN_STATUS[status], cause }];
  });
  const blocks = groupByKey(stops, ({ how, cause }) => `${how}: ${cause}`).map((group) => {
    const [{ how, cause }] = group;
    const what = `${how.slice(0, 1).toUpperCase()}${how.slice(1)} at ${placeText(distinctCodes(group), journals.length)}`;
    return sentence(cause === "" ? what : `${what}: ${cause}`);
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
  return [blocks, ends.length === 0 ? [] : [sentence(outcomesText(outcomes))]];
}

function distinctCodes(items: readonly { readonly merchant: string }[]): readonly string[] {
  return sortNaturally([...new Set(items.map(({ merchant }) => merchant))], (code) => code);
}

function placeText(merchants: readonly string[], of: number): string {
  if (merchants.length === 1) return merchants[0] ?? "";
  const count = counted(merchants.length, "merchant");
  return merchants.length === of ? `all ${count}` : `${count} (${namesText(merchants)})`;
}

/** Returns what a write grants and removes, as in "+ Cashier, - Clerk"; empty if it does neither. */
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

/** Returns whether the lines about all merchants say everything about this one. */
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

/** Returns the journals that need lines of their own, without the writes that other lines report. */
export function remarkable(journals: readonly ListedRun[]): readonly ListedRun[] {
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
