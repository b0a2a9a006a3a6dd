import { RolecallError } from "../model/errors.ts";
import type { Created } from "../model/ports.ts";
import type { Call } from "./call.ts";
import type { Client } from "./client.ts";
import type { Found } from "./find-created.ts";
import { createConflict, createdNotListed, outcomeUnknown } from "./request-errors.ts";
import { readCreatedId } from "./wire.ts";

/** Something to create, and how to look whether it is there. */
export interface Creation
  extends Pick<
    Call<unknown>,
    "operation" | "path" | "body" | "secrets" | "address" | "holdBack" | "recheck" | "beforeSending"
  > {
  /** What it is called in messages, as in `role "Cashier"`. */
  readonly what: string;
  readonly find: (client: Client) => Promise<Found>;
}

/**
 * Creates something, once: where an answer is lost, what it was about is looked up, and adopted if it is there as asked.
 * Only if it is not there is it asked for again.
 */
export async function createOnce(client: Client, creation: Creation): Promise<Created> {
  const { what, find, ...call } = creation;
  const look = async (failure: RolecallError): Promise<Found> => {
    try {
      return await find(client);
    } catch (error) {
      throw error instanceof RolecallError ? outcomeUnknown(failure, error) : error;
    }
  };
  const created = await client.send<Created | null>({
    ...call,
    method: "POST",
    read: (body) => {
      const id = readCreatedId(body);
      return id === null ? null : { id, adopted: false };
    },
    recover: async (failure) => {
      const found = await look(failure);
      if (found && !found.same) throw createConflict(failure, what);
      return found && { id: found.id, adopted: true };
    },
  });
  if (created) return created;
  // It was created, but the answer does not tell its id.
  const unlisted = createdNotListed(call.path, what);
  const found = await look(unlisted);
  if (!found?.same) throw unlisted;
  return { id: found.id, adopted: false };
}
