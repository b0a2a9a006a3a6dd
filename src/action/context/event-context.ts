import { ActionError } from "./action-error.ts";
import type { RunnerEnv } from "./inputs.ts";

export interface PullContext {
  readonly number: number;
  readonly headSha: string;
  readonly baseSha: string;
  readonly baseRef: string;
  /** True if the head is in another repository. */
  readonly fork: boolean;
}

/** The merge group of an event: a commit of the merge queue, with the branch that waits for it. */
export interface GroupContext {
  readonly headSha: string;
  /** Such as `gh-readonly-queue/main/pr-7-0123…`, which names its last pull request. */
  readonly headRef: string;
  readonly baseSha: string;
  readonly baseRef: string;
}

/** The event and the place of a run; set by GitHub, except for branch names. */
export interface EventContext {
  readonly name: string;
  readonly owner: string;
  readonly repo: string;
  readonly sha: string;
  /** Such as `refs/heads/main`. */
  readonly ref: string;
  /** The branch's commit before a push; null for other events. */
  readonly before: string | null;
  readonly pull: PullContext | null;
  readonly group: GroupContext | null;
  /** `null` if the event does not contain it. */
  readonly defaultBranch: string | null;
  readonly isPublic: boolean | null;
  readonly apiUrl: string;
  readonly serverUrl: string;
  readonly runUrl: string;
  /** Number of the workflow's run; 0 if unknown. */
  readonly run: number;
  /** Counts the attempts of the run from 1. */
  readonly attempt: number;
  /** Absolute path of the checkout. */
  readonly workspace: string;
  /** Absolute path of the folder for temporary files. */
  readonly temp: string;
}

/** Parses the runner's variables and the event payload. */
export function eventContext(env: RunnerEnv, eventText: string): EventContext {
  const [owner, repo] = (env["GITHUB_REPOSITORY"] ?? "").split("/");
  if (!owner || !repo) {
    throw new ActionError("usage", "GITHUB_REPOSITORY is not set: this is not a GitHub workflow.");
  }
  const payload = record(parse(eventText));
  const repository = record(payload["repository"]);
  const serverUrl = env["GITHUB_SERVER_URL"] || "https://github.com";
  const name = env["GITHUB_EVENT_NAME"] ?? "";
  return {
    name,
    owner,
    repo,
    sha: env["GITHUB_SHA"] ?? "",
    ref: env["GITHUB_REF"] ?? "",
    before:
      name === "push" && !/^0+$/.test(string(payload["before"]) ?? "0") ? string(payload["before"]) : null,
    // The payload of an event that is not about one could name any base.
    pull: name.startsWith("pull_request") ? pullOf(record(payload["pull_request"])) : null,
    group: name === "merge_group" ? groupOf(record(payload["merge_group"])) : null,
    defaultBranch: string(repository["default_branch"]),
    isPublic: typeof repository["private"] === "boolean" ? !repository["private"] : null,
    apiUrl: env["GITHUB_API_URL"] || "https://api.github.com",
    serverUrl,
    runUrl: `${serverUrl}/${owner}/${repo}/actions/runs/${env["GITHUB_RUN_ID"] ?? ""}`,
    run: Number(env["GITHUB_RUN_ID"]) || 0,
    attempt: Number(env["GITHUB_RUN_ATTEMPT"]) || 1,
    workspace: env["GITHUB_WORKSPACE"] || ".",
    temp: env["RUNNER_TEMP"] || env["GITHUB_WORKSPACE"] || ".",
  };
}

function pullOf(pull: Readonly<Record<string, unknown>>): PullContext | null {
  const [head, base] = [record(pull["head"]), record(pull["base"])];
  const [headRepo, baseRepo] = [record(head["repo"]), record(base["repo"])];
  const [headSha, baseSha, baseRef] = [string(head["sha"]), string(base["sha"]), string(base["ref"])];
  const { number } = pull;
  if (typeof number !== "number" || !headSha || !baseSha || !baseRef) return null;
  // A deleted repository has no name; treat it as a fork.
  const fork = string(headRepo["full_name"]) !== string(baseRepo["full_name"]);
  return { number, headSha, baseSha, baseRef, fork };
}

function groupOf(group: Readonly<Record<string, unknown>>): GroupContext {
  const [headSha, baseSha] = [string(group["head_sha"]), string(group["base_sha"])];
  const [headRef, baseRef] = [branchName(group["head_ref"]), branchName(group["base_ref"])];
  if (headSha && headRef && baseSha && baseRef) return { headSha, headRef, baseSha, baseRef };
  throw new ActionError("usage", "The event merge_group does not contain its commits.");
}

function branchName(ref: unknown): string | null {
  return string(ref)?.replace(/^refs\/heads\//, "") ?? null;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function string(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
