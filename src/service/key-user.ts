import type { Membership } from "../model/live.ts";
import { listMemberships, type MembershipFilter } from "./memberships.ts";
import { type ConnectOptions, type OpenClient, openClient } from "./open-client.ts";

/** The part of a service that concerns the user of a key. */
export interface KeyUser {
  /** Lists all memberships of the key's user that a filter selects; `quick` gives up within seconds. Throws RolecallError. */
  memberships(filter?: MembershipFilter, quick?: boolean): Promise<readonly Membership[]>;
  close(): Promise<void>;
}

/** Returns the part of a client that concerns the user of its key. */
export function keyUserOf({ client, maxItems, close }: OpenClient): KeyUser {
  return {
    memberships: (filter, quick) => listMemberships(client, maxItems, filter, quick),
    close,
  };
}

/** Connects to a service for the user of a key; nothing is sent yet. Throws RolecallError for an invalid base URL. */
export function connectKeyUser(options: ConnectOptions): KeyUser {
  return keyUserOf(openClient(options));
}
