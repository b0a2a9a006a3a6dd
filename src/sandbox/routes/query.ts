import { z } from "zod";
import { ProblemError } from "../http/response.ts";
import { STATUSES } from "../state/snapshot.ts";

/** Query parameters of an operation, by name. */
export type QuerySchema = z.ZodObject<Readonly<Record<string, z.ZodType>>>;

function wholeNumber(min: number, max: number, byDefault: number, range: string) {
  const error = `must be a whole number ${range}`;
  const number = z.int({ error }).min(min, error).max(max, error).default(byDefault);
  return z.preprocess(
    (text) => (typeof text === "string" && /^-?\d{1,15}$/.test(text) ? Number(text) : text),
    number,
  );
}

function flag() {
  const value = z.boolean({ error: "must be true or false" }).optional();
  return z.preprocess((text) => (text === "true" ? true : text === "false" ? false : text), value);
}

const text = z.string().optional();
const anyOf = z.array(z.string()).optional();
const status = z.enum(STATUSES, { error: `must be one of ${STATUSES.join(", ")}` }).optional();

const page = {
  offset: wholeNumber(0, Number.MAX_SAFE_INTEGER, 0, "of at least 0"),
  limit: wholeNumber(1, 25, 10, "from 1 to 25"),
};

/** The parameters of an operation that has none. */
export const noQuery = z.object({});

/** Parameters of the list of members. */
export const memberListQuery = z.object({
  ...page,
  scroll: flag(),
  email: text,
  "user.id": z.guid({ error: "must be a UUID" }).toLowerCase().optional(),
  "user.type": text,
  status,
  roles: anyOf,
});

/** Parameters of the list of memberships. */
export const membershipListQuery = z.object({
  ...page,
  kind: text,
  status,
  "resource.id": text,
  "resource.type": text,
  "resource.name": text,
  "resource.attributes.sandbox": flag(),
  "resource.parent.id": text,
  "resource.parent.type": text,
  roles: anyOf,
});

/** The requested range of a list. */
export interface PageRange {
  readonly offset: number;
  readonly limit: number;
}

/** Checks query parameters; throws a 400, in strict mode also for an unknown parameter. */
export function checkQuery<Schema extends QuerySchema>(
  schema: Schema,
  query: URLSearchParams,
  strict: boolean,
): z.infer<Schema> {
  const unknown = [...query.keys()].find((name) => !Object.hasOwn(schema.shape, name));
  if (strict && unknown !== undefined) {
    throw new ProblemError(400, `The operation has no query parameter ${JSON.stringify(unknown)}.`);
  }
  const names = Object.keys(schema.shape).filter((name) => query.has(name));
  const result = schema.safeParse(
    Object.fromEntries(names.map((name) => [name, parameterValue(schema, name, query.getAll(name))])),
  );
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new ProblemError(400, `The query parameter ${issue?.path.join(".")} ${issue?.message}.`);
}

/** Returns the values of a repeatable parameter or the value of another one; throws a 400 if that is repeated. */
function parameterValue(schema: QuerySchema, name: string, values: readonly string[]): unknown {
  if (schema.shape[name] === anyOf) return values;
  if (values.length > 1) throw new ProblemError(400, `The query parameter ${name} may be given only once.`);
  return values[0];
}
