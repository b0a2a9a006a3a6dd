import { RolecallError } from "../model/errors.ts";
import type { LiveRole } from "../model/live.ts";
import type { LiveRecords } from "../model/ports.ts";
import type { Client } from "./client.ts";
import { membersPath, query, rolesPath } from "./paths.ts";
import { readMember, readMemberPage, readRole } from "./wire.ts";

/** Looks at single roles and members of one merchant through a client. */
export function createRecords(client: Client, merchant: string): LiveRecords {
  return {
    role: (id, signal) => retrieveRole(client, merchant, id, { read: only(id, readRole), signal }),
    member: (id, signal) =>
      orNull(
        client.send({
          operation: "retrieve a member",
          method: "GET",
          path: membersPath(merchant, id),
          read: only(id, readMember),
          signal,
        }),
      ),
    holder: async (role, signal) => {
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
  return orNull(client.send({ operation: "retrieve a role", method: "GET", path, read, signal }));
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
async function orNull<T>(sent: Promise<T>): Promise<T | null> {
  try {
    return await sent;
  } catch (error) {
    if (error instanceof RolecallError && error.code === "not-found") return null;
    throw error;
  }
}
