import { countOf, listOf, unique } from "../../kernel/values/values.ts";
import { OWNERS_FILES } from "./code-owners.ts";
import type { GithubClient, GithubResponse } from "./github-client.ts";
import { type NeededEnvironment, neededEnvironments, parseWorkflow, type Workflow } from "./workflow-file.ts";

/** A fact at GitHub, or the reason why this token cannot see it. */
export type Seen<T> = { readonly value: T } | { readonly unseen: string };

/** The requirements of one or more protections of a branch. */
export interface BranchRules {
  readonly approvals: number;
  readonly ownerReview: boolean;
  readonly dismissesStale: boolean;
  readonly statuses: readonly string[];
  readonly upToDate: boolean;
}

/** A ruleset, or the classic protection of a branch. */
export interface ProtectionSource {
  readonly rules: BranchRules;
  /** Whether somebody may bypass it; `null` if that cannot be seen. */
  readonly bypass: boolean | null;
}

/** The protections of a branch, of which the strictest decides. */
export interface BranchProtection {
  readonly sources: readonly ProtectionSource[];
  /** Whether a classic protection is among them; `null` if that cannot be seen. */
  readonly classic: boolean | null;
  /** Why there may be more of them; `null` if all are seen. */
  readonly unseen: string | null;
  /** Whether GitHub protects no branch of the repository, since its owner's plan does not include that. */
  readonly unavailable: boolean;
}

/** A pattern of the branches or tags that may use an environment. */
export interface DeploymentPattern {
  readonly name: string;
  readonly isTag: boolean;
}

/** An environment for deployments. */
export interface DeploymentEnvironment {
  readonly reviewers: number;
  /** What may use it: patterns, or `protected` branches; `null` for all. */
  readonly branches: Seen<readonly DeploymentPattern[] | "protected" | null>;
  readonly secrets: Seen<readonly string[]>;
}

/** The state of a repository at GitHub, as far as the set-up depends on it. */
export interface GithubFacts {
  readonly url: string;
  readonly branch: string;
  readonly protection: BranchProtection;
  /** The environments that the workflows need. */
  readonly needed: readonly NeededEnvironment[];
  /** Those that exist, by their names in lower case. */
  readonly environments: Seen<ReadonlyMap<string, DeploymentEnvironment>>;
  readonly secrets: Seen<readonly string[]>;
  readonly variables: Seen<readonly string[]>;
  /** Paths of all files on the default branch. */
  readonly paths: Seen<readonly string[]>;
  /** Path → workflow. */
  readonly workflows: ReadonlyMap<string, Seen<Workflow>>;
  /** Reference → workflow of another repository that one of these calls. */
  readonly called: ReadonlyMap<string, Seen<Workflow>>;
  /** The file of code owners; `null` without one. */
  readonly owners: { readonly path: string; readonly text: Seen<string> } | null;
  /** Paths whose change needs a review, as `ownedPaths` returns them. */
  readonly owned: readonly string[];
  readonly ownerErrors: Seen<number>;
  /** Paths of the workflows that were disabled, by somebody or by GitHub after a long time without commits. */
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

/** Reads the state of a repository whose own description was read, and in which some paths need owners. */
export async function readFacts(
  client: GithubClient,
  described: unknown,
  owned: readonly string[],
): Promise<GithubFacts> {
  const branch = textIn(described, "default_branch") ?? "main";
  const ref = encodeURIComponent(branch);
  const [protection, deployments, secrets, variables, tree, ownerErrors, listed] = await Promise.all([
    readProtection(client, branch),
    listAll(client, "environments"),
    namesAt(client, "secrets"),
    namesAt(client, "variables"),
    client.get(`git/trees/${ref}?recursive=1`),
    client.get(`codeowners/errors?ref=${ref}`),
    listAll(client, "actions/workflows", "workflows"),
  ]);
  const isCut = valueIn(tree.body, "truncated") === true;
  const paths: Seen<readonly string[]> = isCut
    ? { unseen: "there are too many files" }
    : seen(tree, (body) => listIn(body, "tree").flatMap((entry) => textIn(entry, "path") ?? []));
  const known = "value" in paths ? paths.value : [];
  const ownersPath = OWNERS_FILES.find((path) => known.includes(path));
  const [workflows, ownersText] = await Promise.all([
    readEach(
      known.filter((path) => /^\.github\/workflows\/[^/]+\.ya?ml$/.test(path)),
      (path) => readWorkflow(client, `contents/${encodeURI(path)}?ref=${ref}`),
    ),
    ownersPath === undefined ? null : readText(client, `contents/${ownersPath}?ref=${ref}`),
  ]);
  const uses = valuesOf(workflows).flatMap((workflow) => workflow.uses);
  const remote = uses.filter(({ isCall, reference }) => isCall && !reference.startsWith("./"));
  const needed = neededEnvironments(uses);
  const [environments, called, runs] = await Promise.all([
    readEnvironments(client, deployments, needed),
    readEach(unique(remote.map(({ reference }) => reference)), async (reference): Promise<Seen<Workflow>> => {
      const [, repository, path, at = ""] =
        /^([\w.-]+\/[\w.-]+)\/(\.github\/workflows\/[\w.-]+)@(.+)$/.exec(reference) ?? [];
      if (!repository || !path) return { unseen: `${reference} names no workflow` };
      return readWorkflow(client, `/repos/${repository}/contents/${path}?ref=${encodeURIComponent(at)}`);
    }),
    readEach(
      [...workflows].flatMap(([path, workflow]) =>
        "value" in workflow && workflow.value.isScheduled && workflow.value.uses.length > 0 ? path : [],
      ),
      (path) => lastRun(client, path, ref),
    ),
  ]);
  return {
    url: textIn(described, "html_url") ?? "",
    branch,
    protection,
    needed,
    environments,
    secrets,
    variables,
    paths,
    workflows,
    called,
    owners: ownersPath === undefined || ownersText === null ? null : { path: ownersPath, text: ownersText },
    owned,
    ownerErrors: seen(ownerErrors, (body) => listIn(body, "errors").length),
    disabled: mapSeen(listed, (workflow) =>
      textIn(workflow, "state")?.startsWith("disabled") ? (textIn(workflow, "path") ?? []) : [],
    ),
    runs,
  };
}

async function readEach<T>(
  keys: readonly string[],
  read: (key: string) => Promise<T>,
): Promise<ReadonlyMap<string, T>> {
  return new Map(await Promise.all(keys.map(async (key) => [key, await read(key)] as const)));
}

/** Returns the values that are seen. */
export function valuesOf<T>(facts: ReadonlyMap<string, Seen<T>>): readonly T[] {
  return [...facts.values()].flatMap((fact) => ("value" in fact ? fact.value : []));
}

async function readText(client: GithubClient, path: string): Promise<Seen<string>> {
  return seen(await client.get(path, "raw"), String);
}

async function readWorkflow(client: GithubClient, path: string): Promise<Seen<Workflow>> {
  const text = await readText(client, path);
  return "value" in text ? { value: await parseWorkflow(text.value) } : text;
}

/** Reads the rulesets that apply to a branch and its classic protection. */
async function readProtection(client: GithubClient, branch: string): Promise<BranchProtection> {
  const ref = encodeURIComponent(branch);
  const [active, classic] = await Promise.all([
    client.get(`rules/branches/${ref}?per_page=100`),
    client.get(`branches/${ref}/protection`),
  ]);
  const rules = active.status === 200 ? listOf(active.body) : [];
  const idOf = (rule: unknown): string => String(valueIn(rule, "ruleset_id"));
  const ids = unique(rules.map(idOf));
  const rulesets = await Promise.all(
    ids.map(async (id): Promise<ProtectionSource> => {
      const { status, body } = await client.get(`rulesets/${id}`);
      return {
        rules: rulesOf(rules.filter((rule) => idOf(rule) === id)),
        bypass: status === 200 ? bypassOf(body) : null,
      };
    }),
  );
  const isClassic = classic.status === 200;
  const isCertain = isClassic || isUnprotected(classic) || isUnavailable(classic);
  const gap = active.status !== 200 ? active : isCertain ? null : classic;
  const sources = [...rulesets, ...(isClassic ? [classicSource(classic.body)] : [])];
  return {
    sources,
    classic: isClassic || (isUnprotected(classic) ? false : null),
    unseen: gap && unseenBecause(gap),
    unavailable: sources.length === 0 && [active, classic].some(isUnavailable),
  };
}

/** Returns whether somebody may bypass a ruleset. */
function bypassOf(ruleset: unknown): boolean | null {
  const actors = valueIn(ruleset, "bypass_actors");
  if (Array.isArray(actors)) return actors.length > 0;
  // Without write access to the ruleset, GitHub leaves the others out.
  const own = textIn(ruleset, "current_user_can_bypass");
  return own !== null && own !== "never" ? true : null;
}

/** Returns whether GitHub refuses what the plan of the repository's owner does not include. */
function isUnavailable({ status, body }: GithubResponse): boolean {
  return status === 403 && /^Upgrade to GitHub /.test(textIn(body, "message") ?? "");
}

/** Returns the requirements of a ruleset. */
function rulesOf(rules: readonly unknown[]): BranchRules {
  const parametersOf = (type: string): readonly unknown[] =>
    rules.filter((rule) => textIn(rule, "type") === type).map((rule) => valueIn(rule, "parameters"));
  const [reviews, checks] = [parametersOf("pull_request"), parametersOf("required_status_checks")];
  return {
    approvals: Math.max(0, ...reviews.map((review) => countIn(review, "required_approving_review_count"))),
    ownerReview: reviews.some((review) => valueIn(review, "require_code_owner_review") === true),
    dismissesStale: reviews.some((review) => valueIn(review, "dismiss_stale_reviews_on_push") === true),
    statuses: checks
      .flatMap((parameters) => listIn(parameters, "required_status_checks"))
      .flatMap((check) => textIn(check, "context") ?? []),
    upToDate:
      checks.some((check) => valueIn(check, "strict_required_status_checks_policy") === true) ||
      parametersOf("merge_queue").length > 0,
  };
}

/** Returns the classic protection of a branch. */
function classicSource(body: unknown): ProtectionSource {
  const reviews = valueIn(body, "required_pull_request_reviews");
  const checks = valueIn(body, "required_status_checks");
  const allowed = valueIn(reviews, "bypass_pull_request_allowances");
  return {
    rules: {
      approvals: countIn(reviews, "required_approving_review_count"),
      ownerReview: valueIn(reviews, "require_code_owner_reviews") === true,
      dismissesStale: valueIn(reviews, "dismiss_stale_reviews") === true,
      statuses: [
        ...listIn(checks, "checks").flatMap((check) => textIn(check, "context") ?? []),
        ...listIn(checks, "contexts").filter((name) => typeof name === "string"),
      ],
      upToDate: valueIn(checks, "strict") === true,
    },
    bypass:
      valueIn(valueIn(body, "enforce_admins"), "enabled") !== true ||
      ["users", "teams", "apps"].some((kind) => listIn(allowed, kind).length > 0),
  };
}

/** GitHub returns this only to those who may see the protection; others get a 404 for everything. */
function isUnprotected({ status, body }: GithubResponse): boolean {
  return status === 404 && textIn(body, "message") === "Branch not protected";
}

/** Reads the environments that are needed, of those that exist. */
async function readEnvironments(
  client: GithubClient,
  listed: Seen<readonly unknown[]>,
  needed: readonly NeededEnvironment[],
): Promise<Seen<ReadonlyMap<string, DeploymentEnvironment>>> {
  if ("unseen" in listed) return listed;
  // GitHub ignores the case of their names.
  const wanted = new Set(needed.map(({ name }) => name.toLowerCase()));
  const found = listed.value.flatMap((environment) => {
    const name = textIn(environment, "name") ?? "";
    return wanted.has(name.toLowerCase()) ? [{ name, environment }] : [];
  });
  const read = found.map(
    async ({ name, environment }) =>
      [name.toLowerCase(), await readEnvironment(client, name, environment)] as const,
  );
  return { value: new Map(await Promise.all(read)) };
}

async function readEnvironment(
  client: GithubClient,
  name: string,
  environment: unknown,
): Promise<DeploymentEnvironment> {
  const at = `environments/${encodeURIComponent(name)}`;
  const policy = valueIn(environment, "deployment_branch_policy");
  const reviewers = listIn(environment, "protection_rules").flatMap((rule) => listIn(rule, "reviewers"));
  const [patterns, secrets] = await Promise.all([
    valueIn(policy, "custom_branch_policies") === true
      ? listAll(client, `${at}/deployment-branch-policies`, "branch_policies")
      : null,
    listAll(client, `${at}/secrets`),
  ]);
  return {
    reviewers: reviewers.length,
    branches:
      patterns === null
        ? { value: valueIn(policy, "protected_branches") === true ? "protected" : null }
        : mapSeen(patterns, (each) => [
            { name: textIn(each, "name") ?? "", isTag: textIn(each, "type") === "tag" },
          ]),
    secrets: mapSeen(secrets, namesIn),
  };
}

/** Reads the names of the secrets or variables of the repository, and those that its organisation shares with it. */
async function namesAt(
  client: GithubClient,
  kind: "secrets" | "variables",
): Promise<Seen<readonly string[]>> {
  const [own, shared] = await Promise.all([
    listAll(client, `actions/${kind}`),
    listAll(client, `actions/organization-${kind}`, kind),
  ]);
  if ("unseen" in own) return own;
  return { value: [...own.value, ...("value" in shared ? shared.value : [])].flatMap(namesIn) };
}

function namesIn(item: unknown): readonly string[] {
  return [textIn(item, "name") ?? []].flat();
}

/** Reads a list, page by page, since GitHub may return fewer items on a page than asked for. */
async function listAll(
  client: GithubClient,
  path: string,
  key = path.slice(path.lastIndexOf("/") + 1),
): Promise<Seen<readonly unknown[]>> {
  const items: unknown[] = [];
  for (let page = 1; ; page += 1) {
    const response = await client.get(`${path}?per_page=100&page=${page}`);
    if (response.status !== 200) return { unseen: unseenBecause(response) };
    const found = listIn(response.body, key);
    items.push(...found);
    if (found.length === 0 || items.length >= countIn(response.body, "total_count")) return { value: items };
  }
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

function mapSeen<T>(
  fact: Seen<readonly unknown[]>,
  read: (item: unknown) => T | readonly T[],
): Seen<readonly T[]> {
  return "unseen" in fact ? fact : { value: fact.value.flatMap(read) };
}

/** Says why a response shows nothing, in GitHub's words if it has any. */
export function unseenBecause({ status, body }: GithubResponse): string {
  if (status === null) return String(body);
  return `GitHub answered ${status}${textIn(body, "message") === null ? "" : `: ${textIn(body, "message")}`}`;
}

export function valueIn(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null
    ? (value as Readonly<Record<string, unknown>>)[key]
    : undefined;
}

export function listIn(value: unknown, key: string): readonly unknown[] {
  return listOf(valueIn(value, key));
}

function countIn(value: unknown, key: string): number {
  return countOf(valueIn(value, key)) ?? 0;
}

/** Returns a text in a value; `null` if there is none. */
export function textIn(value: unknown, key: string): string | null {
  const text = valueIn(value, key);
  return typeof text === "string" ? text : null;
}
