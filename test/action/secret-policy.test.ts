import { describe, expect, test } from "vitest";
import type { ActionContext } from "../../src/action/context/action-context.ts";
import { eventContext } from "../../src/action/context/event-context.ts";
import type { Github } from "../../src/action/context/github-api.ts";
import { guardCredentials, untrustedCredentials } from "../../src/action/review/secret-policy.ts";
import type { DesiredState } from "../../src/model/desired.ts";
import { desired } from "../support/build.ts";

const at = (merchant: string, baseUrl?: string, keyEnv?: string): DesiredState =>
  desired({ merchant, ...(baseUrl && { baseUrl }), ...(keyEnv && { keyEnv }) });

const OWN = "https://a.example";
const EVIL = "https://evil.example";

/** What the files of a run say about where keys are sent, and whether it is refused. */
const CASES: readonly (readonly [string, DesiredState, boolean])[] = [
  ["as before", at("MC1", OWN, "KEY_1"), false],
  ["elsewhere", at("MC1", EVIL, "KEY_1"), true],
  ["another key", at("MC1", OWN, "KEY_2"), true],
  ["the general key to a merchant's own place", at("MC1", OWN), true],
  ["only what the workflow says", at("MC1"), false],
  ["a new merchant as one that is there", at("MC3", OWN, "KEY_1"), false],
  ["a new merchant that says nothing", at("MC3"), false],
  ["a new merchant elsewhere", at("MC3", EVIL), true],
  ["a new merchant elsewhere with a known key", at("MC3", EVIL, "KEY_1"), true],
  ["a new merchant with a secret of its choice", at("MC3", undefined, "DEPLOY_TOKEN"), true],
];

/** Every event that starts a workflow, and one that does not exist yet. */
const EVENTS = [
  ..."branch_protection_rule check_run check_suite create delete deployment deployment_status discussion".split(
    " ",
  ),
  ..."discussion_comment fork gollum image_version issue_comment issues label merge_group milestone".split(
    " ",
  ),
  ..."page_build public pull_request pull_request_comment pull_request_review push".split(" "),
  ..."pull_request_review_comment pull_request_target registry_package release repository_dispatch".split(
    " ",
  ),
  ..."schedule status watch workflow_call workflow_dispatch workflow_run something_new".split(" "),
];

const TRUSTED = "1".repeat(40);
const UNTRUSTED = "2".repeat(40);
/** A repository whose main, and nothing else, has files. */
const github = {
  repository: async () => ({ defaultBranch: "main", isPublic: false }),
  branchTip: async (branch: string) => (branch === "main" ? TRUSTED : UNTRUSTED),
} as unknown as Github;
const statesAt = async (commit: string) => ({
  states: commit === TRUSTED ? [at("MC1", OWN, "KEY_1"), at("MC2")] : [],
});

/** What a run on another branch is told; an event that is not about a pull request may claim to be. */
const contextOf = (name: string, baseUrl: string | null = null): ActionContext => {
  const payload = {
    pull_request: {
      number: 7,
      head: { sha: UNTRUSTED, repo: { full_name: "acme/access" } },
      base: {
        sha: name.startsWith("pull_request") ? TRUSTED : UNTRUSTED,
        ref: "main",
        repo: { full_name: "acme/access" },
      },
    },
    merge_group: {
      head_sha: UNTRUSTED,
      head_ref: `refs/heads/gh-readonly-queue/main/pr-7-${TRUSTED}`,
      // The group before it, which is not merged.
      base_sha: UNTRUSTED,
      base_ref: "refs/heads/main",
    },
    client_payload: { ref: "topic" },
  };
  const env = {
    GITHUB_REPOSITORY: "acme/access",
    GITHUB_EVENT_NAME: name,
    GITHUB_SHA: UNTRUSTED,
    GITHUB_REF: "refs/heads/topic",
    GITHUB_WORKSPACE: "/nowhere",
  };
  const event = eventContext(env, JSON.stringify(payload));
  const inputs = { paths: ["access"], baseUrl, apiKeys: new Map(), allow: [] };
  const git = { parents: async () => [] };
  return { event, inputs, github, git, statesAt } as unknown as ActionContext;
};

describe.each(EVENTS)("keys are sent nowhere else: %s", (name) => {
  test.each(CASES)("%s", async (_, state, refused) => {
    const guarded = guardCredentials(contextOf(name), [state]).then(
      () => "",
      ({ reason, message }) => `${reason}: ${message}`,
    );
    const answer = refused ? /^unsafe-access: .*MC[13]\. No request was sent\.$/ : /^$/;
    expect(await guarded).toMatch(answer);
  });
});

test("what the workflow says itself is not the file's to change", () => {
  const base = [at("MC1", OWN, "KEY_1"), at("MC2")];
  const isUntrusted = (head: DesiredState, baseUrl: boolean): boolean =>
    untrustedCredentials([head], base, { baseUrl, keys: new Set(["MC1"]) }).length > 0;
  expect(isUntrusted(at("MC1", EVIL, "KEY_2"), true)).toBe(false);
  expect(isUntrusted(at("MC1", EVIL, "KEY_2"), false)).toBe(true);
  // MC1's URL has only ever got MC1's own key.
  expect(isUntrusted(at("MC3", OWN), false)).toBe(true);
});

test("a merge group that does not say what it is of is not run", () => {
  const env = { GITHUB_REPOSITORY: "acme/access", GITHUB_EVENT_NAME: "merge_group" };
  expect(() => eventContext(env, "{}")).toThrow("merge_group");
});
