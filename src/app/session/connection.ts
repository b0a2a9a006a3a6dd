import { BlockList, isIP } from "node:net";
import { findKeys } from "../../kernel/problems/secrets.ts";
import { VARIABLE } from "../../kernel/values/text-schemas.ts";
import { isThisMachine } from "../../lib/base-url.ts";
import { normalizeServiceUrl } from "../../lib/text.ts";
import type { Addressed, Environment } from "../../model/desired.ts";
import { type Failure, RolecallError } from "../../model/errors.ts";
import { checkKey } from "../../service/http/check-key.ts";
import type { ProxyServer } from "../../service/http/transport.ts";
import type { Io } from "../io/io.ts";
import { isSigningKey } from "../records/signing-key.ts";

/** The connection of one merchant to its service. */
export interface Connection {
  /** Normalised URL. */
  readonly baseUrl: string;
  /** Origin of the URL: the option, the file or the environment variable. */
  readonly baseUrlSource: string;
  readonly key: string;
  /** Name of the environment variable that held the key. */
  readonly keySource: string;
  /** The file's environment, else that of the key's prefix; `null` if unknown. */
  readonly environment: Environment | null;
}

/**
 * Resolves the base URL and key of a merchant from the option, the file and the environment. Messages never contain the
 * key; they call the option by its name.
 */
export function resolveConnection(
  state: Addressed,
  option: string | undefined,
  env: Io["env"],
  optionName = "--base-url",
): Connection {
  const [baseUrl, baseUrlSource] = baseUrlOf(state, [option, optionName], env);
  if (!baseUrl) {
    throw new RolecallError("base-url-missing", `No base URL is configured for ${state.merchant}.`, {
      hint: `Set ROLECALL_BASE_URL, pass ${optionName}, or add api.base_url to the file.`,
    });
  }
  const { key, keySource } = keyIn(keyVariables(state), env, ` for ${state.merchant}`);
  return {
    baseUrl: normalizeServiceUrl(baseUrl),
    baseUrlSource,
    key,
    keySource,
    environment: agreedEnvironment(state, key, keySource),
  };
}

function baseUrlOf(
  { baseUrl, origin }: Addressed,
  option: readonly [url: string | undefined, name: string],
  env: Io["env"],
): readonly [url: string | undefined, source: string] {
  if (option[0] !== undefined) return option;
  if (baseUrl !== undefined) return [baseUrl, `api.base_url in ${origin.file}`];
  return [env["ROLECALL_BASE_URL"], "ROLECALL_BASE_URL"];
}

/** Returns the environment variables for a merchant's key, in order of precedence. */
export function keyVariables({
  merchant,
  keyEnv,
}: Pick<Addressed, "merchant" | "keyEnv">): readonly string[] {
  const variable = `ROLECALL_API_KEY_${merchant.toUpperCase().replaceAll(/[^A-Z0-9]/g, "_")}`;
  return keyEnv ? [keyEnv] : [variable, "ROLECALL_API_KEY"];
}

/**
 * Resolves a connection that does not belong to a merchant: from the options and the environment; the base URL also
 * from the files, if they name only one.
 */
export function resolveOwnConnection(
  { baseUrl: option, keyEnv = "ROLECALL_API_KEY" }: { readonly baseUrl?: string; readonly keyEnv?: string },
  env: Io["env"],
  files: readonly Addressed[] = [],
): Connection {
  const [only, ...more] = new Set(files.flatMap(({ baseUrl }) => baseUrl ?? []));
  const candidates = [
    [option, "--base-url"],
    [env["ROLECALL_BASE_URL"], "ROLECALL_BASE_URL"],
    [more.length === 0 ? only : undefined, "api.base_url in the files"],
  ] as const;
  const [baseUrl, baseUrlSource] = candidates.find(([url]) => url) ?? [];
  if (!baseUrl || !baseUrlSource) {
    throw new RolecallError("base-url-missing", "No base URL is configured.", {
      hint: "Set ROLECALL_BASE_URL, or pass --base-url.",
    });
  }
  requireVariable(keyEnv);
  const { key, keySource } = keyIn([keyEnv], env);
  return {
    baseUrl: normalizeServiceUrl(baseUrl),
    baseUrlSource,
    key,
    keySource,
    environment: environmentOfKey(key),
  };
}

/** Throws RolecallError for a name that no environment variable can have; `keyIn` rejects keys. */
export function requireVariable(name: string): void {
  if (VARIABLE.test(name) || isKey(name)) return;
  throw new RolecallError("usage", "--key-env must be the name of an environment variable.", {
    hint: "Use letters, digits and underscores, such as RETAIL_API_KEY; never pass the key itself.",
  });
}

/** Returns the first key in these variables; `whose` follows "no API key" in the error message if there is none. */
function keyIn(
  candidates: readonly string[],
  env: Io["env"],
  whose = "",
): Pick<Connection, "key" | "keySource"> {
  const keySource = candidates.find((name) => env[name]);
  const key = keySource && env[keySource]?.trim();
  if (candidates.some(isKey)) {
    throw new RolecallError("key-missing", "An API key was passed instead of the name of its variable.", {
      hint: "Set an environment variable to the key, and pass the name of the variable.",
    });
  }
  const secret = candidates.find((name) => isSigningKey(name, env));
  if (secret !== undefined) {
    // A file decides the variable, and the key goes to the service.
    throw new RolecallError(
      "key-missing",
      `${secret} cannot be an API key: it holds the key that signs records.`,
      {
        hint: "Specify another variable under key_env.",
      },
    );
  }
  if (!keySource || !key) {
    throw new RolecallError("key-missing", `There is no API key${whose}.`, {
      hint: `Set the environment variable ${candidates.join(", or ")}.`,
    });
  }
  checkKey(key, keySource);
  return { key, keySource };
}

/** Returns whether a text is an API key rather than the name of a variable. */
export function isKey(text: string): boolean {
  return findKeys(text).length > 0;
}

/** Returns the environment of a key by its prefix; `null` if it has none. */
function environmentOfKey(key: string): Environment | null {
  if (key.startsWith("sk_live_")) return "live";
  return key.startsWith("sk_test_") ? "test" : null;
}

function agreedEnvironment(state: Addressed, key: string, keySource: string): Environment | null {
  const ofKey = environmentOfKey(key);
  if (state.environment && ofKey && state.environment !== ofKey) {
    throw new RolecallError(
      "key-environment",
      `The file of ${state.merchant} declares "environment: ${state.environment}", but ${keySource} contains a ${ofKey} key.`,
      { hint: `Use a key for the ${state.environment} environment, or correct the file.` },
    );
  }
  return state.environment ?? ofKey;
}

/**
 * Throws RolecallError if, according to the service, a merchant is of another environment than its file or its key;
 * `sandbox` is true for a test account, and absent if the service does not say. With `failure`, the service could not
 * be asked, which throws if the file declares an environment.
 */
export function checkEnvironment(
  { merchant, environment: declared }: Pick<Addressed, "merchant" | "environment">,
  { environment, keySource }: Pick<Connection, "environment" | "keySource">,
  sandbox: boolean | undefined,
  failure?: Failure,
): void {
  if (declared && failure) {
    const { code, message, hint = "", request } = failure;
    throw new RolecallError(
      code,
      `The file of ${merchant} declares "environment: ${declared}", which could not be compared with the account at the service: ${message}`,
      {
        hint: `${hint} Run the command again later; without "environment" in the file, this is not required.`.trim(),
        ...(request && { request }),
      },
    );
  }
  if (environment === null || sandbox === undefined || (environment === "test") === sandbox) return;
  const says = declared
    ? `The file of ${merchant} declares "environment: ${declared}"`
    : `${merchant} would be reached with a ${environment} key (${keySource})`;
  const actual = sandbox ? "test" : "live";
  throw new RolecallError("account-environment", `${says}, but at the service it is a ${actual} account.`, {
    hint: `Check the merchant code and the key; if it is the ${actual} account that you mean, correct the file.`,
  });
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
    (variable) => env[variable],
  );
  if (name === undefined) return null;
  const proxy = parseProxy(env[name] ?? "", name);
  const exempt = ["no_proxy", "NO_PROXY"].find((variable) => env[variable]);
  if (exempt !== undefined && isExempt(service, env[exempt] ?? "")) return { proxy: null, because: exempt };
  // Plain HTTP is for this machine only: the key must not leave it unencrypted.
  if (!secure && !isThisMachine(new URL(proxy.origin).hostname)) {
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
  if (url === null || url.hostname === "") throw refuse("is not the address of a proxy");
  const { protocol, hostname, username, password } = url;
  if (protocol !== "http:" && protocol !== "https:")
    throw refuse(`is a ${protocol.slice(0, -1)} proxy, which is not supported`);
  // URL drops the scheme's default port.
  const [, port = DEFAULT_PORT[protocol]] = /:(\d+)\/*$/.exec(address.replace(/[?#].*$/, "")) ?? [];
  const credentials = orNull(() => `${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
  if (credentials === null) throw refuse("contains credentials that are not percent-encoded");
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

function orNull<T>(make: () => T): T | null {
  try {
    return make();
  } catch {
    return null;
  }
}
