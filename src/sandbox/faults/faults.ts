import { z } from "zod";
import { createInvitationLimiter, type InvitationLimiter, RETRY_AFTER_FORMS } from "../http/rate-limit.ts";
import { CONTRACT_OPERATIONS } from "../routes/authorize.ts";
import { EXPIRED_RESPONSES } from "../routes/operation.ts";
import { checkDocument, type DocumentForm, parseDocumentAs } from "../seed/parse-document.ts";
import { isLaterPage, NOT_HTTP_RESPONSES, PREDEFINED_RESPONSES, SHIFTS } from "./altered-responses.ts";
import { EDITS, editFits } from "./concurrent-edits.ts";

/** Conditions on the requests that a rule hits; absent: every request. */
const aim = {
  /** Name of an operation, such as `members.create`. */
  operation: z.enum(CONTRACT_OPERATIONS.map((operation) => operation.name)).optional(),
  /** Probability of a hit, drawn from the seeded generator. */
  probability: z.number().min(0).max(1).optional(),
  /** Hits only the nth matching request, counted from 1. */
  nth: z.number().int().min(1).optional(),
  /** Hits every nth matching request. */
  every: z.number().int().min(1).optional(),
  /** Maximum number of hits. */
  times: z.number().int().min(1).optional(),
};

const effect = z.enum(["before", "after"]).default("before");
const ms = z.number().int().min(0).max(3_600_000);
const headerText = z.string().regex(/^[\x20-\x7e]+$/, "must be printable ASCII");

const concurrentEdit = z
  .strictObject({
    kind: z.literal("concurrent-edit"),
    ...aim,
    /** A concurrent edit of the request's target. */
    edit: z.enum(EDITS).optional(),
    /** A concurrent request, instead of an edit. */
    request: z
      .strictObject({
        method: z.enum(["POST", "PATCH", "PUT", "DELETE"]),
        path: z.string().regex(/^\/(v0\.1|merchants)\//, "must begin with /v0.1/ or /merchants/"),
        body: z.unknown().optional(),
      })
      .optional(),
  })
  .refine((rule) => (rule.edit === undefined) !== (rule.request === undefined), {
    path: ["edit"],
    message: "exactly one of edit and request is required",
  })
  .refine(
    ({ edit, operation }) => edit === undefined || operation === undefined || editFits(edit, operation),
    {
      path: ["edit"],
      message: "does not apply to this operation",
    },
  );

const shift = z
  .strictObject({
    kind: z.literal("shift"),
    ...aim,
    /** The change of the list: a member removed, added at the front or moved to the front. */
    change: z.enum(SHIFTS).default("remove"),
  })
  .refine(({ operation }) => operation === undefined || operation === "members.list", {
    path: ["operation"],
    message: "must be members.list, the only list that a shift affects",
  });

/** Predefined roles cannot be retrieved; the contract guarantees it for custom ones only. */
const predefinedRole = z
  .strictObject({
    kind: z.literal("predefined-role"),
    ...aim,
    answer: z.enum(PREDEFINED_RESPONSES).default("not-found"),
  })
  .refine(({ operation }) => operation === undefined || operation === "roles.retrieve", {
    path: ["operation"],
    message: "must be roles.retrieve, the only operation that returns a predefined role",
  });

const ruleSchema = z.discriminatedUnion("kind", [
  /** Answers with a Problem, before or after the write took effect. */
  z.strictObject({
    kind: z.literal("status"),
    ...aim,
    status: z.number().int().min(400).max(599),
    effect,
    detail: z.string().optional(),
    /** Form of `Retry-After`; absent: seconds if there is a wait, else none. */
    retry_after: z.enum(RETRY_AFTER_FORMS).optional(),
    /** Seconds that `Retry-After` asks to wait; absent: 1. */
    wait: z.number().int().min(0).max(86_400).optional(),
  }),
  /** Waits `ms` plus a random time of up to `jitter_ms`. */
  z.strictObject({ kind: z.literal("latency"), ...aim, ms, jitter_ms: ms.default(0) }),
  /** Waits `ms`, then breaks the connection. */
  z.strictObject({ kind: z.literal("stall"), ...aim, ms: ms.default(600_000), effect }),
  /** Answers with an HTML page instead of JSON. */
  z.strictObject({
    kind: z.literal("html"),
    ...aim,
    effect,
    status: z.number().int().min(200).max(599).default(200),
  }),
  /** Sends the response with another content type; null: without one. */
  z.strictObject({
    kind: z.literal("content-type"),
    ...aim,
    type: headerText.nullable().default("text/plain"),
  }),
  /** Handles a second invitation after an expired one: refuses it, or replaces the first under a new or its own id. */
  z.strictObject({
    kind: z.literal("expired-invitation"),
    ...aim,
    operation: z.literal("members.create").optional(),
    answer: z.enum(EXPIRED_RESPONSES),
  }),
  /** Makes a PUT replace the whole member: fields that are absent from its body are emptied. */
  z.strictObject({
    kind: z.literal("replacing-put"),
    ...aim,
    operation: z.literal("members.update").optional(),
  }),
  /** Refuses to assign the roles that the service reserves: `role_owner` and `role_admin`. */
  z.strictObject({
    kind: z.literal("unassignable-roles"),
    ...aim,
    operation: z.enum(["members.create", "members.update"]).optional(),
  }),
  /** Limits the invitations of an address across merchants; further ones get a 429. */
  z.strictObject({
    kind: z.literal("invitation-limit"),
    ...aim,
    operation: z.literal("members.create").optional(),
    limit: z.number().int().min(0).default(1),
    /** Length of the window, in seconds. */
    window: z.number().int().min(1).max(86_400).default(3600),
    /** The only address to limit; absent: every address. */
    email: z.string().min(1, "must not be empty").optional(),
  }),
  /** Adds unknown fields to each resource. */
  z.strictObject({ kind: z.literal("unknown-fields"), ...aim }),
  /** Removes fields from each resource, as a service of another version might. */
  z.strictObject({
    kind: z.literal("without-fields"),
    ...aim,
    fields: z.array(z.string().min(1, "must not be empty")).min(1, "must name a field"),
  }),
  /** Adds a number beyond 2^53 to all metadata. */
  z.strictObject({ kind: z.literal("large-numbers"), ...aim }),
  predefinedRole,
  /** Sends a response that is not HTTP, then breaks the connection. */
  z.strictObject({
    kind: z.literal("not-http"),
    ...aim,
    effect,
    answer: z.enum(NOT_HTTP_RESPONSES).default("garbage"),
  }),
  z.strictObject({ kind: z.literal("reset-before"), ...aim }),
  z.strictObject({ kind: z.literal("reset-after"), ...aim }),
  /** Sends half of the body, then breaks the connection. */
  z.strictObject({ kind: z.literal("truncate"), ...aim }),
  /** Sends half of the body as a complete one. */
  z.strictObject({ kind: z.literal("partial-json"), ...aim }),
  /** Makes a concurrent request just before this one. */
  concurrentEdit,
  /** Changes the member list between two of its pages. */
  shift,
]);

/** A fault and the requests that it hits. */
export type FaultRule = Readonly<z.infer<typeof ruleSchema>>;

/** The body that replaces all fault rules. */
export const faultsBody = z.strictObject({
  seed: z.number().int().min(0).optional(),
  rules: z.array(ruleSchema).max(100, "must have at most 100 rules"),
});

/** Fault rules and the seed of their random numbers. */
export interface FaultSettings {
  readonly seed: number;
  readonly rules: readonly FaultRule[];
}

/** The body that adds a fault rule. */
export const faultRuleBody = ruleSchema;

/** The content of a fault file; an absent seed leaves the choice to the caller. */
export interface FaultsText {
  readonly seed?: number | undefined;
  readonly rules: FaultSettings["rules"];
}

const FORM: DocumentForm<FaultsText> = {
  schema: faultsBody,
  empty: 'the file is empty; faults begin with "rules:"',
};

/** Parses faults from YAML or JSON; throws `DocumentInvalid` with every problem and its position. */
export function parseFaults(text: string): FaultsText {
  return parseDocumentAs(text, FORM);
}

/** Checks faults that are not text; throws a 400 that names every problem. */
export function parseFaultsValue(value: unknown): FaultsText {
  return checkDocument(value, FORM);
}

/** A rule that applies to a request. */
export interface FaultHit {
  readonly rule: FaultRule;
  /** Random number in [0, 1) for choices that the rule leaves open. */
  readonly chance: number;
  /** Counter of an `invitation-limit` rule. */
  readonly invitations?: InvitationLimiter;
}

/** The active fault rules with their counters. */
export interface Faults extends FaultSettings {
  /** Returns the rules that hit a request; each call counts as one request. */
  draw(operation: string, query: URLSearchParams): readonly FaultHit[];
  /** Returns a random number of the seed's own stream, which no rule uses. */
  random(): number;
}

/** Checks whether a rule can have an effect on a request. */
function matches(rule: FaultRule, operation: string, query: URLSearchParams): boolean {
  if (rule.operation !== undefined && rule.operation !== operation) return false;
  if (rule.kind === "expired-invitation" || rule.kind === "invitation-limit")
    return operation === "members.create";
  if (rule.kind === "predefined-role") return operation === "roles.retrieve";
  if (rule.kind === "unassignable-roles")
    return operation === "members.create" || operation === "members.update";
  if (rule.kind === "replacing-put") return operation === "members.update";
  if (rule.kind === "shift") return isLaterPage(operation, query);
  if (rule.kind === "concurrent-edit" && rule.edit !== undefined) return editFits(rule.edit, operation);
  return true;
}

/** Creates a function that decides for each matching request in turn whether a rule hits it. */
function createAim(rule: FaultRule, random: () => number): () => FaultHit | null {
  let seen = 0;
  let hits = 0;
  const counted = rule.kind === "invitation-limit" && { invitations: createInvitationLimiter(rule) };
  return () => {
    seen += 1;
    if (rule.nth !== undefined && seen !== rule.nth) return null;
    if (rule.every !== undefined && seen % rule.every !== 0) return null;
    if (rule.times !== undefined && hits >= rule.times) return null;
    if (rule.probability !== undefined && random() >= rule.probability) return null;
    hits += 1;
    return { rule, chance: random(), ...counted };
  };
}

/** Creates the faults of a list of rules; counters start at zero. */
export function createFaults({ seed, rules }: FaultSettings): Faults {
  // A stream for each rule, so that adding a rule does not change what the others draw.
  const aimed = rules.map((rule, index) => ({ rule, next: createAim(rule, createRandom(seed, index + 1)) }));
  return {
    seed,
    rules,
    random: createRandom(seed),
    draw: (operation, query) =>
      aimed.flatMap(({ rule, next }) => (matches(rule, operation, query) ? (next() ?? []) : [])),
  };
}

/** Creates a seeded generator (mulberry32) of numbers in [0, 1). */
function createRandom(seed: number, stream = 0): () => number {
  let state = (seed ^ Math.imul(stream, 0x9e3779b9)) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
