import { type Answer, ProblemError } from "../answer.ts";
import { type Member, STATUSES } from "../state/snapshot.ts";
import { type Account, membersByEmail, statusOf } from "../state/store.ts";
import { anyOf, boolean, oneOf, page, single } from "./member-list.ts";
import type { OperationCall, UserOperation } from "./operation.ts";
import { membershipResource } from "./resources.ts";

interface Held {
  readonly account: Account;
  readonly member: Member;
}

type Filter = (held: Held) => boolean;

function kindFilter(query: URLSearchParams): Filter {
  const kind = single(query, "kind");
  const type = single(query, "resource.type");
  if (kind !== undefined && type !== undefined && kind !== type) {
    throw new ProblemError(400, "The query parameters kind and resource.type contradict each other.");
  }
  const wanted = kind ?? type;
  return ({ account }) => wanted === undefined || account.type === wanted;
}

function parentFilter(query: URLSearchParams): Filter {
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

function filters(query: URLSearchParams, now: number): Filter[] {
  const status = oneOf(query, "status", STATUSES);
  const sandbox = boolean(query, "resource.attributes.sandbox");
  const name = single(query, "resource.name");
  const roles = anyOf(query, "roles");
  return [
    kindFilter(query),
    parentFilter(query),
    ({ member }) => status === undefined || statusOf(member, now) === status,
    ({ account }) => sandbox === undefined || account.sandbox === sandbox,
    ({ account }) => name === undefined || account.name === name,
    ({ member }) => roles === undefined || member.roles.some((role) => roles.has(role)),
  ];
}

function list(call: OperationCall, owner: string): Answer {
  const { offset, limit } = page(call.query);
  const chosen = filters(call.query, call.now);
  const accounts = [...call.store.merchants.values(), ...call.store.organizations.values()];
  const found = accounts
    .flatMap((account) => membersByEmail(account, owner).map((member): Held => ({ account, member })))
    .filter((held) => chosen.every((filter) => filter(held)));
  const items = found
    .slice(offset, offset + limit)
    .map(({ account, member }) => membershipResource(member, account, call.now));
  return { status: 200, body: { items, total_count: found.length } };
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
