import type { FileHeader } from "../../kernel/read/file-header.ts";
import type { DesiredState } from "../../model/desired.ts";
import { RolecallError } from "../../model/errors.ts";
import type { LiveState } from "../../model/live.ts";
import { connect, type Service } from "../../service/service.ts";
import type { Io } from "../io/io.ts";
import { type Clients, openClients, type ReachOptions } from "./clients.ts";
import { type Connection, resolveConnection } from "./connection.ts";

/** The services of the merchants. */
export type Services = Clients<Service>;

/** Prepares connections to services; nothing is sent yet. */
export function openServices(options: ReachOptions, io: Io): Services {
  return openClients(connect, options, io);
}

/** Reads of live states that start while the files are still being read. */
export interface Prefetch {
  /** Starts to read the live state of a file's merchant. */
  start(head: FileHeader): void;
  /** Returns, once, the live state of a merchant; `null` if none was started, or with another base URL or key. */
  claim(state: DesiredState, connection: Connection, roleIds: readonly string[]): Promise<LiveState> | null;
  /** Cancels the reads that were not claimed, except those of some merchants. */
  cancel(except?: ReadonlySet<string>): void;
}

interface Started {
  readonly members: number;
  readonly connection: Connection;
  readonly live: Promise<LiveState>;
  /** Sets the roles that the file names. */
  readonly name: (roleIds: readonly string[]) => void;
  readonly end: (reason: Error) => void;
}

/** Options of a prefetch. */
export interface PrefetchOptions {
  readonly baseUrl?: string;
  readonly isWanted: (merchant: string) => boolean;
  /** Members that are read ahead and not claimed, besides those of one merchant; the others wait for their plan. */
  readonly most: number;
}

/** Prepares to read the live states of wanted merchants ahead of their plans. */
export function startPrefetch(
  services: Services,
  { baseUrl, isWanted, most }: PrefetchOptions,
  io: Io,
): Prefetch {
  const started = new Map<string, Started>();
  let ahead = 0;
  const end = (merchant: string): void => {
    ahead -= started.get(merchant)?.members ?? 0;
    started.delete(merchant);
  };
  return {
    start(head) {
      const { merchant, members } = head;
      if (started.has(merchant) || !isWanted(merchant)) return;
      if (started.size > 0 && ahead + members > most) return;
      // A missing connection is reported when the merchant is planned, if its file is valid.
      const connection = nullOnFailure(() => resolveConnection(head, baseUrl, io.env));
      const service = connection && nullOnFailure(() => services.of(connection));
      if (connection === null || service === null) return;
      let name: Started["name"] = () => undefined;
      let drop: Started["end"] = () => undefined;
      const roleIds = new Promise<readonly string[]>((resolve, reject) => {
        name = resolve;
        drop = reject;
      });
      const live = service.reader.read(merchant, roleIds, members);
      // A claim reports a failure; without one, it does not matter.
      for (const promise of [roleIds, live]) promise.catch(() => undefined);
      started.set(merchant, { members, connection, live, name, end: drop });
      ahead += members;
    },
    claim({ merchant }, connection, roleIds) {
      const prefetched = started.get(merchant);
      if (
        prefetched?.connection.baseUrl !== connection.baseUrl ||
        prefetched.connection.key !== connection.key
      )
        return null;
      end(merchant);
      prefetched.name(roleIds);
      return prefetched.live;
    },
    cancel(except = new Set()) {
      for (const [merchant, prefetched] of started) {
        if (except.has(merchant)) continue;
        prefetched.end(new Error("the prefetch was cancelled"));
        end(merchant);
      }
    },
  };
}

function nullOnFailure<T>(work: () => T): T | null {
  try {
    return work();
  } catch (error) {
    if (error instanceof RolecallError) return null;
    throw error;
  }
}
