import { type FailedRequest, RolecallError } from "../model/errors.ts";
import type { LiveMember } from "../model/live.ts";
import type { Created, LiveWriter, MemberDraft, MemberUpdate, RoleDraft, RolePatch } from "../model/ports.ts";
import type { Client } from "./client.ts";
import { membersPath, rolesPath } from "./paths.ts";
import { listMembers, listRoles } from "./reader.ts";
import { readCreatedId } from "./wire.ts";

const nothing = (): void => undefined;

const created = (id: string): Created => ({ id, adopted: false });

/** Writes to one merchant through a client. */
export function createWriter(client: Client, merchant: string): LiveWriter {
  return {
    async createRole(role) {
      const id = await client.send({
        operation: "create a role",
        method: "POST",
        path: rolesPath(merchant),
        body: roleBody(role),
        read: readCreatedId,
      });
      return created(
        id ??
          (await lookUp(rolesPath(merchant), `role "${role.name}"`, () =>
            findRole(client, merchant, role.name),
          )),
      );
    },
    updateRole: (id, patch) =>
      client.send({
        operation: "update a role",
        method: "PATCH",
        path: rolesPath(merchant, id),
        body: patchBody(patch),
        read: nothing,
      }),
    deleteRole: (id) =>
      client.send({
        operation: "delete a role",
        method: "DELETE",
        path: rolesPath(merchant, id),
        read: nothing,
      }),
    async createMember(member) {
      const id = await client.send({
        operation: "create a member",
        method: "POST",
        path: membersPath(merchant),
        body: draftBody(member),
        secrets: member.managed ? [member.managed.password] : [],
        read: readCreatedId,
      });
      return created(
        id ??
          (await lookUp(membersPath(merchant), `member ${member.email}`, () =>
            findMember(client, merchant, member.email),
          )),
      );
    },
    updateMember: (id, update) =>
      client.send({
        operation: "update a member",
        method: "PUT",
        path: membersPath(merchant, id),
        body: updateBody(update),
        secrets: update.password === undefined ? [] : [update.password],
        read: nothing,
      }),
    deleteMember: (id) =>
      client.send({
        operation: "delete a member",
        method: "DELETE",
        path: membersPath(merchant, id),
        read: nothing,
      }),
  };
}

function roleBody({ name, permissions, description, metadata }: RoleDraft): object {
  return { name, permissions, description, metadata };
}

function patchBody({ name, description, permissions }: RolePatch): object {
  return { name, description, permissions };
}

function draftBody({ email, roles, metadata, managed }: MemberDraft): object {
  return {
    email,
    roles,
    metadata,
    ...(managed && { is_managed_user: true, nickname: managed.nickname, password: managed.password }),
  };
}

function updateBody({ roles, metadata, nickname, password }: MemberUpdate): object {
  const user = { ...(nickname !== undefined && { nickname }), ...(password !== undefined && { password }) };
  return { roles, metadata, ...(Object.keys(user).length > 0 && { user }) };
}

/** Finds what was created without the answer telling its id; from here on, any failure leaves it open what is there. */
async function lookUp(path: string, what: string, find: () => Promise<string | null>): Promise<string> {
  const sent: FailedRequest = { method: "POST", path, attempts: 1 };
  const hint = 'Run "rolecall plan" to see whether it is there now.';
  try {
    const id = await find();
    if (id !== null) return id;
  } catch (error) {
    if (!(error instanceof RolecallError)) throw error;
    const message = `The service said that it created the ${what}, which could not be looked up: ${error.message}`;
    throw new RolecallError(error.code, message, {
      hint,
      request: { ...(error.request ?? sent), uncertain: true },
      cause: error,
    });
  }
  throw new RolecallError(
    "bad-answer",
    `The service said that it created the ${what}, but does not list it.`,
    {
      hint,
      request: { ...sent, uncertain: true },
    },
  );
}

async function findRole(client: Client, merchant: string, name: string): Promise<string | null> {
  return (await listRoles(client, merchant)).find((role) => role.name === name)?.id ?? null;
}

/** The filter is a prefix, so compare exactly; an expired invitation of the same address is not what was created. */
async function findMember(client: Client, merchant: string, email: string): Promise<string | null> {
  const key = email.toLowerCase();
  const isMeant = ({ user, invite, status }: LiveMember): boolean =>
    status !== "expired" && [user?.email, invite?.email].some((address) => address?.toLowerCase() === key);
  return (await listMembers(client, merchant, { email })).find(isMeant)?.id ?? null;
}
