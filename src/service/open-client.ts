import type { LiveEvent } from "../model/events.ts";
import { type Client, createClient } from "./http/client.ts";
import { createLimiter } from "./http/limiter.ts";
import { DEFAULT_RETRY, retryFor } from "./http/retry.ts";
import {
  createTunnel,
  type Later,
  LIMITS,
  type OpenTransport,
  type ProxyServer,
  undiciTransport,
} from "./http/transport.ts";
import { DEFAULT_MAX_ITEMS } from "./pager.ts";
import { checkBaseUrl } from "./paths.ts";

/** The options of a connection to a service. */
export interface ConnectOptions {
  readonly baseUrl: string;
  readonly key: string;
  /** Name of the environment variable with the key, for hints. */
  readonly keySource: string;
  /** The User-Agent header of each request. */
  readonly userAgent: string;
  /** Maximum number of requests in flight. */
  readonly concurrency: number;
  /** Total time for one request and its retries, in ms; absent: five minutes. */
  readonly retryForMs?: number;
  /** Maximum number of members, roles or memberships of an account; absent: 250,000. */
  readonly maxItems?: number;
  /** Returns the wall-clock time, in ms since the epoch: for dates in responses. */
  readonly now: () => number;
  /** Returns the time of a monotonic clock, in ms. */
  readonly monotonic: () => number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly later: Later;
  readonly random: () => number;
  readonly emit: (event: LiveEvent) => void;
  /** Once aborted, nothing waits or retries: requests in flight end with their response or failure. */
  readonly signal?: AbortSignal;
  /** The proxy to the service; absent: a direct connection. */
  readonly proxy?: ProxyServer;
  /** Replaces HTTP. */
  readonly transport?: OpenTransport;
}

/** A client of a service; all its requests share one limiter. */
export interface OpenClient {
  readonly client: Client;
  /** Maximum number of items of a list. */
  readonly maxItems: number;
  readonly emit: (event: LiveEvent) => void;
  close(): Promise<void>;
}

/** Opens a client of a service with a key; nothing is sent yet. Throws RolecallError for an invalid base URL. */
export function openClient(options: ConnectOptions): OpenClient {
  const { concurrency, retryForMs, now, monotonic, sleep, signal, maxItems = DEFAULT_MAX_ITEMS } = options;
  const transport = options.transport ?? openTransport(checkBaseUrl(options.baseUrl), options);
  const closing = new AbortController();
  // Node keeps a combined signal that has listeners until it is aborted.
  const cancelled = signal ? AbortSignal.any([signal, closing.signal]) : closing.signal;
  // There are no listeners after closing.
  const emit = (event: LiveEvent): void => {
    if (!closing.signal.aborted) options.emit(event);
  };
  const onPace = (perSecond: number | null): void => emit({ type: "pace", perSecond });
  const limiter = createLimiter({ concurrency, now: monotonic, sleep, closing: cancelled, onPace });
  const client = createClient({
    ...options,
    now: monotonic,
    date: now,
    emit,
    transport: transport.send,
    limiter,
    retry: retryForMs === undefined ? DEFAULT_RETRY : retryFor(retryForMs),
    cancelled,
  });
  return {
    client,
    maxItems,
    emit,
    close: async () => {
      closing.abort();
      await transport.close();
    },
  };
}

function openTransport(
  baseUrl: URL,
  { proxy, concurrency, later }: Pick<ConnectOptions, "proxy" | "concurrency" | "later">,
): OpenTransport {
  const tunnel = proxy ? createTunnel(baseUrl, proxy, LIMITS.connectTimeoutMs) : null;
  return undiciTransport(baseUrl, concurrency, later, LIMITS, tunnel);
}
