import type { LiveMember, LiveRole, LiveState } from "../model/live.ts";
import type { LiveEvent, LiveReader } from "../model/ports.ts";
import type { FindCaller } from "./caller.ts";
import type { Client } from "./client.ts";
import { listAll, PAGE_SIZE } from "./pager.ts";
import { membersPath, query, rolesPath } from "./paths.ts";
import { createRecords } from "./records.ts";
import { sideBySide } from "./side-by-side.ts";
import { readMemberPage, readRoles } from "./wire.ts";

/** Reads live states through a client. */
export function createReader(
  client: Client,
  findCaller: FindCaller,
  emit: (event: LiveEvent) => void,
): LiveReader {
  return {
    async read(merchant, roleIds) {
      const [state, callerId] = await Promise.all([
        together(client, (calls) => readAll(calls, merchant, roleIds, emit)),
        findCaller(merchant),
      ]);
      return { ...state, callerId };
    },
  };
}

/** Whole or not at all: the first call that fails for good ends the others. */
async function together<T>(client: Client, work: (client: Client) => Promise<T>): Promise<T> {
  // One for each call: a signal that dozens of calls listen to makes Node.js warn of a leak.
  const calls = new Set<AbortController>();
  let failed: { readonly error: unknown } | undefined;
  const send: Client["send"] = async (call) => {
    if (failed) throw failed.error;
    const own = new AbortController();
    calls.add(own);
    try {
      return await client.send({ ...call, signal: own.signal });
    } finally {
      calls.delete(own);
    }
  };
  try {
    return await work({ send });
  } catch (error) {
    failed = { error };
    for (const call of calls) call.abort(error);
    throw error;
  }
}

async function readAll(
  client: Client,
  merchant: string,
  roleIds: readonly string[],
  emit: (event: LiveEvent) => void,
): Promise<Omit<LiveState, "callerId">> {
  const [listed, members] = await Promise.all([
    listRoles(client, merchant),
    listMembers(client, merchant, {}, (read, total) =>
      emit({ type: "read", merchant, members: read, total }),
    ),
  ]);
  const known = new Set(listed.map(({ id }) => id));
  const held = new Set([...roleIds, ...members.flatMap(({ roles }) => roles)]);
  const unlisted = [...held].filter((id) => !known.has(id));
  // One that is held or named, but gone, is for the plan to tell.
  const retrieved = await sideBySide(unlisted, createRecords(client, merchant).role);
  return { merchant, roles: [...listed, ...retrieved.flatMap((role) => role ?? [])], members };
}

/** Lists the custom roles; the contract gives them all at once. */
export async function listRoles(client: Client, merchant: string): Promise<readonly LiveRole[]> {
  return client.send({ operation: "list roles", method: "GET", path: rolesPath(merchant), read: readRoles });
}

/** Which members to list: all, or those whose address begins so. */
interface MemberFilter {
  readonly email?: string;
}

/** Lists members whole, or fails. */
export async function listMembers(
  client: Client,
  merchant: string,
  filter: MemberFilter = {},
  progress?: (read: number, total: number | null) => void,
): Promise<readonly LiveMember[]> {
  const readPage = (offset: number) =>
    client.send({
      operation: "list members",
      method: "GET",
      path: `${membersPath(merchant)}${query({ ...filter, offset, limit: PAGE_SIZE })}`,
      read: readMemberPage,
    });
  return listAll(`The member list of ${merchant}`, readPage, progress);
}
