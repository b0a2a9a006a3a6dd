import { RolecallError } from "../model/errors.ts";
import type { LiveRole } from "../model/live.ts";
import type { LiveLookup } from "../model/ports.ts";
import type { Client } from "./client.ts";
import { membersPath, query, rolesPath } from "./paths.ts";
import { readMember, readMemberPage, readRole } from "./wire.ts";

/** Looks at single roles and members of one merchant through a client. */
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
      // A service that knows no such filter answers with anybody.
      return items.find(({ roles }) => roles.includes(role)) ?? null;
    },
  };
}

/** Retrieves a role as the service answers, which may be with another one; null where there is none. */
export function retrieveRole(
  client: Client,
  merchant: string,
  id: string,
  { read = readRole, signal }: { read?: (body: string) => LiveRole; signal?: AbortSignal | undefined } = {},
): Promise<LiveRole | null> {
  const path = rolesPath(merchant, id);
  return nullOnNotFound(client.send({ operation: "retrieve a role", method: "GET", path, read, signal }));
}

/** Reads what was asked for; throws a TypeError where the answer is about something else. */
function only<T extends { readonly id: string }>(id: string, read: (body: string) => T): (body: string) => T {
  return (body) => {
    const found = read(body);
    if (found.id !== id) throw new TypeError(`about ${found.id} instead of ${id}`);
    return found;
  };
}

/** Gone is no failure: what it means is for whoever asks to say. */
async function nullOnNotFound<T>(sent: Promise<T>): Promise<T | null> {
  try {
    return await sent;
  } catch (error) {
    if (error instanceof RolecallError && error.code === "not-found") return null;
    throw error;
  }
}
