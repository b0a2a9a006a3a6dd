import { RolecallError } from "../model/errors.ts";
import type { LiveEvent } from "../model/events.ts";
import type { LiveRole, LiveState } from "../model/live.ts";
import type { LiveLookup } from "../model/ports.ts";
import type { Client } from "./http/client.ts";
import { shortRetry } from "./http/retry.ts";
import { listAll, PAGE_SIZE } from "./pager.ts";
import { MEMBERSHIPS_PATH, membersPath, query, rolesPath } from "./paths.ts";
import { type Membership, readMember, readMemberPage, readMembershipPage, readRole } from "./wire.ts";

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
export function retrieveRole(
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
    const found = read(body);
    if (found.id !== id) throw new TypeError(`about ${found.id} instead of ${id}`);
    return found;
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

/** Timeout of a request about the current member, in ms: it must not delay the rest. */
const ANSWER_WITHIN_MS = 5_000;

/** Finds the member of a merchant that the key belongs to, if any, or that it is unknown. */
export type FindCurrentMember = (merchant: string) => Promise<Pick<LiveState, "callerId" | "callerUnknown">>;

/** Creates a finder that asks the service once for all merchants; a failure is reported once. */
export function createCurrentMemberFinder(
  client: Client,
  emit: (event: LiveEvent) => void,
): FindCurrentMember {
  let asked: Promise<readonly Membership[] | null> | undefined;
  return async (merchant) => {
    asked ??= listMemberships(client).catch((error: unknown) => {
      if (!(error instanceof RolecallError)) throw error;
      emit({ type: "caller-unknown", reason: reasonOf(error) });
      return null;
    });
    const memberships = await asked;
    if (memberships === null) return { callerId: null, callerUnknown: true };
    const own = memberships.filter(({ merchant: code }) => code === merchant);
    // An old invitation may exist beside the accepted membership.
    return { callerId: (own.find(({ status }) => status === "accepted") ?? own[0])?.id ?? null };
  };
}

async function listMemberships(client: Client): Promise<readonly Membership[]> {
  return listAll("The list of the caller's memberships", (offset) =>
    client.send({
      operation: "list memberships",
      method: "GET",
      path: `${MEMBERSHIPS_PATH}${query({ offset, limit: PAGE_SIZE, "resource.type": "merchant" })}`,
      read: readMembershipPage,
      retry: shortRetry,
      withinMs: ANSWER_WITHIN_MS,
    }),
  );
}

function reasonOf({ message, hint }: RolecallError): string {
  return hint === undefined ? message : `${message.replace(/\.?$/, ".")} ${hint}`;
}
