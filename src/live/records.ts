import { RolecallError } from "../model/errors.ts";
import type { LiveRecords } from "../model/ports.ts";
import type { Client } from "./client.ts";
import { membersPath, rolesPath } from "./paths.ts";
import { readMember, readRole } from "./wire.ts";

/** Looks at single roles and members of one merchant through a client. */
export function createRecords(client: Client, merchant: string): LiveRecords {
  return {
    role: (id, signal) =>
      orNull(
        client.send({
          operation: "retrieve a role",
          method: "GET",
          path: rolesPath(merchant, id),
          read: readRole,
          signal,
        }),
      ),
    member: (id, signal) =>
      orNull(
        client.send({
          operation: "retrieve a member",
          method: "GET",
          path: membersPath(merchant, id),
          read: readMember,
          signal,
        }),
      ),
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
