import { listText, quoted } from "../../lib/text.ts";
import type { HealthCheck, HealthGroup } from "../../model/reports.ts";
import { codeOwners } from "./code-owners.ts";
import type { BranchProtection, DeploymentEnvironment, GithubFacts, Seen } from "./github-facts.ts";

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
    { about, names: ["nightly run"], checks: [checkNightly(facts, now)] },
  ];
}

/** Decides on a step by what is seen: `true` is in force, `null` is unknown, and a text says what is missing. */
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

function checkBranch({ protection, url }: GithubFacts): readonly HealthCheck[] {
  const rules = `${url}/settings/rules`;
  const check = (
    name: string,
    what: string,
    judge: (value: BranchProtection) => true | null | string,
  ): HealthCheck => step(name, protection, `In the rules for the default branch, ${what}: ${rules}`, judge);
  return [
    check(
      "Reviews",
      "require a pull request with an approving review",
      ({ approvals }) => approvals > 0 || "no approving review is required",
    ),
    check(
      "Code owner reviews",
      "require a review from code owners",
      ({ ownerReview }) => ownerReview || "no review from code owners is required",
    ),
    check(
      "Stale approvals",
      "dismiss stale approvals when new commits are pushed",
      ({ dismissesStale }) => dismissesStale || "approvals stay when new commits are pushed",
    ),
    check(
      "Status check",
      'require the status "rolecall plan"',
      ({ statuses }) => statuses.includes("rolecall plan") || 'the status "rolecall plan" is not required',
    ),
    check(
      "Up-to-date branches",
      "require branches to be up to date, or a merge queue",
      ({ upToDate }) => upToDate || "branches may be merged that are not up to date",
    ),
    check("No bypass", "let nobody bypass them", ({ bypass }) =>
      bypass === null ? null : !bypass || "somebody may bypass the rules",
    ),
  ];
}

const ENVIRONMENTS = ["production", "unreviewed-access", "nightly"];

function checkEnvironments({ environments, url, branch }: GithubFacts): readonly HealthCheck[] {
  const page = `${url}/settings/environments`;
  return ENVIRONMENTS.flatMap((name) => {
    const found: Seen<DeploymentEnvironment | null> =
      "unseen" in environments
        ? environments
        : { value: environments.value.find((environment) => environment.name === name) ?? null };
    const check = (
      what: string,
      next: string,
      judge: (environment: DeploymentEnvironment) => true | null | string,
    ): HealthCheck =>
      step(`${name}: ${what}`, found, `In the environment ${name}, ${next}: ${page}`, (environment) =>
        environment === null ? "there is no such environment" : judge(environment),
      );
    const reviewed = name === "unreviewed-access";
    return [
      check("branches", `allow only the branch ${branch}`, ({ branches }) => {
        if ("unseen" in branches) return null;
        const { value } = branches;
        if (value === null) return "every branch can use it";
        if (value === "protected") return true;
        return (
          value.every((pattern) => pattern === branch) || `other branches can use it: ${listText(value)}`
        );
      }),
      check("secret", "set the secret ROLECALL_WRITE_KEY", ({ secrets }) =>
        "unseen" in secrets
          ? null
          : secrets.value.includes("ROLECALL_WRITE_KEY") || "ROLECALL_WRITE_KEY is not set",
      ),
      ...(name === "production"
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

function checkNames({ secrets, variables, environments, url }: GithubFacts): readonly HealthCheck[] {
  const pageOf = (kind: string): string => `${url}/settings/${kind}/actions`;
  const inEvery = (name: string): boolean =>
    "value" in environments &&
    ENVIRONMENTS.every((wanted) =>
      environments.value.some(
        (environment) =>
          environment.name === wanted &&
          "value" in environment.secrets &&
          environment.secrets.value.includes(name),
      ),
    );
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
      secrets,
      `Set the secret ROLECALL_READ_KEY, a read-only key: ${pageOf("secrets")}`,
      isSet("ROLECALL_READ_KEY"),
    ),
    step(
      "Approval secret",
      secrets,
      `Set the secret ROLECALL_APPROVAL_SECRET (openssl rand -hex 32): ${pageOf("secrets")}`,
      (names) => inEvery("ROLECALL_APPROVAL_SECRET") || isSet("ROLECALL_APPROVAL_SECRET")(names),
    ),
    step(
      "Write key",
      secrets,
      `Move the secret ROLECALL_WRITE_KEY to the environments: ${pageOf("secrets")}`,
      (names) => !names.includes("ROLECALL_WRITE_KEY") || "every branch can use ROLECALL_WRITE_KEY",
      "only in environments",
    ),
  ];
}

const COMMANDS = ["plan", "apply", "due", "drift"];

function checkFiles(facts: GithubFacts): readonly HealthCheck[] {
  const { paths, texts, disabled, branch } = facts;
  const workflows = [...texts].filter(([path, text]) => path.endsWith("ml") && usesOf(text).length > 0);
  const uses = [...new Set(workflows.flatMap(([, text]) => usesOf(text)))];
  const commands = COMMANDS.filter((command) => workflows.some(([, text]) => runsCommand(text, command)));
  const lacking = COMMANDS.filter((command) => !commands.includes(command));
  const paused =
    "value" in disabled
      ? workflows.map(([path]) => path).find((path) => disabled.value.includes(path))
      : undefined;
  const misdirected = workflows.find(
    ([, text]) => runsCommand(text, "apply") && pushesElsewhere(text, branch),
  )?.[0];
  return [
    step(
      "Workflows",
      paths,
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
      paths,
      `Change "branches" in ${misdirected} to [${branch}], and merge it`,
      () => misdirected === undefined || `${misdirected} runs on pushes to another branch than ${branch}`,
    ),
    step(
      "Action",
      paths,
      "Pin the action by its commit, or copy it: rolecall init --workflows --vendor",
      (known) => {
        if (uses.length === 0) return "no workflow uses it";
        const wrong = uses.find((reference) => !isPinned(reference, known));
        return (
          wrong === undefined || `${wrong} ${wrong.startsWith("./") ? "is not complete" : "is not a commit"}`
        );
      },
    ),
    checkOwners(facts),
  ];
}

/** Returns whether a workflow gives the action a command. */
function runsCommand(text: string, command: string): boolean {
  return new RegExp(`^\\s*command: ["']?${command}["']?\\s*(?:#.*)?$`, "m").test(text);
}

/** Returns whether a workflow runs on pushes, but only to branches other than the default one. */
function pushesElsewhere(text: string, branch: string): boolean {
  const [, list] = /^ +push:\n(?: *#.*\n)* +branches: *\[([^\]]*)\]/m.exec(text) ?? [];
  const branches = list?.split(",").map((name) => name.trim().replace(/^(["'])(.*)\1$/, "$2")) ?? [];
  return branches.length > 0 && !branches.some((name) => name === branch || /[*?+!]/.test(name));
}

function checkOwners({ paths, texts, ownerErrors, url, branch }: GithubFacts): HealthCheck {
  const [file, text] = [...texts].find(([path]) => path.endsWith("CODEOWNERS")) ?? [];
  const known = "value" in paths ? paths.value : [];
  if (file === undefined || text === undefined) {
    return step(
      "Code owners",
      paths,
      "Generate a CODEOWNERS file, and merge it: rolecall init --workflows --codeowners @org/team",
      () => "there is no CODEOWNERS",
    );
  }
  const unowned = [...ownedPaths(known), file].filter((path) => codeOwners(text, path).length === 0);
  const owner = /(?<=\s)@[\w./-]+/.exec(text.replaceAll(/#.*/g, ""))?.[0] ?? "@org/team";
  const lines = [...new Set(unowned.map((path) => `${topOf(path)} ${owner}`))];
  return step(
    "Code owners",
    paths,
    unowned.length > 0
      ? `Append to ${file}, with the owner that you want, and merge it: ${lines.join(" · ")}`
      : `Correct the errors that GitHub shows: ${url}/blob/${branch}/${file}`,
    () => {
      if (unowned.length > 0) return `${unowned[0]} has no owner`;
      if ("unseen" in ownerErrors) return null;
      return ownerErrors.value === 0 || `${file} has errors`;
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

/** Returns how a workflow names the action. */
function usesOf(text: string): readonly string[] {
  return Array.from(
    text.matchAll(/^\s*(?:-\s+)?uses:\s*["']?([^\s"'#]*\/rolecall(?:@[^\s"'#]*)?)["']?/gm),
    ([, uses = ""]) => uses,
  );
}

function isPinned(uses: string, known: readonly string[]): boolean {
  if (!uses.startsWith("./")) return /@[0-9a-f]{40}$/.test(uses);
  const folder = uses.slice(2);
  return ["action.yml", "dist/action.mjs"].every((file) => known.includes(`${folder}/${file}`));
}

/** Returns the files whose change needs a review: those of merchants, the project's, and what runs with the keys. */
function ownedPaths(known: readonly string[]): readonly string[] {
  const owned =
    /^(?:access\/.*\.ya?ml|shared\/.*\.ya?ml|rolecall\.yaml|\.github\/(?:workflows|actions)\/.*)$/;
  return known.filter((path) => owned.test(path));
}

function checkNightly({ paths, texts, runs, url }: GithubFacts, now: number): HealthCheck {
  const name = "Last run";
  const path = [...runs.keys()].find((each) => usesOf(texts.get(each) ?? "").length > 0);
  if (path === undefined) {
    return step(
      name,
      paths,
      "Write the nightly workflow, and merge it: rolecall init --workflows",
      () => "no scheduled workflow uses the action",
    );
  }
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
