import { type Member, STATUSES } from "../state/snapshot.ts";
import { type Account, memberAddress, membersByPrefix, statusOf } from "../state/store.ts";
import { anyOf, boolean, oneOf, type PageRange, page, single, uuid } from "./query.ts";
import { memberResource } from "./resources.ts";

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
