import { buildConnector, Pool } from "undici";
import { LostAnswer, lostAnswer } from "./transport.ts";

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
