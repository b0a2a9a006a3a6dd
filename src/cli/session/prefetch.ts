import type { FileHead } from "../../config/file-head.ts";
import type { DesiredState } from "../../model/desired.ts";
import { RolecallError } from "../../model/errors.ts";
import type { LiveState } from "../../model/live.ts";
import type { Io } from "../io/io.ts";
import { type Connection, resolveConnection } from "./credentials.ts";
import type { Services } from "./services.ts";

/** Live states that are read while the files still are: a service takes its time, and a large file, too. */
export interface Prefetch {
  /** Begins to read the merchant that a file is about. */
  begin(head: FileHead): void;
  /** Hands over, once, what has been begun for a state; null where nothing was, or with another address or key. */
  take(state: DesiredState, connection: Connection, roleIds: readonly string[]): Promise<LiveState> | null;
  /** Ends what nobody has taken. */
  drop(): void;
}

interface Begun {
  readonly connection: Connection;
  readonly live: Promise<LiveState>;
  /** Tells which roles the file names. */
  readonly name: (roleIds: readonly string[]) => void;
  readonly end: (reason: Error) => void;
}

/** Reads the live states of wanted merchants ahead. */
export function startPrefetch(
  services: Services,
  isWanted: (merchant: string) => boolean,
  baseUrl: string | undefined,
  io: Io,
): Prefetch {
  const begun = new Map<string, Begun>();
  return {
    begin(head) {
      const { merchant, members } = head;
      if (begun.has(merchant) || !isWanted(merchant)) return;
      // What is missing for it is told when it is planned, if the file is right.
      const connection = orNull(() => resolveConnection(head, baseUrl, io.env));
      const service = connection && orNull(() => services.of(connection));
      if (connection === null || service === null) return;
      let name: Begun["name"] = () => undefined;
      let end: Begun["end"] = () => undefined;
      const roleIds = new Promise<readonly string[]>((resolve, reject) => {
        name = resolve;
        end = reject;
      });
      const live = service.reader.read(merchant, roleIds, members);
      // Whoever takes it hears of a failure; where nobody does, it is of no interest.
      for (const promise of [roleIds, live]) promise.catch(() => undefined);
      begun.set(merchant, { connection, live, name, end });
    },
    take({ merchant }, connection, roleIds) {
      const found = begun.get(merchant);
      if (found?.connection.baseUrl !== connection.baseUrl || found.connection.key !== connection.key)
        return null;
      begun.delete(merchant);
      found.name(roleIds);
      return found.live;
    },
    drop() {
      for (const { end } of begun.values()) end(new Error("nobody needs it any more"));
      begun.clear();
    },
  };
}

function orNull<T>(work: () => T): T | null {
  try {
    return work();
  } catch (error) {
    if (error instanceof RolecallError) return null;
    throw error;
  }
}
