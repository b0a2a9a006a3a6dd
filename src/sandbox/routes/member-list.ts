import { ProblemError } from "../answer.ts";
import { type Member, STATUSES } from "../state/snapshot.ts";
import { type Account, memberAddress, membersByPrefix, statusOf } from "../state/store.ts";
import { memberResource } from "./resources.ts";

/** Returns the value of a query parameter; throws a 400 if it is repeated. */
export function single(query: URLSearchParams, name: string): string | undefined {
  const values = query.getAll(name);
  if (values.length > 1) throw new ProblemError(400, `The query parameter ${name} may be given only once.`);
  return values[0];
}

/** Parses an integer within bounds. */
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

/** Parses `true` or `false`. */
export function boolean(query: URLSearchParams, name: string): boolean | undefined {
  const text = single(query, name);
  if (text === undefined) return undefined;
  if (text === "true" || text === "false") return text === "true";
  throw new ProblemError(400, `The query parameter ${name} must be true or false.`);
}

/** Parses one of a set of words. */
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

/** Parses a UUID. */
function uuid(query: URLSearchParams, name: string): string | undefined {
  const text = single(query, name);
  if (text === undefined) return undefined;
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) return text.toLowerCase();
  throw new ProblemError(400, `The query parameter ${name} must be a UUID.`);
}

/** Returns the values of a repeatable query parameter; undefined if absent. */
export function anyOf(query: URLSearchParams, name: string): ReadonlySet<string> | undefined {
  return query.has(name) ? new Set(query.getAll(name)) : undefined;
}

/** The requested range of a list. */
export interface PageRange {
  readonly offset: number;
  readonly limit: number;
}

/** Parses the paging parameters. */
export function page(query: URLSearchParams): PageRange {
  return {
    offset: integer(query, "offset", { default: 0, min: 0 }),
    limit: integer(query, "limit", { default: 10, min: 1, max: 25 }),
  };
}

type Filter = (member: Member) => boolean;

function filters(query: URLSearchParams, now: number): Filter[] {
  const chosen: Filter[] = [];
  const prefix = single(query, "email")?.toLowerCase();
  if (prefix !== undefined) chosen.push((member) => memberAddress(member)?.startsWith(prefix) ?? false);
  const user = uuid(query, "user.id");
  if (user !== undefined) chosen.push((member) => member.user?.id === user);
  const type = single(query, "user.type");
  if (type !== undefined) chosen.push((member) => member.user?.type === type);
  const status = oneOf(query, "status", STATUSES);
  if (status !== undefined) chosen.push((member) => statusOf(member, now) === status);
  const roles = anyOf(query, "roles");
  if (roles !== undefined) chosen.push((member) => member.roles.some((role) => roles.has(role)));
  return chosen;
}

interface FoundMembers {
  readonly members: readonly Member[];
  readonly total: number;
}

function slice(account: Account, { offset, limit }: PageRange): FoundMembers {
  const ids = account.memberIds.slice(offset, offset + limit);
  return { members: ids.flatMap((id) => account.members.get(id) ?? []), total: account.memberIds.length };
}

function search(
  among: Iterable<Member>,
  { offset, limit }: PageRange,
  filter: Filter,
  counted: boolean,
): FoundMembers {
  const members: Member[] = [];
  let total = 0;
  for (const member of among) {
    if (!filter(member)) continue;
    if (total >= offset && members.length < limit) members.push(member);
    total += 1;
    if (!counted && members.length === limit) break;
  }
  return { members, total };
}

function candidates(account: Account, query: URLSearchParams): Iterable<Member> {
  const prefix = single(query, "email");
  const few = prefix === undefined ? null : membersByPrefix(account, prefix);
  return few ?? account.members.values();
}

/** Returns a page of an account's members, with `total_count` unless `scroll` is set. */
export function memberList(account: Account, query: URLSearchParams, now: number): object {
  const wanted = page(query);
  const counted = boolean(query, "scroll") !== true;
  const chosen = filters(query, now);
  const found =
    chosen.length === 0
      ? slice(account, wanted)
      : search(
          candidates(account, query),
          wanted,
          (member) => chosen.every((filter) => filter(member)),
          counted,
        );
  return {
    items: found.members.map((member) => memberResource(member, now)),
    total_count: counted ? found.total : undefined,
  };
}
