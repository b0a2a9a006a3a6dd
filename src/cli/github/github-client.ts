import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { type Io, userAgentOf } from "../../app/io/io.ts";
import { type ForgeRepository, gitRemote, isOtherForge, parseRemote } from "../../app/project/git-remote.ts";
import { proxyFor } from "../../app/session/connection.ts";
import { isThisMachine } from "../../lib/base-url.ts";
import { RolecallError } from "../../model/errors.ts";
import {
  createTunnel,
  LIMITS,
  LostResponse,
  type TransportResponse,
  undiciTransport,
} from "../../service/http/transport.ts";

const run = promisify(execFile);

/** A response of GitHub: its JSON, or its text if that was asked for; `null` as status if there was none. */
export interface GithubResponse {
  readonly status: number | null;
  readonly body: unknown;
}

/** A client of a repository at GitHub. */
export interface GithubClient {
  readonly repository: ForgeRepository;
  /** Gets a path below the repository, or with a leading slash below the API. */
  get(path: string, accept?: "json" | "raw"): Promise<GithubResponse>;
  /** Sends JSON to a path below the repository. */
  send(method: "POST" | "PATCH", path: string, body: object): Promise<GithubResponse>;
  close(): Promise<void>;
}

/**
 * Opens a client of a repository with the token of the environment, or else of `gh`; throws RolecallError without one.
 * `may` describes what the token must be allowed to do.
 */
export async function openGithub(
  repository: ForgeRepository,
  may: string,
  io: Omit<Io, "cwd">,
): Promise<GithubClient> {
  const { env } = io;
  const api = apiOf(repository.host, env);
  const token = await findToken(repository.host, may, env);
  const proxy = proxyFor(api, env)?.proxy ?? null;
  const tunnel = proxy && createTunnel(api, proxy, LIMITS.connectTimeoutMs);
  const transport = undiciTransport(api, CONNECTIONS, io.setTimer, LIMITS, tunnel);
  const request = async (
    method: "GET" | "POST" | "PATCH",
    path: string,
    { accept = "json", body }: { readonly accept?: "json" | "raw"; readonly body?: object } = {},
  ): Promise<GithubResponse> => {
    const whole = path.startsWith("/")
      ? path
      : `/repos/${repository.owner}/${repository.name}${path && `/${path}`}`;
    const headers = {
      accept: `application/vnd.github${accept === "raw" ? ".raw" : ""}+json`,
      authorization: `Bearer ${token}`,
      "user-agent": userAgentOf(io),
      "x-github-api-version": "2022-11-28",
      ...(body && { "content-type": "application/json" }),
    };
    const send = (path: string): Promise<TransportResponse> =>
      transport.send({ method, path, headers, ...(body && { body: JSON.stringify(body) }) });
    try {
      const first = await send(whole);
      const next = redirectOf(first, api);
      const { status, body } = next === null ? first : await send(next);
      return { status, body: accept === "raw" && status === 200 ? body : parsed(body) };
    } catch (error) {
      if (error instanceof LostResponse) return { status: null, body: error.message };
      throw error;
    }
  };
  return {
    repository,
    get: (path, accept = "json") => request("GET", path, { accept }),
    send: (method, path, body) => request(method, path, { body }),
    close: () => transport.close(),
  };
}

const CONNECTIONS = 4;

/** Returns the path below the API to which a response redirects, as for a renamed repository; `null` without one. */
function redirectOf({ status, header }: TransportResponse, api: URL): string | null {
  const location = [301, 302, 307, 308].includes(status) ? header("location") : undefined;
  if (location === undefined || !URL.canParse(location, api.href)) return null;
  const { origin, pathname, search } = new URL(location, api.href);
  const prefix = api.pathname.replace(/\/$/, "");
  // The token is sent to no other host.
  return origin === api.origin && pathname.startsWith(`${prefix}/`)
    ? `${pathname.slice(prefix.length)}${search}`
    : null;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Finds the repository that GH_REPO, GITHUB_REPOSITORY or the remote `origin` names; throws RolecallError without one. */
export async function findRepository({ env, cwd }: Pick<Io, "env" | "cwd">): Promise<ForgeRepository> {
  const named = env["GH_REPO"] || env["GITHUB_REPOSITORY"];
  const host = env["GH_HOST"] || hostOf(env["GITHUB_SERVER_URL"]) || "github.com";
  const address = named && (named.split("/").length === 2 ? `${host}/${named}` : named);
  const repository = address ? parseRemote(address) : await gitRemote(cwd);
  if (repository !== null && !isOtherForge(repository.host)) return repository;
  const reason =
    repository === null
      ? address
        ? `${env["GH_REPO"] ? "GH_REPO" : "GITHUB_REPOSITORY"} is not of the form OWNER/NAME`
        : "the remote origin is missing, or has no address such as https://github.com/OWNER/NAME"
      : `${repository.owner}/${repository.name} is at ${repository.host}`;
  throw new RolecallError("usage", `The repository at GitHub is unknown: ${reason}.`, {
    hint: "Set GH_REPO=OWNER/NAME, or run the command in a clone of it. For other services, see docs/ci.md.",
  });
}

function hostOf(url: string | undefined): string | null {
  return url && URL.canParse(url) ? new URL(url).host : null;
}

/** Returns the URL of the API, without a path of a repository; throws RolecallError if a token must not be sent to it. */
function apiOf(host: string, env: Io["env"]): URL {
  const given = env["GITHUB_API_URL"];
  const text = given || (isHosted(host) ? `https://api.${host}` : `https://${host}/api/v3`);
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol === "https:" || (url?.protocol === "http:" && isThisMachine(url.hostname))) return url;
  throw new RolecallError("usage", "GITHUB_API_URL is not an HTTPS URL.", {
    hint: "Unset it, or set the URL of GitHub's API, such as https://github.example.com/api/v3.",
  });
}

function isHosted(host: string): boolean {
  return host === "github.com" || host.endsWith(".ghe.com");
}

async function findToken(host: string, may: string, env: Io["env"]): Promise<string> {
  const token = environmentToken(host, env) ?? (await tokenOfGh(host, env));
  if (token !== null && /^[\x21-\x7e]+$/.test(token)) return token;
  throw new RolecallError("usage", `There is no token for ${host}.`, {
    hint: `Run gh auth login --hostname ${host}, or set ${tokenNames(host, env)[0]} to a token that ${may}.`,
  });
}

/** Returns the token for a host in the environment; `null` if there is none. */
export function environmentToken(host: string, env: Io["env"]): string | null {
  return (
    tokenNames(host, env)
      .map((name) => env[name]?.trim())
      .find(Boolean) ?? null
  );
}

/** Returns the variables with tokens, as for `gh`: GH_TOKEN and GITHUB_TOKEN are for no other host that a remote names. */
function tokenNames(host: string, env: Io["env"]): readonly string[] {
  const isOwn = isHosted(host) || Boolean(env["GITHUB_API_URL"]);
  return isOwn ? ["GH_TOKEN", "GITHUB_TOKEN"] : ["GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"];
}

async function tokenOfGh(host: string, env: Io["env"]): Promise<string | null> {
  try {
    const { stdout } = await run("gh", ["auth", "token", "--hostname", host], { env: { ...env } });
    return stdout.trim() || null;
  } catch {
    return null;
  }
}
