import { GitHub, getOctokitOptions } from "@actions/github/lib/utils";
import { ActionError } from "../action-error.ts";
import {
  type CheckRun,
  type Comment,
  type Commit,
  type Github,
  GithubError,
  type Issue,
  type Proposal,
  type Pull,
  type TreeEntry,
} from "./github-api.ts";

/** Connection settings of GitHub's API. */
export interface GithubConnection {
  readonly token: string;
  /** Such as `https://api.github.com`, or the URL of an Enterprise Server. */
  readonly apiUrl: string;
  readonly owner: string;
  readonly repo: string;
}

const PER_PAGE = 100;
/** Mode of a symbolic link in a tree. */
const LINK = "120000";

/** Connects to GitHub's API; requests wait for rate limits. */
export function connectGithub(
  { token, apiUrl, owner, repo }: GithubConnection,
  effects: RetryEffects,
): Github {
  if (token === "") {
    throw new ActionError(
      "usage",
      "The input github-token is empty.",
      "Remove it: the default is the workflow's own token.",
    );
  }
  const octokit = new GitHub(getOctokitOptions(token, { baseUrl: apiUrl, log: QUIET }));
  octokit.hook.wrap("request", async (request, options) => {
    // Every PATCH sends the whole new value, so that a second one changes nothing.
    const repeatable = /^(GET|PATCH)$/.test(options.method) || options.url.endsWith("/graphql");
    try {
      return await withRetries(async () => request(options), refusalOf, repeatable, effects);
    } catch (error) {
      const path = options.url.replace(/\{[^}]*\}/g, "…");
      const refused = refusalOf(error);
      const limit = refused && limitOf(refused);
      const message = `${options.method} ${path}: ${limit ?? messageOf(error)}`;
      throw new GithubError(refused?.status ?? 0, message, limit);
    }
  });
  const here = { owner, repo };
  const { rest } = octokit;
  const pages = { ...here, per_page: PER_PAGE };
  let viewer: Promise<string> | undefined;
  // A list may lack what was created a moment ago, even by the same run.
  const created = new Map<string, readonly CheckRun[]>();
  return {
    viewer: () => {
      viewer ??= octokit
        .graphql<{ readonly viewer: { readonly login: string } }>("query { viewer { login } }")
        .then((response) => response.viewer.login)
        // The login of every workflow's own token.
        .catch(() => "github-actions[bot]");
      return viewer;
    },
    repository: async () => {
      const { data } = await rest.repos.get(here);
      return { defaultBranch: data.default_branch, isPublic: !data.private };
    },
    branchTip: async (branch) => (await rest.git.getRef({ ...here, ref: `heads/${branch}` })).data.object.sha,
    branchesBelow: async (prefix) => {
      const refs = await octokit.paginate(rest.git.listMatchingRefs, { ...pages, ref: `heads/${prefix}` });
      return new Map(refs.map(({ ref, object }) => [ref.slice("refs/heads/".length), object.sha]));
    },
    parents: async (sha) => {
      const { data } = await rest.git.getCommit({ ...here, commit_sha: sha });
      return data.parents.map((parent) => parent.sha);
    },
    commits: async (sha, page) => {
      const { data } = await rest.repos.listCommits({ ...pages, sha, page });
      return data.map(commitOf);
    },
    compare: async (base, head) => {
      const commits: Commit[] = [];
      for (let page = 1; ; page++) {
        const query = { ...pages, basehead: `${base}...${head}`, page };
        const { data } = await rest.repos.compareCommitsWithBasehead(query);
        commits.push(...data.commits.map(commitOf));
        const complete = data.commits.length < PER_PAGE;
        if (complete || page === MAX_COMPARED_PAGES) return { status: data.status, commits };
      }
    },
    pull: async (number) => pullOf((await rest.pulls.get({ ...here, pull_number: number })).data),
    pullsOf: async (sha) => {
      const all = await octokit.paginate(rest.repos.listPullRequestsAssociatedWithCommit, {
        ...pages,
        commit_sha: sha,
      });
      return all.map(pullOf);
    },
    reviews: async (pull) => {
      const all = await octokit.paginate(rest.pulls.listReviews, { ...pages, pull_number: pull });
      return all.flatMap(({ id, user, author_association, state, submitted_at, commit_id }) =>
        submitted_at === undefined
          ? []
          : {
              id,
              author: user?.login ?? "",
              association: author_association ?? "",
              state,
              submittedAt: submitted_at,
              commit: commit_id,
            },
      );
    },
    tree: async (sha, recursive) => {
      const depth = recursive ? { recursive: "1" } : {};
      const { data } = await rest.git.getTree({ ...here, tree_sha: sha, ...depth });
      const entries = data.tree.flatMap(({ type, mode, path, sha: name }): readonly TreeEntry[] => {
        if (!path || !name || mode === LINK) return [];
        return type === "commit" ? [] : [{ path, type: type === "tree" ? "folder" : "file", sha: name }];
      });
      return { entries, truncated: data.truncated };
    },
    blob: async (sha) =>
      Buffer.from((await rest.git.getBlob({ ...here, file_sha: sha })).data.content, "base64"),
    comments: async (issue) =>
      (await octokit.paginate(rest.issues.listComments, { ...pages, issue_number: issue })).map(commentOf),
    comment: async (id) => {
      const { data } = await rest.issues.getComment({ ...here, comment_id: id });
      return { ...commentOf(data), issue: Number(data.issue_url.split("/").at(-1)) };
    },
    addComment: async (issue, body) =>
      commentOf((await rest.issues.createComment({ ...here, issue_number: issue, body })).data),
    editComment: async (id, body) => {
      await rest.issues.updateComment({ ...here, comment_id: id, body });
    },
    deleteComment: async (id) => {
      await rest.issues.deleteComment({ ...here, comment_id: id });
    },
    checks: async (sha) => {
      const runs = await octokit.paginate(rest.checks.listForRef, { ...pages, ref: sha, filter: "all" });
      const own = (created.get(sha) ?? []).filter(({ id }) => runs.every((run) => run.id !== id));
      return [...runs.map(checkOf), ...own];
    },
    addCheck: async ({ name, sha, externalId, conclusion, title, summary, text }) => {
      const { data } = await rest.checks.create({
        ...here,
        name,
        head_sha: sha,
        external_id: externalId,
        status: "completed",
        conclusion,
        output: { title, summary, ...(text !== "" && { text }) },
      });
      created.set(sha, [...(created.get(sha) ?? []), { ...checkOf(data), text }]);
      return data.app?.slug ?? "";
    },
    editCheck: async (id, externalId) => {
      await rest.checks.update({ ...here, check_run_id: id, external_id: externalId });
    },
    issues: async (label) => {
      const all = await octokit.paginate(rest.issues.listForRepo, { ...pages, state: "all", labels: label });
      return all.filter((issue) => issue.pull_request === undefined).map(issueOf);
    },
    addIssue: async (title, body, label) =>
      issueOf((await rest.issues.create({ ...here, title, body, labels: [label] })).data),
    editIssue: async (number, { body, open }) => {
      await rest.issues.update({
        ...here,
        issue_number: number,
        ...(body !== undefined && { body }),
        ...(open !== undefined && { state: open ? "open" : "closed" }),
      });
    },
    addCommit: async (parent, files, message) => {
      const base = (await rest.git.getCommit({ ...here, commit_sha: parent })).data.tree.sha;
      const tree = files.map(({ path, text }) => {
        return { path, mode: "100644", type: "blob", content: text } as const;
      });
      const { data } = await rest.git.createTree({ ...here, base_tree: base, tree });
      const commit = { message, tree: data.sha, parents: [parent] };
      return (await rest.git.createCommit({ ...here, ...commit })).data.sha;
    },
    setBranch: async (branch, sha) => {
      try {
        await rest.git.updateRef({ ...here, ref: `heads/${branch}`, sha, force: true });
      } catch (error) {
        // GitHub's answer to an unknown branch.
        if (!(error instanceof GithubError) || (error.status !== 404 && error.status !== 422)) throw error;
        await rest.git.createRef({ ...here, ref: `refs/heads/${branch}`, sha });
      }
    },
    proposals: async (branch) => {
      const { data } = await rest.pulls.list({
        ...here,
        head: `${owner}:${branch}`,
        state: "all",
        per_page: PER_PAGE,
      });
      return data.map(proposalOf);
    },
    addPull: async (pull) => proposalOf((await rest.pulls.create({ ...here, ...pull })).data),
    editPull: async (number, { body, open }) => {
      await rest.pulls.update({
        ...here,
        pull_number: number,
        ...(body !== undefined && { body }),
        ...(open !== undefined && { state: open ? "open" : "closed" }),
      });
    },
  };
}

interface ProposalData extends Written {
  readonly number: number;
  readonly state: string;
  readonly merged_at: string | null;
}

function proposalOf(data: ProposalData): Proposal {
  return { ...issueOf(data), merged: data.merged_at !== null };
}

const nothing = (): void => undefined;
/** Octokit would log GitHub's messages unescaped. */
const QUIET = { debug: nothing, info: nothing, warn: nothing, error: nothing };

const MAX_COMPARED_PAGES = 5;

function commitOf({
  sha,
  parents,
}: {
  readonly sha: string;
  readonly parents: readonly { readonly sha: string }[];
}): Commit {
  return { sha, parents: parents.map((parent) => parent.sha) };
}

interface Written {
  readonly user?: { readonly login: string } | null;
  readonly body?: string | null;
  readonly html_url: string;
}

function written({ user, body, html_url }: Written): Omit<Comment, "id"> {
  return { author: user?.login ?? "", body: body ?? "", url: html_url };
}

function commentOf(data: Written & { readonly id: number }): Comment {
  return { id: data.id, ...written(data) };
}

function issueOf(data: Written & { readonly number: number; readonly state: string }): Issue {
  return { number: data.number, open: data.state === "open", ...written(data) };
}

interface CheckData {
  readonly id: number;
  readonly external_id: string | null;
  readonly conclusion: string | null;
  readonly output: { readonly text: string | null };
  readonly app: { readonly slug?: string } | null;
  readonly completed_at: string | null;
}

function checkOf({ id, external_id, conclusion, output, app, completed_at }: CheckData): CheckRun {
  return {
    id,
    externalId: external_id ?? "",
    conclusion,
    text: output.text ?? "",
    app: app?.slug ?? "",
    completedAt: completed_at,
  };
}

interface PullData {
  readonly number: number;
  readonly head: { readonly sha: string };
  readonly base: { readonly ref: string };
  readonly state: string;
  readonly merged_at: string | null;
  readonly merge_commit_sha: string | null;
}

function pullOf({ number, head, base, state, merged_at, merge_commit_sha }: PullData): Pull {
  const mergedAs = merged_at === null ? null : (merge_commit_sha ?? "");
  return {
    number,
    headSha: head.sha,
    baseRef: base.ref,
    open: state === "open",
    mergedAs,
    mergedAt: merged_at,
  };
}

function refusalOf(error: unknown): RefusedRequest | null {
  if (!(error instanceof Error) || !("status" in error) || typeof error.status !== "number") return null;
  const response = "response" in error ? (error.response as { headers?: RefusedRequest["headers"] }) : {};
  return { status: error.status, headers: response?.headers ?? {}, message: error.message };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The part of an error response that determines the delay of a retry. */
export interface RefusedRequest {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | number | undefined>>;
  readonly message: string;
}

/** Effects of a retry. */
export interface RetryEffects {
  now(): number;
  sleep(ms: number): Promise<void>;
  /** Logs the reason for a delay. */
  log(text: string): void;
}

const MAX_ATTEMPTS = 5;
const MAX_WAIT_MS = 2 * 60_000;
const MAX_TOTAL_WAIT_MS = 5 * 60_000;
/** GitHub's recommendation for secondary rate limits without a header. */
const SECONDARY_WAIT_MS = 60_000;
const FAILURE_WAIT_MS = 1_000;

/**
 * Retries a request after rate limits, and a repeatable one after server errors, within a limited number of attempts and
 * a limited time. `refusalOf` extracts the response from an error of `send`.
 */
export async function withRetries<T>(
  send: () => Promise<T>,
  refusalOf: (error: unknown) => RefusedRequest | null,
  repeatable: boolean,
  effects: RetryEffects,
): Promise<T> {
  let waited = 0;
  for (let attempt = 1; ; attempt++) {
    try {
      return await send();
    } catch (error) {
      const refused = refusalOf(error);
      const wait = refused && waitFor(refused, repeatable, attempt, effects.now());
      if (wait === null || attempt >= MAX_ATTEMPTS) throw error;
      if (wait > MAX_WAIT_MS || waited + wait > MAX_TOTAL_WAIT_MS) throw error;
      waited += wait;
      if (wait > 0) effects.log(`GitHub asks to wait ${(wait / 1000).toFixed(0)} s (${refused?.status}).`);
      await effects.sleep(wait);
    }
  }
}

const SECONDARY_LIMIT = /secondary rate limit|abuse detection/i;

/** Explains the rate limit that refused a request; `null` for any other refusal. */
function limitOf({ status, headers, message }: RefusedRequest): string | null {
  if (status !== 403 && status !== 429) return null;
  if (SECONDARY_LIMIT.test(message))
    return "GitHub's secondary rate limit is reached: too many requests at once";
  const isUsedUp = String(headers["x-ratelimit-remaining"]) === "0" || /rate limit exceeded/i.test(message);
  if (!isUsedUp && status !== 429) return null;
  const reset = Number(headers["x-ratelimit-reset"]);
  const end = reset > 0 ? ` until ${new Date(reset * 1000).toISOString().slice(11, 16)} UTC` : "";
  return `GitHub's rate limit is used up${end}`;
}

/** Returns the delay before the next attempt, in ms; `null` to give up. */
function waitFor(
  { status, headers, message }: RefusedRequest,
  repeatable: boolean,
  attempt: number,
  now: number,
): number | null {
  if (status === 403 || status === 429) {
    const after = Number(headers["retry-after"]);
    if (headers["retry-after"] !== undefined && Number.isFinite(after)) return Math.max(after, 0) * 1000;
    const reset = Number(headers["x-ratelimit-reset"]) * 1000;
    if (String(headers["x-ratelimit-remaining"]) === "0" && Number.isFinite(reset)) {
      return Math.max(reset - now, 0) + 1000;
    }
    if (SECONDARY_LIMIT.test(message)) return SECONDARY_WAIT_MS * 2 ** (attempt - 1);
    return status === 429 ? SECONDARY_WAIT_MS : null;
  }
  return status >= 500 && repeatable ? FAILURE_WAIT_MS * 2 ** (attempt - 1) : null;
}
