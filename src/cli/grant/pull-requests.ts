import { oneLine } from "../../lib/escape.ts";
import { RolecallError } from "../../model/errors.ts";
import type { GithubClient, GithubResponse } from "../github/github-client.ts";

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

/** The pull requests of a repository at GitHub; each function throws RolecallError. */
export interface PullRequests {
  /** Returns the open pull request of a branch; `null` if there is none. */
  find(branch: string): Promise<OpenPull | null>;
  create(branch: string, base: string, text: PullText): Promise<OpenPull>;
  update(number: number, text: PullText): Promise<OpenPull>;
}

/** The permissions that a token needs. */
export const MAY_PROPOSE = "may write contents and pull requests";

/** Returns the pull requests of a repository. */
export function pullRequests({ repository, get, send }: GithubClient): PullRequests {
  return {
    find: async (branch) => {
      const query = new URLSearchParams({ head: `${repository.owner}:${branch}`, state: "open" });
      const found = answerOf(await get(`pulls?${query}`));
      return Array.isArray(found) && found.length > 0 ? pullOf(found[0]) : null;
    },
    create: async (head, base, text) =>
      pullOf(answerOf(await send("POST", "pulls", { ...text, head, base }))),
    update: async (number, text) => pullOf(answerOf(await send("PATCH", `pulls/${number}`, text))),
  };
}

function answerOf({ status, body }: GithubResponse): unknown {
  if (status === null) throw failed(String(body), null);
  if (status < 200 || status >= 300) throw failed(messageOf(body), status);
  return body;
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
    ? `Check that the token, or the account of gh, ${MAY_PROPOSE} of this repository.`
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
