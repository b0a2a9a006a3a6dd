import { spawn } from "node:child_process";
import { type Io, userAgentOf } from "../../app/io/io.ts";
import { proxyFor } from "../../app/session/connection.ts";
import { oneLine } from "../../lib/escape.ts";
import { RolecallError } from "../../model/errors.ts";
import { createTunnel, LIMITS, LostResponse, undiciTransport } from "../../service/http/transport.ts";
import { checkBaseUrl } from "../../service/paths.ts";

/** The text of a pull request. */
export interface PullText {
  readonly title: string;
  readonly body: string;
}

/** An open pull request. */
export interface OpenPull {
  readonly number: number;
  readonly url: string;
}

/** The pull requests of a repository at GitHub. */
export interface PullRequests {
  /** Returns the open pull request of a branch; `null` if there is none. Throws RolecallError, as the others do. */
  find(branch: string): Promise<OpenPull | null>;
  create(branch: string, base: string, text: PullText): Promise<OpenPull>;
  update(number: number, text: PullText): Promise<OpenPull>;
  close(): Promise<void>;
}

/** A repository at a host, such as `acme/access` at `github.com`. */
export interface HostedRepository {
  readonly host: string;
  readonly name: string;
}

/** Returns the repository that the address of a remote names; `null` for an address of another kind. */
export function hostedRepository(url: string): HostedRepository | null {
  const [, host, name] =
    /^(?:https?|ssh|git):\/\/(?:[^@/]*@)?([^/:]+)(?::\d+)?\/([^/]+\/[^/]+?)(?:\.git)?\/?$/.exec(url) ??
    /^(?:[^@/:]+@)?([^/:]+):([^/]+\/[^/]+?)(?:\.git)?\/?$/.exec(url) ??
    [];
  return host === undefined || name === undefined || !/^[\w.-]+\/[\w.-]+$/.test(name) ? null : { host, name };
}

/** Returns the token for GitHub in the environment; `null` if there is none. */
export function forgeToken({ env }: Pick<Io, "env">): string | null {
  return env["GH_TOKEN"]?.trim() || env["GITHUB_TOKEN"]?.trim() || null;
}

/** Opens the pull requests of a repository, with a token or, without one, with gh. */
export function openPullRequests({ host, name }: HostedRepository, io: Io): PullRequests {
  const token = forgeToken(io);
  const { send, close } = token === null ? ghSender(host, io) : httpSender(host, token, io);
  const pulls = `/repos/${name}/pulls`;
  const [owner = ""] = name.split("/");
  return {
    find: async (branch) => {
      const query = new URLSearchParams({ head: `${owner}:${branch}`, state: "open" });
      const found = await send("GET", `${pulls}?${query}`);
      return Array.isArray(found) && found.length > 0 ? pullOf(found[0]) : null;
    },
    create: async (head, base, text) => pullOf(await send("POST", pulls, { ...text, head, base })),
    update: async (number, text) => pullOf(await send("PATCH", `${pulls}/${number}`, { ...text })),
    close,
  };
}

/** Sends a request to the API of GitHub, and returns the parsed response. */
type Send = (method: "GET" | "POST" | "PATCH", path: string, body?: object) => Promise<unknown>;

interface Sender {
  readonly send: Send;
  close(): Promise<void>;
}

function httpSender(host: string, token: string, io: Io): Sender {
  const address =
    io.env["GITHUB_API_URL"] || (host === "github.com" ? "https://api.github.com" : `https://${host}/api/v3`);
  const url = checkBaseUrl(address);
  const proxy = proxyFor(url, io.env)?.proxy;
  const tunnel = proxy ? createTunnel(url, proxy, LIMITS.connectTimeoutMs) : null;
  const transport = undiciTransport(url, 1, io.setTimer, LIMITS, tunnel);
  return {
    close: transport.close,
    send: async (method, path, body) => {
      const headers = {
        accept: "application/vnd.github+json",
        authorization: `token ${token}`,
        "user-agent": userAgentOf(io),
        ...(body && { "content-type": "application/json" }),
      };
      const request = { method, path, headers, ...(body && { body: JSON.stringify(body) }) };
      const response = await transport.send(request).catch((cause: unknown) => {
        if (!(cause instanceof LostResponse)) throw cause;
        throw failed(cause.message, null);
      });
      const answer = parsed(response.body);
      if (response.status < 200 || response.status >= 300) throw failed(messageOf(answer), response.status);
      return answer;
    },
  };
}

function ghSender(host: string, io: Io): Sender {
  return {
    close: async () => undefined,
    send: async (method, path, body) => {
      const args = ["api", "--hostname", host, "--method", method, path.slice(1)];
      const { code, stdout, stderr } = await runGh(body ? [...args, "--input", "-"] : args, body, io);
      if (code === null) {
        throw new RolecallError("usage", "Opening a pull request requires gh or a token.", {
          hint: "Install gh and run gh auth login, or set GH_TOKEN to a token that may write contents and pull requests.",
        });
      }
      if (code === 0) return parsed(stdout);
      const status = /\(HTTP (\d+)\)/.exec(stderr)?.[1];
      const [said = ""] = stderr.split("\n", 1);
      throw failed(said || `gh ended with code ${code}`, status === undefined ? null : Number(status));
    },
  };
}

interface GhEnd {
  /** `null` if gh could not be started. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function runGh(args: readonly string[], body: object | undefined, { cwd, env }: Io): Promise<GhEnd> {
  return new Promise((resolve) => {
    const child = spawn("gh", args, { cwd, env, stdio: ["pipe", "pipe", "pipe"] });
    const texts = { stdout: "", stderr: "" };
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      texts.stdout += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      texts.stderr += text;
    });
    child.on("error", () => resolve({ code: null, ...texts }));
    child.on("close", (code) => resolve({ code: code ?? 1, ...texts }));
    // A program that ends early closes its input; its exit code tells the reason.
    child.stdin.on("error", () => undefined);
    child.stdin.end(body === undefined ? "" : JSON.stringify(body));
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function messageOf(answer: unknown): string {
  const { message, errors } = Object(answer) as { message?: unknown; errors?: unknown };
  const details = Array.isArray(errors)
    ? errors.flatMap((error) => Object(error as unknown).message ?? [])
    : [];
  return [message, ...details].filter((text) => typeof text === "string").join(": ") || "no message";
}

function failed(message: string, status: number | null): RolecallError {
  const isDenied = status === 401 || status === 403 || status === 404;
  const hint = isDenied
    ? "Check that the token, or the account of gh, may write contents and pull requests of this repository."
    : "Check the network, and try again later.";
  const number = status === null ? "" : ` (${status})`;
  return new RolecallError(isDenied ? "forbidden" : "network", `GitHub: ${oneLine(message)}${number}.`, {
    hint,
  });
}

function pullOf(answer: unknown): OpenPull {
  const { number, html_url: url } = Object(answer) as { number?: unknown; html_url?: unknown };
  if (typeof number !== "number") throw failed("the response has no pull request", null);
  return { number, url: typeof url === "string" ? url : `#${number}` };
}
