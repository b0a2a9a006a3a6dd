import { hasAddress } from "../kernel/diff/scope.ts";
import { type FieldTable, mapFields } from "../kernel/fields/field.ts";
import {
  COMMON_FIELDS,
  type CommonValues,
  isManaged,
  liveValues,
  MANAGED_FIELDS,
  MEMBER_FIELDS,
} from "../kernel/fields/member.ts";
import { ROLE_FIELDS, roleImage } from "../kernel/fields/role.ts";
import { RolecallError } from "../model/errors.ts";
import type { ManagedProperties, MemberValues, RoleImage, RoleRef, Some } from "../model/field-values.ts";
import type { LiveMember, LiveRole } from "../model/live.ts";
import type { Created, CreateMember, CreateRole, LiveWriter, MemberUpdate } from "../model/ports.ts";
import type { Call } from "./http/call.ts";
import type { Client } from "./http/client.ts";
import { createConflict, createdNotListed, outcomeUnknown } from "./http/request-errors.ts";
import { membersPath, rolesPath } from "./paths.ts";
import { listMembers, listRoles } from "./reader.ts";
import { readCreatedId } from "./response-json.ts";
import { readUpdatedMember } from "./wire.ts";

const noop = (): void => undefined;

/** Creates a writer to one merchant. */
export function createWriter(client: Client, merchant: string): LiveWriter {
  return {
    createRole: (role, options) =>
      createOnce(client, {
        operation: "create a role",
        path: rolesPath(merchant),
        body: bodyOf<RoleImage>(ROLE_FIELDS, "post", role),
        what: `role "${role.name}"`,
        find: (calls) => findRole(calls, merchant, role),
        ...options,
      }),
    updateRole: (id, patch, options) =>
      client.send({
        operation: "update a role",
        method: "PATCH",
        path: rolesPath(merchant, id),
        body: bodyOf<RoleImage>(ROLE_FIELDS, "put", patch),
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

function createMemberBody({ managed, ...member }: CreateMember): object {
  const password = managed && { is_managed_user: true, password: managed.password };
  return {
    email: member.email,
    ...bodyOf<MemberValues>(MEMBER_FIELDS, "post", { ...member, ...managed }),
    ...password,
  };
}

function memberUpdateBody({ password, ...update }: MemberUpdate): object {
  const user = {
    ...bodyOf<ManagedProperties>(MANAGED_FIELDS, "put", update),
    ...(password !== undefined && { password }),
  };
  return {
    ...bodyOf<CommonValues>(COMMON_FIELDS, "put", update),
    ...(Object.keys(user).length > 0 && { user }),
  };
}

/** Returns the keys of a request that hold the values of a table's fields, and nothing else. */
function bodyOf<Values>(table: FieldTable<Values>, by: "post" | "put", values: Some<Values>): object {
  return Object.fromEntries(
    mapFields(table, (name, field) => {
      const { [by]: key } = field;
      return key === null || values[name] === undefined ? undefined : [key, values[name]];
    }),
  );
}

/** A resource to create, and how to look it up. */
export interface Creation
  extends Pick<
    Call<unknown>,
    | "operation"
    | "path"
    | "body"
    | "secrets"
    | "address"
    | "holdBack"
    | "recheck"
    | "beforeSending"
    | "finishes"
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
  // Created, but the response does not contain the id.
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
  // The service filters by prefix, so the results are compared exactly.
  const members = (await listMembers(client, merchant, { email: draft.email })).filter(
    (member) => member.status !== "expired" && hasAddress(member, draft.email),
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

function isRole(role: LiveRole, draft: CreateRole): boolean {
  return isAsDrafted<RoleImage>(ROLE_FIELDS, draft, roleImage(role));
}

function isMember(live: LiveMember, { managed, roles, ...draft }: CreateMember): boolean {
  const values = { ...draft, ...managed, roles: roles.map(refOf) };
  return (
    isManaged(live) === (managed !== undefined) &&
    isAsDrafted<MemberValues>(MEMBER_FIELDS, values, liveValues(live))
  );
}

/** Returns a reference by the id alone, for comparing. */
function refOf(id: string): RoleRef {
  return { id, name: id };
}

/**
 * Returns whether a resource matches the request that created it; the service may have filled in fields that it cannot
 * clear.
 */
function isAsDrafted<Values>(table: FieldTable<Values>, draft: Partial<Values>, live: Values): boolean {
  return mapFields(table, (name, { kind, clearable }) => {
    const value = draft[name];
    return value === undefined && !clearable ? true : kind.isSame(live[name], value ?? kind.empty);
  }).every(Boolean);
}
