import { buildConnector } from "undici";
import type { LiveEvent } from "../model/events.ts";
import type { LiveMember, Membership } from "../model/live.ts";
import type { LiveLookup, LiveReader, LiveWriter } from "../model/ports.ts";
import { type CurrentMember, createCurrentMemberFinder } from "./current-member.ts";
import { type Client, createClient } from "./http/client.ts";
import { createLimiter } from "./http/limiter.ts";
import type { Operation } from "./http/problem-details.ts";
import { DEFAULT_RETRY, retryFor } from "./http/retry.ts";
import {
  createTunnel,
  type Later,
  LIMITS,
  LostResponse,
  lostResponse,
  type OpenTransport,
  type ProxyServer,
  type TransportResponse,
  undiciTransport,
} from "./http/transport.ts";
import { listMemberships, type MembershipFilter } from "./memberships.ts";
import { DEFAULT_MAX_ITEMS } from "./pager.ts";
import { checkBaseUrl, MEMBERSHIPS_PATH } from "./paths.ts";
import { type ProbedMerchant, probeOperations } from "./probe-operations.ts";
import { createLookup, createReader, listMembers } from "./reader.ts";
import { createWriter } from "./writer.ts";

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

/** A connected service; all its requests share one limiter. */
export interface Service {
  readonly reader: LiveReader;
  lookup(merchant: string): LiveLookup;
  writer(merchant: string): LiveWriter;
  /** Lists all memberships of the key's user that a filter selects; `quick` gives up within seconds. Throws RolecallError. */
  memberships(filter?: MembershipFilter, quick?: boolean): Promise<readonly Membership[]>;
  /** Finds the caller's membership of a merchant; never throws RolecallError. */
  currentMember(merchant: string): Promise<CurrentMember>;
  /** Lists the members of a merchant whose address begins with a text; absent: all. Throws RolecallError. */
  members(merchant: string, email?: string): Promise<readonly LiveMember[]>;
  /** Finds out which operations the key may use at a merchant, without changing anything. */
  probe(merchant: string, operations: ReadonlySet<Operation>): Promise<ProbedMerchant>;
  close(): Promise<void>;
}

/** Connects to a service with a key; nothing is sent yet. Throws RolecallError for an invalid base URL. */
export function connect(options: ConnectOptions): Service {
  const { concurrency, retryForMs, now, monotonic, sleep, signal, maxItems = DEFAULT_MAX_ITEMS } = options;
  const transport = options.transport ?? openTransport(checkBaseUrl(options.baseUrl), options);
  const closing = new AbortController();
  const cancelled = AbortSignal.any(signal ? [signal, closing.signal] : [closing.signal]);
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
  const clientOf = clientsInTurn(client);
  const currentMember = createCurrentMemberFinder(client, maxItems, emit);
  return {
    reader: createReader(clientOf, currentMember, maxItems, emit),
    currentMember,
    lookup: (merchant) => createLookup(clientOf(merchant), merchant),
    writer: (merchant) => createWriter(clientOf(merchant), merchant),
    memberships: (filter, quick) => listMemberships(client, maxItems, filter, quick),
    members: (merchant, email) =>
      listMembers(clientOf(merchant), merchant, { maxItems, ...(email !== undefined && { email }) }),
    probe: (merchant, operations) => probeOperations(client, merchant, operations),
    close: async () => {
      closing.abort();
      await transport.close();
    },
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

function openTransport(
  baseUrl: URL,
  { proxy, concurrency, later }: Pick<ConnectOptions, "proxy" | "concurrency" | "later">,
): OpenTransport {
  const tunnel = proxy ? createTunnel(baseUrl, proxy, LIMITS.connectTimeoutMs) : null;
  return undiciTransport(baseUrl, concurrency, later, LIMITS, tunnel);
}

/** A connection that was opened to try it. */
export interface Reached {
  /** `null` for a connection without TLS. */
  readonly tls: { readonly version: string; readonly validUntil: string } | null;
}

/** Opens a connection to a service as the client does, and closes it; rejects with a LostResponse. */
export async function reachService(
  target: URL,
  proxy: ProxyServer | null,
  timeoutMs: number,
): Promise<Reached> {
  const tunnel = proxy && createTunnel(target, proxy, timeoutMs);
  const connect = tunnel?.connect ?? buildConnector({ timeout: timeoutMs });
  const { hostname, protocol, port, host } = target;
  const options = { hostname: hostname.replace(/^\[(.*)\]$/, "$1"), host, protocol, port };
  try {
    return await new Promise((resolve, reject) => {
      connect(options, (error, socket) => {
        if (error) return reject(error);
        // A TLS socket knows its protocol and certificate, another one does not.
        const tls = "getPeerCertificate" in socket ? socket : null;
        const reached = tls && {
          version: tls.getProtocol() ?? "TLS",
          validUntil: tls.getPeerCertificate().valid_to,
        };
        resolve({ tls: reached });
        socket.destroy();
      });
    });
  } catch (error) {
    throw error instanceof LostResponse ? error : (lostResponse(error, host) ?? error);
  } finally {
    await tunnel?.close();
  }
}

/** Asks a service something without a key, which it must refuse; rejects with a LostResponse. */
export async function askWithoutKey(
  baseUrl: URL,
  proxy: ProxyServer | null,
  timeoutMs: number,
  { later, userAgent }: Pick<ConnectOptions, "later" | "userAgent">,
): Promise<TransportResponse> {
  const limits = {
    ...LIMITS,
    connectTimeoutMs: timeoutMs,
    responseTimeoutMs: timeoutMs,
    wholeTimeoutMs: timeoutMs,
  };
  const tunnel = proxy && createTunnel(baseUrl, proxy, timeoutMs);
  const transport = undiciTransport(baseUrl, 1, later, limits, tunnel);
  try {
    return await transport.send({
      method: "GET",
      path: MEMBERSHIPS_PATH,
      headers: { accept: "application/problem+json, application/json", "user-agent": userAgent },
    });
  } finally {
    await transport.close();
  }
}
