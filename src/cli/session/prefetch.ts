import type { FileHead } from "../../config/file-head.ts";
import type { DesiredState } from "../../model/desired.ts";
import { RolecallError } from "../../model/errors.ts";
import type { LiveState } from "../../model/live.ts";
import type { Io } from "../io/io.ts";
import { type Connection, resolveConnection } from "./credentials.ts";
import type { Services } from "./services.ts";

/** Reads of live states that start while the files are still being read. */
export interface Prefetch {
  /** Starts to read the live state of a file's merchant. */
  start(head: FileHead): void;
  /** Returns, once, the live state of a merchant; `null` if none was started, or with another base URL or key. */
  claim(state: DesiredState, connection: Connection, roleIds: readonly string[]): Promise<LiveState> | null;
  /** Cancels the reads that were not claimed. */
  cancel(): void;
}

interface Started {
  readonly connection: Connection;
  readonly live: Promise<LiveState>;
  /** Sets the roles that the file names. */
  readonly name: (roleIds: readonly string[]) => void;
  readonly end: (reason: Error) => void;
}

/** Prepares to read the live states of wanted merchants ahead of their plans. */
export function startPrefetch(
  services: Services,
  isWanted: (merchant: string) => boolean,
  baseUrl: string | undefined,
  io: Io,
): Prefetch {
  const started = new Map<string, Started>();
  return {
    start(head) {
      const { merchant, members } = head;
      if (started.has(merchant) || !isWanted(merchant)) return;
      // A missing connection is reported when the merchant is planned, if its file is valid.
      const connection = nullOnFailure(() => resolveConnection(head, baseUrl, io.env));
      const service = connection && nullOnFailure(() => services.of(connection));
      if (connection === null || service === null) return;
      let name: Started["name"] = () => undefined;
      let end: Started["end"] = () => undefined;
      const roleIds = new Promise<readonly string[]>((resolve, reject) => {
        name = resolve;
        end = reject;
      });
      const live = service.reader.read(merchant, roleIds, members);
      // A claim reports a failure; without one, it does not matter.
      for (const promise of [roleIds, live]) promise.catch(() => undefined);
      started.set(merchant, { connection, live, name, end });
    },
    claim({ merchant }, connection, roleIds) {
      const found = started.get(merchant);
      if (found?.connection.baseUrl !== connection.baseUrl || found.connection.key !== connection.key)
        return null;
      started.delete(merchant);
      found.name(roleIds);
      return found.live;
    },
    cancel() {
      for (const { end } of started.values()) end(new Error("the prefetch was cancelled"));
      started.clear();
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
