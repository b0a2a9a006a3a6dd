import { RolecallError } from "../model/errors.ts";
import type { LiveRecords } from "../model/ports.ts";
import type { Call, Client } from "./client.ts";
import { membersPath, rolesPath } from "./paths.ts";
import { readMember, readRole } from "./wire.ts";

/** Looks at single resources of one merchant through a client. */
export function createRecords(client: Client, merchant: string): LiveRecords {
  const look = async <T>(call: Omit<Call<T>, "method">): Promise<T | null> => {
    try {
      return await client.send({ ...call, method: "GET" });
    } catch (error) {
      if (error instanceof RolecallError && error.code === "not-found") return null;
      throw error;
    }
  };
  return {
    role: (id) => look({ operation: "retrieve a role", path: rolesPath(merchant, id), read: readRole }),
    member: (id) =>
      look({ operation: "retrieve a member", path: membersPath(merchant, id), read: readMember }),
  };
}
