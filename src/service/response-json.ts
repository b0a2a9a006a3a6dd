import * as z from "zod/mini";
import { markRounded } from "../lib/exact-numbers.ts";
import { isDeeper, MAX_LEVELS } from "../lib/json-text.ts";
import { MEMBER_STATUSES, type MemberStatus } from "../model/live.ts";

/** Makes a field optional; `null` counts as absent. Fields that the contract does not name are dropped. */
export const absent = <T extends z.ZodMiniType>(schema: T) => z.nullish(schema);

/** Total number of the items of a list. */
export const totalSchema = absent(z.int().check(z.nonnegative()));

/** A page of a list; `total` is `null` if unknown. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly total: number | null;
}

/** A parsed response. */
interface Parsed<T> {
  readonly data: T;
  /** True if it has marked strings for the numbers that would be rounded. */
  readonly marked: boolean;
}

/** Parses a response. Throws a SyntaxError if it is not JSON, a TypeError if it does not fit the schema. */
export function parseResponse<T>(schema: z.ZodMiniType<T>, body: string): Parsed<T> {
  const marked = markRounded(body);
  const read = schema.safeParse(parseJson(marked ?? body));
  if (read.success) return { data: read.data, marked: marked !== null };
  const [issue] = read.error.issues;
  throw new TypeError(
    `with something other than the contract specifies at ${issue?.path.join(".") || "its root"}`,
  );
}

function parseJson(body: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    // The engine's message would contain a piece of the body.
    throw new SyntaxError(body.trim() === "" ? "with an empty body" : "with broken JSON");
  }
  if (isDeeper(value, MAX_LEVELS)) throw new TypeError(`with JSON nested deeper than ${MAX_LEVELS} levels`);
  return value;
}

const createdSchema = z.object({ id: z.string().check(z.minLength(1)) });

/** Parses the id of a created resource; `null` if the response does not contain it. */
export function readCreatedId(body: string): string | null {
  try {
    return parseResponse(createdSchema, body).data.id;
  } catch {
    return null;
  }
}

/** Returns a status; any other value counts as unknown. */
export function toStatus(wire: unknown): MemberStatus {
  return MEMBER_STATUSES.find((status) => status === wire) ?? "unknown";
}

/** Returns whether a text is present and not blank. */
export function hasText(text: string | null | undefined): text is string {
  return text != null && text.trim() !== "";
}

/** The type of a resource or user if the service does not report it. */
export const UNKNOWN_TYPE = "unknown";
