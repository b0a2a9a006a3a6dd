import { cp, mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { codeOwners } from "../../src/cli/github/code-owners.ts";
import { rolecall } from "../support/rolecall.ts";

const NOW = Date.parse("2026-05-02T09:00:00Z");
const BASE = "/repos/acme/access";
const SHA = "0123456789abcdef0123456789abcdef01234567";
const USES = "      - uses: ./.github/actions/rolecall\n        with:\n";
const JOB = `jobs:\n  job:\n    steps:\n${USES}`;
const WORKFLOWS: Readonly<Record<string, string>> = {
  ".github/workflows/rolecall-plan.yml": `on: pull_request\n${JOB}          command: plan\n`,
  ".github/workflows/rolecall-apply.yml": `on:\n  push:\n    branches: [main] # the default one\n${JOB}          command: apply\n`,
  ".github/workflows/rolecall-nightly.yml": `on:\n  schedule:\n    - cron: "17 0 * * *"\n${JOB}          command: due\n${USES}          command: drift\n`,
};
const FILES = [
  "access/mc1.yaml",
  "access/README.md",
  "rolecall.yaml",
  "README.md",
  ".github/actions/rolecall/action.yml",
  ".github/actions/rolecall/dist/action.mjs",
  ".github/CODEOWNERS",
  ...Object.keys(WORKFLOWS),
];
const OWNERS = "/access/ @acme/access\n/rolecall.yaml @acme/access\n/.github/ @acme/access\n";

/** The answers of a repository whose set-up is complete, by path. */
function complete(): Record<string, unknown> {
  const environment = (name: string, reviewers: number) => ({
    name,
    protection_rules: reviewers > 0 ? [{ type: "required_reviewers", reviewers: [{ type: "Team" }] }] : [],
    deployment_branch_policy: { protected_branches: false, custom_branch_policies: true },
  });
  const names = ["production", "unreviewed-access", "nightly"];
  const text = { ...WORKFLOWS, ".github/CODEOWNERS": OWNERS };
  return {
    "": { default_branch: "main", html_url: "https://github.example/acme/access" },
    "/rules/branches/main": [
      {
        type: "pull_request",
        ruleset_id: 1,
        parameters: {
          required_approving_review_count: 1,
          dismiss_stale_reviews_on_push: true,
          require_code_owner_review: true,
        },
      },
      {
        type: "required_status_checks",
        ruleset_id: 1,
        parameters: {
          required_status_checks: [{ context: "rolecall plan" }],
          strict_required_status_checks_policy: true,
        },
      },
    ],
    "/rulesets/1": { bypass_actors: [] },
    "/environments": {
      environments: names.map((name) => environment(name, name === "unreviewed-access" ? 1 : 0)),
    },
    ...Object.fromEntries(
      names.flatMap((name) => [
        [`/environments/${name}/deployment-branch-policies`, { branch_policies: [{ name: "main" }] }],
        [`/environments/${name}/secrets`, { secrets: [{ name: "ROLECALL_WRITE_KEY" }] }],
      ]),
    ),
    "/actions/secrets": { secrets: [{ name: "ROLECALL_READ_KEY" }, { name: "ROLECALL_APPROVAL_SECRET" }] },
    "/actions/variables": { variables: [] },
    "/actions/organization-secrets": { secrets: [] },
    "/actions/organization-variables": { variables: [{ name: "ROLECALL_BASE_URL" }] },
    "/git/trees/main": { tree: FILES.map((path) => ({ path })) },
    "/codeowners/errors": { errors: [] },
    "/actions/workflows": {
      workflows: Object.keys(WORKFLOWS).map((path) => ({ path, state: "active" })),
    },
    ...Object.fromEntries(Object.entries(text).map(([path, content]) => [`/contents/${path}`, content])),
    "/actions/workflows/rolecall-nightly.yml/runs": {
      workflow_runs: [
        {
          created_at: "2026-05-02T00:17:00Z",
          conclusion: "success",
          html_url: "https://github.example/acme/access/actions/runs/7",
        },
      ],
    },
  };
}

let answers = complete();
/** Path → status of a refusal. */
let refusals: Record<string, number> = {};
/** GitHub's words for a refusal. */
let refusalText: string | null = null;
/** The origin to which requests for the repository's old name are redirected. */
let moved: string | null = null;
let server: Server;
let url = "";
let tokens = new Set<string | undefined>();
let requested: string[] = [];

function answerTo(path: string, query: URLSearchParams): { readonly status: number; readonly body: unknown } {
  const [refused, answer] = [refusals[path], answers[path]];
  if (refused === undefined && answer !== undefined) {
    return { status: 200, body: typeof answer === "function" ? answer(Number(query.get("page"))) : answer };
  }
  const message =
    path.endsWith("/protection") && refused === undefined ? "Branch not protected" : "Not Found";
  return { status: refused ?? 404, body: { message: refusalText ?? message } };
}

beforeAll(async () => {
  server = createServer((request, response) => {
    tokens.add(request.headers.authorization);
    requested.push(request.url ?? "");
    const { pathname, searchParams } = new URL(request.url ?? "", url);
    const whole = pathname.replace(/^\/api\/v3(?=\/)/, "");
    if (moved !== null && whole.startsWith(BASE)) {
      response.writeHead(301, { location: `${moved}${pathname.replace(BASE, "/repositories/7")}` });
      response.end(JSON.stringify({ message: "Moved Permanently" }));
      return;
    }
    const { status, body } = answerTo(
      whole.startsWith(BASE) ? whole.slice(BASE.length) : whole,
      searchParams,
    );
    response.statusCode = status;
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

beforeEach(() => {
  answers = complete();
  refusals = {};
  refusalText = null;
  moved = null;
  tokens = new Set();
  requested = [];
});

afterAll(() => new Promise<void>((resolve) => server.close(() => resolve())));

const doctor = (args: readonly string[] = [], env: Readonly<Record<string, string>> = {}, cwd?: string) =>
  rolecall(["doctor", "--github", ...args], {
    env: { GITHUB_API_URL: url, GITHUB_REPOSITORY: "acme/access", GH_TOKEN: "ghp_secret", ...env },
    now: () => NOW,
    ...(cwd !== undefined && { cwd }),
  });

interface Check {
  readonly name: string;
  readonly status: string;
  readonly detail: string;
  readonly next?: string;
}

async function checks(cwd?: string) {
  const { code, stdout } = await doctor(["--format", "json"], {}, cwd);
  const { groups } = JSON.parse(stdout) as {
    readonly groups: readonly { readonly checks: readonly Check[] }[];
  };
  const all = groups.flatMap((group) => group.checks);
  return { code, all, failed: all.filter(({ status }) => status === "failed") };
}

test("a complete set-up is in force, and nothing is said of the token", async () => {
  const { code, stdout, stderr } = await doctor();
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toContain("No problems found.");
  expect(stdout).not.toMatch(/[✗?]/);
  expect(stdout).not.toContain("ghp_secret");
  expect([...tokens]).toEqual(["Bearer ghp_secret"]);
});

/** Changes the parameters of a rule. */
const rule = (index: number, parameters: object) => () => {
  const rules = answers["/rules/branches/main"] as { parameters: object }[];
  Object.assign(rules[index]?.parameters ?? {}, parameters);
};
const secretsOf = (path: string, names: readonly string[]) => () => {
  answers[path] = { secrets: names.map((name) => ({ name })) };
};
const environment = (name: string, changed: object) => () => {
  const { environments } = answers["/environments"] as { environments: { name: string }[] };
  Object.assign(environments.find((each) => each.name === name) ?? {}, changed);
};
const tree = (paths: readonly string[]) => () => {
  answers["/git/trees/main"] = { tree: paths.map((path) => ({ path })) };
};

describe("each setting that is disabled is missing, with the way to correct it", () => {
  test.each<[string, () => void, string, RegExp]>([
    ["reviews", rule(0, { required_approving_review_count: 0 }), "Reviews", /settings\/rules$/],
    [
      "code owner reviews",
      rule(0, { require_code_owner_review: false }),
      "Code owner reviews",
      /settings\/rules$/,
    ],
    ["dismissal", rule(0, { dismiss_stale_reviews_on_push: false }), "Stale approvals", /settings\/rules$/],
    [
      "the status",
      rule(1, { required_status_checks: [{ context: "ci" }] }),
      "Status check",
      /settings\/rules$/,
    ],
    [
      "up-to-date branches",
      rule(1, { strict_required_status_checks_policy: false }),
      "Up-to-date branches",
      /settings\/rules$/,
    ],
    [
      "no bypass",
      () => {
        answers["/rulesets/1"] = { bypass_actors: [{ actor_id: 5 }] };
      },
      "No bypass",
      /settings\/rules$/,
    ],
    [
      "branches of an environment",
      environment("production", { deployment_branch_policy: null }),
      "production: branches",
      /settings\/environments$/,
    ],
    [
      "an environment for protected branches, of which a ruleset makes none",
      environment("production", { deployment_branch_policy: { protected_branches: true } }),
      "production: branches",
      /settings\/environments$/,
    ],
    [
      "an environment that no branch can use",
      () => {
        answers["/environments/production/deployment-branch-policies"] = { branch_policies: [] };
      },
      "production: branches",
      /settings\/environments$/,
    ],
    [
      "an environment for a tag with the branch's name",
      () => {
        answers["/environments/production/deployment-branch-policies"] = {
          branch_policies: [{ name: "main", type: "tag" }],
        };
      },
      "production: branches",
      /settings\/environments$/,
    ],
    [
      "another branch of an environment",
      () => {
        answers["/environments/nightly/deployment-branch-policies"] = {
          branch_policies: [{ name: "main" }, { name: "*" }],
        };
      },
      "nightly: branches",
      /settings\/environments$/,
    ],
    [
      "reviewers of an environment",
      environment("unreviewed-access", { protection_rules: [] }),
      "unreviewed-access: reviewers",
      /settings\/environments$/,
    ],
    [
      "the write key",
      secretsOf("/environments/production/secrets", []),
      "production: secret",
      /settings\/environments$/,
    ],
    [
      "the read key",
      secretsOf("/actions/secrets", ["ROLECALL_APPROVAL_SECRET"]),
      "Read key",
      /settings\/secrets/,
    ],
    [
      "the approval secret",
      secretsOf("/actions/secrets", ["ROLECALL_READ_KEY"]),
      "Approval secret",
      /openssl rand/,
    ],
    [
      "a write key that only environments have",
      secretsOf("/actions/secrets", ["ROLECALL_READ_KEY", "ROLECALL_APPROVAL_SECRET", "ROLECALL_WRITE_KEY"]),
      "Write key",
      /Move the secret/,
    ],
    [
      "the base URL",
      () => {
        answers["/actions/organization-variables"] = { variables: [] };
      },
      "Base URL",
      /settings\/variables\/actions$/,
    ],
    [
      "code owners of the files",
      () => {
        answers["/contents/.github/CODEOWNERS"] = OWNERS.replace("/access/ @acme/access", "/access/");
      },
      "Code owners",
      /^Append to \.github\/CODEOWNERS, .*: \/access\/ @acme\/access$/,
    ],
    [
      "a file of code owners",
      tree(FILES.filter((path) => !path.endsWith("CODEOWNERS"))),
      "Code owners",
      /--codeowners/,
    ],
    [
      "code owners of everything",
      () => {
        answers["/contents/.github/CODEOWNERS"] = "/docs/ @acme/docs # \n";
      },
      "Code owners",
      /: \/access\/ @acme\/docs · \/rolecall\.yaml @acme\/docs · \/\.github\/ @acme\/docs$/,
    ],
    [
      "a correct file of code owners",
      () => {
        answers["/codeowners/errors"] = { errors: [{ line: 1 }] };
      },
      "Code owners",
      /^Correct the errors that GitHub shows: .*\/blob\/main\/\.github\/CODEOWNERS$/,
    ],
    [
      "a workflow that ran a short while ago",
      () => {
        const [path] = Object.keys(WORKFLOWS).slice(-1);
        answers["/actions/workflows"] = { workflows: [{ path, state: "disabled_manually" }] };
      },
      "Enabled workflows",
      /^Enable it: gh workflow enable rolecall-nightly\.yml$/,
    ],
    [
      "the branch of the apply",
      () => {
        const path = ".github/workflows/rolecall-apply.yml";
        answers[`/contents/${path}`] = WORKFLOWS[path]?.replace("[main]", "[master, 'v1']");
      },
      "Branch of the apply",
      /^Change "branches" in \S+apply\.yml to \[main\]/,
    ],
    [
      "the branch of the apply in a list of lines",
      () => {
        const path = ".github/workflows/rolecall-apply.yml";
        answers[`/contents/${path}`] = WORKFLOWS[path]?.replace("[main]", "\n      - release\n     ");
      },
      "Branch of the apply",
      /^Change "branches" in \S+apply\.yml to \[main\]/,
    ],
    ...[
      "branches-ignore: [release, main]",
      "branches: ['**', '!mai*']",
      "branches: [release/**, 'm*/x', 'mains', '[']",
      "tags: [v*]",
    ].map((filter): [string, () => void, string, RegExp] => [
      `the branch of the apply, with ${filter}`,
      () => {
        const path = ".github/workflows/rolecall-apply.yml";
        answers[`/contents/${path}`] = WORKFLOWS[path]?.replace("branches: [main]", filter);
      },
      "Branch of the apply",
      /^Change "branches" in \S+apply\.yml to \[main\]/,
    ]),
    [
      "code owners by a pattern of some files",
      () => {
        answers["/contents/.github/CODEOWNERS"] = OWNERS.replace("/access/ ", "/access/*.yml ");
      },
      "Code owners",
      /: \/access\/ @acme\/access$/,
    ],
    [
      "code owners of installed packages",
      tree([...FILES, "package.json", "src/package.json"]),
      "Code owners",
      /: \/package\.json @acme\/access$/,
    ],
    [
      "code owners of the workflows",
      () => {
        answers["/contents/.github/CODEOWNERS"] = OWNERS.replace("/.github/", "/github/");
      },
      "Code owners",
      /: \/\.github\/ @acme\/access$/,
    ],
    [
      "code owners of the code owners",
      () => {
        answers["/contents/.github/CODEOWNERS"] = OWNERS.replace(
          "/.github/",
          "/.github/workflows/ @acme/access\n/.github/actions/",
        );
      },
      "Code owners",
      /: \/\.github\/ @acme\/access$/,
    ],
    [
      "the pin of the action",
      () => {
        answers["/contents/.github/workflows/rolecall-plan.yml"] = WORKFLOWS[
          ".github/workflows/rolecall-plan.yml"
        ]?.replace("./.github/actions/rolecall", "acme/rolecall@v1");
      },
      "Action",
      /--vendor/,
    ],
    ["the action's bundle", tree(FILES.filter((path) => !path.endsWith(".mjs"))), "Action", /--vendor/],
    ["a workflow", tree(FILES.filter((path) => !path.endsWith("apply.yml"))), "Workflows", /--workflows/],
    [
      "a nightly run that succeeds",
      () => {
        answers["/actions/workflows/rolecall-nightly.yml/runs"] = {
          workflow_runs: [
            { created_at: "2026-05-02T00:17:00Z", conclusion: "failure", html_url: "https://x.example/7" },
          ],
        };
      },
      "Last run",
      /See why it failed: https:\/\/x\.example\/7/,
    ],
    [
      "a nightly run, while another scheduled workflow runs",
      () => {
        answers["/contents/.github/workflows/audit.yml"] =
          `on:\n  schedule:\n    - cron: "0 1 * * *"\n${JOB}          command: check\n`;
        tree([".github/workflows/audit.yml", ...FILES])();
        answers["/actions/workflows/audit.yml/runs"] =
          answers["/actions/workflows/rolecall-nightly.yml/runs"];
        answers["/actions/workflows/rolecall-nightly.yml/runs"] = { workflow_runs: [] };
      },
      "Last run",
      /gh workflow run rolecall-nightly\.yml/,
    ],
    [
      "the schedule of one command",
      () => {
        const path = ".github/workflows/rolecall-nightly.yml";
        answers[`/contents/${path}`] = WORKFLOWS[path]?.replace(/ {6}- uses.*?due\n/s, "");
        const plan = ".github/workflows/rolecall-plan.yml";
        answers[`/contents/${plan}`] = `${WORKFLOWS[plan]}${USES}          command: due\n`;
      },
      "Schedule",
      /rolecall init --workflows$/,
    ],
    [
      "a nightly run of late",
      () => {
        answers["/actions/workflows/rolecall-nightly.yml/runs"] = {
          workflow_runs: [{ created_at: "2026-04-20T00:17:00Z", conclusion: "success" }],
        };
      },
      "Last run",
      /gh workflow run rolecall-nightly\.yml/,
    ],
  ])("%s", async (_, disable, name, next) => {
    disable();
    const { code, failed } = await checks();
    expect(failed.map((check) => check.name)).toEqual([name]);
    expect(failed[0]?.next).toMatch(next);
    expect(code).toBe(1);
  });
});

test.each([
  "branches-ignore: [release]",
  "branches: ['**']",
  "branches: ['!x', 'ma?in']",
  "paths: [access/**]",
])("pushes to the default branch are among those of %s", async (filter) => {
  const path = ".github/workflows/rolecall-apply.yml";
  answers[`/contents/${path}`] = WORKFLOWS[path]?.replace("branches: [main]", filter);
  expect((await checks()).failed).toEqual([]);
});

test("the classic protection of a branch counts like rulesets", async () => {
  answers["/rules/branches/main"] = [];
  answers["/branches/main/protection"] = {
    required_pull_request_reviews: {
      required_approving_review_count: 1,
      dismiss_stale_reviews: true,
      require_code_owner_reviews: true,
    },
    required_status_checks: { strict: true, checks: [{ context: "rolecall plan" }] },
    enforce_admins: { enabled: true },
  };
  expect((await checks()).failed).toEqual([]);
  const classic = answers["/branches/main/protection"] as Record<string, object>;
  environment("nightly", { deployment_branch_policy: { protected_branches: true } })();
  expect((await checks()).failed).toEqual([]);
  Object.assign(classic, { enforce_admins: { enabled: false } });
  expect((await checks()).failed.map(({ name }) => name)).toEqual(["No bypass"]);
  Object.assign(classic, { enforce_admins: { enabled: true } });
  Object.assign(classic["required_pull_request_reviews"] ?? {}, {
    bypass_pull_request_allowances: { users: [{ login: "mallory" }], teams: [], apps: [] },
  });
  expect((await checks()).failed.map(({ name }) => name)).toEqual(["No bypass"]);
});

test("nobody bypasses rules that a ruleset without bypass repeats, and a hidden bypass is unknown", async () => {
  const bypass = async () => (await checks()).all.find(({ name }) => name === "No bypass")?.status;
  const rules = answers["/rules/branches/main"] as { ruleset_id: number }[];
  answers["/rules/branches/main"] = [
    ...rules,
    ...rules.map((rule) => ({ ...rule, ruleset_id: 2 })),
    { type: "deletion", ruleset_id: 3 },
  ];
  answers["/rulesets/2"] = { bypass_actors: [{ actor_id: 5 }] };
  answers["/rulesets/3"] = { bypass_actors: [] };
  expect(await bypass()).toBe("ok");
  // As of an organisation's ruleset, without write access to it.
  answers["/rulesets/1"] = {};
  expect(await bypass()).toBe("unknown");
  answers["/rulesets/1"] = { bypass_actors: [{ actor_id: 6 }] };
  expect(await bypass()).toBe("failed");
});

test("files outside the merchants' folder that files include, or that rules enforce, need an owner", async () => {
  const folder = await mkdtemp(join(tmpdir(), "rolecall-github-"));
  try {
    await cp(join(import.meta.dirname, "../../examples/franchise"), folder, { recursive: true });
    tree([...FILES, "hq/roles.yaml", "hq/policy.yaml", "hq/notes.yaml"])();
    const { failed } = await checks(folder);
    expect(failed.map(({ name, detail, next }) => [name, detail, next])).toEqual([
      ["Code owners", "hq/roles.yaml has no owner", expect.stringMatching(/: \/hq\/ @acme\/access$/)],
    ]);
    answers["/contents/.github/CODEOWNERS"] = `${OWNERS}/hq/ @acme/access\n`;
    expect((await checks(folder)).failed).toEqual([]);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("a workflow whose text the token may not read is unknown, and not missing", async () => {
  refusals = Object.fromEntries(
    [...Object.keys(WORKFLOWS), ".github/CODEOWNERS"].map((path) => [`/contents/${path}`, 403]),
  );
  const { code, all, failed } = await checks();
  expect([code, failed]).toEqual([0, []]);
  const unknown = all.filter(({ status }) => status === "unknown");
  expect(unknown[0]?.detail).toBe("cannot be seen: GitHub answered 403: Not Found");
  expect(unknown.map(({ name }) => name)).toEqual([
    "Workflows",
    "Branch of the apply",
    "Action",
    "Code owners",
    "Schedule",
  ]);
});

test("workflows that call one of the same owner are in force, with its key", async () => {
  const page = await readFile(join(import.meta.dirname, "../../docs/github.md"), "utf8");
  const [plan = "", apply = ""] = Array.from(
    page.slice(page.indexOf("## Many repositories")).matchAll(/```yml\n(.*?)```/gs),
    ([, text = ""]) => text.replaceAll("your-organisation", "acme"),
  );
  const called = await readFile(
    join(import.meta.dirname, "../../examples/github/rolecall-reusable.yml"),
    "utf8",
  );
  const contents = "/repos/acme/workflows/contents/.github/workflows/rolecall-reusable.yml";
  answers[contents] = called;
  answers["/contents/.github/workflows/rolecall-plan.yml"] = plan;
  answers["/contents/.github/workflows/rolecall-apply.yml"] = apply;
  secretsOf("/actions/secrets", ["ROLECALL_KEY", "ROLECALL_APPROVAL_SECRET"])();
  for (const name of ["production", "unreviewed-access", "nightly"])
    secretsOf(`/environments/${name}/secrets`, ["ROLECALL_KEY"])();
  expect((await checks()).failed).toEqual([]);
  refusals = { [contents]: 404 };
  const { all, failed } = await checks();
  expect(failed).toEqual([]);
  expect(all.find(({ name }) => name === "Action")?.status).toBe("unknown");
  answers["/repos/other/workflows/contents/.github/workflows/rolecall-reusable.yml"] = called;
  refusals = {};
  answers["/contents/.github/workflows/rolecall-plan.yml"] = plan.replace(
    "acme/workflows",
    "other/workflows",
  );
  expect((await checks()).failed).toEqual([
    expect.objectContaining({
      name: "Action",
      detail: "other/workflows/.github/workflows/rolecall-reusable.yml@main is not a commit",
    }),
  ]);
});

test("a workflow's own environments are checked, whatever their names", async () => {
  const path = ".github/workflows/rolecall-apply.yml";
  const approved = `  approved:\n    environment: { name: Access-Review }\n    steps:\n${USES}          command: apply\n          environment: Access-Review\n`;
  answers[`/contents/${path}`] =
    `${WORKFLOWS[path]?.replace("    steps:", "    environment: access-prod\n    steps:")}${approved}`;
  const { all, failed } = await checks();
  expect(failed.map(({ name }) => name)).toEqual([
    "access-prod: branches",
    "access-prod: secret",
    "Access-Review: branches",
    "Access-Review: secret",
    "Access-Review: reviewers",
  ]);
  expect(failed[0]?.detail).toBe("there is no such environment");
  expect(all.some(({ name }) => name.startsWith("production"))).toBe(false);
  // GitHub ignores the case.
  environment("production", { name: "Access-Prod" })();
  environment("unreviewed-access", { name: "access-review" })();
  for (const name of ["Access-Prod", "access-review"]) {
    answers[`/environments/${name}/deployment-branch-policies`] = { branch_policies: [{ name: "main" }] };
    secretsOf(`/environments/${name}/secrets`, ["ROLECALL_WRITE_KEY"])();
  }
  expect((await checks()).failed).toEqual([]);
});

test("secrets are found whatever the case in which a workflow names them", async () => {
  const path = ".github/workflows/rolecall-apply.yml";
  const key = `          api-key: \${{ secrets['rolecall_write_key'] }}\n`;
  answers[`/contents/${path}`] = `${WORKFLOWS[path]}${key}`;
  expect((await checks()).failed).toEqual([]);
});

test("lists are read to their end, though GitHub returns fewer items on a page than asked for", async () => {
  const paged =
    (key: string, names: readonly string[], environments: readonly object[] = []) =>
    (page: number) => {
      const items = [...names.map((name) => ({ name })), ...environments];
      return { total_count: items.length, [key]: items.slice((page - 1) * 30, page * 30) };
    };
  const others = (prefix: string) => Array.from({ length: 95 }, (_, index) => `${prefix}_${index}`);
  answers["/actions/organization-variables"] = paged("variables", [...others("A"), "ROLECALL_BASE_URL"]);
  const { environments } = answers["/environments"] as { environments: object[] };
  answers["/environments"] = paged("environments", others("preview"), environments);
  expect((await checks()).failed).toEqual([]);
  expect(requested.filter((path) => path.includes("preview"))).toEqual([]);
});

test("a private repository whose plan has no rules lacks them", async () => {
  refusals = { "/rules/branches/main": 403, "/branches/main/protection": 403 };
  refusalText = "Upgrade to GitHub Pro or make this repository public to enable this feature.";
  const { code, failed } = await checks();
  expect(failed).toHaveLength(6);
  expect(failed[0]?.detail).toBe("GitHub has no rules for a private repository on this plan");
  expect(new Set(failed.map(({ next }) => next)).size).toBe(1);
  expect(code).toBe(1);
});

test("an own bypass of a ruleset counts though its others are hidden", async () => {
  answers["/rulesets/1"] = { current_user_can_bypass: "pull_requests_only" };
  expect((await checks()).failed.map(({ name }) => name)).toEqual(["No bypass"]);
  answers["/rulesets/1"] = { current_user_can_bypass: "never" };
  expect((await checks()).failed).toEqual([]);
});

test("a renamed repository is found, and the token is sent nowhere else", async () => {
  for (const [path, answer] of Object.entries(complete())) answers[`/repositories/7${path}`] = answer;
  moved = url;
  expect((await doctor()).stdout).toContain("No problems found.");
  moved = "http://elsewhere.example";
  const { code, stderr } = await doctor();
  expect([code, stderr]).toEqual([1, expect.stringContaining("GitHub answered 301: Moved Permanently.")]);
});

test("the API of an Enterprise Server is below a path", async () => {
  const { code, stdout } = await doctor([], { GITHUB_API_URL: `${url}/api/v3/` });
  expect([code, stdout]).toEqual([0, expect.stringContaining("No problems found.")]);
  expect(requested.filter((path) => !/^\/api\/v3\/repos\//.test(path))).toEqual([]);
});

test("an error repeats why GitHub refuses the repository", async () => {
  refusals = { "": 403 };
  refusalText = "Resource protected by organization SAML enforcement.";
  expect((await doctor()).stderr.replaceAll(/\s+/g, " ")).toContain(
    "cannot be read: GitHub answered 403: Resource protected by organization SAML enforcement. →",
  );
});

test("what a workflow names as another one is only read if it is one", async () => {
  const path = ".github/workflows/rolecall-plan.yml";
  const call = `jobs:\n  plan:\n    uses: acme/x/../../../user?a=@main\n    with: { command: plan }\n`;
  answers[`/contents/${path}`] = `on: pull_request\n${call}`;
  const { all } = await checks();
  expect(all.find(({ name }) => name === "Action")?.detail).toContain("names no workflow");
  expect(requested.filter((url) => !url.startsWith(BASE))).toEqual([]);
});

test("a branch without any protection lacks all of it", async () => {
  answers["/rules/branches/main"] = [];
  expect((await checks()).failed).toHaveLength(6);
});

test("what the token may not see is unknown, which is no failure", async () => {
  answers["/rules/branches/main"] = [];
  answers["/rulesets/1"] = {};
  refusals = Object.fromEntries(
    ["/branches/main/protection", "/environments", "/actions/secrets", "/actions/variables"].map((path) => [
      path,
      403,
    ]),
  );
  const { code, all, failed } = await checks();
  expect(failed).toEqual([]);
  expect(all.filter(({ status }) => status === "unknown")).toHaveLength(18);
  expect(code).toBe(0);
});

test("files beside those of merchants need no owner", async () => {
  answers["/contents/.github/CODEOWNERS"] = OWNERS.replace("/access/ ", "/access/*.yaml ");
  expect((await checks()).failed).toEqual([]);
});

test("an action that is pinned by commit is in force", async () => {
  for (const [path, text] of Object.entries(WORKFLOWS))
    answers[`/contents/${path}`] = text.replaceAll(
      "./.github/actions/rolecall",
      `acme/rolecall@${SHA} # v1.2.3`,
    );
  expect((await checks()).failed).toEqual([]);
});

test.each([
  [{ GH_TOKEN: "", PATH: "/nowhere" }, "There is no token for github.com.", "gh auth login"],
  [{ GITHUB_REPOSITORY: "acme/other" }, "acme/other at github.com cannot be read", "gh auth status"],
  [{ GITHUB_API_URL: "http://github.example/api" }, "GITHUB_API_URL is not an HTTPS URL.", "Unset it"],
  [
    { GITHUB_REPOSITORY: "", GH_REPO: "gitlab.example/acme/access" },
    "The repository at GitHub is unknown: acme/access is at gitlab.example.",
    "docs/ci.md",
  ],
  [
    { GITHUB_REPOSITORY: "", GH_REPO: "/srv/git/access" },
    "The repository at GitHub is unknown: GH_REPO is not of the form OWNER/NAME.",
    "GH_REPO=OWNER/NAME",
  ],
  [
    { GITHUB_API_URL: "", GITHUB_REPOSITORY: "", GH_REPO: "git.example/acme/access", PATH: "/nowhere" },
    "There is no token for git.example.",
    "GH_ENTERPRISE_TOKEN",
  ],
])("an error says what to do: %j", async (env, message, hint) => {
  const { code, stderr } = await doctor([], env);
  expect(stderr).toContain(message);
  expect(stderr.replaceAll(/\s+/g, " ")).toContain(hint);
  expect(stderr).not.toContain('"rolecall doctor"');
  expect(code).toBe(1);
});

test.each([
  ["*", "a/b.yaml", true],
  ["/access/", "access/x/y.yaml", true],
  ["/access/", "other/access/y.yaml", false],
  ["access/", "other/access/y.yaml", true],
  ["*.yaml", "access/y.yaml", true],
  ["/access/*", "access/y.yaml", true],
  ["/access/*", "access/x/y.yaml", false],
  ["/access/**", "access/x/y.yaml", true],
  ["**/workflows", ".github/workflows/a.yml", true],
  ["/a/**/c.yaml", "a/b/c.yaml", true],
  ["/rolecall.yaml", "rolecallxyaml", false],
  ["/my\\ shop.yaml", "my shop.yaml", true],
])("the pattern %s of code owners and the path %s", (pattern, path, matches) => {
  expect(codeOwners(`${pattern} @acme/a # a team\n`, path)).toEqual(matches ? ["@acme/a"] : []);
  expect(codeOwners(`${pattern} @acme/a\n${pattern}\n`, path)).toEqual([]);
});
