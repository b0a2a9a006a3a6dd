import { z } from "zod";
import { CONTRACT_OPERATIONS } from "../routes/authorize.ts";
import { EXPIRED_ANSWERS } from "../routes/operation.ts";
import { type DocumentForm, parseDocumentAs } from "../seed/parse-document.ts";
import { NOT_HTTP_ANSWERS, PREDEFINED_ANSWERS } from "./altered-answers.ts";
import { EDITS, editFits } from "./concurrent-edits.ts";
import { SHIFTS } from "./pagination-drift.ts";

/** Which of the requests a rule hits; without any of these, each one. */
const aim = {
  /** Name of an operation, such as `members.create`; absent: every operation. */
  operation: z.enum(CONTRACT_OPERATIONS.map((operation) => operation.name)).optional(),
  /** How likely a request is hit, drawn from the seeded generator. */
  probability: z.number().min(0).max(1).optional(),
  /** Only the so-manieth matching request, counted from 1. */
  nth: z.number().int().min(1).optional(),
  /** Every so-manieth matching request. */
  every: z.number().int().min(1).optional(),
  /** At most so many requests. */
  times: z.number().int().min(1).optional(),
};

const effect = z.enum(["before", "after"]).default("before");
const ms = z.number().int().min(0).max(3_600_000);
const headerText = z.string().regex(/^[\x20-\x7e]+$/, "must be printable ASCII");

const concurrentEdit = z
  .strictObject({
    kind: z.literal("concurrent-edit"),
    ...aim,
    /** What somebody else does to the very resource that the request is about. */
    edit: z.enum(EDITS).optional(),
    /** Or a request of somebody else, as it is. */
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
    message: "is needed, or request in its place, not both",
  })
  .refine(
    ({ edit, operation }) => edit === undefined || operation === undefined || editFits(edit, operation),
    {
      path: ["edit"],
      message: "is not possible in a request of this operation",
    },
  );

const shift = z
  .strictObject({
    kind: z.literal("shift"),
    ...aim,
    /** Whether somebody else removes a member, adds one, or moves one to the front. */
    change: z.enum(SHIFTS).default("remove"),
  })
  .refine(({ operation }) => operation === undefined || operation === "members.list", {
    path: ["operation"],
    message: "must be members.list, the one list that a shift can be noticed in",
  });

/** Predefined roles can be held, and not retrieved: the contract only says that custom ones can. */
const predefinedRole = z
  .strictObject({
    kind: z.literal("predefined-role"),
    ...aim,
    answer: z.enum(PREDEFINED_ANSWERS).default("not-found"),
  })
  .refine(({ operation }) => operation === undefined || operation === "roles.retrieve", {
    path: ["operation"],
    message: "must be roles.retrieve, the one operation that answers for a predefined role",
  });

const ruleSchema = z.discriminatedUnion("kind", [
  /** A Problem with this status, before or after the write took effect. */
  z.strictObject({
    kind: z.literal("status"),
    ...aim,
    status: z.number().int().min(400).max(599),
    effect,
    detail: z.string().optional(),
    /** Sent as it is: seconds or an HTTP date. */
    retry_after: headerText.optional(),
  }),
  /** Waits `ms` and, drawn anew each time, up to `jitter_ms` more. */
  z.strictObject({ kind: z.literal("latency"), ...aim, ms, jitter_ms: ms.default(0) }),
  /** No answer for so long, then a broken connection. */
  z.strictObject({ kind: z.literal("stall"), ...aim, ms: ms.default(600_000), effect }),
  /** A page of HTML with status 200 (or another) where JSON belongs. */
  z.strictObject({
    kind: z.literal("html"),
    ...aim,
    effect,
    status: z.number().int().min(200).max(599).default(200),
  }),
  /** The answer as it is, but called something else than JSON; null: called nothing. */
  z.strictObject({
    kind: z.literal("content-type"),
    ...aim,
    type: headerText.nullable().default("text/plain"),
  }),
  /** A second invitation of an address whose first one has expired: refused, or in its place, under a new id or its own. */
  z.strictObject({
    kind: z.literal("expired-invitation"),
    ...aim,
    operation: z.literal("members.create").optional(),
    answer: z.enum(EXPIRED_ANSWERS),
  }),
  /** A PUT empties the fields that it does not hold, as if it were the whole of the member. */
  z.strictObject({
    kind: z.literal("replacing-put"),
    ...aim,
    operation: z.literal("members.update").optional(),
  }),
  /** So many invitations of one address in a while, at whatever merchant; further ones are refused (429). */
  z.strictObject({
    kind: z.literal("invitation-limit"),
    ...aim,
    operation: z.literal("members.create").optional(),
    limit: z.number().int().min(0).default(1),
    /** In seconds. */
    window: z.number().int().min(1).max(86_400).default(3600),
    /** Only for this address; absent: for each. */
    email: z.string().min(1, "must not be empty").optional(),
  }),
  /** Fields that the contract does not know, in each resource. */
  z.strictObject({ kind: z.literal("unknown-fields"), ...aim }),
  /** Without some fields of each resource: a service that is older or newer than the contract. */
  z.strictObject({
    kind: z.literal("without-fields"),
    ...aim,
    fields: z.array(z.string().min(1, "must not be empty")).min(1, "must name a field"),
  }),
  /** A number in all metadata that no double can hold. */
  z.strictObject({ kind: z.literal("large-numbers"), ...aim }),
  predefinedRole,
  /** An answer that is no HTTP, then a broken connection. */
  z.strictObject({
    kind: z.literal("not-http"),
    ...aim,
    effect,
    answer: z.enum(NOT_HTTP_ANSWERS).default("garbage"),
  }),
  z.strictObject({ kind: z.literal("reset-before"), ...aim }),
  z.strictObject({ kind: z.literal("reset-after"), ...aim }),
  /** Half of the body, then a broken connection. */
  z.strictObject({ kind: z.literal("truncate"), ...aim }),
  /** Half of the body as if it were all of it. */
  z.strictObject({ kind: z.literal("partial-json"), ...aim }),
  /** Somebody else's request, done just before this one. */
  concurrentEdit,
  /** A member list that moves between two of its pages. */
  shift,
]);

/** One fault, and which requests it hits. */
export type FaultRule = Readonly<z.infer<typeof ruleSchema>>;

/** The body that sets the faults: rules, and the seed of their chances. */
export const faultsBody = z.strictObject({
  seed: z.number().int().min(0).optional(),
  rules: z.array(ruleSchema).max(100, "must have at most 100 rules"),
});

/** Rules, and the seed of their chances. */
export interface FaultSettings {
  readonly seed: number;
  readonly rules: readonly FaultRule[];
}

/** The body that adds one rule. */
export const faultRuleBody = ruleSchema;

/** What goes wrong, as a file or a control route says it; without a seed, another one counts. */
export interface FaultsText {
  readonly seed?: number | undefined;
  readonly rules: FaultSettings["rules"];
}

const FORM: DocumentForm<FaultsText> = {
  schema: faultsBody,
  empty: 'the file is empty; faults begin with "rules:"',
};

/** Reads faults from YAML or JSON; throws `DocumentInvalid` with every problem and its place. */
export function parseFaults(text: string): FaultsText {
  return parseDocumentAs(text, FORM);
}
