import { buildConnector, type Dispatcher, Pool } from "undici";

/** An HTTP request, relative to the base URL. */
export interface TransportRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path and query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Aborts the request, which rejects with its reason. */
  readonly signal?: AbortSignal;
  /** Once aborted, a request that is not sent yet rejects with its reason; one in flight continues. */
  readonly notAfter?: AbortSignal;
  /** Timeout of the whole response, in ms, if shorter than usual. */
  readonly withinMs?: number;
}

/** An HTTP response with its whole body. */
export interface TransportResponse {
  readonly status: number;
  /** Returns a header by its lower-case name. */
  readonly header: (name: string) => string | undefined;
  readonly body: string;
}

/** Sends a request and reads its response; rejects with a LostResponse if there is none. */
export type Transport = (request: TransportRequest) => Promise<TransportResponse>;

/** The error of a request without a response. */
export class LostResponse extends Error {
  /** `untrusted` for a certificate; `refused` by a proxy, or by a host without HTTPS. */
  readonly kind: "network" | "untrusted" | "refused" | "timeout" | "too-large";
  /** `false` if the request was not sent, so that the service cannot have applied it. */
  readonly sent: boolean;

  constructor(kind: LostResponse["kind"], message: string, sent: boolean, cause?: unknown) {
    super(message, { cause });
    this.name = "LostResponse";
    this.kind = kind;
    this.sent = sent;
  }
}

/** A transport with open connections. */
export interface OpenTransport {
  readonly send: Transport;
  close(): Promise<void>;
}

/** The limits of a connection. */
export interface TransportLimits {
  readonly connectTimeoutMs: number;
  /** Timeout of the response headers, and between two chunks of the body. */
  readonly responseTimeoutMs: number;
  /** Timeout of the whole response. */
  readonly wholeTimeoutMs: number;
  readonly maxBodyBytes: number;
}

export const LIMITS: TransportLimits = {
  connectTimeoutMs: 10_000,
  responseTimeoutMs: 30_000,
  wholeTimeoutMs: 120_000,
  maxBodyBytes: 16 * 1024 * 1024,
};

/** Runs a function after a time in ms, unless the returned function is called before. */
export type Later = (ms: number, run: () => void) => () => void;

/** Creates a transport to one service over a pool of connections, direct or through a proxy; follows no redirect. */
export function undiciTransport(
  baseUrl: URL,
  connections: number,
  later: Later,
  limits: TransportLimits = LIMITS,
  tunnel: Tunnel | null = null,
): OpenTransport {
  const pool = new Pool(baseUrl.origin, {
    connections,
    pipelining: 1,
    connect: tunnel?.connect ?? { timeout: limits.connectTimeoutMs },
    headersTimeout: limits.responseTimeoutMs,
    bodyTimeout: limits.responseTimeoutMs,
    maxResponseSize: limits.maxBodyBytes,
  });
  const prefix = baseUrl.pathname.replace(/\/+$/, "");
  return {
    // Callers close only when they have all responses; requests in flight would only delay the end.
    close: async () => {
      await Promise.all([pool.destroy(), tunnel?.close()]);
    },
    async send({ method, path, headers, body, signal, notAfter, withinMs = limits.wholeTimeoutMs }) {
      signal?.throwIfAborted();
      notAfter?.throwIfAborted();
      const response = responseOf(pool, {
        method,
        path: `${prefix}${path}`,
        headers,
        ...(body !== undefined && { body }),
      });
      const stop = (): void => response.cut(signal?.reason);
      signal?.addEventListener("abort", stop);
      const keep = (): void => {
        if (!response.hasLeft()) response.cut(notAfter?.reason);
      };
      // Requests share the signal, and Node warns of a leak at many listeners on one signal.
      const unsent = notAfter && AbortSignal.any([notAfter]);
      unsent?.addEventListener("abort", keep);
      const onTime = later(withinMs, () =>
        response.cut(
          new LostResponse("timeout", `${baseUrl.host} did not send the whole response in time`, true),
        ),
      );
      try {
        return await response.whole;
      } catch (error) {
        signal?.throwIfAborted();
        if (notAfter?.aborted && error === notAfter.reason) throw error;
        throw lostResponse(error, baseUrl.host) ?? error;
      } finally {
        onTime();
        signal?.removeEventListener("abort", stop);
        unsent?.removeEventListener("abort", keep);
      }
    },
  };
}

/** Dispatches a request; returns its response, whether it was sent, and how to abort it. */
function responseOf(
  pool: Pool,
  request: Dispatcher.DispatchOptions,
): {
  readonly whole: Promise<TransportResponse>;
  readonly hasLeft: () => boolean;
  readonly cut: (reason: unknown) => void;
} {
  let cut: (reason: unknown) => void = () => undefined;
  let connection: Dispatcher.DispatchController | null = null;
  const whole = new Promise<TransportResponse>((resolve, reject) => {
    let isCut = false;
    let status = 0;
    let headers: Readonly<Record<string, string | string[] | undefined>> = {};
    const pieces: Buffer[] = [];
    cut = (reason) => {
      isCut = true;
      reject(reason);
      connection?.abort(CUT);
    };
    // pool.request() adds signals and streams, which are not needed here and take a third of its time.
    pool.dispatch(request, {
      onRequestStart: (controller) => {
        connection = controller;
        // The request was still waiting for a connection, and must not be sent now.
        if (isCut) controller.abort(CUT);
      },
      onResponseStart(_, code, fields) {
        status = code;
        headers = fields;
      },
      onResponseData: (_, piece) => void pieces.push(piece),
      onResponseEnd() {
        // Nearly all come in one piece, which needs no copy.
        const whole = pieces.length === 1 ? pieces[0] : Buffer.concat(pieces);
        const body = String(whole);
        resolve({
          status,
          header: (name) => [headers[name]].flat()[0],
          body: body.startsWith("\ufeff") ? body.slice(1) : body,
        });
      },
      onResponseError: (_, error) => reject(error),
    });
  });
  return { whole, hasLeft: () => connection !== null, cut };
}

const CUT = new Error("the request was cancelled");

/** Converts an error of a connection to `host`; `null` if it is a bug. */
export function lostResponse(error: unknown, host: string): LostResponse | null {
  // A host with several addresses fails with an error for each; the first is representative.
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const code = textOf(first, "code");
  const lost = (kind: LostResponse["kind"], message: string, sent: boolean): LostResponse =>
    new LostResponse(kind, message, sent, error);
  // The error has no code; the request has arrived, whatever the response.
  if (first instanceof Error && first.name === "HTTPParserError") {
    return lost("network", `${host} did not respond with HTTP`, true);
  }
  if (code === "" || first instanceof TypeError || first instanceof RangeError || MISUSE.test(code))
    return null;
  const syscall = textOf(first, "syscall");
  // If connecting fails, nothing was sent; if a connection breaks later, it may have been.
  const connecting = syscall === "connect" || syscall === "getaddrinfo";
  const failure = NETWORK[connecting && code === "ETIMEDOUT" ? "UND_ERR_CONNECT_TIMEOUT" : code];
  if (failure) return lost(failure.kind ?? "network", failure.words(host), failure.sent);
  if (UNTRUSTED.test(code)) {
    return lost("untrusted", `the certificate of ${host} cannot be trusted (${code})`, false);
  }
  return connecting
    ? lost("network", `${host} cannot be reached (${code})`, false)
    : lost("network", `the connection to ${host} broke (${code})`, true);
}

/** Error codes of invalid requests, which are bugs. */
const MISUSE =
  /^(?:UND_ERR_(?:INVALID_ARG|INVALID_RETURN_VALUE|NOT_SUPPORTED|REQ_CONTENT_LENGTH_MISMATCH)|ERR_INVALID_.*)$/;

/** Error codes of invalid certificates, which are found before anything is sent. */
const UNTRUSTED = /^(?:CERT_|ERR_TLS_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_CA)/;

function textOf(error: unknown, name: "code" | "syscall"): string {
  const value: unknown = error instanceof Error ? Reflect.get(error, name) : "";
  return typeof value === "string" ? value : "";
}

interface Words {
  readonly kind?: LostResponse["kind"];
  readonly sent: boolean;
  readonly words: (host: string) => string;
}

const NOT_TLS: Words = { kind: "refused", sent: false, words: (host) => `${host} does not speak HTTPS` };

const NETWORK: Readonly<Record<string, Words>> = {
  ECONNREFUSED: { sent: false, words: (host) => `nothing is listening at ${host}` },
  ENOTFOUND: { sent: false, words: (host) => `there is no host called ${host}` },
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: {
    sent: true,
    words: (host) => `${host} sent more or less than its Content-Length`,
  },
  UND_ERR_HEADERS_OVERFLOW: { kind: "too-large", sent: true, words: () => "headers that are too large" },
  EMFILE: {
    sent: false,
    words: () =>
      "this process cannot open any more files or connections (EMFILE); use a smaller --concurrency, or raise `ulimit -n`",
  },
  EAI_AGAIN: { sent: false, words: (host) => `the name ${host} cannot be resolved at the moment` },
  ERR_SSL_WRONG_VERSION_NUMBER: NOT_TLS,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: NOT_TLS,
  UND_ERR_CONNECT_TIMEOUT: {
    kind: "timeout",
    sent: false,
    words: (host) => `connecting to ${host} timed out`,
  },
  UND_ERR_HEADERS_TIMEOUT: {
    kind: "timeout",
    sent: true,
    words: (host) => `${host} did not respond in time`,
  },
  UND_ERR_BODY_TIMEOUT: { kind: "timeout", sent: true, words: (host) => `${host} stopped sending part-way` },
  UND_ERR_RES_EXCEEDED_MAX_SIZE: {
    kind: "too-large",
    sent: true,
    words: () => "a response that is too large",
  },
};

/** An HTTP proxy. */
export interface ProxyServer {
  /** `http:` or `https:`, host and port; without credentials. */
  readonly origin: string;
  /** Value of the header `Proxy-Authorization`; null without credentials. */
  readonly authorization: string | null;
}

/** A connector to a service through a proxy. */
export interface Tunnel {
  readonly connect: buildConnector.connector;
  close(): Promise<void>;
}

/** Creates a connector to the origin of `target` (CONNECT, RFC 9110); no tunnel is opened yet. */
export function createTunnel(target: URL, { origin, authorization }: ProxyServer, timeoutMs: number): Tunnel {
  const { host } = new URL(origin);
  const proxy = new Pool(origin, { connect: { timeout: timeoutMs }, headersTimeout: timeoutMs });
  const connectTls = buildConnector({ timeout: timeoutMs });
  const path = `${target.hostname}:${target.port || (target.protocol === "https:" ? "443" : "80")}`;
  const headers = { host: path, ...(authorization !== null && { "proxy-authorization": authorization }) };
  return {
    close: () => proxy.destroy(),
    connect: (options, callback) => {
      const fail = (error: unknown): void => callback(proxyFailure(error, host), null);
      proxy.dispatch(
        { method: "CONNECT", path, headers },
        {
          onRequestStart: () => undefined,
          onRequestUpgrade(_, status, __, socket) {
            if (status < 200 || status > 299) {
              socket.on("error", () => undefined).destroy();
              callback(refusedTunnel(status, host, path), null);
            } else if (options.protocol === "https:")
              connectTls({ ...options, httpSocket: socket as never }, callback);
            else callback(null, socket as never);
          },
          onResponseStart: () => fail(new Error("the proxy responded without opening a tunnel")),
          onResponseError: (_, error) => fail(error),
        },
      );
    },
  };
}

/** Returns the error of a failed connection to the proxy: the request itself was not sent. */
function proxyFailure(error: unknown, host: string): LostResponse {
  const lost = lostResponse(error, `${host} (the proxy)`);
  return new LostResponse(
    lost?.kind ?? "network",
    lost?.message ?? `${host} (the proxy) did not open a tunnel`,
    false,
    error,
  );
}

function refusedTunnel(status: number, host: string, path: string): LostResponse {
  // Only a proxy that could not reach the service may respond otherwise on a retry.
  if (status >= 500)
    return new LostResponse("network", `the proxy ${host} cannot reach ${path} (${status})`, false);
  const why = status === 407 ? "requires other credentials" : `refuses a tunnel to ${path}`;
  return new LostResponse("refused", `the proxy ${host} ${why} (${status})`, false);
}
