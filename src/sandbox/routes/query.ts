import { ProblemError } from "../answer.ts";

/** The value of a query parameter that may be given once. */
export function single(query: URLSearchParams, name: string): string | undefined {
  const values = query.getAll(name);
  if (values.length > 1) throw new ProblemError(400, `The query parameter ${name} may be given only once.`);
  return values[0];
}

/** A query parameter that is a whole number within bounds. */
function integer(
  query: URLSearchParams,
  name: string,
  bounds: { readonly default: number; readonly min: number; readonly max?: number },
): number {
  const text = single(query, name);
  if (text === undefined) return bounds.default;
  const value = /^-?\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  const max = bounds.max ?? Number.MAX_SAFE_INTEGER;
  if (value >= bounds.min && value <= max) return value;
  const range =
    bounds.max === undefined ? `of at least ${bounds.min}` : `from ${bounds.min} to ${bounds.max}`;
  throw new ProblemError(400, `The query parameter ${name} must be a whole number ${range}.`);
}

/** A query parameter that is `true` or `false`. */
export function boolean(query: URLSearchParams, name: string): boolean | undefined {
  const text = single(query, name);
  if (text === undefined) return undefined;
  if (text === "true" || text === "false") return text === "true";
  throw new ProblemError(400, `The query parameter ${name} must be true or false.`);
}

/** A query parameter that is one of some words. */
export function oneOf<Word extends string>(
  query: URLSearchParams,
  name: string,
  words: readonly Word[],
): Word | undefined {
  const text = single(query, name);
  if (text === undefined) return undefined;
  const word = words.find((known) => known === text);
  if (word !== undefined) return word;
  throw new ProblemError(400, `The query parameter ${name} must be one of ${words.join(", ")}.`);
}

/** A query parameter that is a UUID. */
export function uuid(query: URLSearchParams, name: string): string | undefined {
  const text = single(query, name);
  if (text === undefined) return undefined;
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) return text.toLowerCase();
  throw new ProblemError(400, `The query parameter ${name} must be a UUID.`);
}

/** A repeated query parameter, as a set; undefined where it is not given. */
export function anyOf(query: URLSearchParams, name: string): ReadonlySet<string> | undefined {
  return query.has(name) ? new Set(query.getAll(name)) : undefined;
}

/** The part of a list that a request asks for. */
export interface PageRange {
  readonly offset: number;
  readonly limit: number;
}

/** The paging parameters that both paged lists have. */
export function page(query: URLSearchParams): PageRange {
  return {
    offset: integer(query, "offset", { default: 0, min: 0 }),
    limit: integer(query, "limit", { default: 10, min: 1, max: 25 }),
  };
}
