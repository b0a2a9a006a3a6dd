import { z } from "zod";
import { EVENTS } from "../../model/event-registry.ts";
import type { RunEnded, RunStarted, RunVerified, WriteEnded, WriteIntended } from "../../model/journal.ts";
import type { Metadata } from "../../model/json.ts";
import type { Dated } from "../../model/past-run.ts";

/**
 * The lines of a journal. Other than the user's files and saved plans they may hold more than this version knows:
 * a later one has written them, and what is needed of them is there all the same.
 */
const at = z.string();
const metadata = z.custom<Metadata>(
  (value) => typeof value === "object" && value !== null && !Array.isArray(value),
);
const texts = z.array(z.string());
const resource = z.enum(["role", "member"]);
const count = z.number().int().nonnegative();

const roleImage = z.object({
  name: z.string(),
  description: z.string().nullable(),
  permissions: texts,
  metadata,
});

const memberImage = z.object({
  email: z.string().nullable(),
  roles: z.array(z.object({ id: z.string().nullable(), name: z.string() })),
  metadata,
  managed: z.object({ nickname: z.string().nullable(), passwordEnv: z.string().nullable() }).nullable(),
  status: z.enum(["accepted", "pending", "expired", "disabled", "unknown"]).nullable().catch("unknown"),
});

const runStarted = z.object({
  at,
  type: z.literal("run"),
  format: z.literal(1),
  run: z.string(),
  merchant: z.string(),
  environment: z.enum(["live", "test"]).nullable(),
  service: z.string(),
  fingerprint: z.string(),
  changes: count,
  version: z.string(),
  user: z.string().nullable(),
  host: z.string(),
  pid: z.number().int().positive(),
  commit: z.object({ id: z.string(), clean: z.boolean() }).nullable(),
  job: z.string().nullable(),
  undoes: z.string().nullable(),
});

// Only shown, so that words of later versions do no harm.
const phase = z.custom<WriteIntended["phase"]>((value) => typeof value === "string");
const reason = z.custom<WriteIntended["reason"]>((value) => typeof value === "string");

const writeIntended = z.object({
  at,
  type: z.literal("intent"),
  write: z.number().int().positive(),
  phase,
  part: z.enum(["whole", "set-aside", "create", "remove", "restore"]),
  resource,
  kind: z.enum(["create", "update", "replace", "delete"]),
  name: z.string(),
  id: z.string().nullable(),
  reason,
  fingerprint: z.string(),
  before: z.union([roleImage, memberImage]).nullable(),
  after: z.union([roleImage, memberImage]).nullable(),
  password: z.literal(true).exactOptional(),
});

const failure = z.custom<NonNullable<WriteEnded["failure"]>>(
  (value) =>
    z.object({ code: z.string(), message: z.string(), hint: z.string().optional() }).safeParse(value).success,
);

const writeEnded = z.object({
  at,
  type: z.literal("outcome"),
  write: z.number().int().positive(),
  status: z.enum(["done", "failed", "unknown", "stale", "not-sent"]),
  id: z.string().nullable(),
  adopted: z.boolean(),
  failure: failure.nullable(),
  already: z.literal(true).exactOptional(),
});

const runEnded = z.object({
  at,
  type: z.literal("end"),
  status: z.enum(["done", "incomplete", "stopped"]),
  cause: z.string().nullable(),
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
  at,
  type: z.literal("verified"),
  left: texts,
  deferred: texts,
});

/** A line of a journal, as far as this version knows it. */
export const journalLineSchema = z.discriminatedUnion("type", [
  runStarted,
  writeIntended,
  writeEnded,
  runEnded,
  runVerified,
]) satisfies z.ZodType<Dated<RunStarted | WriteIntended | WriteEnded | RunEnded | RunVerified>>;

/** The kinds of lines that this version knows. */
export const JOURNAL_TYPES: ReadonlySet<unknown> = new Set(Object.keys(EVENTS.journal));
