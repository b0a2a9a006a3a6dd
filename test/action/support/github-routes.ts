import type { FakeGithub, FakePull } from "./fake-github.ts";
import {
  BOT,
  commentJson,
  found,
  invalid,
  issueJson,
  need,
  pullJson,
  type Route,
  timeText,
} from "./github-answers.ts";
import { gitRoutes } from "./github-git-routes.ts";

/** The routes of a repository. */
export function githubRoutes(fake: FakeGithub): readonly Route[] {
  return [
    ["GET", /^$/, () => ({ default_branch: "main", private: fake.isPrivate })],
    ...statusRoutes(fake),
    ...pullRoutes(fake),
    ...issueRoutes(fake),
    ...gitRoutes(fake),
  ];
}

function statusRoutes(fake: FakeGithub): readonly Route[] {
  return [
    [
      "POST",
      /^\/statuses\/(\w+)$/,
      ([, sha = ""], _, { context, state, description }) => {
        need(fake, "statuses");
        if (String(description).length > 140) throw invalid("description is too long");
        const status = {
          sha,
          context: String(context),
          state: String(state),
          description: String(description),
        };
        fake.statuses.push(status);
        return status;
      },
    ],
    [
      "GET",
      /^\/actions\/runs\/(\d+)\/approvals$/,
      () => {
        need(fake, "runs");
        return fake.approvals.map(({ environment, by }) => ({
          state: "approved",
          comment: "",
          environments: [{ id: 1, name: environment }],
          user: { login: by },
        }));
      },
    ],
  ];
}

function pullRoutes(fake: FakeGithub): readonly Route[] {
  const pullOf = (number: string | undefined): FakePull =>
    found(fake.pulls.find((pull) => pull.number === Number(number)));
  const json = (pull: FakePull): object => pullJson(pull, fake);
  const contains = ({ merged, head, also = [], forkedFrom }: FakePull, sha: string): boolean => {
    if (merged === sha || head === sha || also.includes(sha)) return true;
    if (forkedFrom === undefined) return false;
    return fake.git.history(head).includes(sha) && !fake.git.history(forkedFrom).includes(sha);
  };
  return [
    [
      "GET",
      /^\/commits\/(\w+)\/pulls$/,
      ([, sha = ""]) => fake.pulls.filter((pull) => contains(pull, sha) && fake.isVisible(pull)).map(json),
    ],
    [
      "GET",
      /^\/pulls$/,
      (_, query) => {
        const state = query.get("state") ?? "open";
        const [head, base] = [query.get("head")?.split(":")[1], query.get("base")];
        const isOf = ({ merged, closed = false, branch, base: own }: FakePull): boolean =>
          (state === "all" || (state === "closed") === (merged !== null || closed)) &&
          (head === undefined || head === branch) &&
          (base === null || base === own);
        return fake.pulls.filter(isOf).map(json);
      },
    ],
    [
      "POST",
      /^\/pulls$/,
      (_, __, { title, head, base, body }) => {
        need(fake, "pulls");
        const branch = String(head);
        const open = fake.pulls.some((one) => one.branch === branch && one.merged === null && !one.closed);
        if (open) throw invalid(`A pull request already exists for acme:${branch}.`, "head");
        const pull: FakePull = {
          number: fake.nextId(),
          head: found(fake.branches.get(branch)),
          base: String(base),
          merged: null,
          branch,
          author: BOT,
          title: String(title),
          body: short(fake, body),
        };
        fake.pulls.push(pull);
        return json(pull);
      },
    ],
    ["GET", /^\/pulls\/(\d+)$/, ([, number]) => json(pullOf(number))],
    [
      "PATCH",
      /^\/pulls\/(\d+)$/,
      ([, number], _, { title, body, state }) => {
        need(fake, "pulls");
        const pull = pullOf(number);
        if (title !== undefined) pull.title = String(title);
        if (body !== undefined) pull.body = short(fake, body);
        if (state !== undefined) pull.closed = state === "closed";
        return json(pull);
      },
    ],
  ];
}

function issueRoutes(fake: FakeGithub): readonly Route[] {
  return [
    [
      "GET",
      /^\/issues\/(\d+)\/comments$/,
      ([, issue]) =>
        fake.comments.filter((one) => one.issue === Number(issue) && fake.isVisible(one)).map(commentJson),
    ],
    [
      "POST",
      /^\/issues\/(\d+)\/comments$/,
      ([, issue], _, { body }) => {
        need(fake, "comments");
        const text = short(fake, body);
        const comment = {
          id: fake.nextId(),
          issue: Number(issue),
          author: BOT,
          body: text,
          history: [text],
        };
        fake.comments.push(comment);
        fake.hide("comments", comment);
        return commentJson(comment);
      },
    ],
    [
      "GET",
      /^\/issues\/comments\/(\d+)$/,
      ([, id]) => commentJson(found(fake.comments.find((one) => one.id === Number(id)))),
    ],
    [
      "PATCH",
      /^\/issues\/comments\/(\d+)$/,
      ([, id], _, { body }) => {
        need(fake, "comments");
        const comment = found(fake.comments.find((one) => one.id === Number(id)));
        comment.body = short(fake, body);
        comment.history.push(comment.body);
        return commentJson(comment);
      },
    ],
    [
      "DELETE",
      /^\/issues\/comments\/(\d+)$/,
      ([, id]) => {
        need(fake, "comments");
        const at = fake.comments.findIndex((one) => one.id === Number(id));
        found(fake.comments[at]);
        fake.comments.splice(at, 1);
        return {};
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
        need(fake, "issues");
        const issue = {
          number: fake.nextId(),
          title: String(title),
          author: BOT,
          labels: labels as string[],
          body: short(fake, body),
          state: "open" as const,
        };
        fake.issues.push(issue);
        return issueJson(issue);
      },
    ],
    [
      "PATCH",
      /^\/issues\/(\d+)$/,
      ([, number], _, { body, state }) => {
        need(fake, "issues");
        const issue = found(fake.issues.find((one) => one.number === Number(number)));
        if (body !== undefined) issue.body = short(fake, body);
        if (state === "open" || state === "closed") issue.state = state;
        return issueJson(issue);
      },
    ],
    ["POST", /^\/issues\/(\d+)\/labels$/, (_, __, { labels }) => labels],
  ];
}

/** Answers with 422 where a text is longer than GitHub takes. */
function short({ maxBody }: FakeGithub, body: unknown): string {
  const text = String(body ?? "");
  if (text.length > maxBody) throw invalid("body is too long");
  return text;
}

/** Answers the queries that the action makes: who it is, and pull requests. */
export function graphql(fake: FakeGithub, { query, variables }: Record<string, unknown>): object {
  const asked = String(query);
  const numbers = [...asked.matchAll(/p(\d+): pullRequest/g)].map(([, number]) => Number(number));
  if (numbers.length > 0) {
    const pulls = numbers.map(
      (number) => [`p${number}`, queriedPull(number, fake, Object(variables))] as const,
    );
    const errors = pulls.flatMap(([name, pull]) =>
      pull === null ? [{ type: "NOT_FOUND", message: name }] : [],
    );
    return { data: { repository: Object.fromEntries(pulls) }, ...(errors.length > 0 && { errors }) };
  }
  return { data: { viewer: { login: BOT } } };
}

/** The last hundred nodes before a cursor, which counts them from the first. */
function lastPage(nodes: readonly object[], before: unknown): object {
  const end = typeof before === "string" ? Number(before) : nodes.length;
  const start = Math.max(end - 100, 0);
  return {
    nodes: nodes.slice(start, end),
    pageInfo: { hasPreviousPage: start > 0, startCursor: end > start ? `${start}` : null },
  };
}

/** A pull request with its reviews, as a query has it. */
function queriedPull(
  number: number,
  { pulls, reviews, dismissals, now }: FakeGithub,
  before: Record<string, unknown>,
): object | null {
  const pull = pulls.find((one) => one.number === number);
  if (pull === undefined) return null;
  const { merged, closed, head, base, mergedAt = timeText(now()) } = pull;
  return {
    number,
    state: merged !== null ? "MERGED" : closed ? "CLOSED" : "OPEN",
    headRefOid: head,
    baseRefName: base,
    mergedAt: merged === null ? null : mergedAt,
    mergeCommit: merged === null ? null : { oid: merged },
    reviews: lastPage(
      reviews
        .filter((review) => review.pull === number && review.state !== "COMMENTED")
        .map(({ id, author, state, submittedAt, mayPush, commit }) => ({
          databaseId: id,
          author: { login: author },
          state,
          submittedAt,
          authorCanPushToRepository: mayPush,
          commit: { oid: commit },
        })),
      before["reviews"],
    ),
    timelineItems: lastPage(
      dismissals
        .filter((one) => one.pull === number)
        .map(({ review, state, at }) => ({
          createdAt: at,
          previousReviewState: state,
          review: { databaseId: review },
        })),
      before["dismissals"],
    ),
  };
}
