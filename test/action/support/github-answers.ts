import type { ServerResponse } from "node:http";
import type { FakeComment, FakeGithub, FakeIssue, FakePull, Right } from "./fake-github.ts";
import type { GitCommit } from "./github-git.ts";

/** The login of the workflows' own token. */
export const BOT = "github-actions[bot]";

const HERE = "acme/access";
const SITE = `https://github.example/${HERE}`;
/** A time as GitHub tells it, without milliseconds. */
export function timeText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

export function commentJson({ id, issue, author, body }: FakeComment): object {
  return {
    id,
    body,
    user: { login: author },
    html_url: `${SITE}/pull/${issue}#issuecomment-${id}`,
    issue_url: `https://api.github.example/repos/${HERE}/issues/${issue}`,
  };
}

export function issueJson({ number, title, author, labels, body, state }: FakeIssue): object {
  return {
    number,
    title,
    body,
    state,
    labels: labels.map((name) => ({ name })),
    user: { login: author },
    html_url: `${SITE}/issues/${number}`,
  };
}

export function pullJson(pull: FakePull, { branches, now }: FakeGithub): object {
  const {
    number,
    head,
    base,
    merged,
    mergedAt = timeText(now()),
    closed = false,
    branch,
    author,
    fork,
  } = pull;
  const isMerged = merged !== null;
  return {
    number,
    title: pull.title ?? `Change ${number}`,
    body: pull.body ?? "",
    state: isMerged || closed ? "closed" : "open",
    merged: isMerged,
    draft: false,
    user: { login: author ?? "ada" },
    head: {
      sha: head,
      ref: branch ?? `change-${number}`,
      repo: { full_name: fork ? "mallory/access" : HERE },
    },
    base: { ref: base, sha: branches.get(base), repo: { full_name: HERE } },
    merged_at: isMerged ? mergedAt : null,
    merge_commit_sha: merged,
    html_url: `${SITE}/pull/${number}`,
  };
}

export function commitJson({ sha, tree, parents, message, at }: GitCommit): object {
  const by = { name: "Ada", email: "ada@example.com", date: timeText(at) };
  return {
    sha,
    html_url: `${SITE}/commit/${sha}`,
    message,
    tree: { sha: tree },
    author: by,
    committer: by,
    parents: parents.map((one) => ({ sha: one })),
  };
}

/** The body of an answer that is cut off. */
export const CUT_OFF = Symbol("cut off");

/** What is answered; thrown where a handler cannot go on. */
export class Answer extends Error {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}) {
    super(String(status));
    this.status = status;
    this.body = body;
    this.headers = headers;
  }

  send(response: ServerResponse): void {
    response.writeHead(this.status, { "content-type": "application/json; charset=utf-8", ...this.headers });
    response.end(this.body === CUT_OFF ? "{" : JSON.stringify(this.body));
  }
}

type Handler = (match: RegExpExecArray, query: URLSearchParams, body: Record<string, unknown>) => unknown;

/** A method, what follows the repository's path, and what is answered. */
export type Route = readonly [method: string, path: RegExp, handler: Handler];

/** Answers with 404 where there is nothing. */
export function found<T>(value: T | undefined | null): T {
  if (value === undefined || value === null) throw new Answer(404, { message: "Not Found" });
  return value;
}

/** Answers with 403 where the token lacks a right. */
export function need({ rights }: FakeGithub, right: Right): void {
  if (!rights.has(right)) throw new Answer(403, { message: "Resource not accessible by integration" });
}

/** Answers with 422. */
export function invalid(message: string, field = "body"): Answer {
  const errors = [{ field, code: "custom", message }];
  return new Answer(422, { message: `Validation Failed: ${message}`, errors });
}
