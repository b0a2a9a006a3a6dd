import * as z from "zod/mini";
import { byKind } from "../kernel/fields/field.ts";
import { COMMON_FIELDS, MANAGED_FIELDS } from "../kernel/fields/member.ts";
import { ROLE_FIELDS } from "../kernel/fields/role.ts";
import { MAX_DEPTH } from "../kernel/values/limits.ts";
import { invalidText } from "../lib/text.ts";
import type {
  Dated,
  JournalLine,
  PastWrite,
  ReadJournal,
  RunEnded,
  RunStarted,
  RunVerified,
  WriteEnded,
  WriteIntended,
} from "../model/apply.ts";
import type { Metadata } from "../model/json.ts";

/**
 * Reads a journal. An incomplete last line, as after a crash, is left out; any other line that cannot be read is an
 * error, since its content is lost. Lines and fields of later versions are ignored.
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
    const reason = torn ? "it ends in its first line, before anything was changed" : "it is empty";
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

  /** Adds the next line; returns the problem with it, or null. */
  take(value: object): string | null {
    const { type, format } = value as { readonly type?: unknown; readonly format?: unknown };
    if (type === "run" && typeof format === "number" && format > 1) {
      return `its format is ${format}, and this version of rolecall knows format 1`;
    }
    if (this.run === null && type !== "run") return "a journal must begin with a run";
    if (typeof type !== "string") return "type: expected string";
    if (!isLineType(type)) return null;
    if (!isShallow(value)) return "it is nested too deeply";
    const read = LINES[type].safeParse(value);
    if (read.success) return this.#add(read.data);
    return invalidText(read.error.issues[0]);
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
        if (this.run !== null) return "a journal must have only one run";
        this.run = line;
        return null;
      case "intent":
        if (this.#intents.has(line.write)) return `write ${line.write} begins a second time`;
        this.#intents.set(line.write, line);
        return null;
      case "outcome":
        if (!this.#intents.has(line.write)) return `write ${line.write} ends, but never began`;
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

/** Returns true if a value is nested no deeper than anything that rolecall writes. */
function isShallow(value: object): boolean {
  let level: readonly unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH + 8) return false;
    level = level.flatMap((inner) =>
      typeof inner === "object" && inner !== null ? Object.values(inner) : [],
    );
  }
  return true;
}

/**
 * The lines of a journal. Unlike the user's files and saved plans, they may contain more than this version knows: a
 * later version may have written them, and they still contain what is needed.
 */
const time = z.string();
const metadata = z.custom<Metadata>(
  (value) => typeof value === "object" && value !== null && !Array.isArray(value),
);
const texts = z.array(z.string());
const resource = z.enum(["role", "member"]);
const count = z.int().check(z.nonnegative());

/** The values in images; a field that an earlier version did not know is empty. */
const IMAGES = {
  name: z.string(),
  line: z._default(z.nullable(z.string()), null),
  prose: z._default(z.nullable(z.string()), null),
  list: texts,
  roles: z.array(z.object({ id: z.nullable(z.string()), name: z.string() })),
  metadata,
};

const roleImage = z.object(byKind(ROLE_FIELDS, IMAGES));

const memberImage = z.object({
  email: z.nullable(z.string()),
  ...byKind(COMMON_FIELDS, IMAGES),
  managed: z.nullable(z.object({ ...byKind(MANAGED_FIELDS, IMAGES), passwordEnv: z.nullable(z.string()) })),
  status: z.catch(z.nullable(z.enum(["accepted", "pending", "expired", "disabled", "unknown"])), "unknown"),
});

const runStarted = z.object({
  at: time,
  type: z.literal("run"),
  format: z.literal(1),
  run: z.string(),
  merchant: z.string(),
  environment: z.nullable(z.enum(["live", "test"])),
  service: z.string(),
  fingerprint: z.string(),
  changes: count,
  version: z.string(),
  user: z.nullable(z.string()),
  host: z.string(),
  pid: z.int().check(z.positive()),
  commit: z.nullable(z.object({ id: z.string(), clean: z.boolean() })),
  job: z.nullable(z.string()),
  undoes: z.nullable(z.string()),
  overridden: z.exactOptional(texts),
});

// Only displayed, so values of later versions do no harm.
const phase = z.custom<WriteIntended["phase"]>((value) => typeof value === "string");
const reason = z.custom<WriteIntended["reason"]>((value) => typeof value === "string");

const writeIntended = z.object({
  at: time,
  type: z.literal("intent"),
  write: z.int().check(z.positive()),
  phase,
  part: z.enum(["whole", "set-aside", "create", "remove", "narrow", "widen", "restore"]),
  resource,
  kind: z.enum(["create", "update", "replace", "delete"]),
  name: z.string(),
  id: z.nullable(z.string()),
  reason,
  fingerprint: z.string(),
  before: z.nullable(z.union([roleImage, memberImage])),
  after: z.nullable(z.union([roleImage, memberImage])),
  password: z.exactOptional(z.literal(true)),
});

const failure = z.custom<NonNullable<WriteEnded["failure"]>>(
  (value) =>
    z.object({ code: z.string(), message: z.string(), hint: z.optional(z.string()) }).safeParse(value)
      .success,
);

const writeEnded = z.object({
  at: time,
  type: z.literal("outcome"),
  write: z.int().check(z.positive()),
  status: z.enum(["done", "failed", "unknown", "stale", "not-sent"]),
  id: z.nullable(z.string()),
  adopted: z.boolean(),
  failure: z.nullable(failure),
  already: z.exactOptional(z.literal(true)),
});

const runEnded = z.object({
  at: time,
  type: z.literal("end"),
  status: z.enum(["done", "incomplete", "stopped"]),
  cause: z.nullable(z.string()),
  outcomes: z.object({
    done: count,
    failed: count,
    unknown: count,
    stale: count,
    unfinished: count,
    "not-started": count,
  }),
});

const runVerified = z.object({
  at: time,
  type: z.literal("verified"),
  left: texts,
  deferred: texts,
});

/** The schemas of lines, by type. */
const LINES: {
  readonly [Type in JournalLine["type"]]: z.ZodMiniType<JournalLine & { readonly type: Type }>;
} = {
  run: runStarted,
  intent: writeIntended,
  outcome: writeEnded,
  end: runEnded,
  verified: runVerified,
};

function isLineType(type: string): type is JournalLine["type"] {
  return Object.hasOwn(LINES, type);
}
