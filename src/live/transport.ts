import { buildConnector, type Dispatcher, Pool } from "undici";

/** One HTTP request, relative to the base URL. */
export interface TransportRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path and query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** When it is aborted the request ends and rejects with its reason. */
  readonly signal?: AbortSignal;
  /** Once it is aborted, a request that has not left yet does not leave any more, and rejects with its reason. */
  readonly notAfter?: AbortSignal;
  /** Longest until the whole answer is there, in milliseconds, where that is less than usual. */
  readonly withinMs?: number;
}

/** One HTTP answer, read whole. */
export interface TransportResponse {
  readonly status: number;
  /** A header by its lower-case name. */
  readonly header: (name: string) => string | undefined;
  readonly body: string;
}

/** Sends a request and reads its answer; rejects with a LostAnswer when there is none. */
export type Transport = (request: TransportRequest) => Promise<TransportResponse>;

/** Why no answer came. */
export class LostAnswer extends Error {
  readonly kind: "network" | "untrusted" | "timeout" | "too-large";
  /** False where the request did not leave: whatever it was, the service has not done it. */
  readonly sent: boolean;

  constructor(kind: LostAnswer["kind"], message: string, sent: boolean, cause?: unknown) {
    super(message, { cause });
    this.name = "LostAnswer";
    this.kind = kind;
    this.sent = sent;
  }
}

/** A transport that holds connections, which have to be let go. */
export interface OpenTransport {
  readonly send: Transport;
  close(): Promise<void>;
}

/** What a connection is held to; a test may want less. */
export interface TransportLimits {
  readonly connectTimeoutMs: number;
  /** Until the head of the answer, and between two pieces of its body. */
  readonly answerTimeoutMs: number;
  /** Until the whole answer is there, however steadily it trickles. */
  readonly wholeTimeoutMs: number;
  readonly maxBodyBytes: number;
}

export const LIMITS: TransportLimits = {
  connectTimeoutMs: 10_000,
  answerTimeoutMs: 30_000,
  wholeTimeoutMs: 120_000,
  maxBodyBytes: 16 * 1024 * 1024,
};

/** Runs something after so many milliseconds, unless the returned function is called before. */
export type Later = (ms: number, run: () => void) => () => void;

/** Talks HTTP to one service through a pool of connections, or of tunnels through a proxy; follows no redirect. */
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
    headersTimeout: limits.answerTimeoutMs,
    bodyTimeout: limits.answerTimeoutMs,
    maxResponseSize: limits.maxBodyBytes,
  });
  const prefix = baseUrl.pathname.replace(/\/+$/, "");
  return {
    // Whoever closes has the answers it wants; what is still in the air would only hold up the end.
    close: async () => {
      await Promise.all([pool.destroy(), tunnel?.close()]);
    },
    async send({ method, path, headers, body, signal, notAfter, withinMs = limits.wholeTimeoutMs }) {
      signal?.throwIfAborted();
      notAfter?.throwIfAborted();
      const answer = answerOf(pool, {
        method,
        path: `${prefix}${path}`,
        headers,
        ...(body !== undefined && { body }),
      });
      const stop = (): void => answer.cut(signal?.reason);
      signal?.addEventListener("abort", stop);
      const keep = (): void => {
        if (!answer.hasLeft()) answer.cut(notAfter?.reason);
      };
      // Dozens of requests share the signal, and so many listeners on one make Node.js warn of a leak.
      const unsent = notAfter && AbortSignal.any([notAfter]);
      unsent?.addEventListener("abort", keep);
      const onTime = later(withinMs, () =>
        answer.cut(new LostAnswer("timeout", `${baseUrl.host} did not answer whole in time`, true)),
      );
      try {
        return await answer.whole;
      } catch (error) {
        signal?.throwIfAborted();
        if (notAfter?.aborted && error === notAfter.reason) throw error;
        throw lostAnswer(error, baseUrl.host) ?? error;
      } finally {
        onTime();
        signal?.removeEventListener("abort", stop);
        unsent?.removeEventListener("abort", keep);
      }
    },
  };
}

/** Sends a request: its answer, read whole, whether it has left, and how to end it before that. */
function answerOf(
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
    // Its own requests come with signals and streams, for which there is no need here: a third of their time.
    pool.dispatch(request, {
      onRequestStart: (controller) => {
        connection = controller;
        // It was still waiting for its connection, and must not leave now.
        if (isCut) controller.abort(CUT);
      },
      onResponseStart(_, code, fields) {
        status = code;
        headers = fields;
      },
      onResponseData: (_, piece) => void pieces.push(piece),
      onResponseEnd() {
        const body = Buffer.concat(pieces).toString();
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

const CUT = new Error("nobody waits for the answer any more");

/** Says what an error of a connection to `host` means for the request that met it; null where it is a bug. */
export function lostAnswer(error: unknown, host: string): LostAnswer | null {
  // A host with several addresses fails with one error for each; the first speaks for all.
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const code = textOf(first, "code");
  const lost = (kind: LostAnswer["kind"], message: string, sent: boolean): LostAnswer =>
    new LostAnswer(kind, message, sent, error);
  // It has no code; whatever was answered, the request has arrived somewhere.
  if (first instanceof Error && first.name === "HTTPParserError") {
    return lost("network", `${host} did not answer in HTTP`, true);
  }
  if (code === "" || first instanceof TypeError || first instanceof RangeError || MISUSE.test(code))
    return null;
  const syscall = textOf(first, "syscall");
  // What fails while connecting has sent nothing; what breaks later may have.
  const connecting = syscall === "connect" || syscall === "getaddrinfo";
  const known = NETWORK[connecting && code === "ETIMEDOUT" ? "UND_ERR_CONNECT_TIMEOUT" : code];
  if (known) return lost(known.kind ?? "network", known.words(host), known.sent);
  if (UNTRUSTED.test(code)) {
    return lost("untrusted", `the certificate of ${host} cannot be trusted (${code})`, false);
  }
  return connecting
    ? lost("network", `${host} cannot be reached (${code})`, false)
    : lost("network", `the connection to ${host} broke (${code})`, true);
}

/** What undici and Node.js call a request that no network could have sent. */
const MISUSE =
  /^(?:UND_ERR_(?:INVALID_ARG|INVALID_RETURN_VALUE|NOT_SUPPORTED|REQ_CONTENT_LENGTH_MISMATCH)|ERR_INVALID_.*)$/;

/** What OpenSSL and Node.js call a certificate that will not do; they find that before anything is sent. */
const UNTRUSTED = /^(?:CERT_|ERR_TLS_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_CA)/;

function textOf(error: unknown, name: "code" | "syscall"): string {
  const value: unknown = error instanceof Error ? Reflect.get(error, name) : "";
  return typeof value === "string" ? value : "";
}

interface Words {
  readonly kind?: LostAnswer["kind"];
  readonly sent: boolean;
  readonly words: (host: string) => string;
}

const NO_TLS: Words = { kind: "untrusted", sent: false, words: (host) => `${host} does not speak HTTPS` };

const NETWORK: Readonly<Record<string, Words>> = {
  ECONNREFUSED: { sent: false, words: (host) => `nothing listens at ${host}` },
  ENOTFOUND: { sent: false, words: (host) => `there is no host called ${host}` },
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: {
    sent: true,
    words: (host) => `${host} sent more or less than its answer's length says`,
  },
  UND_ERR_HEADERS_OVERFLOW: { sent: true, words: (host) => `${host} sent headers that are too large` },
  EMFILE: {
    sent: false,
    words: () =>
      "this process may not open any more files or connections (EMFILE); use a smaller --concurrency, or raise `ulimit -n`",
  },
  EAI_AGAIN: { sent: false, words: (host) => `the name ${host} cannot be looked up now` },
  ERR_SSL_WRONG_VERSION_NUMBER: NO_TLS,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: NO_TLS,
  UND_ERR_CONNECT_TIMEOUT: {
    kind: "timeout",
    sent: false,
    words: (host) => `no connection to ${host} in time`,
  },
  UND_ERR_HEADERS_TIMEOUT: { kind: "timeout", sent: true, words: (host) => `${host} did not answer in time` },
  UND_ERR_BODY_TIMEOUT: { kind: "timeout", sent: true, words: (host) => `${host} stopped half-way` },
  UND_ERR_RES_EXCEEDED_MAX_SIZE: {
    kind: "too-large",
    sent: true,
    words: (host) => `what ${host} sends is larger than any answer should be`,
  },
};

/** An HTTP proxy that opens a tunnel to the service. */
export interface ProxyServer {
  /** `http:` or `https:`, host and port; without credentials. */
  readonly origin: string;
  /** Value of the header `Proxy-Authorization`; null without credentials. */
  readonly authorization: string | null;
}

/** Connects to a service through a proxy. */
export interface Tunnel {
  readonly connect: buildConnector.connector;
  close(): Promise<void>;
}

/** Makes tunnels to the origin of `target` (CONNECT, RFC 9110); none is opened yet. */
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
          onResponseStart: () => fail(new Error("the proxy answered without opening a tunnel")),
          onResponseError: (_, error) => fail(error),
        },
      );
    },
  };
}

/** Failures on the way to the proxy: the request itself was not sent. */
function proxyFailure(error: unknown, host: string): LostAnswer {
  const lost = lostAnswer(error, `${host} (the proxy)`);
  return new LostAnswer(
    lost?.kind ?? "network",
    lost?.message ?? `${host} (the proxy) opened no tunnel`,
    false,
    error,
  );
}

function refusedTunnel(status: number, host: string, path: string): LostAnswer {
  // Asked again it would say the same, except where it could not reach the service.
  if (status >= 500)
    return new LostAnswer("network", `the proxy ${host} cannot reach ${path} (${status})`, false);
  const why = status === 407 ? "asks for other credentials" : `refuses a tunnel to ${path}`;
  return new LostAnswer("untrusted", `the proxy ${host} ${why} (${status})`, false);
}
