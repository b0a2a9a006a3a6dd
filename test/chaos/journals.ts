import type { JournalLine, WriteEnded, WriteIntended } from "../../src/model/journal.ts";
import { type Target, targetOf } from "./invariants.ts";
import type { Scenario } from "./scenario.ts";
import type { Sent } from "./service.ts";

/** A journal as it stands on the disk. */
export interface JournalText {
  readonly file: string;
  readonly text: string;
}

/** What the service saw of the process with this id. */
export interface Seen {
  readonly pid: number;
  readonly sent: readonly Sent[];
}

interface Write {
  readonly target: Target;
  readonly intent: WriteIntended;
  readonly outcome: WriteEnded | null;
}

/** Where journals and the service's own log say different things; a process that ran rolecall twice is seen twice. */
export function disagreements(
  journals: readonly JournalText[],
  seen: readonly Seen[],
  scenario: Scenario,
): readonly string[] {
  const read = journals.map((journal) => ({ ...journal, lines: linesOf(journal.text) }));
  const of = (pid: number) => read.filter(({ lines }) => lines[0]?.type === "run" && lines[0].pid === pid);
  return [...new Set(seen.map(({ pid }) => pid))].flatMap((pid) => {
    const own = of(pid);
    const sent = seen.filter((one) => one.pid === pid).flatMap((one) => one.sent);
    const writes = own.flatMap(({ lines }) => writesOf(lines));
    return [
      ...sentUnannounced(writes, sent),
      ...(scenario.racing ? [] : writes.flatMap((write) => untrue(write, sent))),
    ];
  });
}

/** The lines of a journal; the last may be torn. */
function linesOf(text: string): readonly JournalLine[] {
  const lines = text.split("\n");
  const last = lines.pop() ?? "";
  return [...lines, ...(isWhole(last) ? [last] : [])].map((line) => JSON.parse(line) as JournalLine);
}

function isWhole(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}

function writesOf(lines: readonly JournalLine[]): readonly Write[] {
  const outcomes = new Map(lines.flatMap((line) => (line.type === "outcome" ? [[line.write, line]] : [])));
  return lines.flatMap((line) =>
    line.type === "intent"
      ? [{ target: targetOfIntent(line), intent: line, outcome: outcomes.get(line.write) ?? null }]
      : [],
  );
}

function targetOfIntent({ resource, kind, part, id, name }: WriteIntended): Target {
  if (part === "create" || id === null) return `create ${resource} ${name.toLowerCase()}`;
  if (part === "remove" || (kind === "delete" && part !== "set-aside")) return `delete ${resource} ${id}`;
  return `update ${resource} ${id}`;
}

/** Writes that the service saw and that no journal had announced. */
function sentUnannounced(writes: readonly Write[], sent: readonly Sent[]): readonly string[] {
  const announced = new Set(writes.map(({ target }) => target));
  return sent
    .flatMap((one) => targetOf(one) ?? [])
    .filter((target) => !announced.has(target))
    .map((target) => `the service saw what no journal announced: ${target}`);
}

/** What an outcome claims and the service does not confirm. */
function untrue({ target, outcome }: Write, sent: readonly Sent[]): readonly string[] {
  const seen = sent.filter((one) => targetOf(one) === target);
  const committed = seen.some((one) => one.committed);
  switch (outcome?.status) {
    case "done":
      return committed ? [] : [`the journal says done, the service never did it: ${target}`];
    case "stale":
      return seen.length === 0 ? [] : [`the journal says stale, and it was sent: ${target}`];
    case "failed":
      return committed ? [`the journal says failed, and it was done: ${target}`] : [];
    default:
      return [];
  }
}
