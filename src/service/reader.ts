import { mapConcurrent } from "../lib/map-concurrent.ts";
import { memoized } from "../lib/memoized.ts";
import { RolecallError } from "../model/errors.ts";
import type { LiveEvent } from "../model/events.ts";
import { type LiveMember, type LiveRole, type LiveState, PREDEFINED_ROLES } from "../model/live.ts";
import type { LiveLookup, LiveReader } from "../model/ports.ts";
import type { CurrentMember, FindCurrentMember } from "./current-member.ts";
import type { Client } from "./http/client.ts";
import { checkSize, DEFAULT_MAX_ITEMS, type ListProgress, listAll, MAX_QUEUED, PAGE_SIZE } from "./pager.ts";
import { membersPath, query, rolesPath } from "./paths.ts";
import { readMember, readMemberPage, readRole, readRoles } from "./wire.ts";

/** Creates a reader of live states, with the client of each merchant. */
export function createReader(
  clientOf: (merchant: string) => Client,
  findCurrentMember: FindCurrentMember,
  maxItems: number,
  emit: (event: LiveEvent) => void,
): LiveReader {
  const sharePredefined = createRoleSharer();
  return {
    async read(merchant, roleIds) {
      const [state, caller] = await Promise.all([
        withSharedAbort(clientOf(merchant), (calls) => {
          const retrieve = (id: string) => sharePredefined(id, () => retrieveRole(calls, merchant, id));
          return readAll(calls, { merchant, roleIds, maxItems }, retrieve, emit);
        }),
        findCurrentMember(merchant),
      ]);
      return { ...state, ...caller };
    },
  };
}

/** Runs calls that succeed or fail together: the first permanent failure aborts the others. */
async function withSharedAbort<T>(client: Client, work: (client: Client) => Promise<T>): Promise<T> {
  const failed = new AbortController();
  const send: Client["send"] = async (call) => {
    failed.signal.throwIfAborted();
    // Each call has its own signal: Node warns of a leak if one signal has many listeners.
    return client.send({ ...call, signal: AbortSignal.any([failed.signal]) });
  };
  try {
    return await work({ send });
  } catch (error) {
    failed.abort(error);
    throw error;
  }
}

interface Wanted {
  readonly merchant: string;
  readonly roleIds: readonly string[];
  readonly maxItems: number;
}

async function readAll(
  client: Client,
  { merchant, roleIds, maxItems }: Wanted,
  retrieveOne: (id: string) => Promise<LiveRole | null>,
  emit: (event: LiveEvent) => void,
): Promise<Omit<LiveState, keyof CurrentMember>> {
  const requestedIds = new Set<string>();
  const unanswered = new Set<string>();
  const retrieve = async (ids: ReadonlySet<string>): Promise<readonly LiveRole[]> => {
    const unknown = [...ids].filter((id) => !requestedIds.has(id));
    for (const id of unknown) requestedIds.add(id);
    const roles = await mapConcurrent(unknown, MAX_QUEUED, async (id) => {
      const role = await retrieveOne(id);
      if (role?.id === id) return [role];
      unanswered.add(id);
      return [];
    });
    return roles.flat();
  };
  const listAndNamed = async (): Promise<readonly LiveRole[]> => {
    const listed = await listRoles(client, merchant);
    checkSize(`The role list of ${merchant}`, listed.length, maxItems);
    for (const { id } of listed) requestedIds.add(id);
    // Concurrently with the member list, so it takes no extra time.
    return [...listed, ...(await retrieve(new Set(roleIds)))];
  };
  const [roles, members] = await Promise.all([
    listAndNamed(),
    listMembers(client, merchant, {
      maxItems,
      progress: (read, total) => emit({ type: "read", merchant, members: read, total }),
    }),
  ]);
  const heldIds = heldBy(members);
  const held = await retrieve(heldIds);
  // According to the contract, only custom roles can be retrieved. The planner reports a named role that is neither
  // held nor a known predefined one.
  const assumed = [...unanswered].filter((id) => heldIds.has(id) || PREDEFINED_ROLES.includes(id));
  return { merchant, roles: [...roles, ...held, ...assumed.map(assumedRole)], members };
}

/**
 * Creates a function that retrieves roles of many merchants, and a predefined one only once: the service provides it to
 * all of them. Any other role, and any failure, counts for the merchant alone.
 */
function createRoleSharer(): (
  id: string,
  retrieve: () => Promise<LiveRole | null>,
) => Promise<LiveRole | null> {
  const asked = new Map<string, Promise<LiveRole | null>>();
  return async (id, retrieve) => {
    const earlier = asked.get(id);
    const shared = earlier && (await earlier.catch(() => null));
    if (shared?.predefined && shared.id === id) return shared;
    const retrieval = retrieve();
    asked.set(id, retrieval);
    return retrieval;
  };
}

/** Returns a role of which only the id is known. */
function assumedRole(id: string): LiveRole {
  return { id, name: id, permissions: [], predefined: true, metadata: {}, updatedAt: "", idOnly: true };
}

function heldBy(members: readonly LiveMember[]): ReadonlySet<string> {
  // Most members have one of a few lists of roles.
  const lists = new Set(members.map(({ roles }) => roles));
  return new Set([...lists].flat());
}

/** Lists the custom roles, which come in one page. */
export async function listRoles(client: Client, merchant: string): Promise<readonly LiveRole[]> {
  return client.send({ operation: "list roles", method: "GET", path: rolesPath(merchant), read: readRoles });
}

/** The options of a member list. */
interface Listing {
  /** Prefix of the address. */
  readonly email?: string;
  readonly maxItems?: number;
  readonly progress?: ListProgress;
}

/** Lists all members consistently. Throws RolecallError. */
export async function listMembers(
  client: Client,
  merchant: string,
  { email, maxItems = DEFAULT_MAX_ITEMS, ...listing }: Listing = {},
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
  return listAll(`The member list of ${merchant}`, readPage, { ...listing, maxItems });
}

/**
 * Creates a function that returns one shared list for equal lists: most of 100,000 members hold one of a few sets of
 * roles, and a list for each takes a fifth of the memory.
 */
export function createInterner(): (list: readonly string[]) => readonly string[] {
  return memoized(
    (list) => list,
    (list) => JSON.stringify(list),
  );
}

/** Creates the lookup of single roles and members of one merchant. */
export function createLookup(client: Client, merchant: string): LiveLookup {
  return {
    getRole: (id, signal) => retrieveRole(client, merchant, id, { read: only(id, readRole), signal }),
    getMember: (id, signal) =>
      nullOnNotFound(
        client.send({
          operation: "retrieve a member",
          method: "GET",
          path: membersPath(merchant, id),
          read: only(id, readMember),
          signal,
        }),
      ),
    getHolder: async (role, signal) => {
      const { items } = await client.send({
        operation: "list members",
        method: "GET",
        path: `${membersPath(merchant)}${query({ roles: role, limit: 1 })}`,
        read: readMemberPage,
        signal,
      });
      // A service that ignores the filter may return anybody.
      return items.find(({ roles }) => roles.includes(role)) ?? null;
    },
  };
}

/** Retrieves a role, which may have another id than asked for; `null` if there is none. */
function retrieveRole(
  client: Client,
  merchant: string,
  id: string,
  { read = readRole, signal }: { read?: (body: string) => LiveRole; signal?: AbortSignal | undefined } = {},
): Promise<LiveRole | null> {
  const path = rolesPath(merchant, id);
  return nullOnNotFound(client.send({ operation: "retrieve a role", method: "GET", path, read, signal }));
}

/** Wraps a parser so that it throws a TypeError if the response has another id. */
function only<T extends { readonly id: string }>(id: string, read: (body: string) => T): (body: string) => T {
  return (body) => {
    const resource = read(body);
    if (resource.id !== id) throw new TypeError(`about ${resource.id} instead of ${id}`);
    return resource;
  };
}

/** Returns `null` for a 404: the caller decides what it means. */
async function nullOnNotFound<T>(sent: Promise<T>): Promise<T | null> {
  try {
    return await sent;
  } catch (error) {
    if (error instanceof RolecallError && error.code === "not-found") return null;
    throw error;
  }
}
