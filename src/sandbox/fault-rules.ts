import { z } from "zod";
import { OPERATIONS } from "./access.ts";

/** Which of the requests a rule hits; without any of these, each one. */
const aim = {
  /** Name of an operation, such as `members.create`; absent: every operation. */
  operation: z.enum(OPERATIONS.map((operation) => operation.name)).optional(),
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

const ruleSchema = z.discriminatedUnion("kind", [
  /** A Problem with this status, before or after the write took effect. */
  z.strictObject({
    kind: z.literal("status"),
    ...aim,
    status: z.number().int().min(400).max(599),
    effect,
    detail: z.string().optional(),
    /** Sent as it is: seconds or an HTTP date. */
    retry_after: z
      .string()
      .regex(/^[\x20-\x7e]+$/)
      .optional(),
  }),
  z.strictObject({ kind: z.literal("latency"), ...aim, ms }),
  /** No answer for so long, then a broken connection. */
  z.strictObject({ kind: z.literal("stall"), ...aim, ms: ms.default(600_000) }),
  /** A page of HTML with status 200 (or another) where JSON belongs. */
  z.strictObject({
    kind: z.literal("html"),
    ...aim,
    effect,
    status: z.number().int().min(200).max(599).default(200),
  }),
  /** Fields that the contract does not know, in each resource. */
  z.strictObject({ kind: z.literal("unknown-fields"), ...aim }),
  z.strictObject({ kind: z.literal("reset-before"), ...aim }),
  z.strictObject({ kind: z.literal("reset-after"), ...aim }),
  /** Half of the body, then a broken connection. */
  z.strictObject({ kind: z.literal("truncate"), ...aim }),
  /** Half of the body as if it were all of it. */
  z.strictObject({ kind: z.literal("partial-json"), ...aim }),
  /** Somebody else's request, done just before this one. */
  z.strictObject({
    kind: z.literal("concurrent-edit"),
    ...aim,
    request: z.strictObject({
      method: z.enum(["POST", "PATCH", "PUT", "DELETE"]),
      path: z.string().startsWith("/v0.1/"),
      body: z.unknown().optional(),
    }),
  }),
]);

/** One fault, and which requests it hits. */
export type FaultRule = Readonly<z.infer<typeof ruleSchema>>;

/** The body that sets the faults: rules, and the seed of their chances. */
export const faultsBody = z.strictObject({
  seed: z.number().int().min(0).default(1),
  rules: z.array(ruleSchema).max(100),
});

/** The body that adds one rule. */
export const faultRuleBody = ruleSchema;
