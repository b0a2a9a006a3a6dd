import { GitHub, getOctokitOptions } from "@actions/github/lib/utils";
import type { ForgePull } from "../../review/forge.ts";
import { ActionError } from "../context/action-error.ts";
import {
  type Commit,
  commentOf,
  commitOf,
  type Github,
  GithubError,
  issueOf,
  pullOf,
  type TextChange,
} from "../context/github-api.ts";
import {
  type EarlierPage,
  earlierPage,
  type ForgePullData,
  forgePull,
  pullsQuery,
  withEarlier,
} from "./pull-query.ts";
import { limitOf, type RefusedRequest, type RetryEffects, withRetries } from "./retry-request.ts";

export interface GithubConnection {
  readonly token: string;
  /** Such as `https://api.github.com`, or the URL of an Enterprise Server. */
  readonly apiUrl: string;
  readonly owner: string;
  readonly repo: string;
  /** Number of the workflow's run. */
  readonly run: number;
}

const PER_PAGE = 100;

/** Connects to GitHub's API; requests wait for rate limits. */
export function connectGithub(
  { token, apiUrl, owner, repo, run }: GithubConnection,
  effects: RetryEffects,
): Github {
  if (token === "") {
    throw new ActionError(
      "usage",
      "The input github-token is empty.",
      "Remove it: the default is the workflow's own token.",
    );
  }
  let forgeTime: number | undefined;
  const octokit = new GitHub(getOctokitOptions(token, { baseUrl: apiUrl, log: QUIET }));
  octokit.hook.wrap("request", async (request, options) => {
    // Every PATCH sends the whole new value, so that repeating it changes nothing. Of several equal statuses, the last
    // counts.
    const repeatable = /^(GET|PATCH)$/.test(options.method) || /\/graphql$|\/statuses\//.test(options.url);
    try {
      const send = async () => readable(await request(options));
      const response = await withRetries(send, refusalOf, repeatable, effects);
      const date = Date.parse(String(response.headers.date));
      if (!Number.isNaN(date)) forgeTime = Math.max(date, forgeTime ?? date);
      return response;
    } catch (error) {
      const path = pathOf(options, apiUrl);
      const refused = refusalOf(error);
      const limit = refused && limitOf(refused);
      const message = `${options.method} ${path}: ${limit ?? messageOf(error)}`;
      throw new GithubError(refused?.status ?? 0, message, limit);
    }
  });
  const here = { owner, repo };
  const { rest } = octokit;
  const pages = { ...here, per_page: PER_PAGE };
  const queriedPulls = async (
    numbers: readonly number[],
    before: EarlierPage = { reviews: null, dismissals: null },
  ): Promise<readonly ForgePullData[]> => {
    const { repository } = await octokit
      .graphql<PullsResponse>(pullsQuery(numbers), { ...here, ...before })
      .catch(withoutUnknown);
    return Object.values(repository ?? {}).flatMap((pull) => pull ?? []);
  };
  const withAllOpinions = async (pull: ForgePullData): Promise<ForgePullData> => {
    let whole = pull;
    for (let before = earlierPage(whole); before !== null; before = earlierPage(whole)) {
      const [earlier] = await queriedPulls([pull.number], before);
      if (earlier === undefined) return whole;
      whole = withEarlier(whole, earlier);
    }
    return whole;
  };
  let viewer: Promise<string> | undefined;
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
    pulls: async (numbers) => {
      const pulls: ForgePull[] = [];
      for (let from = 0; from < numbers.length; from += MAX_PULLS) {
        const batch = numbers.slice(from, from + MAX_PULLS);
        for (const pull of await queriedPulls(batch)) pulls.push(forgePull(await withAllOpinions(pull)));
      }
      return pulls;
    },
    approvals: async () => {
      const { data } = await rest.actions.getReviewsForRun({ ...here, run_id: run });
      return data.flatMap(({ state, environments, user }) =>
        state === "approved" && user !== null ? environments.flatMap(({ name }) => name ?? []) : [],
      );
    },
    now: () => forgeTime ?? effects.now(),
    addStatus: async ({ sha, state, context, description, url }) => {
      const text = [...description].slice(0, MAX_DESCRIPTION).join("");
      await rest.repos.createCommitStatus({
        ...here,
        sha,
        state,
        context,
        description: text,
        target_url: url,
      });
    },
    pullsWith: async (sha) => {
      const pulls = await octokit.paginate(rest.repos.listPullRequestsAssociatedWithCommit, {
        ...pages,
        commit_sha: sha,
      });
      return pulls.map(pullOf);
    },
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
    issues: async (label) => {
      const issues = await octokit.paginate(rest.issues.listForRepo, {
        ...pages,
        state: "all",
        labels: label,
      });
      return issues.filter((issue) => issue.pull_request === undefined).map(issueOf);
    },
    addIssue: async (title, body, label) =>
      issueOf((await rest.issues.create({ ...here, title, body, labels: [label] })).data),
    editIssue: async (number, change) => {
      await rest.issues.update({ ...here, issue_number: number, ...edited(change) });
    },
  };
}

/** Returns a change of an issue in GitHub's form. */
function edited({ body, open }: TextChange): { readonly body?: string; readonly state?: "open" | "closed" } {
  return {
    ...(body !== undefined && { body }),
    ...(open !== undefined && { state: open ? "open" : "closed" }),
  };
}

/** GitHub's limit for the description of a status, in characters. */
const MAX_DESCRIPTION = 140;

/** Maximum number of pull requests in one query. */
const MAX_PULLS = 25;

interface PullsResponse {
  readonly repository: Readonly<Record<string, ForgePullData | null>> | null;
}

/** Returns the answer to a query that names pull requests which do not exist: GitHub adds an error for each. */
function withoutUnknown(error: unknown): PullsResponse {
  const { data, errors } = Object(error) as { data?: PullsResponse; errors?: readonly { type?: string }[] };
  if (data?.repository && errors?.every(({ type }) => type === "NOT_FOUND")) return data;
  if (error instanceof GithubError) throw error;
  throw new GithubError(0, `POST /graphql: ${messageOf(error)}`);
}

const nothing = (): void => undefined;
/** Octokit would log GitHub's messages unescaped. */
const QUIET = { debug: nothing, info: nothing, warn: nothing, error: nothing };

const MAX_COMPARED_PAGES = 5;

function refusalOf(error: unknown): RefusedRequest | null {
  if (!(error instanceof Error) || !("status" in error) || typeof error.status !== "number") return null;
  const response = "response" in error ? (error.response as { headers?: RefusedRequest["headers"] }) : {};
  return { status: error.status, headers: response?.headers ?? {}, message: error.message };
}

/** Rejects a response that announces JSON and has none, such as one that was cut off: Octokit returns its text. */
function readable<
  Response extends { readonly status: number; readonly headers: object; readonly data: unknown },
>(response: Response): Response {
  const { status, headers, data } = response;
  if (typeof data !== "string" || !/json/i.test(String(Object(headers)["content-type"]))) return response;
  throw Object.assign(new Error("the response could not be read"), { status });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Returns the readable path of a request: without base URL and query, with its values, and short names of commits. */
function pathOf(options: { readonly url: string; readonly [name: string]: unknown }, apiUrl: string): string {
  const [path = ""] = options.url.replace(apiUrl, "").split("?");
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => String(options[name] ?? "…"));
  return filled.replace(/\b([\da-f]{7})[\da-f]{33}\b/g, "$1");
}
