import { ActionError } from "../action-error.ts";
import type { RunnerEnv } from "../inputs.ts";

/** The pull request of an event. */
export interface PullContext {
  readonly number: number;
  readonly headSha: string;
  readonly baseSha: string;
  /** Base branch. */
  readonly baseRef: string;
  /** True if the head is in another repository. */
  readonly fork: boolean;
}

/** The event and the place of a run; set by GitHub, except for branch names. */
export interface EventContext {
  readonly name: string;
  readonly owner: string;
  readonly repo: string;
  readonly sha: string;
  /** Such as `refs/heads/main`. */
  readonly ref: string;
  readonly pull: PullContext | null;
  /** `null` if the event does not contain it. */
  readonly defaultBranch: string | null;
  readonly isPublic: boolean | null;
  readonly apiUrl: string;
  readonly serverUrl: string;
  readonly runUrl: string;
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
  return {
    name: env["GITHUB_EVENT_NAME"] ?? "",
    owner,
    repo,
    sha: env["GITHUB_SHA"] ?? "",
    ref: env["GITHUB_REF"] ?? "",
    pull: pullOf(record(payload["pull_request"])),
    defaultBranch: string(repository["default_branch"]),
    isPublic: typeof repository["private"] === "boolean" ? !repository["private"] : null,
    apiUrl: env["GITHUB_API_URL"] || "https://api.github.com",
    serverUrl,
    runUrl: `${serverUrl}/${owner}/${repo}/actions/runs/${env["GITHUB_RUN_ID"] ?? ""}`,
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
