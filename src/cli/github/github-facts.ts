import type { GithubClient, GithubResponse } from "./github-client.ts";

/** A fact at GitHub, or the reason why this token cannot see it. */
export type Seen<T> = { readonly value: T } | { readonly unseen: string };

/** The protection of a branch by all rulesets and the classic protection together. */
export interface BranchProtection {
  readonly approvals: number;
  readonly ownerReview: boolean;
  readonly dismissesStale: boolean;
  readonly statuses: readonly string[];
  readonly upToDate: boolean;
  /** Whether a part of the protection can be bypassed, or that is not known (`null`). */
  readonly bypass: boolean | null;
}

/** An environment for deployments. */
export interface DeploymentEnvironment {
  readonly name: string;
  readonly reviewers: number;
  /** The branches that may use it: patterns, or `protected`; `null` for all. */
  readonly branches: Seen<readonly string[] | "protected" | null>;
  readonly secrets: Seen<readonly string[]>;
}

/** The state of a repository at GitHub, as far as the set-up depends on it. */
export interface GithubFacts {
  readonly url: string;
  readonly branch: string;
  readonly protection: Seen<BranchProtection>;
  readonly environments: Seen<readonly DeploymentEnvironment[]>;
  readonly secrets: Seen<readonly string[]>;
  readonly variables: Seen<readonly string[]>;
  /** Paths of all files on the default branch. */
  readonly paths: Seen<readonly string[]>;
  /** Path → text of the workflows and of the file of code owners. */
  readonly texts: ReadonlyMap<string, string>;
  readonly ownerErrors: Seen<number>;
  /** Paths of the workflows that somebody has disabled, or GitHub after a long time without commits. */
  readonly disabled: Seen<readonly string[]>;
  /** Path of a workflow → its last scheduled or manual run on the default branch. */
  readonly runs: ReadonlyMap<string, Seen<ScheduledRun | null>>;
}

/** A run of a workflow. */
export interface ScheduledRun {
  /** In ms since the epoch. */
  readonly at: number;
  /** Such as `success`; `null` while it runs. */
  readonly conclusion: string | null;
  readonly url: string;
}

/** The paths of files of code owners, in GitHub's order of precedence. */
const OWNERS_FILES = [".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"];

/** Reads the state of a repository whose own description was read. */
export async function readFacts(client: GithubClient, described: unknown): Promise<GithubFacts> {
  const branch = textIn(described, "default_branch") ?? "main";
  const ref = encodeURIComponent(branch);
  const [protection, environments, secrets, variables, tree, ownerErrors, listed] = await Promise.all([
    readProtection(client, branch),
    readEnvironments(client),
    namesAt(client, "secrets"),
    namesAt(client, "variables"),
    client.get(`git/trees/${ref}?recursive=1`),
    client.get(`codeowners/errors?ref=${ref}`),
    client.get("actions/workflows?per_page=100"),
  ]);
  const isCut = valueIn(tree.body, "truncated") === true;
  const paths: Seen<readonly string[]> = isCut
    ? { unseen: "there are too many files" }
    : seen(tree, (body) => listIn(body, "tree").flatMap((entry) => textIn(entry, "path") ?? []));
  const known = "value" in paths ? paths.value : [];
  const workflows = known.filter((path) => /^\.github\/workflows\/[^/]+\.ya?ml$/.test(path));
  const owners = OWNERS_FILES.find((path) => known.includes(path));
  const texts = await Promise.all(
    [...workflows, ...(owners === undefined ? [] : [owners])].map(async (path) => {
      const { status, body } = await client.get(`contents/${encodeURI(path)}?ref=${ref}`, "raw");
      return [path, status === 200 ? String(body) : ""] as const;
    }),
  );
  const runs = await Promise.all(
    texts
      .filter(([, text]) => /^\s*schedule:/m.test(text))
      .map(async ([path]) => [path, await lastRun(client, path, ref)] as const),
  );
  return {
    url: textIn(described, "html_url") ?? "",
    branch,
    protection,
    environments,
    secrets,
    variables,
    paths,
    texts: new Map(texts),
    ownerErrors: seen(ownerErrors, (body) => listIn(body, "errors").length),
    disabled: seen(listed, (body) =>
      listIn(body, "workflows").flatMap((workflow) =>
        textIn(workflow, "state")?.startsWith("disabled") ? (textIn(workflow, "path") ?? []) : [],
      ),
    ),
    runs: new Map(runs),
  };
}

/** Adds up the rulesets that apply to a branch and its classic protection. */
async function readProtection(client: GithubClient, branch: string): Promise<Seen<BranchProtection>> {
  const ref = encodeURIComponent(branch);
  const [active, classic] = await Promise.all([
    client.get(`rules/branches/${ref}?per_page=100`),
    client.get(`branches/${ref}/protection`),
  ]);
  const rules =
    active.status === 200 && Array.isArray(active.body) ? (active.body as readonly unknown[]) : [];
  const parametersOf = (type: string): readonly unknown[] =>
    rules.filter((rule) => textIn(rule, "type") === type).map((rule) => valueIn(rule, "parameters"));
  const [reviews, checks] = [parametersOf("pull_request"), parametersOf("required_status_checks")];
  const ids = [...new Set(rules.map((rule) => valueIn(rule, "ruleset_id")))].filter(Number.isInteger);
  const rulesets = await Promise.all(ids.map((id) => client.get(`rulesets/${id}`)));
  const oldReviews = valueIn(classic.body, "required_pull_request_reviews");
  const oldChecks = valueIn(classic.body, "required_status_checks");
  const statuses = [
    ...checks.flatMap((parameters) => listIn(parameters, "required_status_checks")),
    ...listIn(oldChecks, "checks"),
  ].flatMap((check) => textIn(check, "context") ?? []);
  const isClassic = classic.status === 200;
  const protection: BranchProtection = {
    approvals: Math.max(
      0,
      ...[...reviews, oldReviews].map(
        (review) => Number(valueIn(review, "required_approving_review_count")) || 0,
      ),
    ),
    ownerReview:
      reviews.some((review) => valueIn(review, "require_code_owner_review") === true) ||
      valueIn(oldReviews, "require_code_owner_reviews") === true,
    dismissesStale:
      reviews.some((review) => valueIn(review, "dismiss_stale_reviews_on_push") === true) ||
      valueIn(oldReviews, "dismiss_stale_reviews") === true,
    statuses: [...statuses, ...listIn(oldChecks, "contexts").filter((name) => typeof name === "string")],
    upToDate:
      checks.some((check) => valueIn(check, "strict_required_status_checks_policy") === true) ||
      valueIn(oldChecks, "strict") === true ||
      parametersOf("merge_queue").length > 0,
    bypass: bypassOf(
      rulesets,
      isClassic ? valueIn(valueIn(classic.body, "enforce_admins"), "enabled") !== true : null,
    ),
  };
  const isSeen = active.status === 200 && (isClassic || isUnprotected(classic));
  // What is in force is certain, even if the rest cannot be seen.
  return isSeen || isComplete(protection)
    ? { value: protection }
    : { unseen: unseenBecause(isUnprotected(classic) ? active : classic) };
}

function isComplete({
  approvals,
  ownerReview,
  dismissesStale,
  statuses,
  upToDate,
}: BranchProtection): boolean {
  return approvals > 0 && ownerReview && dismissesStale && statuses.length > 0 && upToDate;
}

/** GitHub says so only to those who may see a protection; to others, everything is not found. */
function isUnprotected({ status, body }: GithubResponse): boolean {
  return status === 404 && textIn(body, "message") === "Branch not protected";
}

function bypassOf(rulesets: readonly GithubResponse[], classic: boolean | null): boolean | null {
  const actors = rulesets.map(({ status, body }) =>
    status === 200 && Array.isArray(valueIn(body, "bypass_actors"))
      ? listIn(body, "bypass_actors").length > 0
      : null,
  );
  const all = [...actors, ...(classic === null ? [] : [classic])];
  // Also if nothing protects the branch.
  if (all.every((each) => each === true)) return true;
  return all.some((each) => each === false) ? all.some((each) => each === true) : null;
}

async function readEnvironments(client: GithubClient): Promise<Seen<readonly DeploymentEnvironment[]>> {
  const response = await client.get("environments?per_page=100");
  const listed = seen(response, (body) => listIn(body, "environments"));
  if ("unseen" in listed) return listed;
  const environments = listed.value.map(async (environment): Promise<DeploymentEnvironment> => {
    const name = textIn(environment, "name") ?? "";
    const at = `environments/${encodeURIComponent(name)}`;
    const policy = valueIn(environment, "deployment_branch_policy");
    const reviewers = listIn(environment, "protection_rules").flatMap((rule) => listIn(rule, "reviewers"));
    const [policies, secrets] = await Promise.all([
      valueIn(policy, "custom_branch_policies") === true
        ? client.get(`${at}/deployment-branch-policies`)
        : null,
      client.get(`${at}/secrets?per_page=100`),
    ]);
    return {
      name,
      reviewers: reviewers.length,
      branches:
        policies === null
          ? { value: valueIn(policy, "protected_branches") === true ? "protected" : null }
          : seen(policies, (body) =>
              listIn(body, "branch_policies").flatMap((each) => textIn(each, "name") ?? []),
            ),
      secrets: seen(secrets, (body) =>
        listIn(body, "secrets").flatMap((secret) => textIn(secret, "name") ?? []),
      ),
    };
  });
  return { value: await Promise.all(environments) };
}

/** Reads the names of the secrets or variables of the repository, and those that its organisation shares with it. */
async function namesAt(
  client: GithubClient,
  kind: "secrets" | "variables",
): Promise<Seen<readonly string[]>> {
  const [own, shared] = await Promise.all([
    client.get(`actions/${kind}?per_page=100`),
    client.get(`actions/organization-${kind}?per_page=100`),
  ]);
  return seen(own, (body) =>
    [...listIn(body, kind), ...(shared.status === 200 ? listIn(shared.body, kind) : [])].flatMap(
      (item) => textIn(item, "name") ?? [],
    ),
  );
}

async function lastRun(client: GithubClient, path: string, ref: string): Promise<Seen<ScheduledRun | null>> {
  const file = encodeURIComponent(path.slice(path.lastIndexOf("/") + 1));
  const response = await client.get(`actions/workflows/${file}/runs?branch=${ref}&per_page=1`);
  return seen(response, (body) => {
    const [run] = listIn(body, "workflow_runs");
    if (run === undefined) return null;
    return {
      at: Date.parse(textIn(run, "created_at") ?? ""),
      conclusion: textIn(run, "conclusion"),
      url: textIn(run, "html_url") ?? "",
    };
  });
}

function seen<T>(response: GithubResponse, read: (body: unknown) => T): Seen<T> {
  return response.status === 200 ? { value: read(response.body) } : { unseen: unseenBecause(response) };
}

function unseenBecause({ status, body }: GithubResponse): string {
  if (status === null) return String(body);
  return `GitHub answered ${status}${textIn(body, "message") === null ? "" : `: ${textIn(body, "message")}`}`;
}

function valueIn(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null
    ? (value as Readonly<Record<string, unknown>>)[key]
    : undefined;
}

function listIn(value: unknown, key: string): readonly unknown[] {
  const list = valueIn(value, key);
  return Array.isArray(list) ? list : [];
}

/** Returns a text in a value; `null` if there is none. */
function textIn(value: unknown, key: string): string | null {
  const text = valueIn(value, key);
  return typeof text === "string" ? text : null;
}
