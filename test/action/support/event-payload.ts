import type { FakeGithub, FakePull } from "./fake-github.ts";

/** An event of a workflow: its name, and where it runs. */
export interface StoryEvent {
  readonly name: string;
  readonly sha: string;
  readonly ref: string;
  readonly payload: object;
}

const HERE = { full_name: "acme/access" };

/** What a payload tells about the repository. */
export function repositoryIn({ isPrivate }: FakeGithub): object {
  return { ...HERE, default_branch: "main", private: isPrivate };
}

/** What a payload tells about a pull request. */
export function pullIn(pull: FakePull, { branches }: FakeGithub, fork = pull.fork ?? false): object {
  const { number, head, base, merged, branch = `change-${number}` } = pull;
  return {
    number,
    state: merged !== null || pull.closed ? "closed" : "open",
    merged: merged !== null,
    head: { sha: head, ref: branch, repo: { full_name: fork ? "mallory/access" : HERE.full_name } },
    base: { sha: branches.get(base), ref: base, repo: HERE },
  };
}

/** The event of a new or changed pull request, or of a review. */
export function pullEvent(
  pull: FakePull,
  sha: string,
  github: FakeGithub,
  { name = "pull_request", action = "synchronize" } = {},
): StoryEvent {
  const payload = {
    action,
    number: pull.number,
    pull_request: pullIn(pull, github),
    ...(pull.previous !== undefined && action === "synchronize" && { before: pull.previous }),
    repository: repositoryIn(github),
  };
  return { name, sha, ref: `refs/pull/${pull.number}/merge`, payload };
}

/** The event of a push to a branch. */
export function pushEvent(branch: string, before: string, sha: string, github: FakeGithub): StoryEvent {
  const ref = `refs/heads/${branch}`;
  const payload = { ref, before, after: sha, head_commit: { id: sha }, repository: repositoryIn(github) };
  return { name: "push", sha, ref, payload };
}

/** Commits of a merge queue: the pull requests merged into the base branch, for a last check. */
export interface MergeGroup {
  readonly sha: string;
  readonly ref: string;
  readonly baseSha: string;
  readonly pulls: readonly number[];
}

/** The event of a merge group whose checks are wanted. */
export function mergeGroupEvent({ sha, ref, baseSha }: MergeGroup, github: FakeGithub): StoryEvent {
  const merge_group = {
    head_sha: sha,
    head_ref: ref,
    base_sha: baseSha,
    base_ref: "refs/heads/main",
    head_commit: { id: sha },
  };
  const payload = { action: "checks_requested", merge_group, repository: repositoryIn(github) };
  return { name: "merge_group", sha, ref, payload };
}

/** Any other event on the tip of the default branch: `schedule`, `workflow_dispatch` and the like. */
export function otherEvent(name: string, github: FakeGithub, more: object = {}): StoryEvent {
  const payload = name === "schedule" ? { schedule: "0 4 * * *" } : { repository: repositoryIn(github) };
  const sha = github.branches.get("main") ?? "";
  return { name, sha, ref: "refs/heads/main", payload: { ...payload, ...more } };
}
