import type { JournalLine, WriteEnded, WriteIntended } from "../../src/model/apply.ts";
import { type Target, targetOf } from "./invariants.ts";
import type { Scenario } from "./scenario.ts";
import type { Sent } from "./service.ts";

/** A journal as it stands on the disk. */
export interface JournalText {
  readonly file: string;
  readonly text: string;
}

/** The journals of some runs of rolecall, and what the service saw of them. */
export interface Seen {
  readonly journals: readonly JournalText[];
  readonly sent: readonly Sent[];
  /** What the service saw of anybody. */
  readonly everyone: readonly Sent[];
}

interface Write {
  readonly target: Target;
  readonly intent: WriteIntended;
  readonly outcome: WriteEnded | null;
}

/** Where journals and the service's own log say different things. */
export function disagreements({ journals, sent, everyone }: Seen, { racing }: Scenario): readonly string[] {
  const writes = journals.flatMap(({ text }) => writesOf(linesOf(text)));
  return [
    ...sentUnannounced(writes, sent),
    ...(racing ? [] : writes.flatMap((write) => untrue(write, sent, everyone))),
  ];
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

const isGone = ({ status }: Sent): boolean => status === 404;

/** What an outcome claims and the service does not confirm. */
function untrue(
  { target, intent, outcome }: Write,
  sent: readonly Sent[],
  everyone: readonly Sent[],
): readonly string[] {
  // Somebody else may have made the very same; nobody can tell that from what one made oneself.
  const among = outcome?.adopted ? everyone : sent;
  const seen = among.filter((one) => targetOf(one) === target);
  const committed = seen.some((one) => one.committed);
  switch (outcome?.status) {
    case "done":
      // Somebody else removed it first, or the service did when it took the new invitation.
      return committed || outcome.already || (intent.part === "remove" && seen.some(isGone))
        ? []
        : [`the journal says done, the service never did it: ${target}`];
    case "stale":
      // The update that is restored was sent to the same member before.
      if (intent.part === "restore") return [];
      return seen.length === 0 ? [] : [`the journal says stale, and it was sent: ${target}`];
    case "failed":
      // An invitation that was refused for an expired one is sent again once that is gone.
      return committed && intent.part !== "restore" && !(intent.part === "create" && intent.id !== null)
        ? [`the journal says failed, and it was done: ${target}`]
        : [];
    default:
      return [];
  }
}
