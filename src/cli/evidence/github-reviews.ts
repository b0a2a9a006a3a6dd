import type { ReviewAnswers } from "../../app/evidence/read-evidence.ts";
import type { Io } from "../../app/io/io.ts";
import { mapConcurrent } from "../../lib/map-concurrent.ts";
import { RolecallError, rolecallErrorOf } from "../../model/errors.ts";
import type { CommitReview, ReviewedPull } from "../../model/evidence.ts";
import {
  findRepository,
  type GithubClient,
  type GithubResponse,
  openGithub,
} from "../github/github-client.ts";
import { listIn, textIn, valueIn } from "../github/github-facts.ts";

const CONCURRENCY = 4;

/** Returns a function that asks GitHub which pull requests brought commits, who approved them, and which checks passed. */
export function githubReviews(
  isOffline: boolean,
  io: Io,
): (commits: readonly string[]) => Promise<ReviewAnswers> {
  return async (commits) => {
    if (isOffline) return { reviews: new Map(), why: "GitHub was not asked (--offline)." };
    if (commits.length === 0) return { reviews: new Map(), why: null };
    const client = await findRepository(io)
      .then((repository) => openGithub(repository, MAY_READ, io))
      .catch(rolecallErrorOf);
    if (client instanceof RolecallError)
      return { reviews: new Map(), why: `GitHub was not asked. ${client.message}` };
    try {
      const reviews = await mapConcurrent(commits, CONCURRENCY, async (commit) => {
        return [commit, await reviewOf(commit, client, new Date(io.now()).toISOString())] as const;
      });
      return { reviews: new Map(reviews), why: null };
    } finally {
      await client.close();
    }
  };
}

const MAY_READ = "can read contents, pull requests, checks and commit statuses";

async function reviewOf(commit: string, client: GithubClient, asked: string): Promise<CommitReview> {
  const found = await client.get(`commits/${commit}/pulls?per_page=100`);
  if (found.status !== 200 || !Array.isArray(found.body)) return { asked, problem: problemOf(found) };
  const merged = (found.body as readonly unknown[]).filter((pull) => textIn(pull, "merged_at") !== null);
  const pulls: ReviewedPull[] = [];
  for (const pull of merged) {
    const number = Number(valueIn(pull, "number"));
    const author = textIn(valueIn(pull, "user"), "login") ?? "";
    const reviews = await client.get(`pulls/${number}/reviews?per_page=100`);
    if (reviews.status !== 200 || !Array.isArray(reviews.body)) return { asked, problem: problemOf(reviews) };
    pulls.push({ number, author, approvedBy: approvers(reviews.body).filter((name) => name !== author) });
  }
  const head =
    merged.map((pull) => textIn(valueIn(pull, "head"), "sha")).find((sha) => sha !== null) ?? commit;
  const [runs, statuses] = await Promise.all([
    client.get(`commits/${head}/check-runs?per_page=100`),
    client.get(`commits/${head}/status?per_page=100`),
  ]);
  const checks = [
    ...listIn(runs.body, "check_runs").map((run) => ({
      name: textIn(run, "name") ?? "",
      passed: PASSED.has(textIn(run, "conclusion") ?? ""),
    })),
    ...listIn(statuses.body, "statuses").map((status) => ({
      name: textIn(status, "context") ?? "",
      passed: textIn(status, "state") === "success",
    })),
  ];
  return { asked, pulls, checks };
}

const PASSED: ReadonlySet<string> = new Set(["success", "neutral", "skipped"]);

/** Returns the people whose last review that is more than a comment approves, in the order of their reviews. */
function approvers(reviews: readonly unknown[]): readonly string[] {
  const last = new Map<string, string>();
  for (const review of reviews) {
    const name = textIn(valueIn(review, "user"), "login");
    const state = textIn(review, "state");
    if (name !== null && state !== null && state !== "COMMENTED") last.set(name, state);
  }
  return [...last].flatMap(([name, state]) => (state === "APPROVED" ? name : []));
}

function problemOf({ status, body }: GithubResponse): string {
  if (status === null) return String(body);
  const said = textIn(body, "message");
  return `GitHub answered ${status}${said === null ? "" : ` (${said})`}`;
}
