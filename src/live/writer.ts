import { isSameJson } from "../lib/canonical-json.ts";
import { isSameSet } from "../lib/order.ts";
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
import type { Call } from "./call.ts";
import type { Client } from "./client.ts";
import { membersPath, rolesPath } from "./paths.ts";
import { listMembers, listRoles } from "./reader.ts";
import { createConflict, createdNotListed, outcomeUnknown } from "./request-errors.ts";
import { readCreatedId, readUpdatedMember } from "./wire.ts";

const noop = (): void => undefined;

/** Writes to one merchant through a client. */
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
        body: draftBody(member),
        // A managed user is not invited, and others may be removed for it in the same run.
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
        body: updateBody(update),
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

function draftBody({ email, roles, metadata, managed }: CreateMember): object {
  return {
    email,
    roles,
    metadata,
    ...(managed && { is_managed_user: true, nickname: managed.nickname, password: managed.password }),
  };
}

function updateBody({ roles, metadata, nickname, password }: MemberUpdate): object {
  const user = { ...(nickname !== undefined && { nickname }), ...(password !== undefined && { password }) };
  return {
    ...(roles && { roles }),
    ...(metadata && { metadata }),
    ...(Object.keys(user).length > 0 && { user }),
  };
}

/** Something to create, and how to look whether it is there. */
export interface Creation
  extends Pick<
    Call<unknown>,
    "operation" | "path" | "body" | "secrets" | "address" | "holdBack" | "recheck" | "beforeSending"
  > {
  /** What it is called in messages, as in `role "Cashier"`. */
  readonly what: string;
  readonly find: (client: Client) => Promise<FoundResource>;
}

/**
 * Creates something, once: where an answer is lost, what it was about is looked up, and adopted if it is there as asked.
 * Only if it is not there is it asked for again.
 */
async function createOnce(client: Client, creation: Creation): Promise<Created> {
  const { what, find, ...call } = creation;
  const look = async (failure: RolecallError): Promise<FoundResource> => {
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
      const found = await look(failure);
      if (found && !found.same) throw createConflict(failure, what);
      return found && { id: found.id, adopted: true };
    },
  });
  if (created) return created;
  // It was created, but the answer does not tell its id.
  const unlisted = createdNotListed(call.path, what);
  const found = await look(unlisted);
  if (!found?.same) throw unlisted;
  return { id: found.id, adopted: false };
}

/** What stands in the place of something that was to be created; `same`: as it was to be. Null where nothing does. */
export type FoundResource = { readonly id: string; readonly same: boolean } | null;

/** Looks for a custom role by its exact name. */
async function findRole(client: Client, merchant: string, draft: CreateRole): Promise<FoundResource> {
  const named = (await listRoles(client, merchant)).filter(
    ({ name, predefined }) => name === draft.name && !predefined,
  );
  return best(named, (role) => isRole(role, draft));
}

/** Looks for a member by the exact address; an expired invitation is never what was just created. */
async function findMember(client: Client, merchant: string, draft: CreateMember): Promise<FoundResource> {
  const key = draft.email.toLowerCase();
  // The filter is a prefix, so what it gives is compared exactly.
  const members = (await listMembers(client, merchant, { email: draft.email })).filter(
    ({ user, invite, status }) =>
      status !== "expired" && [user?.email, invite?.email].some((address) => address?.toLowerCase() === key),
  );
  return best(members, (member) => isMember(member, draft));
}

function best<T extends { readonly id: string }>(
  all: readonly T[],
  isSame: (one: T) => boolean,
): FoundResource {
  const same = all.find(isSame);
  const found = same ?? all[0];
  return found === undefined ? null : { id: found.id, same: same !== undefined };
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
