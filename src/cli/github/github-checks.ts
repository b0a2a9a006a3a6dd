import { listText, quoted } from "../../lib/text.ts";
import type { HealthCheck, HealthGroup } from "../../model/reports.ts";
import {
  type BranchProtection,
  type BranchRules,
  type DeploymentEnvironment,
  type GithubFacts,
  type Seen,
  valuesOf,
} from "./github-facts.ts";
import { needsOwner, unownedPaths } from "./owned-paths.ts";
import { ACTION_COMMANDS, type ActionUse, type Workflow } from "./workflow-file.ts";

const HOUR_MS = 3_600_000;
/** Longest time between two nightly runs, which GitHub may delay or skip once. */
const NIGHTLY_MS = 50 * HOUR_MS;

/** Returns the checks of the set-up at GitHub, each in force, missing (with its remedy), or unknown. */
export function checkGithub(facts: GithubFacts, now: number): readonly HealthGroup[] {
  const { url, branch } = facts;
  const about = "github" as const;
  return [
    { about, names: [`${url}, branch ${branch}`], checks: checkBranch(facts) },
    { about, names: ["environments"], checks: checkEnvironments(facts) },
    { about, names: ["secrets and variables"], checks: checkNames(facts) },
    { about, names: ["files"], checks: checkFiles(facts) },
    { about, names: ["nightly run"], checks: checkNightly(facts, now) },
  ];
}

/** Returns the verdict on a step: `true` for in force, `null` for unknown, or a text about what is missing. */
function step<T>(
  name: string,
  fact: Seen<T>,
  next: string,
  judge: (value: T) => true | null | string,
  inForce = "in force",
): HealthCheck {
  if ("unseen" in fact) return { name, status: "unknown", detail: `cannot be seen: ${fact.unseen}` };
  const verdict = judge(fact.value);
  if (verdict === true) return { name, status: "ok", detail: inForce };
  if (verdict === null) return { name, status: "unknown", detail: "cannot be seen with this token" };
  return { name, status: "failed", detail: verdict, next };
}

/** A requirement of the default branch. */
interface BranchRequirement {
  readonly name: string;
  /** What to do in the rules. */
  readonly remedy: string;
  readonly isMet: (rules: BranchRules) => boolean;
  readonly unmet: string;
}

const REQUIREMENTS: readonly BranchRequirement[] = [
  {
    name: "Reviews",
    remedy: "require a pull request with an approving review",
    isMet: ({ approvals }) => approvals > 0,
    unmet: "no approving review is required",
  },
  {
    name: "Code owner reviews",
    remedy: "require a review from code owners",
    isMet: ({ ownerReview }) => ownerReview,
    unmet: "no review from code owners is required",
  },
  {
    name: "Stale approvals",
    remedy: "dismiss stale approvals when new commits are pushed",
    isMet: ({ dismissesStale }) => dismissesStale,
    unmet: "approvals stay when new commits are pushed",
  },
  {
    name: "Status check",
    remedy: 'require the status "rolecall plan"',
    isMet: ({ statuses }) => statuses.includes("rolecall plan"),
    unmet: 'the status "rolecall plan" is not required',
  },
  {
    name: "Up-to-date branches",
    remedy: "require branches to be up to date, or a merge queue",
    isMet: ({ upToDate }) => upToDate,
    unmet: "branches that are not up to date may be merged",
  },
];

function checkBranch({ protection, url }: GithubFacts): readonly HealthCheck[] {
  const { sources, unseen, unavailable } = protection;
  const verdictOf = (isMet: boolean, unmet: string): Seen<true | string> => {
    if (unavailable) return { value: "GitHub has no rules for a private repository on this plan" };
    return isMet || unseen === null ? { value: isMet || unmet } : { unseen };
  };
  const isMetBy =
    (some: BranchProtection["sources"]) =>
    ({ isMet }: BranchRequirement): boolean =>
      some.some(({ rules }) => isMet(rules));
  const check = (name: string, remedy: string, verdict: Seen<true | null | string>): HealthCheck =>
    step(
      name,
      verdict,
      unavailable
        ? "Upgrade the plan of the repository's owner at GitHub, or use another repository: its branches cannot be protected"
        : `In the rules for the default branch, ${remedy}: ${url}/settings/rules`,
      (value) => value,
    );
  const met = REQUIREMENTS.filter(isMetBy(sources));
  const isStrict = met.every(isMetBy(sources.filter(({ bypass }) => bypass === false)));
  const mayBeStrict = met.every(isMetBy(sources.filter(({ bypass }) => bypass !== true)));
  return [
    ...REQUIREMENTS.map((requirement) =>
      check(
        requirement.name,
        requirement.remedy,
        verdictOf(isMetBy(sources)(requirement), requirement.unmet),
      ),
    ),
    check(
      "No bypass",
      "let nobody bypass them",
      mayBeStrict && !isStrict
        ? { value: null }
        : verdictOf(met.length > 0 && isStrict, "somebody may bypass the rules"),
    ),
  ];
}

function checkEnvironments(facts: GithubFacts): readonly HealthCheck[] {
  const { needed, environments, protection, url, branch } = facts;
  const key = keyName("apply", WRITE_KEY, facts);
  const write = "value" in key ? key.value : WRITE_KEY;
  const page = `${url}/settings/environments`;
  return needed.flatMap(({ name, reviewed }) => {
    const found: Seen<DeploymentEnvironment | null> =
      "unseen" in environments ? environments : { value: environments.value.get(name.toLowerCase()) ?? null };
    const check = (
      what: string,
      next: string,
      judge: (environment: DeploymentEnvironment) => true | null | string,
    ): HealthCheck =>
      step(`${name}: ${what}`, found, `In the environment ${name}, ${next}: ${page}`, (environment) =>
        environment === null ? "there is no such environment" : judge(environment),
      );
    return [
      check("branches", `allow only the branch ${branch}`, ({ branches }) => {
        if ("unseen" in branches) return null;
        const { value } = branches;
        if (value === null) return "every branch can use it";
        if (value === "protected") {
          return protection.classic === false
            ? `${branch} has no classic protection rule, and rulesets do not count: other branches can use it`
            : protection.classic;
        }
        const others = value.filter(({ name, isTag }) => isTag || name !== branch);
        if (others.length > 0) {
          const names = others.map(({ name, isTag }) => (isTag ? `the tag ${name}` : name));
          return `others can use it: ${listText(names)}`;
        }
        return value.length > 0 || `${branch} cannot use it`;
      }),
      check("secret", `set the secret ${write}`, ({ secrets }) =>
        "unseen" in secrets || "unseen" in key
          ? null
          : secrets.value.includes(write) || `${write} is not set`,
      ),
      ...(reviewed === null
        ? []
        : [
            check(
              "reviewers",
              reviewed ? "require reviewers" : "require no reviewers",
              ({ reviewers }) =>
                reviewed === reviewers > 0 ||
                (reviewed ? "nobody must approve" : "each nightly run waits for its reviewers"),
            ),
          ]),
    ];
  });
}

/** Returns the name of the secret that the workflows use as the key of a command. */
function keyName(wanted: string, proposed: string, facts: GithubFacts): Seen<string> {
  const uses = valuesOf(facts.workflows).flatMap((workflow) => workflow.uses);
  const names = uses
    .filter(({ command }) => command === wanted)
    .map(({ key, reference }): Seen<string> => {
      const target = calledWorkflow(reference, facts);
      if (target && "unseen" in target) return target;
      return { value: key ?? target?.value.uses[0]?.key ?? proposed };
    });
  return names.find((name) => "value" in name) ?? names[0] ?? { value: proposed };
}

/** Returns the workflow that a reference calls; undefined if it names an action. */
function calledWorkflow(reference: string, { workflows, called }: GithubFacts): Seen<Workflow> | undefined {
  return called.get(reference) ?? workflows.get(reference.replace(/^\.\//, ""));
}

/** The names of the secrets of the set-up, unless the workflows use others. */
const [READ_KEY, WRITE_KEY] = ["ROLECALL_READ_KEY", "ROLECALL_WRITE_KEY"];

function checkNames(facts: GithubFacts): readonly HealthCheck[] {
  const { secrets, variables, needed, environments, url } = facts;
  const [readKey, writeKey] = [keyName("plan", READ_KEY, facts), keyName("apply", WRITE_KEY, facts)];
  const read = "value" in readKey ? readKey.value : READ_KEY;
  const write = "value" in writeKey ? writeKey.value : WRITE_KEY;
  const pageOf = (kind: string): string => `${url}/settings/${kind}/actions`;
  const inEvery = (name: string): boolean =>
    "value" in environments &&
    needed.every((wanted) => {
      const found = environments.value.get(wanted.name.toLowerCase())?.secrets;
      return found !== undefined && "value" in found && found.value.includes(name);
    });
  const isSet = (name: string) => (names: readonly string[]) => names.includes(name) || `${name} is not set`;
  return [
    step(
      "Base URL",
      variables,
      `Set the variable ROLECALL_BASE_URL: ${pageOf("variables")}`,
      isSet("ROLECALL_BASE_URL"),
    ),
    step(
      "Read key",
      "value" in readKey ? secrets : readKey,
      `Set the secret ${read}, a read-only key: ${pageOf("secrets")}`,
      isSet(read),
    ),
    step(
      "Approval secret",
      secrets,
      `Set the secret ROLECALL_APPROVAL_SECRET (openssl rand -hex 32): ${pageOf("secrets")}`,
      (names) => inEvery("ROLECALL_APPROVAL_SECRET") || isSet("ROLECALL_APPROVAL_SECRET")(names),
    ),
    // A secret of an environment replaces one of the same name.
    ...(read === write
      ? []
      : [
          step(
            "Write key",
            "value" in writeKey ? secrets : writeKey,
            `Move the secret ${write} to the environments: ${pageOf("secrets")}`,
            (names) => !names.includes(write) || `every branch can use ${write}`,
            "only in environments",
          ),
        ]),
  ];
}

function checkFiles(facts: GithubFacts): readonly HealthCheck[] {
  const { paths, workflows, called, disabled, branch } = facts;
  const ours = [...workflows].flatMap(([path, workflow]) =>
    "value" in workflow && workflow.value.uses.length > 0 ? { path, ...workflow.value } : [],
  );
  const uses = ours.flatMap((workflow) => workflow.uses);
  const lacking = ACTION_COMMANDS.filter((wanted) => !uses.some(({ command }) => command === wanted));
  const paused =
    "value" in disabled ? ours.find(({ path }) => disabled.value.includes(path))?.path : undefined;
  const applies = ours.filter(({ uses, pushed }) => pushed !== null && runs(uses, "apply"));
  const [misdirected] = applies.some(({ pushed }) => includesBranch(pushed ?? [], branch)) ? [] : applies;
  const complete = allSeen(paths, workflows);
  return [
    step(
      "Workflows",
      complete,
      "Write the workflows, and merge them: rolecall init --workflows",
      () => lacking.length === 0 || `no workflow runs ${listText(lacking.map(quoted), "or")}`,
    ),
    step(
      "Enabled workflows",
      disabled,
      `Enable it: gh workflow enable ${fileName(paused ?? "")}`,
      () => paused === undefined || `${paused} is disabled`,
    ),
    step(
      "Branch of the apply",
      complete,
      `Change "branches" in ${misdirected?.path} to [${branch}], and merge it`,
      () =>
        misdirected === undefined || `${misdirected.path} runs on pushes to other branches than ${branch}`,
    ),
    checkPins([...uses, ...valuesOf(called).flatMap((workflow) => workflow.uses)], facts),
    checkOwners(facts),
  ];
}

/** Returns the paths, or why one of the workflows cannot be seen. */
function allSeen(
  paths: Seen<readonly string[]>,
  ...texts: readonly ReadonlyMap<string, Seen<Workflow>>[]
): Seen<readonly string[]> {
  const unseen = texts.flatMap((map) => [...map.values()]).find((fact) => "unseen" in fact);
  return unseen && "unseen" in unseen ? unseen : paths;
}

function runs(uses: readonly ActionUse[], wanted: string): boolean {
  return uses.some(({ command }) => command === wanted);
}

/** Returns whether patterns of branches include one, as GitHub reads them: the last that matches decides. */
function includesBranch(patterns: readonly string[], branch: string): boolean {
  const last = patterns.findLast((pattern) => branchPattern(pattern.replace(/^!/, "")).test(branch));
  return last !== undefined && !last.startsWith("!");
}

/** Compiles a pattern, in which `?` and `+` repeat the character in front of them. */
function branchPattern(pattern: string): RegExp {
  const body = pattern
    .replaceAll(/[.^${}()|\\]/g, "\\$&")
    .replaceAll(/\*+/g, (stars) => (stars === "*" ? "[^/]*" : ".*"));
  try {
    return new RegExp(`^${body}$`);
  } catch {
    return /$^/;
  }
}

function checkPins(uses: readonly ActionUse[], { paths, workflows, called, url }: GithubFacts): HealthCheck {
  const known = "value" in paths ? paths.value : [];
  const owner = url.split("/").at(-2) ?? "";
  const wrong = uses.find((use) => !isPinned(use, { known, owner }))?.reference;
  return step(
    "Action",
    wrong === undefined ? allSeen(paths, workflows, called) : paths,
    "Pin the action by its commit, or copy it: rolecall init --workflows --vendor",
    () => {
      if (wrong !== undefined)
        return `${wrong} ${wrong.startsWith("./") ? "is not complete" : "is not a commit"}`;
      return uses.length > 0 || "no workflow uses it";
    },
  );
}

/** Returns whether a reference cannot change unseen; a workflow of the same owner is taken as it is. */
function isPinned(
  { reference, isCall }: ActionUse,
  { known, owner }: { readonly known: readonly string[]; readonly owner: string },
): boolean {
  if (!reference.startsWith("./"))
    return /@[0-9a-f]{40}$/.test(reference) || (isCall && reference.startsWith(`${owner}/`));
  const path = reference.slice(2);
  const files = isCall ? [path] : ["action.yml", "dist/action.mjs"].map((file) => `${path}/${file}`);
  return files.every((file) => known.includes(file));
}

function checkOwners({ paths, owners, owned, ownerErrors, url, branch }: GithubFacts): HealthCheck {
  const name = "Code owners";
  if (owners === null) {
    return step(
      name,
      paths,
      "Generate a CODEOWNERS file, and merge it: rolecall init --workflows --codeowners @org/team",
      () => "there is no CODEOWNERS file",
    );
  }
  const known = "value" in paths ? paths.value : [];
  const text = "value" in owners.text ? owners.text.value : "";
  const unowned = unownedPaths(
    text,
    known.filter((path) => path === owners.path || needsOwner(path, owned)),
  );
  const owner = /(?<=\s)@[\w./-]+/.exec(text.replaceAll(/#.*/g, ""))?.[0] ?? "@org/team";
  const lines = [...new Set(unowned.map((path) => `${topOf(path)} ${owner}`))];
  return step(
    name,
    "unseen" in owners.text ? owners.text : paths,
    unowned.length > 0
      ? `Append to ${owners.path}, with the owner that you want, and merge it: ${lines.join(" · ")}`
      : `Correct the errors that GitHub shows: ${url}/blob/${branch}/${owners.path}`,
    () => {
      if (unowned.length > 0) return `${unowned[0]} has no owner`;
      if ("unseen" in ownerErrors) return null;
      return ownerErrors.value === 0 || `${owners.path} has errors`;
    },
  );
}

/** Returns the pattern of the top folder of a path, or of the path itself. */
function topOf(path: string): string {
  const end = path.indexOf("/");
  return `/${end < 0 ? path : path.slice(0, end + 1)}`;
}

function fileName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** The commands that run at night. */
const NIGHTLY = ["due", "drift"];

function checkNightly(facts: GithubFacts, now: number): readonly HealthCheck[] {
  const { paths, workflows } = facts;
  const scheduled = [...facts.runs.keys()].map((path) => {
    const workflow = workflows.get(path);
    return { path, uses: workflow && "value" in workflow ? workflow.value.uses : [] };
  });
  const nightly = scheduled.filter(({ uses }) => NIGHTLY.some((command) => runs(uses, command)));
  const lacking = NIGHTLY.filter((command) => !nightly.some(({ uses }) => runs(uses, command)));
  const nameOf = (path: string): string => (nightly.length > 1 ? `Last run: ${fileName(path)}` : "Last run");
  return [
    ...nightly.map(({ path }) => checkLastRun(path, nameOf(path), facts, now)),
    ...(lacking.length === 0
      ? []
      : [
          step(
            "Schedule",
            allSeen(paths, workflows),
            "Write the nightly workflow, and merge it: rolecall init --workflows",
            () => `no scheduled workflow runs ${listText(lacking.map(quoted), "or")}`,
          ),
        ]),
  ];
}

function checkLastRun(path: string, name: string, { runs, url }: GithubFacts, now: number): HealthCheck {
  const file = fileName(path);
  const page = `${url}/actions/workflows/${file}`;
  const fact = runs.get(path) ?? { unseen: "no answer" };
  const last = "value" in fact ? fact.value : null;
  const at = last !== null && Number.isFinite(last.at) ? new Date(last.at).toISOString().slice(0, 16) : "";
  return step(
    name,
    fact,
    last === null || last.conclusion === "success" || last.conclusion === null
      ? `Enable the workflow and run it (gh workflow run ${file}): ${page}`
      : `See why it failed: ${last.url}`,
    (run) => {
      if (run === null) return "it has never run";
      if (run.conclusion !== null && run.conclusion !== "success")
        return `it ended with ${run.conclusion}, ${at}Z`;
      return now - run.at <= NIGHTLY_MS || `it has not run since ${at}Z`;
    },
    `${at}Z`,
  );
}
