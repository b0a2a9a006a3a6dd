import type { z } from "zod";
import { ProblemError, type ResponseData } from "../http/response.ts";
import { PREDEFINED_ROLES_BY_ID, type Role } from "../state/snapshot.ts";
import { type Account, findAccountRole, nextId, putRole, removeRole, touch } from "../state/store.ts";
import {
  createRoleBody,
  defineOperation,
  type MerchantOperation,
  type OperationCall,
  updateRoleBody,
} from "./operation.ts";
import { roleListResponse, roleResource, roleResponse } from "./resources.ts";

type Call<Body = unknown> = OperationCall<unknown, Body>;

function existing(merchant: Account, id: string): Role {
  const role = findAccountRole(merchant, id);
  if (role === undefined) throw new ProblemError(404, `There is no role ${id}.`);
  return role;
}

function custom(merchant: Account, id: string): Role {
  if (PREDEFINED_ROLES_BY_ID.has(id)) {
    throw new ProblemError(422, `The role ${id} is predefined: it cannot be changed or deleted.`);
  }
  return existing(merchant, id);
}

function refuseTakenName(merchant: Account, name: string, except: string | null): void {
  for (const role of merchant.roles.values()) {
    if (role.name === name && role.id !== except) {
      throw new ProblemError(409, `The role name "${name}" is taken by ${role.id}.`);
    }
  }
}

function list(_call: Call, merchant: Account): ResponseData {
  return { status: 200, body: { items: [...merchant.roles.values()].map(roleResource) } };
}

function create(call: Call<z.infer<typeof createRoleBody>>, merchant: Account): ResponseData {
  const body = call.body();
  refuseTakenName(merchant, body.name, null);
  const id = nextId(call.store, "role", merchant);
  const role: Role = { id, ...body, createdAt: call.now, updatedAt: call.now };
  putRole(merchant, role);
  return { status: 201, body: roleResource(role) };
}

function retrieve(call: Call, merchant: Account): ResponseData {
  return { status: 200, body: roleResource(existing(merchant, call.id)) };
}

function update(call: Call<z.infer<typeof updateRoleBody>>, merchant: Account): ResponseData {
  const before = custom(merchant, call.id);
  const body = call.body();
  if (body.name !== undefined) refuseTakenName(merchant, body.name, before.id);
  const role: Role = {
    ...before,
    name: body.name ?? before.name,
    description: body.description ?? before.description,
    permissions: body.permissions ?? before.permissions,
    updatedAt: touch(before, call.now),
  };
  putRole(merchant, role);
  return { status: 200, body: roleResource(role) };
}

function remove(call: Call, merchant: Account): ResponseData {
  const role = custom(merchant, call.id);
  for (const member of merchant.members.values()) {
    if (member.roles.includes(role.id)) {
      throw new ProblemError(409, `The role ${role.id} is still held, for instance by ${member.id}.`);
    }
  }
  removeRole(merchant, role);
  return { status: 200 };
}

const collection = "/v0.1/merchants/:merchant/roles";
const item = `${collection}/:id`;

/** The operations on roles. */
export const ROLE_OPERATIONS: readonly MerchantOperation[] = [
  defineOperation({
    name: "roles.list",
    summary: "List roles",
    method: "GET",
    path: collection,
    permissions: ["roles_list"],
    response: roleListResponse,
    handle: list,
  }),
  defineOperation({
    name: "roles.create",
    summary: "Create a role",
    method: "POST",
    path: collection,
    permissions: ["roles_create"],
    body: createRoleBody,
    response: roleResponse,
    handle: create,
  }),
  defineOperation({
    name: "roles.retrieve",
    summary: "Retrieve a role",
    method: "GET",
    path: item,
    permissions: ["roles_view"],
    response: roleResponse,
    handle: retrieve,
  }),
  defineOperation({
    name: "roles.update",
    summary: "Update a role",
    method: "PATCH",
    path: item,
    permissions: ["roles_update"],
    body: updateRoleBody,
    response: roleResponse,
    handle: update,
  }),
  defineOperation({
    name: "roles.delete",
    summary: "Delete a role",
    method: "DELETE",
    path: item,
    permissions: ["roles_delete"],
    handle: remove,
  }),
].map((operation) => ({ ...operation, scope: "merchant" }));
