import { RolecallError } from "../../model/errors.ts";
import type { LiveEvent } from "../../model/events.ts";
import type { ConnectOptions } from "../../service/open-client.ts";
import { checkBaseUrl } from "../../service/paths.ts";
import { type Io, userAgentOf } from "../io/io.ts";
import { type Connection, proxyFor } from "./connection.ts";

/** Options for reaching services. */
export interface ReachOptions {
  readonly concurrency: number;
  /** Total time for one request with its retries, in ms; absent: five minutes. */
  readonly retryFor?: number;
  /** Maximum number of members, roles or memberships of an account; absent: 250,000. */
  readonly maxItems?: number;
  readonly emit: (event: LiveEvent) => void;
  /** Once aborted, waits for the service end, and nothing is retried. */
  readonly signal?: AbortSignal;
}

interface Closable {
  close(): Promise<void>;
}

/** The clients of the merchants: one, with one limiter, for each base URL and key. */
export interface Clients<Client> extends Closable {
  /** Returns the client of a connection; throws RolecallError for an invalid base URL. */
  of(connection: Connection): Client;
}

/** Prepares connections to services; nothing is sent yet. */
export function openClients<Client extends Closable>(
  connect: (options: ConnectOptions) => Client,
  options: ReachOptions,
  io: Io,
): Clients<Client> {
  const { emit, concurrency, retryFor: retryForMs, maxItems, signal } = options;
  const clients = new Map<string, Client>();
  const logged = new Set<string>();
  const proxyTo = (baseUrl: URL): Pick<ConnectOptions, "proxy"> => {
    const { origin } = baseUrl;
    const choice = proxyFor(baseUrl, io.env);
    if (choice === null) return {};
    const { proxy, because } = choice;
    if (!logged.has(origin)) emit({ type: "proxy", service: origin, proxy: proxy?.origin ?? null, because });
    logged.add(origin);
    return proxy === null ? {} : { proxy };
  };
  return {
    of(connection) {
      const { baseUrl, key, keySource } = connection;
      const id = JSON.stringify([baseUrl, key]);
      const { now, monotonic, sleep, setTimer, random } = io;
      const opened = clients.get(id);
      if (opened) return opened;
      const url = withSource(connection, () => checkBaseUrl(baseUrl));
      const client = connect({
        baseUrl,
        key,
        keySource,
        userAgent: userAgentOf(io),
        concurrency,
        ...(retryForMs !== undefined && { retryForMs }),
        emit,
        now,
        monotonic,
        sleep,
        later: setTimer,
        random,
        ...proxyTo(url),
        ...(maxItems !== undefined && { maxItems }),
        ...(signal && { signal }),
      });
      clients.set(id, client);
      return client;
    },
    close: async () => {
      await Promise.all([...clients.values()].map((client) => client.close()));
    },
  };
}

/** Adds the origin of the base URL to the message of an invalid one. */
function withSource<T>({ baseUrlSource }: Connection, check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof RolecallError)) throw error;
    const { code, message, hint } = error;
    throw new RolecallError(code, `${message} It comes from ${baseUrlSource}.`, {
      ...(hint !== undefined && { hint }),
      cause: error,
    });
  }
}
