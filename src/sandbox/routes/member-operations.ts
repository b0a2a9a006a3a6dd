import type { z } from "zod";
import { retryAfterHeaders } from "../http/rate-limit.ts";
import { ProblemError, type ResponseData } from "../http/response.ts";
import type { Member, User } from "../state/snapshot.ts";
import {
  type Account,
  addMember,
  classicId,
  findAccountRole,
  membersByEmail,
  nextId,
  passwordDigest,
  removeMember,
  replaceMember,
  statusOf,
  touch,
  userId,
} from "../state/store.ts";
import { memberList } from "./lists.ts";
import {
  createMemberBody,
  defineOperation,
  type MerchantOperation,
  type OperationCall,
  updateMemberBody,
} from "./operation.ts";
import { memberListQuery } from "./query.ts";
import { memberListResponse, memberResource, memberResponse } from "./resources.ts";

type Call<Body = unknown> = OperationCall<unknown, Body>;

/** Lifetime of an invitation, in ms. */
export const INVITATION_MS = 7 * 24 * 60 * 60 * 1000;

/** Creates the user of an e-mail address. */
export function userAt(email: string, special: Partial<User> = {}): User {
  return {
    id: userId(email),
    email,
    mfa: false,
    type: "user",
    classicId: classicId(email),
    ...special,
  };
}

function existing(merchant: Account, id: string): Member {
  const member = merchant.members.get(id);
  if (member === undefined) throw new ProblemError(404, `There is no member ${id}.`);
  return member;
}

function knownRoles(merchant: Account, ids: readonly string[]): readonly string[] {
  const unknown = ids.find((id) => findAccountRole(merchant, id) === undefined);
  if (unknown !== undefined) throw new ProblemError(422, `There is no role ${JSON.stringify(unknown)}.`);
  return [...new Set(ids)];
}

/** The predefined roles that the service may refuse to assign. */
const UNASSIGNABLE = ["role_owner", "role_admin"];

/** Throws a 403 if a member would newly hold a role that cannot be assigned. */
function refuseUnassignable(
  { unassignable }: Call,
  roles: readonly string[],
  held: readonly string[] = [],
): void {
  const refused = UNASSIGNABLE.find((id) => roles.includes(id) && !held.includes(id));
  if (!unassignable || refused === undefined) return;
  throw new ProblemError(403, `The role ${refused} cannot be assigned through the API.`);
}

function refuseAttributes(body: { readonly attributes?: unknown }): void {
  if (body.attributes !== undefined) {
    throw new ProblemError(403, "Only the service's own applications may change attributes.");
  }
}

/** Throws a 409 if a membership that is not an expired invitation has the address. */
function refuseTakenAddress(call: Call, merchant: Account, email: string): void {
  const holder = membersByEmail(merchant, email).find((member) => statusOf(member, call.now) !== "expired");
  if (holder !== undefined) throw new ProblemError(409, `${email} is already a member: ${holder.id}.`);
}

/** Applies the fault `expired-invitation`; returns the invitation whose id the new one takes over. */
function takeExpired({ expired }: Call, merchant: Account, email: string): Member | undefined {
  const old = membersByEmail(merchant, email);
  const [first] = old;
  if (expired === undefined || first === undefined) return undefined;
  if (expired === "conflict") {
    throw new ProblemError(409, `${email} has an expired invitation: ${first.id}.`);
  }
  for (const member of old) removeMember(merchant, member);
  return expired === "renew" ? first : undefined;
}

/** Throws a 429 if an address was invited too often. */
function refuseTooMany({ invitations = [], now }: Call, email: string): void {
  const waits = invitations.flatMap((limit) => limit.wait(email, now) ?? []);
  if (waits.length === 0) return;
  throw new ProblemError(429, `Too many invitations were sent to ${email}.`, {
    ...retryAfterHeaders("seconds", Math.max(...waits), now),
  });
}

function list(
  call: OperationCall<z.infer<typeof memberListQuery>, unknown>,
  merchant: Account,
): ResponseData {
  return { status: 200, body: memberList(merchant, call.query, call.now) };
}

function create(call: Call<z.infer<typeof createMemberBody>>, merchant: Account): ResponseData {
  const body = call.body();
  refuseAttributes(body);
  const roles = knownRoles(merchant, body.roles);
  refuseUnassignable(call, roles);
  const managed = body.is_managed_user === true;
  if (managed && body.password === undefined) {
    throw new ProblemError(422, "A managed user needs a password.");
  }
  refuseTakenAddress(call, merchant, body.email);
  if (!managed) refuseTooMany(call, body.email);
  const { email, metadata, nickname } = body;
  const renewed = takeExpired(call, merchant, email);
  const common = { roles, metadata, createdAt: renewed?.createdAt ?? call.now, updatedAt: call.now };
  const id = renewed?.id ?? nextId(call.store, "mem", merchant);
  const member: Member = managed
    ? {
        id,
        ...common,
        status: "accepted",
        user: userAt(email, {
          type: "managed_user",
          nickname,
          passwords: withPassword(id, undefined, body.password),
        }),
      }
    : { id, ...common, status: "pending", invite: { email, expiresAt: call.now + INVITATION_MS } };
  addMember(merchant, member);
  if (!managed) for (const limit of call.invitations ?? []) limit.sent(email, call.now);
  return { status: 201, body: memberResource(member, call.now) };
}

function retrieve(call: Call, merchant: Account): ResponseData {
  return { status: 200, body: memberResource(existing(merchant, call.id), call.now) };
}

function update(call: Call<z.infer<typeof updateMemberBody>>, merchant: Account): ResponseData {
  const before = existing(merchant, call.id);
  const body = call.body();
  refuseAttributes(body);
  if (body.user !== undefined && before.user === undefined) {
    throw new ProblemError(400, `${before.id} is only invited: there is no user to change yet.`);
  }
  if (body.user !== undefined && before.user?.type !== "managed_user") {
    throw new ProblemError(422, `The user of ${before.id} is not managed by the merchant.`);
  }
  const absent: Pick<Member, "roles" | "metadata" | "user"> = call.replacing ? { roles: [] } : before;
  const roles = body.roles === undefined ? absent.roles : knownRoles(merchant, body.roles);
  refuseUnassignable(call, roles, before.roles);
  const nickname = body.user?.nickname ?? absent.user?.nickname;
  const isEnabled = body.user?.password !== undefined && before.status === "disabled";
  const member: Member = {
    ...before,
    roles,
    metadata: body.metadata ?? absent.metadata,
    status: isEnabled ? "accepted" : before.status,
    user: before.user && {
      ...before.user,
      nickname,
      passwords: withPassword(before.id, before.user.passwords, body.user?.password),
      disabledAt: body.user?.password === undefined ? before.user.disabledAt : undefined,
    },
    updatedAt: touch(before, call.now),
  };
  replaceMember(merchant, member);
  return { status: 200, body: memberResource(member, call.now) };
}

/** Adds a password to those of a user; throws a 403 if it was used before. */
function withPassword(
  id: string,
  before: User["passwords"],
  password: string | undefined,
): User["passwords"] {
  if (password === undefined) return before;
  const digest = passwordDigest(id, password);
  if (before?.includes(digest))
    throw new ProblemError(403, "This password was used before: choose another one.");
  return [...(before ?? []), digest];
}

function isAcceptedOwner({ roles, status }: Member): boolean {
  return status === "accepted" && roles.includes("role_owner");
}

function hasOtherOwner({ members }: Account, than: Member): boolean {
  for (const member of members.values()) if (member.id !== than.id && isAcceptedOwner(member)) return true;
  return false;
}

function remove(call: Call, merchant: Account): ResponseData {
  const member = existing(merchant, call.id);
  if (isAcceptedOwner(member) && !hasOtherOwner(merchant, member)) {
    throw new ProblemError(403, `${member.id} is the last owner, and cannot be removed.`);
  }
  removeMember(merchant, member);
  return { status: 200 };
}

const collection = "/v0.1/merchants/:merchant/members";
const item = `${collection}/:id`;

/** The operations on members. */
export const MEMBER_OPERATIONS: readonly MerchantOperation[] = [
  defineOperation({
    name: "members.list",
    summary: "List members",
    method: "GET",
    path: collection,
    permissions: ["merchant_read"],
    query: memberListQuery,
    response: memberListResponse,
    handle: list,
  }),
  defineOperation({
    name: "members.create",
    summary: "Create a member",
    method: "POST",
    path: collection,
    permissions: ["members_create"],
    body: createMemberBody,
    response: memberResponse,
    handle: create,
  }),
  defineOperation({
    name: "members.retrieve",
    summary: "Retrieve a member",
    method: "GET",
    path: item,
    permissions: ["members_view"],
    response: memberResponse,
    handle: retrieve,
  }),
  defineOperation({
    name: "members.update",
    summary: "Update a member",
    method: "PUT",
    path: item,
    permissions: ["members_update"],
    body: updateMemberBody,
    response: memberResponse,
    handle: update,
  }),
  defineOperation({
    name: "members.delete",
    summary: "Delete a member",
    method: "DELETE",
    path: item,
    permissions: ["members_delete"],
    handle: remove,
  }),
].map((operation) => ({ ...operation, scope: "merchant" }));
