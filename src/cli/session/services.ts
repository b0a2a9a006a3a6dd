import { BlockList, isIP } from "node:net";
import { checkBaseUrl } from "../../live/paths.ts";
import { type ConnectOptions, connect } from "../../live/service.ts";
import type { ProxyServer } from "../../live/transport.ts";
import { RolecallError } from "../../model/errors.ts";
import type { LiveEvent } from "../../model/events.ts";
import type { Io } from "../io/io.ts";
import type { Connection } from "./credentials.ts";

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

/** The proxy that the environment selects for a service. */
export interface ProxyChoice {
  /** `null` for a direct connection. */
  readonly proxy: ProxyServer | null;
  /** The variable that selects it, or why the proxy is not used. */
  readonly because: string;
}

/** curl's default ports of proxies. */
const DEFAULT_PORT = { "http:": "1080", "https:": "443" } as const;

/**
 * Finds the proxy for a service as curl does: in `https_proxy` or `http_proxy`, by the scheme of the service, except
 * for the hosts in `no_proxy`; each also in capitals. `null` if no proxy is set. Throws RolecallError for an invalid
 * address.
 */
export function proxyFor(service: URL, env: Io["env"]): ProxyChoice | null {
  const secure = service.protocol === "https:";
  const name = [secure ? "https_proxy" : "http_proxy", secure ? "HTTPS_PROXY" : "HTTP_PROXY"].find(
    (one) => env[one],
  );
  if (name === undefined) return null;
  const proxy = parseProxy(env[name] ?? "", name);
  const exempt = ["no_proxy", "NO_PROXY"].find((one) => env[one]);
  if (exempt !== undefined && isExempt(service, env[exempt] ?? "")) return { proxy: null, because: exempt };
  // Plain HTTP is for this machine only: the key must not leave it unencrypted.
  if (!secure && !isLoopback(new URL(proxy.origin).hostname)) {
    return { proxy: null, because: "the service is on this machine" };
  }
  return { proxy, because: name };
}

function parseProxy(text: string, variable: string): ProxyServer {
  const refuse = (why: string): RolecallError =>
    new RolecallError("usage", `${variable} ${why}.`, {
      hint: "A proxy's address looks like http://user:password@proxy.example.com:3128.",
    });
  const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null || url.hostname === "") throw refuse("is no address of a proxy");
  const { protocol, hostname, username, password } = url;
  if (protocol !== "http:" && protocol !== "https:")
    throw refuse(`is a ${protocol.slice(0, -1)} proxy, which is not supported`);
  // URL drops the scheme's default port.
  const [, port = DEFAULT_PORT[protocol]] = /:(\d+)\/*$/.exec(address.replace(/[?#].*$/, "")) ?? [];
  const credentials = orNull(() => `${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
  if (credentials === null) throw refuse("holds credentials that are not percent-encoded");
  return {
    origin: `${protocol}//${hostname}:${port}`,
    authorization: username + password === "" ? null : `Basic ${Buffer.from(credentials).toString("base64")}`,
  };
}

/**
 * Returns whether `no_proxy` names a host: `*`, a domain with all below it, an address, or a range (CIDR); each with or
 * without a port.
 */
function isExempt({ hostname, port, protocol }: URL, list: string): boolean {
  const host = bare(hostname);
  const actual = port || (protocol === "https:" ? "443" : "80");
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== "")
    .some((entry) => {
      if (entry === "*") return true;
      const [, name = entry, only = actual] = /^(\[.*\]|[^:]*):(\d+)$/.exec(entry) ?? [];
      return only === actual && covers(bare(name.replace(/^\*?\./, "")), host);
    });
}

function covers(entry: string, host: string): boolean {
  const family = isIP(host);
  if (family === 0) return entry !== "" && (host === entry || host.endsWith(`.${entry}`));
  const [address = "", bits] = entry.split("/");
  if (isIP(address) !== family) return false;
  const range = new BlockList();
  const type = family === 6 ? "ipv6" : "ipv4";
  const length = bits === undefined ? (family === 6 ? 128 : 32) : Number(bits);
  if (!Number.isInteger(length) || length < 0 || length > (family === 6 ? 128 : 32)) return false;
  range.addSubnet(address, length, type);
  return range.check(host, type);
}

/** Returns a host without brackets and the root's dot. */
function bare(host: string): string {
  return host.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(host);
}

function orNull<T>(make: () => T): T | null {
  try {
    return make();
  } catch {
    return null;
  }
}
