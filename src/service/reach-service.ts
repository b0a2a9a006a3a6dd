import { buildConnector } from "undici";
import {
  createTunnel,
  LIMITS,
  LostResponse,
  lostResponse,
  type ProxyServer,
  type TransportResponse,
  undiciTransport,
} from "./http/transport.ts";
import type { ConnectOptions } from "./open-client.ts";
import { MEMBERSHIPS_PATH } from "./paths.ts";

/** A connection that was opened as a test. */
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
        // Only a TLS socket knows its protocol and certificate.
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

/** Sends a request without a key, which the service must refuse; rejects with a LostResponse. */
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
