import { isSameJson } from "../lib/json-text.ts";
import { isSameSet } from "../lib/text.ts";
import { RolecallError } from "../model/errors.ts";
import type { LiveMember, LiveRole } from "../model/live.ts";
import type {
  Created,
  CreateMember,
  CreateRole,
  LiveWriter,
  MemberUpdate,
  RolePatch,
} from "../model/ports.ts";
import type { Call } from "./http/call.ts";
import type { Client } from "./http/client.ts";
import { createConflict, createdNotListed, outcomeUnknown } from "./http/request-errors.ts";
import { membersPath, rolesPath } from "./paths.ts";
import { listMembers, listRoles } from "./reader.ts";
import { readCreatedId, readUpdatedMember } from "./wire.ts";

const noop = (): void => undefined;

/** Creates a writer to one merchant. */
export function createWriter(client: Client, merchant: string): LiveWriter {
  return {
    createRole: (role, options) =>
      createOnce(client, {
        operation: "create a role",
        path: rolesPath(merchant),
        body: roleBody(role),
        what: `role "${role.name}"`,
        find: (calls) => findRole(calls, merchant, role),
        ...options,
      }),
    updateRole: (id, patch, options) =>
      client.send({
        operation: "update a role",
        method: "PATCH",
        path: rolesPath(merchant, id),
        body: patchBody(patch),
        read: noop,
        ...options,
      }),
    deleteRole: (id, options) =>
      client.send({
        operation: "delete a role",
        method: "DELETE",
        path: rolesPath(merchant, id),
        read: noop,
        ...options,
      }),
    createMember: (member, { holdBack, ...options } = {}) =>
      createOnce(client, {
        operation: "create a member",
        path: membersPath(merchant),
        body: createMemberBody(member),
        // A managed user gets no invitation, so a 429 concerns the request like any other.
        ...(!member.managed && { address: member.email, holdBack }),
        secrets: member.managed ? [member.managed.password] : [],
        what: `member ${member.email}`,
        find: (calls) => findMember(calls, merchant, member),
        ...options,
      }),
    updateMember: (id, update, options) =>
      client.send({
        operation: "update a member",
        method: "PUT",
        path: membersPath(merchant, id),
        body: memberUpdateBody(update),
        secrets: update.password === undefined ? [] : [update.password],
        read: (body) => readUpdatedMember(id, body),
        ...options,
      }),
    deleteMember: (id, options) =>
      client.send({
        operation: "delete a member",
        method: "DELETE",
        path: membersPath(merchant, id),
        read: noop,
        ...options,
      }),
  };
}

function roleBody({ name, permissions, description, metadata }: CreateRole): object {
  return { name, permissions, description, metadata };
}

function patchBody({ name, description, permissions }: RolePatch): object {
  return { name, description, permissions };
}

function createMemberBody({ email, roles, metadata, managed }: CreateMember): object {
  return {
    email,
    roles,
    metadata,
    ...(managed && { is_managed_user: true, nickname: managed.nickname, password: managed.password }),
  };
}

function memberUpdateBody({ roles, metadata, nickname, password }: MemberUpdate): object {
  const user = { ...(nickname !== undefined && { nickname }), ...(password !== undefined && { password }) };
  return {
    ...(roles && { roles }),
    ...(metadata && { metadata }),
    ...(Object.keys(user).length > 0 && { user }),
  };
}

/** A resource to create, and how to look it up. */
export interface Creation
  extends Pick<
    Call<unknown>,
    "operation" | "path" | "body" | "secrets" | "address" | "holdBack" | "recheck" | "beforeSending"
  > {
  /** The name in messages, such as `role "Cashier"`. */
  readonly what: string;
  readonly find: (client: Client) => Promise<FoundResource>;
}

/**
 * Creates a resource exactly once: if the response is lost, it looks the resource up, adopts it if it is as requested,
 * and retries only if there is none.
 */
async function createOnce(client: Client, creation: Creation): Promise<Created> {
  const { what, find, ...call } = creation;
  const lookUp = async (failure: RolecallError): Promise<FoundResource> => {
    try {
      return await find(client);
    } catch (error) {
      throw error instanceof RolecallError ? outcomeUnknown(failure, error) : error;
    }
  };
  const created = await client.send<Created | null>({
    ...call,
    method: "POST",
    read: (body) => {
      const id = readCreatedId(body);
      return id === null ? null : { id, adopted: false };
    },
    recover: async (failure) => {
      const existing = await lookUp(failure);
      if (existing && !existing.same) throw createConflict(failure, what);
      return existing && { id: existing.id, adopted: true };
    },
  });
  if (created) return created;
  // It was created, but the response does not contain its id.
  const unlisted = createdNotListed(call.path, what);
  const lookedUp = await lookUp(unlisted);
  if (!lookedUp?.same) throw unlisted;
  return { id: lookedUp.id, adopted: false };
}

/** The result of looking up a created resource; `same`: it is as requested. `null` if there is none. */
export type FoundResource = { readonly id: string; readonly same: boolean } | null;

/** Finds a custom role by its exact name. */
async function findRole(client: Client, merchant: string, draft: CreateRole): Promise<FoundResource> {
  const namesakes = (await listRoles(client, merchant)).filter(
    ({ name, predefined }) => name === draft.name && !predefined,
  );
  return bestMatch(namesakes, (role) => isRole(role, draft));
}

/** Finds a member by its exact address, except expired invitations, which cannot be new. */
async function findMember(client: Client, merchant: string, draft: CreateMember): Promise<FoundResource> {
  const key = draft.email.toLowerCase();
  // The service filters by prefix, so the results are compared exactly.
  const members = (await listMembers(client, merchant, { email: draft.email })).filter(
    ({ user, invite, status }) =>
      status !== "expired" && [user?.email, invite?.email].some((address) => address?.toLowerCase() === key),
  );
  return bestMatch(members, (member) => isMember(member, draft));
}

function bestMatch<T extends { readonly id: string }>(
  candidates: readonly T[],
  isSame: (one: T) => boolean,
): FoundResource {
  const same = candidates.find(isSame);
  const best = same ?? candidates[0];
  return best === undefined ? null : { id: best.id, same: same !== undefined };
}

function isRole(role: LiveRole, { permissions, description = "", metadata = {} }: CreateRole): boolean {
  return (
    isSameSet(role.permissions, permissions) &&
    (role.description ?? "") === description &&
    isSameJson(role.metadata, metadata)
  );
}

function isMember({ roles, user, metadata }: LiveMember, draft: CreateMember): boolean {
  const { managed } = draft;
  return (
    isSameSet(roles, draft.roles) &&
    isSameJson(metadata, draft.metadata ?? {}) &&
    (user?.type === "managed_user") === (managed !== undefined) &&
    (managed?.nickname === undefined || user?.nickname === managed.nickname)
  );
}
