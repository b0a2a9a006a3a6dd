import { mapConcurrent } from "../lib/map-concurrent.ts";
import type { LiveEvent } from "../model/events.ts";
import { type LiveMember, type LiveRole, type LiveState, PREDEFINED_ROLES } from "../model/live.ts";
import type { LiveReader } from "../model/ports.ts";
import type { Client } from "./client.ts";
import { type FindCurrentMember, retrieveRole } from "./lookup.ts";
import { type ListProgress, listAll, MOST_AT_ONCE, PAGE_SIZE } from "./pager.ts";
import { membersPath, query, rolesPath } from "./paths.ts";
import { readMemberPage, readRoles } from "./wire.ts";

/** Reads live states through a client. */
export function createReader(
  client: Client,
  findCurrentMember: FindCurrentMember,
  emit: (event: LiveEvent) => void,
): LiveReader {
  return {
    async read(merchant, roleIds, expected = 0) {
      const [state, caller] = await Promise.all([
        together(client, (calls) => readAll(calls, { merchant, roleIds, expected }, emit)),
        // Its answer is waited for but shortly: not while the file may still be read, which can keep everything else.
        Promise.resolve(roleIds).then(() => findCurrentMember(merchant)),
      ]);
      return { ...state, ...caller };
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
    throw error;
  } finally {
    // Also those that were asked for ahead and are not needed.
    for (const call of calls) call.abort(failed?.error ?? new Error("everything is read"));
  }
}

interface Wanted {
  readonly merchant: string;
  readonly roleIds: readonly string[] | Promise<readonly string[]>;
  /** About how many members there may be. */
  readonly expected: number;
}

async function readAll(
  client: Client,
  { merchant, roleIds, expected }: Wanted,
  emit: (event: LiveEvent) => void,
): Promise<Omit<LiveState, "callerId" | "callerUnknown">> {
  const known = new Set<string>();
  const unanswered = new Set<string>();
  const retrieve = async (ids: ReadonlySet<string>): Promise<readonly LiveRole[]> => {
    const unknown = [...ids].filter((id) => !known.has(id));
    for (const id of unknown) known.add(id);
    const answers = await mapConcurrent(unknown, MOST_AT_ONCE, async (id) => {
      const found = await retrieveRole(client, merchant, id);
      if (found?.id === id) return [found];
      unanswered.add(id);
      return [];
    });
    return answers.flat();
  };
  const listAndNamed = async (): Promise<readonly LiveRole[]> => {
    const listed = await listRoles(client, merchant);
    for (const { id } of listed) known.add(id);
    // While the members are still being listed: it costs no time of its own.
    return [...listed, ...(await retrieve(new Set(await roleIds)))];
  };
  const [roles, members] = await Promise.all([
    listAndNamed(),
    listMembers(client, merchant, {
      expected,
      progress: (read, total) => emit({ type: "read", merchant, members: read, total }),
    }),
  ]);
  const heldIds = heldBy(members);
  const held = await retrieve(heldIds);
  // The contract only says that custom roles can be retrieved. One that is named, and neither held nor known to be
  // provided by the service, is for the plan to tell.
  const assumed = [...unanswered].filter((id) => heldIds.has(id) || PREDEFINED_ROLES.includes(id));
  return { merchant, roles: [...roles, ...held, ...assumed.map(assumedRole)], members };
}

/** A role of which nothing but its id is known. */
function assumedRole(id: string): LiveRole {
  return { id, name: id, permissions: [], predefined: true, metadata: {}, updatedAt: "", idOnly: true };
}

function heldBy(members: readonly LiveMember[]): ReadonlySet<string> {
  // Most members share one of a few lists.
  const lists = new Set(members.map(({ roles }) => roles));
  return new Set([...lists].flat());
}

/** Lists the custom roles; the contract gives them all at once. */
export async function listRoles(client: Client, merchant: string): Promise<readonly LiveRole[]> {
  return client.send({ operation: "list roles", method: "GET", path: rolesPath(merchant), read: readRoles });
}

/** Which members to list, and what is known of them. */
interface Listing {
  /** Only those whose address begins so. */
  readonly email?: string;
  /** About how many there may be. */
  readonly expected?: number;
  readonly progress?: ListProgress;
}

/** Lists members whole, or fails. */
export async function listMembers(
  client: Client,
  merchant: string,
  { email, ...listing }: Listing = {},
): Promise<readonly LiveMember[]> {
  const filter = email === undefined ? {} : { email };
  const share = createInterner();
  const readPage = (offset: number) =>
    client.send({
      operation: "list members",
      method: "GET",
      path: `${membersPath(merchant)}${query({ ...filter, offset, limit: PAGE_SIZE })}`,
      read: (body) => readMemberPage(body, share),
    });
  return listAll(`The member list of ${merchant}`, readPage, listing);
}

/** A list that was given before, by its texts one after the other. */
interface Known {
  list?: readonly string[];
  readonly next: Map<string, Known>;
}

/**
 * Gives one list for all lists of the same texts: of a hundred thousand members most hold one of a few sets of roles, and
 * a list of its own for each takes a fifth of the memory.
 */
export function createInterner(): (list: readonly string[]) => readonly string[] {
  const root: Known = { next: new Map() };
  return (list) => {
    let at = root;
    for (const text of list) {
      const found = at.next.get(text);
      const next: Known = found ?? { next: new Map() };
      if (found === undefined) at.next.set(text, next);
      at = next;
    }
    at.list ??= list;
    return at.list;
  };
}
