import { RolecallError } from "../model/errors.ts";
import type { LiveRole } from "../model/live.ts";
import type { LiveLookup } from "../model/ports.ts";
import type { Client } from "./http/client.ts";
import { membersPath, query, rolesPath } from "./paths.ts";
import { readMember, readMemberPage, readRole } from "./wire.ts";

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
