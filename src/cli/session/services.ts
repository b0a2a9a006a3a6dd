import { checkBaseUrl } from "../../live/paths.ts";
import { type ConnectOptions, connect } from "../../live/service.ts";
import { RolecallError } from "../../model/errors.ts";
import type { LiveEvent } from "../../model/events.ts";
import type { Io } from "../io/io.ts";
import type { Connection } from "./credentials.ts";
import { proxyFor } from "./proxy.ts";

/** Options for reaching services. */
export interface ReachOptions {
  readonly concurrency: number;
  /** Total time for one request with its retries, in ms. */
  readonly retryFor: number;
  readonly emit: (event: LiveEvent) => void;
  /** Once aborted, waits for the service end, and nothing is retried. */
  readonly signal?: AbortSignal;
}

type Service = ReturnType<typeof connect>;

/** The services of the merchants: one, with one limiter, for each base URL and key. */
export interface Services {
  /** Returns the service of a connection; throws RolecallError for an invalid base URL. */
  of(connection: Connection): Service;
  close(): Promise<void>;
}

/** Prepares connections to services; nothing is sent yet. */
export function openServices(options: ReachOptions, io: Io): Services {
  const { emit, concurrency, retryFor: retryForMs, signal } = options;
  const services = new Map<string, Service>();
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
      const known = services.get(id);
      if (known) return known;
      const url = withSource(connection, () => checkBaseUrl(baseUrl));
      const service = connect({
        baseUrl,
        key,
        keySource,
        concurrency,
        retryForMs,
        emit,
        now,
        monotonic,
        sleep,
        later: setTimer,
        random,
        ...proxyTo(url),
        ...(signal && { signal }),
      });
      services.set(id, service);
      return service;
    },
    close: async () => {
      await Promise.all([...services.values()].map((service) => service.close()));
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
