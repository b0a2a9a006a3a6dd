import * as z from "zod/mini";
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
const count = z.int().check(z.nonnegative());

const roleImage = z.object({
  name: z.string(),
  description: z.nullable(z.string()),
  permissions: texts,
  metadata,
});

const memberImage = z.object({
  email: z.nullable(z.string()),
  roles: z.array(z.object({ id: z.nullable(z.string()), name: z.string() })),
  metadata,
  managed: z.nullable(z.object({ nickname: z.nullable(z.string()), passwordEnv: z.nullable(z.string()) })),
  status: z.catch(z.nullable(z.enum(["accepted", "pending", "expired", "disabled", "unknown"])), "unknown"),
});

const runStarted = z.object({
  at,
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
});

// Only shown, so that words of later versions do no harm.
const phase = z.custom<WriteIntended["phase"]>((value) => typeof value === "string");
const reason = z.custom<WriteIntended["reason"]>((value) => typeof value === "string");

const writeIntended = z.object({
  at,
  type: z.literal("intent"),
  write: z.int().check(z.positive()),
  phase,
  part: z.enum(["whole", "set-aside", "create", "remove", "restore"]),
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
  at,
  type: z.literal("outcome"),
  write: z.int().check(z.positive()),
  status: z.enum(["done", "failed", "unknown", "stale", "not-sent"]),
  id: z.nullable(z.string()),
  adopted: z.boolean(),
  failure: z.nullable(failure),
  already: z.exactOptional(z.literal(true)),
});

const runEnded = z.object({
  at,
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
]) satisfies z.ZodMiniType<Dated<RunStarted | WriteIntended | WriteEnded | RunEnded | RunVerified>>;

/** The kinds of lines that this version knows. */
export const JOURNAL_TYPES: ReadonlySet<unknown> = new Set(Object.keys(EVENTS.journal));
