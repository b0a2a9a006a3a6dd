import type { FakeCheck, FakeGithub, FakePull } from "./fake-github.ts";
import {
  BOT,
  checkJson,
  commentJson,
  found,
  invalid,
  issueJson,
  need,
  pullJson,
  type Route,
  reviewJson,
} from "./github-answers.ts";
import { gitRoutes } from "./github-git-routes.ts";

/** The routes of a repository. */
export function githubRoutes(fake: FakeGithub): readonly Route[] {
  return [
    ["GET", /^$/, () => ({ default_branch: "main", private: fake.isPrivate })],
    ...checkRoutes(fake),
    ...pullRoutes(fake),
    ...issueRoutes(fake),
    ...gitRoutes(fake),
  ];
}

function checkRoutes(fake: FakeGithub): readonly Route[] {
  const checkOf = (id: string | undefined): FakeCheck =>
    found(fake.checks.find((check) => check.id === Number(id)));
  const checked = (check: FakeCheck): FakeCheck => {
    if ((check.output.text?.length ?? 0) > 65_535) throw invalid("text is too long");
    return check;
  };
  return [
    [
      "GET",
      /^\/commits\/(\w+)\/check-runs$/,
      ([, sha], query) => {
        need(fake, "checks-read");
        const all = fake.checks.filter((check) => check.head_sha === sha && fake.isVisible(check));
        const name = query.get("check_name");
        const named = name === null ? all : all.filter((check) => check.name === name);
        const keyOf = ({ name: own, app }: FakeCheck): string => `${app.slug}/${own}`;
        const latest = new Map(named.map((check) => [keyOf(check), check]));
        const runs = query.get("filter") === "all" ? named : [...latest.values()];
        return { total_count: runs.length, check_runs: runs.map(checkJson) };
      },
    ],
    ["GET", /^\/check-runs\/(\d+)$/, ([, id]) => checkJson(checkOf(id))],
    [
      "POST",
      /^\/check-runs$/,
      (_, __, body) => {
        need(fake, "checks");
        const made = { id: fake.nextId(), completed_at: fake.tick(), app: { slug: fake.app } };
        const check = checked({ ...made, ...(body as unknown as FakeCheck) });
        fake.checks.push(check);
        fake.hide("checks", check);
        return checkJson(check);
      },
    ],
    [
      "PATCH",
      /^\/check-runs\/(\d+)$/,
      ([, id], _, body) => {
        need(fake, "checks");
        const check = checkOf(id);
        if (body["conclusion"] !== undefined) check.completed_at = fake.tick();
        return checkJson(checked(Object.assign(check, body)));
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
    [
      "GET",
      /^\/pulls\/(\d+)\/reviews$/,
      ([, number]) => fake.reviews.filter(({ pull }) => pull === Number(number)).map(reviewJson),
    ],
  ];
}

function issueRoutes(fake: FakeGithub): readonly Route[] {
  return [
    [
      "GET",
      /^\/issues\/(\d+)\/events$/,
      ([, number]) =>
        fake.dismissals
          .filter(({ pull }) => pull === Number(number))
          .map(({ review, state, at }) => ({
            event: "review_dismissed",
            created_at: at,
            dismissed_review: { review_id: review, state: state.toLowerCase() },
          })),
    ],
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

/** GitHub leaves the end of longer texts out. */
const MOST_TEXT = 512_000;

/** Answers the queries that the action makes: who it is, and the texts of blobs. */
export function graphql(fake: FakeGithub, { query }: Record<string, unknown>): object {
  const asked = String(query);
  const objects = [...asked.matchAll(/(\w+): object\(oid: "([0-9a-f]+)"\)/g)];
  if (objects.length === 0) return { data: { viewer: { login: BOT } } };
  if (!fake.rights.has("contents")) {
    const errors = [{ type: "FORBIDDEN", message: "Resource not accessible by integration" }];
    return { data: { repository: null }, errors };
  }
  const textOf = (oid: string): object | null => {
    const bytes = fake.git.blobs.get(oid);
    if (bytes === undefined) return null;
    const text = bytes.includes(0) ? null : bytes.toString("utf8").slice(0, MOST_TEXT);
    return { text, isTruncated: bytes.length > MOST_TEXT };
  };
  return {
    data: { repository: Object.fromEntries(objects.map(([, as = "", oid = ""]) => [as, textOf(oid)])) },
  };
}
