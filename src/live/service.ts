import type { LiveEvent } from "../model/events.ts";
import type { LiveLookup, LiveReader, LiveWriter } from "../model/ports.ts";
import { createClient } from "./client.ts";
import { createLimiter } from "./limiter.ts";
import { createCurrentMemberFinder, createLookup } from "./lookup.ts";
import { checkBaseUrl } from "./paths.ts";
import { createReader } from "./reader.ts";
import { DEFAULT_RETRY, retryFor } from "./retry.ts";
import {
  createTunnel,
  type Later,
  LIMITS,
  type OpenTransport,
  type ProxyServer,
  undiciTransport,
} from "./transport.ts";
import { createWriter } from "./writer.ts";

/** How a service is reached, and the client's ways to the world. */
export interface ConnectOptions {
  readonly baseUrl: string;
  readonly key: string;
  /** Name of the environment variable that held the key: for hints. */
  readonly keySource: string;
  /** Most requests under way at once. */
  readonly concurrency: number;
  /** How long one request is tried for in all, in milliseconds; absent: five minutes. */
  readonly retryForMs?: number;
  /** Milliseconds since the epoch: for the dates of answers. */
  readonly now: () => number;
  /** Milliseconds on a clock that is never set back. */
  readonly monotonic: () => number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly later: Later;
  readonly random: () => number;
  readonly emit: (event: LiveEvent) => void;
  /** Once aborted, nothing is waited for and repeated any more: what is in the air ends, well or with its failure. */
  readonly signal?: AbortSignal;
  /** Opens tunnels to the service; absent: it is reached directly. */
  readonly proxy?: ProxyServer;
  /** Instead of HTTP. */
  readonly transport?: OpenTransport;
}

/** A service that is ready to be read and written; one limiter for all of it. */
export interface Service {
  readonly reader: LiveReader;
  lookup(merchant: string): LiveLookup;
  writer(merchant: string): LiveWriter;
  close(): Promise<void>;
}

/** Makes a client for a service and key; nothing is sent yet. Throws RolecallError for a base URL that will not do. */
export function connect(options: ConnectOptions): Service {
  const { concurrency, now, monotonic, sleep, signal } = options;
  const transport = options.transport ?? openTransport(checkBaseUrl(options.baseUrl), options);
  const closing = new AbortController();
  const cancelled = AbortSignal.any(signal ? [signal, closing.signal] : [closing.signal]);
  // Nobody listens any more once it is closed.
  const emit = (event: LiveEvent): void => {
    if (!closing.signal.aborted) options.emit(event);
  };
  const limiter = createLimiter({ concurrency, now: monotonic, sleep, closing: cancelled });
  const client = createClient({
    ...options,
    now: monotonic,
    date: now,
    emit,
    transport: transport.send,
    limiter,
    retry: retryFor(options.retryForMs ?? DEFAULT_RETRY.totalMs),
    cancelled,
  });
  return {
    reader: createReader(client, createCurrentMemberFinder(client, emit), emit),
    lookup: (merchant) => createLookup(client, merchant),
    writer: (merchant) => createWriter(client, merchant),
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
