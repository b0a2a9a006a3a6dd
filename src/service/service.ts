import type { LiveMember } from "../model/live.ts";
import type { LiveLookup, LiveReader, LiveWriter } from "../model/ports.ts";
import { createCurrentMemberFinder, type FindCurrentMember } from "./current-member.ts";
import { createDenialFinder, type FindDenied } from "./find-denied.ts";
import type { Client } from "./http/client.ts";
import { type KeyUser, keyUserOf } from "./key-user.ts";
import { type ConnectOptions, openClient } from "./open-client.ts";
import { createLookup, createReader, listMembers } from "./reader.ts";
import { createWriter } from "./writer.ts";

/** A connected service; all its requests share one limiter. */
export interface Service extends KeyUser {
  readonly reader: LiveReader;
  lookup(merchant: string): LiveLookup;
  writer(merchant: string): LiveWriter;
  /** Lists the members of a merchant whose address begins with a text; absent: all. Throws RolecallError. */
  members(merchant: string, email?: string): Promise<readonly LiveMember[]>;
  readonly findDenied: FindDenied;
  /** Waits for the response like every read; never throws RolecallError. */
  readonly findCurrentMember: FindCurrentMember;
}

/** Connects to a service with a key; nothing is sent yet. Throws RolecallError for an invalid base URL. */
export function connect(options: ConnectOptions): Service {
  const opened = openClient(options);
  const { client, maxItems, emit } = opened;
  const clientOf = clientsInTurn(client);
  const findCurrentMember = createCurrentMemberFinder(client, maxItems, emit);
  return {
    ...keyUserOf(opened),
    reader: createReader(clientOf, findCurrentMember, maxItems, emit),
    lookup: (merchant) => createLookup(clientOf(merchant), merchant),
    writer: (merchant) => createWriter(clientOf(merchant), merchant),
    members: (merchant, email) =>
      listMembers(clientOf(merchant), merchant, { maxItems, ...(email !== undefined && { email }) }),
    findDenied: createDenialFinder(clientOf),
    findCurrentMember,
  };
}

/**
 * Returns a function that gives each merchant its client: merchants take turns in the order of their first requests, so
 * that the first ones are complete while the last ones have not begun.
 */
function clientsInTurn(client: Client): (merchant: string) => Client {
  const turns = new Map<string, number>();
  return (merchant) => ({
    send: (call) => {
      const turn = turns.get(merchant) ?? turns.size + 1;
      turns.set(merchant, turn);
      return client.send({ ...call, turn });
    },
  });
}
