import { isIP } from "node:net";
import type { Io } from "../../app/io/io.ts";
import { type Connection, checkEnvironment, proxyFor } from "../../app/session/connection.ts";
import type { DesiredState } from "../../model/desired.ts";
import { rolecallErrorOf } from "../../model/errors.ts";
import type { LiveState } from "../../model/live.ts";
import type { HealthCheck } from "../../model/reports.ts";
import { isHtml } from "../../service/http/request-errors.ts";
import { LostResponse, type ProxyServer, type TransportResponse } from "../../service/http/transport.ts";
import type { KeyUser } from "../../service/key-user.ts";
import { checkBaseUrl } from "../../service/paths.ts";
import type { Reached } from "../../service/reach-service.ts";

/** The network of the checks, so that tests can pass their own. */
export interface Network {
  /** Returns the addresses of a host; rejects with an error that has a code. */
  lookup(host: string): Promise<readonly string[]>;
  /** Opens a connection, and closes it; rejects with a LostResponse. */
  reach(target: URL, proxy: ProxyServer | null): Promise<Reached>;
  /** Sends a request without a key; rejects with a LostResponse. */
  ask(baseUrl: URL, proxy: ProxyServer | null): Promise<TransportResponse>;
}

/** The way to a service, as far as it is known. */
interface Way {
  readonly baseUrl: string;
  /** Origin of the base URL. */
  readonly source: string;
  readonly url: URL;
  readonly proxy: ProxyServer | null;
  readonly response: TransportResponse | null;
  readonly network: Network;
  readonly io: Pick<Io, "env" | "now" | "monotonic">;
}

/** The result of a check, with the data that later checks need. */
type Step = Omit<HealthCheck, "name"> & Partial<Pick<Way, "url" | "proxy" | "response">>;

/** The checks of the way to a service, in the order in which they build on each other. */
const SERVICE_CHECKS: readonly (readonly [name: string, run: (way: Way) => Step | Promise<Step>])[] = [
  ["Base URL", checkAddress],
  ["Proxy", checkProxy],
  ["DNS", checkName],
  ["Connection", checkConnection],
  ["Response", checkResponse],
  ["Clock", checkClock],
];

/** Checks the way to a service step by step, until one fails. */
export async function checkService(
  { baseUrl, source }: Pick<Way, "baseUrl" | "source">,
  network: Network,
  io: Way["io"],
): Promise<readonly HealthCheck[]> {
  const checks: HealthCheck[] = [];
  let way: Way = {
    baseUrl,
    source,
    url: new URL("http://127.0.0.1"),
    proxy: null,
    response: null,
    network,
    io,
  };
  for (const [name, run] of SERVICE_CHECKS) {
    const { status, detail, next, ...learned } = await run(way);
    checks.push({ name, status, detail, ...(next !== undefined && { next }) });
    if (status === "failed") break;
    way = { ...way, ...learned };
  }
  return checks;
}

function checkAddress({ baseUrl, source }: Way): Step {
  try {
    return { status: "ok", detail: `from ${source}`, url: checkBaseUrl(baseUrl) };
  } catch (error) {
    const { detail, ...rest } = failedBy(error);
    return { ...rest, detail: `${detail} It comes from ${source}.` };
  }
}

function checkProxy({ url, io }: Way): Step {
  try {
    const choice = proxyFor(url, io.env);
    if (choice === null) return { status: "ok", detail: "none" };
    const { proxy, because } = choice;
    return proxy === null
      ? { status: "ok", detail: `not used: ${because}` }
      : { status: "ok", detail: `${proxy.origin}, from ${because}`, proxy };
  } catch (error) {
    return failedBy(error);
  }
}

async function checkName({ url, proxy, network }: Way): Promise<Step> {
  const host = (proxy ? new URL(proxy.origin) : url).hostname.replace(/^\[(.*)\]$/, "$1");
  const whose = proxy ? `the proxy's name ${host}` : host;
  if (isIP(host) !== 0) return { status: "ok", detail: `${host} is an IP address` };
  try {
    const [first = "", ...more] = await network.lookup(host);
    return {
      status: "ok",
      detail: `${whose} is ${first}${more.length > 0 ? ` and ${more.length} more` : ""}`,
    };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const reason = DNS_REASONS[code ?? ""] ?? `cannot be looked up (${code ?? String(error)})`;
    return {
      status: "failed",
      detail: `${whose} ${reason}`,
      next: `Check the ${proxy ? "proxy" : "base URL"} and the name server of this machine.`,
    };
  }
}

const DNS_REASONS: Readonly<Record<string, string>> = {
  ENOTFOUND: "does not exist",
  EAI_AGAIN: "cannot be looked up now: no name server responds",
  ETIMEDOUT: "was not resolved by the name server in time",
};

async function checkConnection({ url, proxy, network, io }: Way): Promise<Step> {
  const began = io.monotonic();
  try {
    const { tls } = await network.reach(url, proxy);
    const kind =
      tls === null ? "TCP, without TLS" : `${tls.version}, certificate valid until ${dayOf(tls.validUntil)}`;
    return { status: "ok", detail: `${kind}; ${Math.round(io.monotonic() - began)} ms` };
  } catch (error) {
    return lost(error, "Check the base URL, the network and the proxy settings.");
  }
}

function dayOf(text: string): string {
  const time = Date.parse(text);
  return Number.isNaN(time) ? text : new Date(time).toISOString().slice(0, 10);
}

async function checkResponse({ url, proxy, network, io }: Way): Promise<Step> {
  const began = io.monotonic();
  try {
    const response = await network.ask(url, proxy);
    const ms = Math.round(io.monotonic() - began);
    return { ...judgeResponse(response, ms), response };
  } catch (error) {
    return lost(error, "Check proxies and gateways in between, or contact the service's operators.");
  }
}

/** Judges the response to a request without a key. */
function judgeResponse(response: TransportResponse, ms: number): Step {
  const { status } = response;
  const next = "Check the base URL, and that no login page or proxy responds instead.";
  if (isHtml(response)) return { status: "failed", detail: `a web page (${status}), not the service`, next };
  if (status >= 300 && status < 400) return { status: "failed", detail: `a redirect (${status})`, next };
  if (status >= 500) {
    return {
      status: "failed",
      detail: `the service responded with an error (${status})`,
      next: "Try again later.",
    };
  }
  if (status === 401 || status === 403)
    return { status: "ok", detail: `asks for a key (${status}); ${ms} ms` };
  if (status === 429) return { status: "ok", detail: `busy (429); ${ms} ms` };
  return { status: "unknown", detail: `${status} to a request without a key` };
}

/** Maximum harmless difference between the clocks, in ms. */
const MAX_SKEW_MS = 60_000;

function checkClock({ response, io }: Way): Step {
  const date = Date.parse(response?.header("date") ?? "");
  if (Number.isNaN(date)) return { status: "unknown", detail: "the response has no Date header" };
  const skew = io.now() - date;
  const seconds = Math.round(Math.abs(skew) / 1000);
  // The header has whole seconds.
  if (seconds <= 1) return { status: "ok", detail: "the same as the service's" };
  const detail = `${durationOf(seconds)} ${skew > 0 ? "ahead of" : "behind"} the service's`;
  if (Math.abs(skew) <= MAX_SKEW_MS) return { status: "ok", detail };
  return {
    status: "failed",
    detail: `${detail}: end dates take effect at the wrong time`,
    next: "Set this machine's clock.",
  };
}

function durationOf(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} days`;
}

function failedBy(error: unknown): Step {
  const { message, hint } = rolecallErrorOf(error);
  return { status: "failed", detail: message, ...(hint !== undefined && { next: hint }) };
}

const CERTIFICATE =
  "Check the base URL. If the certificate is your own, set NODE_EXTRA_CA_CERTS to its file.";

function lost(error: unknown, next: string): Step {
  if (!(error instanceof LostResponse)) throw error;
  return { status: "failed", detail: error.message, next: error.kind === "untrusted" ? CERTIFICATE : next };
}

/** Checks the form of a key, which is never shown. */
export function checkForm({ key, environment }: Connection): HealthCheck {
  const name = "Form";
  const isNamed = /^sk_(?:live|test)_/.test(key);
  if (isNamed) return { name, status: "ok", detail: `a ${environment} key` };
  return { name, status: "unknown", detail: "no sk_live_ or sk_test_ key, so its environment is unknown" };
}

/** Checks that file, key and service agree on the environment of a merchant; `null` if the service cannot say it. */
export function checkAccount(
  merchant: string,
  state: Pick<DesiredState, "environment"> | null,
  connection: Connection,
  { sandbox, sandboxFailure }: Pick<LiveState, "sandbox" | "sandboxFailure">,
): HealthCheck | null {
  const name = "Environment";
  try {
    checkEnvironment({ ...state, merchant }, connection, sandbox);
  } catch (error) {
    return { name, ...failedBy(error) };
  }
  if (sandboxFailure) return { name, status: "unknown", detail: sandboxFailure.message };
  if (sandbox === undefined) return null;
  return { name, status: "ok", detail: `a ${sandbox ? "test" : "live"} account` };
}

/** Checks that the service accepts a key, and whose it is. */
export async function checkAccepted(
  { keySource }: Connection,
  { memberships }: Pick<KeyUser, "memberships">,
): Promise<HealthCheck> {
  const name = "Accepted";
  try {
    const { length } = await memberships({}, true);
    return {
      name,
      status: "ok",
      detail: `yes; its user has ${length} ${length === 1 ? "membership" : "memberships"}`,
    };
  } catch (error) {
    const { code, message } = rolecallErrorOf(error);
    if (code === "unauthorized") {
      const next = `Check the key in ${keySource}, or create a new one.`;
      return { name, status: "failed", detail: "no, the service rejects it (401)", next };
    }
    if (code !== "forbidden") return { name, status: "unknown", detail: message };
    const detail =
      "yes, but not tied to a user or without user.profile_readonly: plans cannot tell whether they would lock the key out";
    return { name, status: "unknown", detail };
  }
}
