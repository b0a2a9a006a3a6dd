import type {
  JournalLine,
  RunEnded,
  RunStarted,
  RunVerified,
  WriteEnded,
  WriteIntended,
} from "../../model/journal.ts";
import type { Dated, PastWrite, ReadJournal } from "../../model/past-run.ts";
import { MAX_DEPTH } from "../schema/limits.ts";
import { JOURNAL_TYPES, journalLineSchema } from "./journal-schema.ts";

/**
 * Reads a journal. A last line that was not written whole is left out, as a crash leaves it; any other line that
 * cannot be read is an error, since what it told is lost. Lines and fields of later versions are passed over.
 */
export function parseJournal(text: string): ReadJournal {
  const lines = text.split("\n");
  const reader = new Reader();
  let torn = false;
  for (const [index, line] of lines.entries()) {
    const last = index >= lines.length - 1;
    if (line === "" && last) continue;
    const value = parseJson(line);
    if (value === undefined && (last || (index === lines.length - 2 && lines.at(-1) === ""))) {
      torn = true;
      continue;
    }
    const reason = value === undefined ? "it is not JSON" : reader.take(value);
    if (reason !== null) return { ok: false, line: index + 1, reason };
  }
  const { run } = reader;
  if (run === null) {
    const reason = torn ? "it was cut short in its first line, before anything was changed" : "it is empty";
    return { ok: false, line: null, reason };
  }
  const { end, verified } = reader;
  return { ok: true, run: { run, writes: reader.writes(), end, verified, torn } };
}

/** Puts the lines of one journal together. */
class Reader {
  run: Dated<RunStarted> | null = null;
  end: Dated<RunEnded> | null = null;
  verified: Dated<RunVerified> | null = null;
  readonly #intents = new Map<number, Dated<WriteIntended>>();
  readonly #outcomes = new Map<number, Dated<WriteEnded>>();

  /** Takes the next line; says what is wrong with it, or null. */
  take(value: object): string | null {
    const { type, format } = value as { readonly type?: unknown; readonly format?: unknown };
    if (type === "run" && typeof format === "number" && format > 1) {
      return `its format is ${format}, and this version of rolecall knows format 1`;
    }
    if (this.run === null && type !== "run") return "a journal begins with the run";
    if (typeof type === "string" && !JOURNAL_TYPES.has(type)) return null;
    if (!isShallow(value)) return "it is nested too deep";
    const read = journalLineSchema.safeParse(value);
    if (read.success) return this.#add(read.data);
    return `"${read.error.issues[0]?.path.join(".") || "type"}" is not what it should be`;
  }

  writes(): readonly PastWrite[] {
    return [...this.#intents.values()].map((intent) => ({
      intent,
      outcome: this.#outcomes.get(intent.write) ?? null,
    }));
  }

  #add(line: JournalLine): string | null {
    switch (line.type) {
      case "run":
        if (this.run !== null) return "a journal has one run only";
        this.run = line;
        return null;
      case "intent":
        if (this.#intents.has(line.write)) return `write ${line.write} begins a second time`;
        this.#intents.set(line.write, line);
        return null;
      case "outcome":
        if (!this.#intents.has(line.write)) return `write ${line.write} ends, and never began`;
        this.#outcomes.set(line.write, line);
        return null;
      case "end":
        this.end = line;
        return null;
      case "verified":
        this.verified = line;
        return null;
      default:
        return line satisfies never;
    }
  }
}

function parseJson(line: string): object | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a value is nested no deeper than anything that rolecall itself writes down. */
function isShallow(value: object): boolean {
  let level: readonly unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH + 8) return false;
    level = level.flatMap((one) => (typeof one === "object" && one !== null ? Object.values(one) : []));
  }
  return true;
}
