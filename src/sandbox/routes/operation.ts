import { z } from "zod";
import type { InvitationLimiter } from "../http/rate-limit.ts";
import { ProblemError, type ResponseData } from "../http/response.ts";
import type { Account, Store } from "../state/store.ts";
import { checkQuery, noQuery, type QuerySchema } from "./query.ts";
import { emailSchema, metadataSchema, permissionsSchema } from "./resources.ts";

/** Ways to handle a second invitation after an expired one, other than keeping both. */
export const EXPIRED_RESPONSES = ["conflict", "replace", "renew"] as const;

/** An authenticated request to an operation. */
interface BaseCall {
  readonly store: Store;
  /** Id of the role or member in the path; empty if there is none. */
  readonly id: string;
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

/** A request whose query and body are not checked yet. */
export interface UncheckedCall extends BaseCall {
  readonly query: URLSearchParams;
  /** Parsed JSON; undefined if the operation has no body. */
  readonly body: unknown;
  /** Refuses query parameters that the operation does not have. */
  readonly strict: boolean;
}

/** A request with checked query parameters. */
export interface OperationCall<Query, Body> extends BaseCall {
  readonly query: Query;
  /** Returns the checked body; throws a 400. */
  body(): Body;
}

/** Parts of an operation that its OpenAPI description shows. */
interface OperationShape {
  /** Name in the request log and in fault rules. */
  readonly name: string;
  readonly summary: string;
  readonly method: "GET" | "POST" | "PATCH" | "PUT" | "DELETE";
  readonly path: string;
  /** Permissions of which one is required. */
  readonly permissions: readonly string[];
  readonly query: QuerySchema;
  /** Absent: no body. */
  readonly body?: z.ZodType;
  /** Body of a successful response; absent: none. */
  readonly response?: z.ZodType;
}

/** An operation on a merchant. */
export interface MerchantOperation extends OperationShape {
  readonly scope: "merchant";
  handle(call: UncheckedCall, merchant: Account): ResponseData;
}

/** An operation on the key's user. */
export interface UserOperation extends OperationShape {
  readonly scope: "user";
  handle(call: UncheckedCall, owner: string): ResponseData;
}

/** An operation of the contract. */
export type ContractOperation = MerchantOperation | UserOperation;

type Definition<Query extends QuerySchema, Body extends z.ZodType, Subject> = Omit<
  OperationShape,
  "query"
> & {
  readonly query?: Query;
  readonly body?: Body;
  handle(call: OperationCall<z.infer<Query>, z.infer<Body>>, subject: Subject): ResponseData;
};

/** Defines an operation by its schemas and a handler of checked calls. */
export function defineOperation<Query extends QuerySchema, Body extends z.ZodType, Subject>({
  handle,
  ...shape
}: Definition<Query, Body, Subject>): OperationShape & {
  handle(call: UncheckedCall, subject: Subject): ResponseData;
} {
  const query = shape.query ?? noQuery;
  return {
    ...shape,
    query,
    handle: ({ strict, ...call }, subject) =>
      handle(
        {
          ...call,
          query: checkQuery(query, call.query, strict) as z.infer<Query>,
          body: () => checkBody(shape.body ?? z.never(), call.body) as z.infer<Body>,
        },
        subject,
      ),
  };
}

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

const name = z.string().regex(/\S/, "must not be empty");
const roleIds = z.array(z.string().min(1, "must not be empty"));

const MIN_PASSWORD_LENGTH = 8;
// minLength of a JSON schema counts Unicode characters; that of zod, UTF-16 code units.
const password = z
  .string()
  .refine((text) => [...text].length >= MIN_PASSWORD_LENGTH, {
    error: `must have at least ${MIN_PASSWORD_LENGTH} characters`,
  })
  .meta({ format: "password", minLength: MIN_PASSWORD_LENGTH });
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
