import { z } from "zod";
import type { InvitationLimiter } from "../http/rate-limit.ts";
import { ProblemError, type ResponseData } from "../http/response.ts";
import { hasMetadataForm, METADATA_FORM } from "../state/snapshot.ts";
import type { Account, Store } from "../state/store.ts";

/** Ways to handle a second invitation after an expired one, other than keeping both. */
export const EXPIRED_RESPONSES = ["conflict", "replace", "renew"] as const;

/** An authenticated request to an operation, with a parsed body. */
export interface OperationCall {
  readonly store: Store;
  /** Id of the role or member in the path; empty if there is none. */
  readonly id: string;
  readonly query: URLSearchParams;
  readonly body: unknown;
  /** Absent: an expired invitation is kept beside the new one. */
  readonly expired?: (typeof EXPIRED_RESPONSES)[number] | undefined;
  /** Limits on invitations. */
  readonly invitations?: readonly InvitationLimiter[];
  /** Makes an update replace the whole resource, emptying fields that are absent from its body. */
  readonly replacing?: boolean;
  /** Refuses to assign `role_owner` and `role_admin`. */
  readonly unassignable?: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

interface Common {
  /** Name in the request log and in fault rules. */
  readonly name: string;
  readonly method: "GET" | "POST" | "PATCH" | "PUT" | "DELETE";
  readonly path: string;
  /** Permissions of which one is required. */
  readonly permissions: readonly string[];
}

/** An operation on a merchant. */
export interface MerchantOperation extends Common {
  readonly scope: "merchant";
  handle(call: OperationCall, merchant: Account): ResponseData;
}

/** An operation on the key's user. */
export interface UserOperation extends Common {
  readonly scope: "user";
  handle(call: OperationCall, owner: string): ResponseData;
}

/** An operation of the contract. */
export type ContractOperation = MerchantOperation | UserOperation;

const MAX_BYTES = 1_048_576;

function tooLarge(): ProblemError {
  return new ProblemError(413, `The body may have at most ${MAX_BYTES} bytes.`);
}

async function readText(request: Request): Promise<string> {
  const declared = request.headers.get("content-length");
  if (declared !== null) {
    if (Number(declared) > MAX_BYTES) throw tooLarge();
    return request.text();
  }
  // Without a content length, only counting protects from an endless body.
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength;
    if (size > MAX_BYTES) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** Parses a JSON body; throws a 400, 413 or 415. */
export async function readJson(request: Request): Promise<unknown> {
  const type = request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase() ?? "";
  if (type !== "application/json") {
    throw new ProblemError(415, "The body must be sent as application/json.");
  }
  const text = await readText(request);
  try {
    return JSON.parse(text);
  } catch {
    throw new ProblemError(400, "The body is not valid JSON.");
  }
}

/** Validates a body; throws a 400 that names every invalid field. */
export function checkBody<T>(schema: z.ZodType<T>, body: unknown): T {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  const issues = result.error.issues.map((issue) =>
    issue.path.length > 0 ? `${issue.path.join(".")}: ${issue.message}` : issue.message,
  );
  throw new ProblemError(400, `The body does not match the contract. ${issues.join("; ")}`);
}

/** An e-mail address (addr-spec without comments). */
export const emailSchema = z
  .string()
  .max(256, "must be an e-mail address of at most 256 characters")
  .regex(
    /^(?:[^\s@"(),:;<>[\]\\\p{Cc}]+|"(?:[^"\\\p{Cc}]|\\[^\p{Cc}])+")@[^\s@"(),:;<>[\]\\\p{Cc}]+$/u,
    "must be an e-mail address",
  );

/** Permissions of a role. */
export const permissionsSchema = z
  .array(z.string().min(1, "must not be empty"))
  .max(100, "must have at most 100 items");

/** Metadata of a role or a member. */
export const metadataSchema = z.custom<Readonly<Record<string, unknown>>>(hasMetadataForm, METADATA_FORM);

const name = z.string().refine((text) => text.trim() !== "", "must not be empty");
const roleIds = z.array(z.string().min(1, "must not be empty"));
// A schema's minLength counts Unicode characters, not UTF-16 code units.
const password = z.string().refine((text) => [...text].length >= 8, "must have at least 8 characters");
const attributes = z.record(z.string(), z.unknown());

/** Body of a role's creation. */
export const createRoleBody = z.strictObject({
  name,
  permissions: permissionsSchema,
  description: z.string().optional(),
  metadata: metadataSchema.optional(),
});

/** Body of a role's update; metadata is rejected. */
export const updateRoleBody = z.strictObject({
  name: name.optional(),
  permissions: permissionsSchema.optional(),
  description: z.string().optional(),
});

/** Body of a member's creation. */
export const createMemberBody = z.strictObject({
  email: emailSchema,
  roles: roleIds,
  is_managed_user: z.boolean().optional(),
  password: password.optional(),
  nickname: z.string().optional(),
  metadata: metadataSchema.optional(),
  attributes: attributes.optional(),
});

/** Body of a member's update. */
export const updateMemberBody = z.strictObject({
  roles: roleIds.optional(),
  metadata: metadataSchema.optional(),
  attributes: attributes.optional(),
  user: z.strictObject({ nickname: z.string().optional(), password: password.optional() }).optional(),
});
