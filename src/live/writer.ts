import type { CreateMember, CreateRole, LiveWriter, MemberUpdate, RolePatch } from "../model/ports.ts";
import type { Client } from "./client.ts";
import { createOnce } from "./create-once.ts";
import { findMember, findRole } from "./find-created.ts";
import { membersPath, rolesPath } from "./paths.ts";
import { readUpdatedMember } from "./wire.ts";

const nothing = (): void => undefined;

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
        read: nothing,
        ...options,
      }),
    deleteRole: (id, options) =>
      client.send({
        operation: "delete a role",
        method: "DELETE",
        path: rolesPath(merchant, id),
        read: nothing,
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
        read: nothing,
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
