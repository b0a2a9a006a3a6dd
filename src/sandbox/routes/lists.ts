import { ProblemError, type ResponseData } from "../http/response.ts";
import { type Member, STATUSES, type User } from "../state/snapshot.ts";
import { type Account, memberAddress, membersByEmail, membersByPrefix, statusOf } from "../state/store.ts";
import type { OperationCall, UserOperation } from "./operation.ts";

/** Returns the value of a query parameter; throws a 400 if it is repeated. */
function single(query: URLSearchParams, name: string): string | undefined {
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
function boolean(query: URLSearchParams, name: string): boolean | undefined {
  const text = single(query, name);
  if (text === undefined) return undefined;
  if (text === "true" || text === "false") return text === "true";
  throw new ProblemError(400, `The query parameter ${name} must be true or false.`);
}

/** Parses one of a set of words. */
function oneOf<Word extends string>(
  query: URLSearchParams,
  name: string,
  words: readonly Word[],
): Word | undefined {
  const text = single(query, name);
  if (text === undefined) return undefined;
  const word = words.find((candidate) => candidate === text);
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
function anyOf(query: URLSearchParams, name: string): ReadonlySet<string> | undefined {
  return query.has(name) ? new Set(query.getAll(name)) : undefined;
}

/** The requested range of a list. */
export interface PageRange {
  readonly offset: number;
  readonly limit: number;
}

/** Parses the paging parameters. */
function page(query: URLSearchParams): PageRange {
  return {
    offset: integer(query, "offset", { default: 0, min: 0 }),
    limit: integer(query, "limit", { default: 10, min: 1, max: 25 }),
  };
}

type MemberFilter = (member: Member) => boolean;

function memberFilters(query: URLSearchParams, now: number): MemberFilter[] {
  const chosen: MemberFilter[] = [];
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
  filter: MemberFilter,
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
  const range = page(query);
  const counted = boolean(query, "scroll") !== true;
  const chosen = memberFilters(query, now);
  const matches =
    chosen.length === 0
      ? slice(account, range)
      : search(
          candidates(account, query),
          range,
          (member) => chosen.every((filter) => filter(member)),
          counted,
        );
  return {
    items: matches.members.map((member) => memberResource(member, now)),
    total_count: counted ? matches.total : undefined,
  };
}

interface Held {
  readonly account: Account;
  readonly member: Member;
}

type MembershipFilter = (held: Held) => boolean;

function kindFilter(query: URLSearchParams): MembershipFilter {
  const kind = single(query, "kind");
  const type = single(query, "resource.type");
  if (kind !== undefined && type !== undefined && kind !== type) {
    throw new ProblemError(400, "The query parameters kind and resource.type contradict each other.");
  }
  const accountType = kind ?? type;
  return ({ account }) => accountType === undefined || account.type === accountType;
}

function parentFilter(query: URLSearchParams): MembershipFilter {
  const id = single(query, "resource.parent.id");
  const type = single(query, "resource.parent.type");
  if (id === undefined && type === undefined) return () => true;
  if (id === undefined || type === undefined) {
    throw new ProblemError(400, "resource.parent.id and resource.parent.type must be given together.");
  }
  if (isNone(id) !== isNone(type)) {
    throw new ProblemError(400, "resource.parent.id and resource.parent.type must be null together.");
  }
  if (isNone(id)) return ({ account }) => account.parent === undefined;
  return ({ account }) => account.parent?.id === id && account.parent.type === type;
}

/** Checks for the notation of "no parent" in a query. */
function isNone(text: string): boolean {
  return text === "null" || text === "";
}

function membershipFilters(query: URLSearchParams, now: number): MembershipFilter[] {
  const status = oneOf(query, "status", STATUSES);
  const sandbox = boolean(query, "resource.attributes.sandbox");
  const id = single(query, "resource.id");
  const name = single(query, "resource.name");
  const roles = anyOf(query, "roles");
  return [
    kindFilter(query),
    parentFilter(query),
    ({ member }) => status === undefined || statusOf(member, now) === status,
    ({ account }) => sandbox === undefined || account.sandbox === sandbox,
    ({ account }) => id === undefined || account.id === id,
    ({ account }) => name === undefined || account.name === name,
    ({ member }) => roles === undefined || member.roles.some((role) => roles.has(role)),
  ];
}

function list(call: OperationCall, owner: string): ResponseData {
  const { offset, limit } = page(call.query);
  const chosen = membershipFilters(call.query, call.now);
  const accounts = [...call.store.merchants.values(), ...call.store.organizations.values()];
  const memberships = accounts
    .flatMap((account) => membersByEmail(account, owner).map((member): Held => ({ account, member })))
    .filter((held) => chosen.every((filter) => filter(held)));
  const items = memberships
    .slice(offset, offset + limit)
    .map(({ account, member }) => membershipResource(member, account, call.now));
  return { status: 200, body: { items, total_count: memberships.length } };
}

/** The operations on the memberships of the key's owner. */
export const MEMBERSHIP_OPERATIONS: readonly UserOperation[] = [
  {
    name: "memberships.list",
    method: "GET",
    path: "/v0.1/memberships",
    permissions: ["user.profile", "user.profile_readonly"],
    scope: "user",
    handle: list,
  },
];

function time(ms: number): string {
  return new Date(ms).toISOString();
}

function userResource(user: User): object {
  return {
    id: user.id,
    email: user.email,
    mfa_on_login_enabled: user.mfa,
    type: user.type,
    virtual_user: user.type === "managed_user",
    service_account_user: user.type === "service_account" || user.type === "system_account",
    disabled_at: user.disabledAt === undefined ? undefined : time(user.disabledAt),
    nickname: user.nickname,
    classic: { user_id: user.classicId },
  };
}

function common(member: Member, now: number): object {
  return {
    roles: member.roles,
    permissions: member.permissions ?? [],
    created_at: time(member.createdAt),
    updated_at: time(member.updatedAt),
    invite: member.invite && { email: member.invite.email, expires_at: time(member.invite.expiresAt) },
    status: statusOf(member, now),
    metadata: member.metadata,
    attributes: member.attributes,
  };
}

/** Converts a member to its resource in the contract. */
export function memberResource(member: Member, now: number): object {
  return { id: member.id, ...common(member, now), user: member.user && userResource(member.user) };
}

/** Converts a member to a membership, its resource from the user's point of view. */
function membershipResource(member: Member, account: Account, now: number): object {
  return {
    id: member.id,
    resource_id: account.id,
    type: account.type,
    ...common(member, now),
    resource: {
      id: account.id,
      type: account.type,
      name: account.name,
      created_at: time(account.createdAt),
      updated_at: time(account.updatedAt),
      attributes: { sandbox: account.sandbox },
    },
  };
}
