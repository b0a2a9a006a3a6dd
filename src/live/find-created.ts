import { isSameJson } from "../lib/canonical-json.ts";
import type { Metadata } from "../model/json.ts";
import type { LiveMember, LiveRole } from "../model/live.ts";
import type { CreateMember, CreateRole } from "../model/ports.ts";
import type { Client } from "./client.ts";
import { listMembers, listRoles } from "./reader.ts";

/** What stands in the place of something that was to be created; `same`: as it was to be. Null where nothing does. */
export type Found = { readonly id: string; readonly same: boolean } | null;

/** Looks for a custom role by its exact name. */
export async function findRole(client: Client, merchant: string, draft: CreateRole): Promise<Found> {
  const named = (await listRoles(client, merchant)).filter(
    ({ name, predefined }) => name === draft.name && !predefined,
  );
  return best(named, (role) => isRole(role, draft));
}

/** Looks for a member by the exact address; an expired invitation is never what was just created. */
export async function findMember(client: Client, merchant: string, draft: CreateMember): Promise<Found> {
  const key = draft.email.toLowerCase();
  // The filter is a prefix, so what it gives is compared exactly.
  const members = (await listMembers(client, merchant, { email: draft.email })).filter(
    ({ user, invite, status }) =>
      status !== "expired" && [user?.email, invite?.email].some((address) => address?.toLowerCase() === key),
  );
  return best(members, (member) => isMember(member, draft));
}

function best<T extends { readonly id: string }>(all: readonly T[], isSame: (one: T) => boolean): Found {
  const same = all.find(isSame);
  const found = same ?? all[0];
  return found === undefined ? null : { id: found.id, same: same !== undefined };
}

function isRole(role: LiveRole, { permissions, description = "", metadata }: CreateRole): boolean {
  return (
    sameSet(role.permissions, permissions) &&
    (role.description ?? "") === description &&
    sameMetadata(role.metadata, metadata)
  );
}

function isMember({ roles, user, metadata }: LiveMember, draft: CreateMember): boolean {
  const { managed } = draft;
  return (
    sameSet(roles, draft.roles) &&
    sameMetadata(metadata, draft.metadata) &&
    (user?.type === "managed_user") === (managed !== undefined) &&
    (managed?.nickname === undefined || user?.nickname === managed.nickname)
  );
}

function sameSet(one: readonly string[], other: readonly string[]): boolean {
  const all = new Set(one);
  return all.size === new Set(other).size && other.every((item) => all.has(item));
}

function sameMetadata(one: Metadata, other: Metadata = {}): boolean {
  return isSameJson(one, other);
}
