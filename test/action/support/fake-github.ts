import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What a token may do; a missing right is answered as GitHub does. */
export type Right = "contents" | "comments" | "checks" | "issues";

/** A comment as the fake keeps it. */
export interface FakeComment {
  readonly id: number;
  readonly issue: number;
  readonly author: string;
  body: string;
  /** Every text that it has had. */
  readonly history: string[];
}

export interface FakeIssue {
  readonly number: number;
  readonly title: string;
  readonly author: string;
  readonly labels: readonly string[];
  body: string;
  state: "open" | "closed";
}

export interface FakeCheck {
  readonly id: number;
  readonly name: string;
  readonly head_sha: string;
  readonly external_id: string;
  readonly conclusion: string;
  readonly completed_at: string;
  readonly app: { readonly slug: string };
  readonly output: { readonly title: string; readonly summary: string; readonly text?: string };
}

export interface FakePull {
  readonly number: number;
  head: string;
  base: string;
  merged: string | null;
  mergedAt?: string;
  closed?: boolean;
}

export interface FakeReview {
  readonly id: number;
  readonly pull: number;
  readonly author: string;
  readonly association: string;
  state: string;
  readonly submittedAt: string;
  readonly commit: string;
}

/** How the next requests that a rule is for are answered instead. */
export interface Refusal {
  readonly method: string;
  readonly path: RegExp;
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly message?: string;
  times: number;
}

/** GitHub's API, as far as the action uses it, with its pages, rights and limits. */
export interface FakeGithub {
  readonly url: string;
  readonly token: string;
  readonly comments: FakeComment[];
  readonly issues: FakeIssue[];
  readonly checks: FakeCheck[];
  readonly pulls: FakePull[];
  readonly reviews: FakeReview[];
  /** The app of the token. */
  app: string;
  /** Branch → commit. */
  readonly branches: Map<string, string>;
  readonly rights: Set<Right>;
  readonly refusals: Refusal[];
  /** `GET /path?query` of every request. */
  readonly requests: string[];
  /** Characters that a comment or an issue may have. */
  maxBody: number;
  isPrivate: boolean;
  /** Makes a commit of these files; gives its name. */
  commit(files: Readonly<Record<string, string>>, parents?: readonly string[]): string;
  /** The time at GitHub: a minute later each time. */
  tick(): string;
  /** Submits a review of the head of a pull request, unless of another commit. */
  review(pull: number, review?: Partial<FakeReview>): FakeReview;
  stop(): Promise<void>;
}

const OWNER = "acme";
const REPO = "access";
const BOT = "github-actions[bot]";
/** Fewer than GitHub's, so that a few things already need several pages. */
const PAGE = 3;

interface Commit {
  readonly parents: readonly string[];
  readonly files: ReadonlyMap<string, string>;
}

/** Starts it on a free port of this machine. */
export async function startGithub(): Promise<FakeGithub> {
  const commits = new Map<string, Commit>();
  const blobs = new Map<string, string>();
  let ids = 1000;
  let time = Date.parse("2026-11-01T00:00:00Z");
  const fake = {
    url: "",
    token: "ghs_fake_token_of_the_workflow",
    comments: [] as FakeComment[],
    issues: [] as FakeIssue[],
    checks: [] as FakeCheck[],
    pulls: [] as FakePull[],
    reviews: [] as FakeReview[],
    app: "github-actions",
    tick: () => {
      time += 60_000;
      return new Date(time).toISOString().replace(".000", "");
    },
    review: (pull: number, review: Partial<FakeReview> = {}) => {
      const commit = fake.pulls.find(({ number }) => number === pull)?.head ?? "";
      const submitted: FakeReview = {
        id: ++ids,
        pull,
        author: "rita",
        association: "MEMBER",
        state: "APPROVED",
        submittedAt: fake.tick(),
        commit,
        ...review,
      };
      fake.reviews.push(submitted);
      return submitted;
    },
    branches: new Map<string, string>(),
    rights: new Set<Right>(["contents", "comments", "checks", "issues"]),
    refusals: [] as Refusal[],
    requests: [] as string[],
    maxBody: 65_536,
    isPrivate: true,
    commit: (files: Readonly<Record<string, string>>, parents: readonly string[] = []) => {
      const named = new Map(
        Object.entries(files).map(([path, text]) => {
          const bytes = Buffer.from(text);
          const sha = createHash("sha1").update(`blob ${bytes.length}\0`).update(bytes).digest("hex");
          blobs.set(sha, text);
          return [path, sha] as const;
        }),
      );
      const sha = createHash("sha1")
        .update(JSON.stringify([[...named], parents, commits.size]))
        .digest("hex");
      commits.set(sha, { parents, files: named });
      return sha;
    },
  };

  const commentJson = ({ id, issue, author, body }: FakeComment) => ({
    id,
    body,
    user: { login: author },
    html_url: `https://github.example/${OWNER}/${REPO}/pull/${issue}#issuecomment-${id}`,
  });
  const issueJson = ({ number, title, author, labels, body, state }: FakeIssue) => ({
    number,
    title,
    body,
    state,
    labels: labels.map((name) => ({ name })),
    user: { login: author },
    html_url: `https://github.example/${OWNER}/${REPO}/issues/${number}`,
  });
  const pullJson = ({ number, head, base, merged, mergedAt, closed = false }: FakePull) => ({
    number,
    state: merged !== null || closed ? "closed" : "open",
    head: { sha: head },
    base: { ref: base },
    merged_at: merged === null ? null : (mergedAt ?? new Date(time).toISOString()),
    merge_commit_sha: merged,
  });
  const need = (right: Right): void => {
    if (!fake.rights.has(right)) throw new Answer(403, { message: "Resource not accessible by integration" });
  };
  const short = (body: unknown): string => {
    const text = String(body);
    if (text.length > fake.maxBody) {
      throw new Answer(422, {
        message: "Validation Failed",
        errors: [{ field: "body", code: "custom", message: "body is too long" }],
      });
    }
    return text;
  };
  const found = <T>(value: T | undefined): T => {
    if (value === undefined) throw new Answer(404, { message: "Not Found" });
    return value;
  };
  const ancestors = (sha: string): readonly string[] => {
    const commit = commits.get(sha);
    return commit === undefined ? [] : [sha, ...ancestors(commit.parents[0] ?? "")];
  };

  type Handler = (match: RegExpExecArray, query: URLSearchParams, body: Record<string, unknown>) => unknown;
  const routes: readonly (readonly [string, RegExp, Handler])[] = [
    ["GET", /^$/, () => ({ default_branch: "main", private: fake.isPrivate })],
    [
      "GET",
      /^\/git\/ref\/heads\/(.+)$/,
      ([, branch]) => ({ object: { sha: found(fake.branches.get(String(branch))) } }),
    ],
    [
      "GET",
      /^\/git\/commits\/(\w+)$/,
      ([, sha]) => ({ parents: found(commits.get(String(sha))).parents.map((one) => ({ sha: one })) }),
    ],
    [
      "GET",
      /^\/commits$/,
      (_, query) => {
        const [size, page] = [Number(query.get("per_page")), Number(query.get("page") ?? 1)];
        return ancestors(query.get("sha") ?? "")
          .slice((page - 1) * size, page * size)
          .map((sha) => ({ sha, parents: (commits.get(sha)?.parents ?? []).map((one) => ({ sha: one })) }));
      },
    ],
    [
      "GET",
      /^\/commits\/(\w+)\/pulls$/,
      ([, sha]) => fake.pulls.filter(({ merged, head }) => merged === sha || head === sha).map(pullJson),
    ],
    [
      "GET",
      /^\/commits\/(\w+)\/check-runs$/,
      ([, sha]) => ({
        check_runs: fake.checks.filter(({ head_sha }) => head_sha === sha),
        total_count: fake.checks.filter(({ head_sha }) => head_sha === sha).length,
      }),
    ],
    [
      "POST",
      /^\/check-runs$/,
      (_, __, body) => {
        need("checks");
        const made = { id: ++ids, completed_at: fake.tick(), app: { slug: fake.app } };
        const check = { ...(body as unknown as FakeCheck), ...made };
        if ((check.output.text?.length ?? 0) > 65_535) throw new Answer(422, { message: "text is too long" });
        fake.checks.push(check);
        return check;
      },
    ],
    [
      "GET",
      /^\/pulls\/(\d+)$/,
      ([, number]) => pullJson(found(fake.pulls.find((pull) => pull.number === Number(number)))),
    ],
    [
      "GET",
      /^\/pulls\/(\d+)\/reviews$/,
      ([, number]) =>
        fake.reviews
          .filter(({ pull }) => pull === Number(number))
          .map(({ id, author, association, state, submittedAt, commit }) => ({
            id,
            user: { login: author },
            author_association: association,
            state,
            submitted_at: submittedAt,
            commit_id: commit,
          })),
    ],
    [
      "GET",
      /^\/git\/trees\/(\w+)$/,
      ([, sha]) => {
        need("contents");
        const { files } = found(commits.get(String(sha)));
        const tree = [...files].map(([path, blob]) => ({ path, sha: blob, type: "blob", mode: "100644" }));
        return { truncated: false, tree };
      },
    ],
    [
      "GET",
      /^\/git\/blobs\/(\w+)$/,
      ([, sha]) => ({ content: Buffer.from(found(blobs.get(String(sha)))).toString("base64") }),
    ],
    [
      "GET",
      /^\/issues\/(\d+)\/comments$/,
      ([, issue]) => fake.comments.filter((one) => one.issue === Number(issue)).map(commentJson),
    ],
    [
      "POST",
      /^\/issues\/(\d+)\/comments$/,
      ([, issue], _, { body }) => {
        need("comments");
        const text = short(body);
        const comment = { id: ++ids, issue: Number(issue), author: BOT, body: text, history: [text] };
        fake.comments.push(comment);
        return commentJson(comment);
      },
    ],
    [
      "PATCH",
      /^\/issues\/comments\/(\d+)$/,
      ([, id], _, { body }) => {
        need("comments");
        const comment = found(fake.comments.find((one) => one.id === Number(id)));
        comment.body = short(body);
        comment.history.push(comment.body);
        return commentJson(comment);
      },
    ],
    [
      "GET",
      /^\/issues$/,
      (_, query) =>
        fake.issues.filter(({ labels }) => labels.includes(query.get("labels") ?? "")).map(issueJson),
    ],
    [
      "POST",
      /^\/issues$/,
      (_, __, { title, body, labels }) => {
        need("issues");
        const issue: FakeIssue = {
          number: ++ids,
          title: String(title),
          author: BOT,
          labels: labels as string[],
          body: short(body),
          state: "open",
        };
        fake.issues.push(issue);
        return issueJson(issue);
      },
    ],
    [
      "PATCH",
      /^\/issues\/(\d+)$/,
      ([, number], _, { body, state }) => {
        need("issues");
        const issue = found(fake.issues.find((one) => one.number === Number(number)));
        if (body !== undefined) issue.body = short(body);
        if (state === "open" || state === "closed") issue.state = state;
        return issueJson(issue);
      },
    ],
  ];

  const refusalFor = (method: string, path: string): Answer | null => {
    const refusal = fake.refusals.find(
      (one) => one.times > 0 && one.method === method && one.path.test(path),
    );
    if (refusal === undefined) return null;
    refusal.times -= 1;
    return new Answer(refusal.status, { message: refusal.message ?? "refused" }, refusal.headers);
  };

  const answer = async (request: IncomingMessage): Promise<Answer> => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://fake");
    const method = String(request.method);
    fake.requests.push(`${method} ${pathname}${searchParams.size > 0 ? `?${searchParams}` : ""}`);
    if (request.headers.authorization !== `token ${fake.token}`)
      return new Answer(401, { message: "Bad credentials" });
    const text = await textOf(request);
    const body = text === "" ? {} : (JSON.parse(text) as Record<string, unknown>);
    const refused = refusalFor(method, decodeURIComponent(pathname));
    if (refused) return refused;
    if (pathname === "/api/graphql") return new Answer(200, { data: { viewer: { login: BOT } } });
    const prefix = `/api/v3/repos/${OWNER}/${REPO}`;
    if (!pathname.startsWith(prefix)) return new Answer(404, { message: "Not Found" });
    const path = decodeURIComponent(pathname.slice(prefix.length));
    const route = routes.find(([wanted, pattern]) => wanted === method && pattern.test(path));
    const match = route?.[1].exec(path);
    if (route && match) {
      return paged(route[2](match, searchParams, body), searchParams, `${fake.url}${pathname.slice(7)}`);
    }
    return new Answer(404, { message: `no route for ${method} ${path}` });
  };

  const server = createServer((request, response) => {
    answer(request)
      .catch((error: unknown) =>
        error instanceof Answer ? error : new Answer(500, { message: String(error) }),
      )
      .then((given) => given.send(response));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  fake.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v3`;
  const stop = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return Object.assign(fake, { stop });
}

/** What is answered; thrown where a handler cannot go on. */
class Answer extends Error {
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
    response.end(JSON.stringify(this.body));
  }
}

/** One page of a list, with the way to the next in `link`. */
function paged(value: unknown, query: URLSearchParams, url: string): Answer {
  const list = Array.isArray(value) ? value : checkRunsOf(value);
  if (list === null || !query.has("per_page")) return new Answer(200, value);
  const [size, page] = [Math.min(Number(query.get("per_page")), PAGE), Number(query.get("page") ?? 1)];
  // A listing of commits is asked for one page of a size of its own.
  if (url.endsWith("/commits")) return new Answer(200, value);
  const part = list.slice((page - 1) * size, page * size);
  const next = new URLSearchParams(query);
  next.set("page", String(page + 1));
  const headers = page * size < list.length ? { link: `<${url}?${next}>; rel="next"` } : {};
  return new Answer(200, Array.isArray(value) ? part : { ...(value as object), check_runs: part }, headers);
}

function checkRunsOf(value: unknown): readonly unknown[] | null {
  const runs = Object(value).check_runs;
  return Array.isArray(runs) ? runs : null;
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += chunk;
  return text;
}
