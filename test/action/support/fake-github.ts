import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { Answer, CUT_OFF, type Route, timeText } from "./github-answers.ts";
import { type GitStore, gitStore, type KeepObject } from "./github-git.ts";
import { githubRoutes, graphql } from "./github-routes.ts";

/**
 * What a token may do; a missing right is answered as GitHub does. `contents` and `runs` are to read, `push` is to write
 * contents, `pulls` to open pull requests, and `comments`, `statuses` and `issues` are to write those.
 */
export type Right = "contents" | "push" | "pulls" | "comments" | "statuses" | "runs" | "issues";

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

export interface FakeStatus {
  readonly sha: string;
  readonly context: string;
  readonly state: string;
  readonly description: string;
}

export interface FakePull {
  readonly number: number;
  head: string;
  base: string;
  /** The commit that it became on its base branch. */
  merged: string | null;
  /** As GitHub tells it; without it a merged one is merged now. */
  mergedAt?: string;
  closed?: boolean;
  /** The branch of its head; without it of a fork, or of no importance. */
  readonly branch?: string;
  readonly fork?: boolean;
  readonly author?: string;
  title?: string;
  body?: string;
  /** Commits on the base branch, besides `merged`, that it became, as by a rebase. */
  also?: readonly string[];
  /** The commit of its base branch that it was opened on. */
  readonly forkedFrom?: string;
  /** Its head before the last push. */
  previous?: string;
}

export type ReviewState = "APPROVED" | "CHANGES_REQUESTED" | "COMMENTED" | "DISMISSED";

export interface FakeReview {
  readonly id: number;
  readonly pull: number;
  readonly author: string;
  /** Whether the author may push to the repository. */
  readonly mayPush: boolean;
  state: ReviewState;
  readonly submittedAt: string;
  readonly commit: string;
}

export interface FakeDismissal {
  readonly pull: number;
  readonly review: number;
  /** The state before. */
  readonly state: ReviewState;
  readonly at: string;
}

/** How the next requests that a rule is for are answered instead. */
export interface Refusal {
  readonly method: string;
  readonly path: RegExp;
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly message?: string;
  /** Whether it is done all the same, and only its answer is lost. */
  readonly done?: boolean;
  /** Whether the answer is cut off. */
  readonly cut?: boolean;
  times: number;
}

/** What happens at the next request of a kind, before it is answered. */
export interface Incident {
  readonly method: string;
  readonly path: RegExp;
  readonly happens: () => void;
}

/** Lists that may show a write only after some more requests. */
export type Lagging = "comments" | "pulls";

/** A limit of GitHub's: every request is refused for a while. */
export interface LimitOptions {
  /** How many requests are answered first. */
  readonly after?: number;
  /** How long it lasts, from the first request that it refuses. */
  readonly seconds: number;
}

/** GitHub's API, as far as the action uses it, with its pages, rights, limits and lags. */
export interface FakeGithub {
  readonly url: string;
  readonly token: string;
  /** Milliseconds since the epoch. */
  now(): number;
  /** The time as GitHub tells it; without a clock a minute later each time. */
  tick(): string;
  readonly git: GitStore;
  readonly comments: FakeComment[];
  readonly issues: FakeIssue[];
  /** In the order they were set. */
  readonly statuses: FakeStatus[];
  /** The approvals of the run at work. */
  readonly approvals: { readonly environment: string; readonly by: string }[];
  readonly pulls: FakePull[];
  readonly reviews: FakeReview[];
  readonly dismissals: FakeDismissal[];
  /** Branch → commit. */
  readonly branches: Map<string, string>;
  readonly rights: Set<Right>;
  readonly refusals: Refusal[];
  readonly incidents: Incident[];
  /** `GET /path?query` of every request. */
  readonly requests: string[];
  /** How many further requests a write stays out of a list for. */
  readonly lags: Record<Lagging, number>;
  /** Characters that a comment or an issue may have. */
  maxBody: number;
  /** Fewer than GitHub's 100, so that a few things already need several pages. */
  pageSize: number;
  isPrivate: boolean;
  /** Makes a commit of these files; gives its name. */
  commit(files: Readonly<Record<string, string>>, parents?: readonly string[]): string;
  /** Submits a review of the head of a pull request, unless of another commit. */
  review(pull: number, review?: Partial<FakeReview>): FakeReview;
  /** Refuses requests for a while: all by the hour (primary), or because they come too fast (secondary). */
  limit(kind: "primary" | "secondary", options: LimitOptions): void;
  /** Hides something that was just written from the lists that lag. */
  hide(kind: Lagging, written: object): void;
  isVisible(written: object): boolean;
  /** A number that nothing else has. */
  nextId(): number;
  stop(): Promise<void>;
}

/** Starts it on a free port of this machine; without a clock its time moves on as it is told. */
export async function startGithub(keep: KeepObject, clock?: { now(): number }): Promise<FakeGithub> {
  const git = gitStore(keep);
  const hidden = new WeakMap<object, number>();
  const limits: Limit[] = [];
  let [ids, time] = [1000, Date.parse("2026-11-01T00:00:00Z")];
  const now = (): number => clock?.now() ?? time;
  const fake: FakeGithub = {
    url: "",
    token: "ghs_fake_token_of_the_workflow",
    now,
    tick: () => {
      time += 60_000;
      return timeText(now());
    },
    git,
    comments: [],
    issues: [],
    statuses: [],
    approvals: [],
    pulls: [],
    reviews: [],
    dismissals: [],
    branches: new Map(),
    rights: new Set<Right>(["contents", "push", "pulls", "comments", "statuses", "runs", "issues"]),
    refusals: [],
    incidents: [],
    requests: [],
    lags: { comments: 0, pulls: 0 },
    maxBody: 65_536,
    pageSize: 3,
    isPrivate: true,
    commit: (files, parents = []) => {
      const blobs = Object.entries(files).map(([path, text]) => [path, git.addBlob(text)] as const);
      return git.addCommit({ tree: git.addTree(new Map(blobs)), parents, message: "Change", at: now() });
    },
    review: (pull, review = {}) => {
      const submitted: FakeReview = {
        id: fake.nextId(),
        pull,
        author: "rita",
        mayPush: true,
        state: "APPROVED",
        submittedAt: fake.tick(),
        commit: fake.pulls.find(({ number }) => number === pull)?.head ?? "",
        ...review,
      };
      fake.reviews.push(submitted);
      return submitted;
    },
    limit: (kind, { after = 0, seconds }) => {
      limits.push({ kind, from: fake.requests.length + after, seconds, until: null });
    },
    hide: (kind, written) => {
      hidden.set(written, fake.requests.length + fake.lags[kind]);
    },
    isVisible: (written) => (hidden.get(written) ?? 0) < fake.requests.length,
    nextId: () => {
      ids += 1;
      return ids;
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  const routes = githubRoutes(fake);

  const answer = async (request: IncomingMessage): Promise<Answer> => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://fake");
    const method = String(request.method);
    const whole = decodeURIComponent(pathname);
    for (const incident of takenIncidents(fake.incidents, method, whole)) incident.happens();
    fake.requests.push(`${method} ${pathname}${searchParams.size > 0 ? `?${searchParams}` : ""}`);
    if (![`token ${fake.token}`, `Bearer ${fake.token}`].includes(request.headers.authorization ?? ""))
      return new Answer(401, { message: "Bad credentials" });
    const text = await textOf(request);
    const body = text === "" ? {} : (JSON.parse(text) as Record<string, unknown>);
    const limit = limited(limits, fake);
    if (limit !== null) return limit;
    const refusal = fake.refusals.find(
      (one) => one.times > 0 && one.method === method && one.path.test(whole),
    );
    if (refusal === undefined) return regular(method, pathname, searchParams, body);
    refusal.times -= 1;
    if (refusal.done) regular(method, pathname, searchParams, body);
    const message = refusal.message ?? "refused";
    return new Answer(refusal.status, refusal.cut ? CUT_OFF : { message }, refusal.headers);
  };

  const regular = (
    method: string,
    pathname: string,
    query: URLSearchParams,
    body: Record<string, unknown>,
  ): Answer => {
    if (pathname === "/api/graphql") return new Answer(200, graphql(fake, body));
    const prefix = "/api/v3/repos/acme/access";
    if (!pathname.startsWith(prefix)) return new Answer(404, { message: "Not Found" });
    const path = decodeURIComponent(pathname.slice(prefix.length));
    const [route, match] = routeFor(routes, method, path);
    if (route === undefined || match === undefined)
      return new Answer(404, { message: `no route for ${method} ${path}` });
    const value = route[2](match, query, body);
    const [size, url] = [fake.pageSize, `${fake.url}${pathname.slice("/api/v3".length)}`];
    return method === "GET" ? paged(value, query, url, size) : new Answer(200, value);
  };

  const server = createServer((request, response) => {
    answer(request)
      .catch((error: unknown) =>
        error instanceof Answer ? error : new Answer(500, { message: String(error) }),
      )
      .then((given) => {
        response.setHeader("date", new Date(fake.now()).toUTCString());
        given.send(response);
      });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v3`;
  return Object.assign(fake, { url });
}

interface Limit {
  readonly kind: "primary" | "secondary";
  readonly from: number;
  readonly seconds: number;
  until: number | null;
}

/** The answer while a limit lasts. */
function limited(limits: readonly Limit[], { requests, now }: FakeGithub): Answer | null {
  for (const limit of limits) {
    if (requests.length <= limit.from) continue;
    const time = now();
    limit.until ??= time + limit.seconds * 1000;
    if (time >= limit.until) continue;
    const left = Math.ceil((limit.until - time) / 1000);
    const message =
      limit.kind === "primary"
        ? "API rate limit exceeded for installation ID 1."
        : "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.";
    const headers =
      limit.kind === "primary"
        ? { "x-ratelimit-remaining": "0", "x-ratelimit-reset": String(Math.ceil(limit.until / 1000)) }
        : { "retry-after": String(left) };
    return new Answer(403, { message }, headers);
  }
  return null;
}

/** Takes the incidents of a request out of the list: each happens once. */
function takenIncidents(incidents: Incident[], method: string, path: string): readonly Incident[] {
  const due = incidents.filter((one) => one.method === method && one.path.test(path));
  for (const one of due) incidents.splice(incidents.indexOf(one), 1);
  return due;
}

function routeFor(
  routes: readonly Route[],
  method: string,
  path: string,
): readonly [Route, RegExpExecArray] | readonly [] {
  for (const route of routes) {
    const match = route[0] === method ? route[1].exec(path) : null;
    if (match !== null) return [route, match];
  }
  return [];
}

/** One page of a list, with the way to the next in `link`. */
function paged(value: unknown, query: URLSearchParams, url: string, pageSize: number): Answer {
  if (!Array.isArray(value) || !query.has("per_page")) return new Answer(200, value);
  // A listing of commits is asked for one page of a size of its own.
  const most = url.endsWith("/commits") ? 100 : pageSize;
  const [size, page] = [Math.min(Number(query.get("per_page")), most), Number(query.get("page") ?? 1)];
  const part = value.slice((page - 1) * size, page * size);
  const next = new URLSearchParams(query);
  next.set("page", String(page + 1));
  const headers = page * size < value.length ? { link: `<${url}?${next}>; rel="next"` } : {};
  return new Answer(200, part, headers);
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += chunk;
  return text;
}
