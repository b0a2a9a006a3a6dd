import type { z } from "zod";
import { ProblemError, type ResponseData } from "../http/response.ts";
import type { Member } from "../state/snapshot.ts";
import { type Account, memberAddress, membersByEmail, membersByPrefix, statusOf } from "../state/store.ts";
import { defineOperation, type OperationCall, type UserOperation } from "./operation.ts";
import { type memberListQuery, membershipListQuery, type PageRange } from "./query.ts";
import {
  type memberListResponse,
  memberResource,
  membershipListResponse,
  membershipResource,
} from "./resources.ts";

type MemberQuery = z.infer<typeof memberListQuery>;
type MembershipQuery = z.infer<typeof membershipListQuery>;

type MemberFilter = (member: Member) => boolean;

function memberFilters(query: MemberQuery, now: number): MemberFilter[] {
  const { email, status, roles, "user.id": user, "user.type": type } = query;
  const chosen: MemberFilter[] = [];
  const prefix = email?.toLowerCase();
  if (prefix !== undefined) chosen.push((member) => memberAddress(member)?.startsWith(prefix) ?? false);
  if (user !== undefined) chosen.push((member) => member.user?.id === user);
  if (type !== undefined) chosen.push((member) => member.user?.type === type);
  if (status !== undefined) chosen.push((member) => statusOf(member, now) === status);
  if (roles !== undefined) chosen.push((member) => member.roles.some((role) => roles.includes(role)));
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

function candidates(account: Account, { email }: MemberQuery): Iterable<Member> {
  const few = email === undefined ? null : membersByPrefix(account, email);
  return few ?? account.members.values();
}

/** Returns a page of an account's members, with `total_count` unless `scroll` is set. */
export function memberList(
  account: Account,
  query: MemberQuery,
  now: number,
): z.infer<typeof memberListResponse> {
  const counted = query.scroll !== true;
  const chosen = memberFilters(query, now);
  const matches =
    chosen.length === 0
      ? slice(account, query)
      : search(
          candidates(account, query),
          query,
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

function kindFilter({ kind, "resource.type": type }: MembershipQuery): MembershipFilter {
  if (kind !== undefined && type !== undefined && kind !== type) {
    throw new ProblemError(400, "The query parameters kind and resource.type contradict each other.");
  }
  const accountType = kind ?? type;
  return ({ account }) => accountType === undefined || account.type === accountType;
}

function parentFilter(query: MembershipQuery): MembershipFilter {
  const { "resource.parent.id": id, "resource.parent.type": type } = query;
  if (id === undefined && type === undefined) return () => true;
  if (id === undefined || type === undefined) {
    throw new ProblemError(400, "resource.parent.id and resource.parent.type must be given together.");
  }
  if (isNone(id) !== isNone(type)) {
    throw new ProblemError(400, "resource.parent.id and resource.parent.type must both be null, or neither.");
  }
  if (isNone(id)) return ({ account }) => account.parent === undefined;
  return ({ account }) => account.parent?.id === id && account.parent.type === type;
}

/** Checks for the notation of "no parent" in a query. */
function isNone(text: string): boolean {
  return text === "null" || text === "";
}

function membershipFilters(query: MembershipQuery, now: number): MembershipFilter[] {
  const { status, roles, "resource.id": id, "resource.name": name } = query;
  const sandbox = query["resource.attributes.sandbox"];
  return [
    kindFilter(query),
    parentFilter(query),
    ({ member }) => status === undefined || statusOf(member, now) === status,
    ({ account }) => sandbox === undefined || account.sandbox === sandbox,
    ({ account }) => id === undefined || account.id === id,
    ({ account }) => name === undefined || account.name === name,
    ({ member }) => roles === undefined || member.roles.some((role) => roles.includes(role)),
  ];
}

function list(call: OperationCall<MembershipQuery, unknown>, owner: string): ResponseData {
  const { offset, limit } = call.query;
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
    ...defineOperation({
      name: "memberships.list",
      summary: "List the memberships of the key's user",
      method: "GET",
      path: "/v0.1/memberships",
      permissions: ["user.profile", "user.profile_readonly"],
      query: membershipListQuery,
      response: membershipListResponse,
      handle: list,
    }),
    scope: "user",
  },
];
