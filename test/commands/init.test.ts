import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Writable } from "node:stream";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { ExitCode, type Io } from "../../src/app/io/io.ts";
import { main } from "../../src/cli/main.ts";
import { previewNewFiles } from "../../src/cli/show/preview-plans.ts";
import { type RunningSandbox, realIo, rolecall, startSandbox } from "../support/rolecall.ts";

const MEMBERS = `
      - { email: ada@example.com, roles: [role_owner], mfa: true }
      - { email: bob@example.com, roles: [Cashier, role_employee] }
      - { email: late@example.com, roles: [Cashier], status: expired }
      - { email: till-5@harbour.example, roles: [Cashier], managed: { nickname: Till 5 } }
      - { email: bot@example.com, type: system_account }`;

const ROLES = `
      - { name: Cashier, permissions: [catalog_view, checkout_create, orders_view] }
      - { name: Lead, permissions: [refunds_create], description: Refunds }`;

const SEED = `merchants:
  - code: MC1
    name: Harbour Street
    roles: ${ROLES}
    members: ${MEMBERS}
  - code: MC2
    roles: ${ROLES.replace("orders_view", "orders_view, payouts_view")}
    members: ${MEMBERS}
  - { code: MC3, roles: [{ name: Other, permissions: [a] }], members: [{ email: ada@example.com, roles: [role_owner] }] }
keys:
  - { key: sk_test_sandbox, owner: ada@example.com }
  - { key: sk_test_nobody }
  - { key: sk_test_blind, owner: ada@example.com, permissions: [user.profile] }
`;

let folder = "";
let cwd = "";
let sandbox: RunningSandbox;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "rolecall-init-"));
  await writeFile(join(folder, "seed.yaml"), SEED);
  sandbox = await startSandbox(["--seed", join(folder, "seed.yaml")]);
});

beforeEach(async () => {
  cwd = await mkdtemp(join(folder, "project-"));
});

afterAll(async () => {
  await sandbox.stop();
  await rm(folder, { recursive: true });
});

const init = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  rolecall(["init", ...args], { cwd, env: { ...sandbox.env, ...env } });

const read = (file: string) => readFile(join(cwd, file), "utf8");

const filesHere = async () =>
  (await readdir(cwd, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(cwd.length + 1))
    .sort();

/** Returns the exit code of a plan: 2 where it has changes. */
const plan = async () =>
  (await rolecall(["plan", "--detailed-exitcode", "-q"], { cwd, env: sandbox.env })).code;

test("init writes a file for a merchant, for which a plan has no changes, and says what to do next", async () => {
  const { code, stdout, stderr } = await init(["MC1", "--yes"]);
  expect(stderr).not.toMatch(/error/);
  expect(code).toBe(0);
  expect(stdout).toContain(
    "access/mc1.yaml\nPlan of MC1: no changes; 6 unchanged, 1 not managed.\n\nNot declared",
  );
  expect(stdout).toMatch(/rolecall plan\n.*\n {2}rolecall drift\n$/);
  expect(await filesHere()).toEqual([".gitignore", "access/mc1.yaml", "schemas/merchant.schema.json"]);
  expect((await stat(join(cwd, "access/mc1.yaml"))).mode & 0o777).toBe(0o666 & ~process.umask());
  expect(await read("access/mc1.yaml")).toBe(`# yaml-language-server: $schema=../schemas/merchant.schema.json
version: 1
merchant: MC1
environment: test

roles:
  - name: Cashier
    permissions: [catalog_view, checkout_create, orders_view]
  - name: Lead
    description: Refunds
    permissions: [refunds_create]

members:
  - email: ada@example.com
    roles: [role_owner] # Owner
  - email: bob@example.com
    roles: [Cashier, role_employee] # role_employee: Employee
  # The invitation has expired. Without reinvite: false, a plan renews it.
  - email: late@example.com
    roles: [Cashier]
    reinvite: false
  - email: till-5@harbour.example
    managed: { nickname: Till 5, password_env: TILL_5_PASSWORD }
    roles: [Cashier]
  # - email: bot@example.com # a system account, which plans leave alone
  #   roles: []
`);
  expect(await plan()).toBe(0);
  expect((await rolecall(["fmt", "--check"], { cwd })).code).toBe(0);
});

test("init shows in one line that the plans of many merchants have no changes, and what else there is", async () => {
  const all = await init(["--all", "--yes"]);
  expect(all.stderr).not.toMatch(/warning|error/);
  expect(all.stdout).toContain(
    "\nPlans of 3 merchants: no changes; 14 unchanged, 2 not managed.\n\nNot declared",
  );
});

test("init counts the files of many merchants, and names why some could not be read once", async () => {
  const many = Array.from({ length: 12 }, (_, index) => `{ code: MCM${index} }`).join(", ");
  await writeFile(join(cwd, "seed.yaml"), `merchants: [${many}]\n`);
  const other = await startSandbox(["--seed", join(cwd, "seed.yaml")]);
  const codes = Array.from({ length: 24 }, (_, index) => `MCM${index}`);
  const { code, stdout, stderr } = await rolecall(["init", ...codes, "-y"], { cwd, env: other.env });
  await other.stop();
  expect(code).toBe(1);
  expect(stdout).toMatch(
    /^created schemas\/.*\ncreated \.gitignore\ncreated 12 files in access\nPlans of 12 /,
  );
  expect(stderr.replaceAll(/\s+/g, " ")).toMatch(
    /^MCM12, MCM13, .* MCM21 and 2 more could not be read\. error, 12 times: GET \S+ returned 404 Not Found\. /,
  );
  expect(stderr.match(/→/g)).toHaveLength(1);
});

test("init shows whole a plan that has changes, since somebody changed something meanwhile", async () => {
  await init(["--all", "--yes"]);
  const text = await read("access/mc3.yaml");
  await writeFile(join(cwd, "access/mc3.yaml"), text.replace("permissions: [a]", "permissions: [b]"));
  const { io, written } = realIo({ cwd, env: sandbox.env });
  const options = {
    merchant: [],
    concurrency: 4,
    retryFor: 0,
    maxItems: 250_000,
    color: false,
    format: "text",
  } as const;
  const files = ["access/mc1.yaml", "access/mc2.yaml", "access/mc3.yaml"];
  expect(await previewNewFiles(files, options, io)).toBe(ExitCode.ok);
  expect(written.stdout).toMatch(
    /^MC3 · [\s\S]*\n {2}Plan: 1 to update; 1 unchanged\.\n\nPlans of 2 merchants: no changes; 12 unchanged, 2 not managed\.\n$/,
  );
});

test("init offers no merchant whose membership is not accepted", async () => {
  const seed = join(cwd, "seed.yaml");
  const dee = (status: string) =>
    `members: [{ email: dee@example.com, roles: [role_owner], status: ${status} }]`;
  const merchants = [`{ code: MCX, ${dee("accepted")} }`, `{ code: MCY, ${dee("disabled")} }`];
  await writeFile(
    seed,
    `merchants: [${merchants.join(", ")}]\nkeys: [{ key: sk_test_sandbox, owner: dee@example.com }]\n`,
  );
  const other = await startSandbox(["--seed", seed]);
  const { stderr } = await rolecall(["init", "--yes"], { cwd, env: other.env });
  await other.stop();
  expect(stderr.replaceAll(/\s+/g, " ")).toContain("the key can access 1 merchant, such as MCX.");
});

test("init writes nothing while a file has errors, since it may be that of the merchant", async () => {
  await mkdir(join(cwd, "access"));
  await writeFile(join(cwd, "access/shop.yaml"), "version: 1\nmerchant: MC1\nroles: [\n");
  const { code, stderr } = await init(["MC1", "-y"]);
  expect(code).toBe(1);
  expect(stderr).toContain("access/shop.yaml:3:8: error: ");
  expect(stderr).toContain("Nothing was written, since some files have errors.");
  expect(await filesHere()).toEqual(["access/shop.yaml"]);
});

test("init names the key's variable and the service where the environment alone does not say them", async () => {
  const { url } = sandbox;
  const env = { ROLECALL_BASE_URL: "", ROLECALL_API_KEY: "", SHOP_KEY: "sk_test_sandbox" };
  const { code } = await init(
    ["MC3", "-y", "-q", "--base-url", url, "--key-env", "SHOP_KEY", "--sync", "additive"],
    env,
  );
  expect(code).toBe(0);
  expect(await read("access/mc3.yaml")).toContain(
    `environment: test\napi:\n  base_url: ${url}\n  key_env: SHOP_KEY\nsync: { roles: additive, members: additive }\n`,
  );
});

test("init shares equal roles, and adjusts those that differ a little", async () => {
  const { code } = await init(["--all", "--yes", "--share-roles", "-q"]);
  expect(code).toBe(0);
  expect(await read("shared/roles.yaml")).toContain("  - name: Lead\n    description: Refunds\n");
  expect(await read("access/mc2.yaml")).toContain(
    "include: [../shared/roles.yaml]\n\nroles:\n  - name: Cashier\n    adjust:\n      add: [payouts_view]\n",
  );
  expect(await read("access/mc1.yaml")).not.toContain("\nroles:");
  expect(await read("access/mc3.yaml")).not.toContain("include");
  expect(await plan()).toBe(0);
});

test("init ends with what the files do not declare, and offers what they could", async () => {
  const { stdout } = await init(["MC1", "MC2", "-y", "-q"]);
  expect(stdout.replaceAll(/\s+/g, " ")).toContain(
    "Not declared, as comments in the files say: MC1: bot@example.com: a system account, which plans leave alone MC2: bot@example.com: a system account, which plans leave alone 2 roles of 2 merchants (1 with adjustments) could be in one shared file: rolecall lint Rules that today's access meets: rolecall check --live --coverage Commit the files.",
  );
});

test("init --rules writes rules that hold, and that a plan keeps", async () => {
  const { code, stdout } = await init(["MC1", "MC2", "-y", "-q", "--rules", "--share-roles"]);
  expect(code).toBe(0);
  expect(stdout).not.toContain("could be");
  expect(await read("access/mc1.yaml")).toContain("\npolicies:\n  max_holders: { role_owner: 1 }\n");
  expect(await read("access/mc1.yaml")).toContain(
    "\nchecks:\n  - can: refunds_create\n    only: [ada@example.com, bob@example.com]\n",
  );
  expect(await plan()).toBe(0);
  expect((await rolecall(["check", "--live"], { cwd, env: sandbox.env })).code).toBe(0);
  expect((await rolecall(["fmt", "--check"], { cwd })).code).toBe(0);
});

test("init adds merchants to a project, and overwrites nothing", async () => {
  await init(["MC1", "-y", "-q"]);
  await writeFile(join(cwd, "access/mc1.yaml"), "version: 1\nmerchant: MC1\n");
  await writeFile(join(cwd, ".gitignore"), "node_modules");
  const again = await init(["MC1", "MC3", "-y", "-q"]);
  expect(again.stderr).toContain("MC1 already has a file: access/mc1.yaml.");
  expect(again.code).toBe(0);
  expect(await read("access/mc1.yaml")).toBe("version: 1\nmerchant: MC1\n");
  expect(await read(".gitignore")).toBe("node_modules\n.rolecall/\n");
  for (const args of [
    ["MC1", "MC3"],
    ["MC3", "-y"],
  ]) {
    const none = await init(args);
    expect([none.code, none.stdout]).toEqual([
      0,
      "There is nothing to do. To update the files from the live state:\n  rolecall pull\n",
    ]);
  }
  await init(["MC2", "-y", "-q"]);
  expect((await init([])).stdout).toContain("There is nothing to do");
  expect((await init(["--all"])).code).toBe(0);
});

test("pull names the schema in a new file, as init does, where init has written it", async () => {
  await init(["MC1", "-y", "-q"]);
  const { code } = await rolecall(["pull", "MC3", "--yes", "-q"], { cwd, env: sandbox.env });
  expect(code).toBe(0);
  expect(await read("access/mc3.yaml")).toMatch(
    /^# yaml-language-server: \$schema=\.\.\/schemas\/merchant\.schema\.json\n/,
  );
});

test("init adds workflows and code owners to a project whose merchants have files", async () => {
  await init(["MC3", "-y", "-q"]);
  const added = await init(["MC3", "-y", "-q", "--workflows", "--codeowners", "@acme/access"]);
  expect(added.stdout).toMatch(/^created .github\/workflows\/rolecall-plan.yml\n/);
  expect(added.stdout).toContain("rolecall plan\n");
  expect(added.code).toBe(0);
  const again = await init(["MC3", "-y", "-q", "--workflows"]);
  expect([again.code, again.stdout]).toEqual([0, "There is nothing to write: the files already exist.\n"]);
});

test("init that fails half-way can be run again", async () => {
  await writeFile(join(cwd, "schemas"), "");
  const failed = await init(["MC3", "-y", "-q"]);
  expect(failed.code).toBe(1);
  expect(failed.stderr).toContain(
    "The folder of schemas/merchant.schema.json cannot be created: a file has this name.",
  );
  expect(await filesHere()).toEqual(["schemas"]);
  await rm(join(cwd, "schemas"));
  expect((await init(["MC3", "-y", "-q"])).code).toBe(0);
});

test("init does not take the file of another merchant", async () => {
  await mkdir(join(cwd, "access"));
  await writeFile(join(cwd, "access/mc1.yaml"), "version: 1\nmerchant: MCX\n");
  const { code, stderr } = await init(["MC1", "-y", "-q"]);
  expect(code).toBe(1);
  expect(stderr).toContain("access/mc1.yaml already exists, and is not overwritten.");
  expect(await filesHere()).toEqual(["access/mc1.yaml"]);
});

test("init adds workflows to a project with files, without a key or a terminal", async () => {
  await init(["MC3", "-y", "-q"]);
  const { io, written } = realIo({ cwd, env: {} });
  expect(await main(["init", "--workflows"], io)).toBe(0);
  expect(written.stdout).toMatch(/^created .github\/workflows\/rolecall-plan.yml\n/);
  expect(written.stderr).toBe("");
});

test("init writes workflows and code owners on request, unless they exist", async () => {
  await mkdir(join(cwd, ".github/workflows"), { recursive: true });
  await writeFile(join(cwd, ".github/workflows/rolecall-plan.yml"), "mine\n");
  const wanted = ["--workflows", "--codeowners", "@acme/access"];
  const { code, stdout } = await init(["MC3", "-y", "-q", ...wanted]);
  expect(code).toBe(0);
  expect(stdout).toContain("Before the workflows can run, configure the repository:\n  1. ");
  expect(await filesHere()).toEqual([
    ".github/CODEOWNERS",
    ".github/actions/rolecall/.gitignore",
    ".github/actions/rolecall/SHA256SUMS",
    ".github/actions/rolecall/action.yml",
    ".github/actions/rolecall/dist/action.licenses.txt",
    ".github/actions/rolecall/dist/action.mjs",
    ".github/workflows/rolecall-apply.yml",
    ".github/workflows/rolecall-nightly.yml",
    ".github/workflows/rolecall-plan.yml",
    ".gitignore",
    "access/mc3.yaml",
    "rolecall.yaml",
    "schemas/merchant.schema.json",
  ]);
  expect(await read(".github/workflows/rolecall-plan.yml")).toBe("mine\n");
  const owned = [
    "/access/",
    "/shared/",
    "/rolecall.yaml",
    "/.github/",
    "/package.json",
    "/package-lock.json",
  ];
  expect(await read(".github/CODEOWNERS")).toBe(owned.map((path) => `${path} @acme/access\n`).join(""));
});

test("the copy of the action is committed where the repository ignores dist/", async () => {
  const git = (...args: readonly string[]): string => String(execFileSync("git", [...args], { cwd }));
  git("init", "-q");
  await writeFile(join(cwd, ".gitignore"), "node_modules/\ndist/\n");
  await init(["MC3", "-y", "-q", "--workflows"]);
  git("add", "--all");
  expect(git("ls-files", ".github/actions/rolecall/dist")).toContain("dist/action.mjs\n");
});

test("the copy of the action has correct checksums, and is updated, but workflows are not", async () => {
  const folder = ".github/actions/rolecall";
  await init(["MC3", "-y", "-q", "--workflows"]);
  const check = () => execFileSync("sha256sum", ["--check", "SHA256SUMS"], { cwd: join(cwd, folder) });
  expect(String(check())).toBe("action.yml: OK\ndist/action.mjs: OK\ndist/action.licenses.txt: OK\n");
  await writeFile(join(cwd, folder, "dist/action.mjs"), "an older version\n");
  await writeFile(join(cwd, ".github/workflows/rolecall-plan.yml"), "mine\n");
  const { code, stdout } = await init(["MC3", "-y", "-q", "--workflows", "--vendor"]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^changed \.github\/actions\/rolecall\/dist\/action\.mjs\n\n/);
  check();
  expect(await read(".github/workflows/rolecall-plan.yml")).toBe("mine\n");
});

test("init lists the settings that the workflows need, with links to their pages", async () => {
  execFileSync("git", ["init", "-q"], { cwd });
  execFileSync("git", ["remote", "add", "origin", "git@github.example:acme/access.git"], { cwd });
  const { stdout } = await init(["MC3", "-y", "-q", "--workflows"]);
  const settings = "https://github.example/acme/access/settings";
  expect(stdout.match(/^ {5}https?:.*$/gm)?.map((line) => line.trim())).toEqual([
    `${settings}/variables/actions`,
    `${settings}/secrets/actions`,
    `${settings}/environments`,
    `${settings}/rules`,
  ]);
  expect(stdout).toContain(
    "  5. code owners of the files\n     rolecall init --workflows --codeowners @org/team\n",
  );
});

test("init lists the owners that an existing CODEOWNERS lacks", async () => {
  await mkdir(join(cwd, "docs"));
  await writeFile(join(cwd, "docs/CODEOWNERS"), "/src/ @me/dev\n/access/ @me/dev\n");
  const wanted = ["MC3", "-y", "-q", "--codeowners", "@acme/access"];
  const { code, stdout } = await init(wanted);
  expect(code).toBe(0);
  const lines = [
    "shared/",
    "rolecall.yaml",
    ".github/",
    "package.json",
    "package-lock.json",
    "docs/CODEOWNERS",
  ];
  expect(stdout).toContain(`Configure the repository:
  1. code owners: these lines in docs/CODEOWNERS
${lines.map((path) => `     /${path} @acme/access\n`).join("")}`);
  expect(await read("docs/CODEOWNERS")).toBe("/src/ @me/dev\n/access/ @me/dev\n");
  expect((await init([...wanted, "--workflows"])).stdout).toContain("  5. code owners: these lines in docs/");
  await writeFile(join(cwd, "docs/CODEOWNERS"), "* @me/dev\n");
  expect((await init(wanted)).stdout).not.toContain("code owners");
});

test("init names a workflow that exists and does something else", async () => {
  await mkdir(join(cwd, ".github/workflows"), { recursive: true });
  await writeFile(join(cwd, ".github/workflows/rolecall-plan.yml"), "on: push\njobs: {}\n");
  const { stderr } = await init(["MC3", "-y", "-q", "--workflows"]);
  expect(stderr.replaceAll(/\s+/g, " ")).toContain(
    'warning: .github/workflows/rolecall-plan.yml does not run "plan" with the action, and was left unchanged.',
  );
});

test("the copy of the action is written for workflows that use it, or on request", async () => {
  await init(["MC3", "-y", "-q", "--workflows"]);
  const folder = join(cwd, ".github/actions");
  await rm(folder, { recursive: true });
  for (const name of ["plan", "apply", "nightly"]) {
    const file = join(cwd, `.github/workflows/rolecall-${name}.yml`);
    const text = await readFile(file, "utf8");
    await writeFile(file, text.replaceAll("./.github/actions/rolecall", "acme/rolecall@v1"));
  }
  expect((await init(["--workflows", "-y", "-q"])).stdout).toContain("There is nothing to write");
  const { stdout, stderr } = await init(["--workflows", "--vendor", "-y", "-q"]);
  expect(stdout).toContain("created .github/actions/rolecall/action.yml\n");
  expect(stderr.replaceAll(/\s+/g, " ")).toContain(
    'rolecall-plan.yml does not use the copy of the action. To use it, replace "acme/rolecall@v1" with "./.github/actions/rolecall".',
  );
});

test("init says that another forge does not run the workflows", async () => {
  execFileSync("git", ["init", "-q"], { cwd });
  execFileSync("git", ["remote", "add", "origin", "git@gitlab.example:acme/access.git"], { cwd });
  const { stdout, stderr } = await init(["MC3", "-y", "-q", "--workflows"]);
  expect(stderr.replaceAll(/\s+/g, " ")).toContain("origin is at gitlab.example.");
  expect(stdout).not.toContain("https://gitlab.example");
});

test("init takes codes or --all", async () => {
  const { code, stderr } = await init(["MC3", "--all", "-y", "-q"]);
  expect(code).toBe(1);
  expect(stderr).toContain("--all and merchant codes exclude each other.");
  expect(await filesHere()).toEqual([]);
});

test("--vendor has no effect without --workflows, and says so", async () => {
  const { stderr } = await init(["MC3", "-y", "-q", "--vendor"]);
  expect(stderr).toContain("warning: --vendor has no effect without --workflows.");
});

test("init gives the project's rules to the code owners too", async () => {
  await Promise.all(
    ["access", "hq/more", "shared"].map((name) => mkdir(join(cwd, name), { recursive: true })),
  );
  await writeFile(join(cwd, "access/mc1.yaml"), "version: 1\nmerchant: MC1\n");
  await writeFile(
    join(cwd, "rolecall.yaml"),
    'version: 1\nenforce:\n  - { files: ["access/**"], rules: hq/policy.yaml }\n  - { files: ["access/mc1.yaml"], rules: shared/rules.yaml }\n',
  );
  await writeFile(join(cwd, "hq/policy.yaml"), "version: 1\ninclude: [more/limits.yaml]\n");
  await writeFile(join(cwd, "hq/more/limits.yaml"), "version: 1\n");
  await writeFile(join(cwd, "shared/rules.yaml"), "version: 1\n");
  const { code, stderr } = await init(["MC3", "-y", "-q", "--codeowners", "@acme/access"]);
  expect([code, stderr]).toEqual([0, expect.any(String)]);
  expect((await read(".github/CODEOWNERS")).split(" @acme/access\n")).toEqual([
    "/access/",
    "/shared/",
    "/rolecall.yaml",
    "/hq/more/limits.yaml",
    "/hq/policy.yaml",
    "/.github/",
    "/package.json",
    "/package-lock.json",
    "",
  ]);
});

test("init refuses workflows and code owners where GitHub does not look for them", async () => {
  await mkdir(join(cwd, ".git"));
  const shops = join(cwd, "shops");
  await mkdir(shops);
  for (const wanted of [["--workflows"], ["--codeowners", "@acme/access"]]) {
    const { code, stderr } = await rolecall(["init", "MC3", "-y", ...wanted], {
      cwd: shops,
      env: sandbox.env,
    });
    expect(code).toBe(1);
    expect(stderr.replaceAll(/\s+/g, " ")).toContain("only work at the root of the repository");
    expect(await filesHere()).toEqual([]);
  }
});

test.each([
  ["no merchant and no terminal", ["--yes"], {}, /Pass --all, or codes: the key can access 3 merchants/],
  [
    "a key without memberships",
    ["--yes", "--all"],
    { ROLECALL_API_KEY: "sk_test_nobody" },
    /^The key's merchants cannot be listed\. The key in ROLECALL_API_KEY cannot list memberships: it is not .* --all selects none, since the key's merchants are unknown\. → Name one: rolecall init CODE/,
  ],
  ["no base URL", ["-y", "MC1"], { ROLECALL_BASE_URL: "" }, /Set ROLECALL_BASE_URL, or pass --base-url/],
  ["no key", ["-y", "MC1"], { ROLECALL_API_KEY: "" }, /Set the environment variable ROLECALL_API_KEY/],
  ["no code of a merchant", ["-y", "a/b"], {}, /"a\/b" is not a merchant code/],
  ["no code owner", ["-y", "MC1", "--codeowners", "me and you"], {}, /is not a code owner/],
  ["an unknown merchant", ["-y", "MC9"], {}, /MC9 could not be read/],
  [
    "a key that may not read",
    ["-y", "MC1"],
    { ROLECALL_API_KEY: "sk_test_blind" },
    /MC1 could not be read. .* 403 Forbidden/,
  ],
])("init writes nothing with %s", async (_, args, env, message) => {
  const { code, stderr } = await init(args, env);
  expect(stderr.replaceAll(/\s+/g, " ")).toMatch(message);
  expect(code).toBe(1);
  expect(await filesHere()).toEqual([]);
});

test("init writes the merchants that it could read, and fails for the others", async () => {
  const { code, stderr, stdout } = await init(["-y", "MC9", "MC3", "-q"]);
  expect(stderr).toContain("MC9 could not be read.");
  expect(stdout).toContain("created access/mc3.yaml");
  expect(code).toBe(1);
});

/** A terminal on which somebody answers: presses the keys as soon as what they answer is shown. */
function answering(answers: readonly (readonly [shown: string, keys: string])[]) {
  const waiting = [...answers];
  const stdin = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: () => stdin,
    ref: () => stdin,
    unref: () => stdin,
  });
  let screen = "";
  const write = (text: string) => {
    screen += text;
    const [next] = waiting;
    if (next === undefined || !screen.includes(next[0])) return;
    waiting.shift();
    screen = "";
    stdin.write(next[1]);
  };
  const drawn = new Writable({
    write(chunk, _, done) {
      write(String(chunk));
      done();
    },
  });
  const stderr = Object.assign(drawn, { isTTY: true, columns: 80, rows: 24 });
  return {
    waiting,
    io: {
      stdinIsTTY: true,
      stderr: { write, isTTY: true, columns: 80 },
      terminal: { stdin, stderr } as unknown as Io["terminal"],
    },
  };
}

const [YES, NO] = ["j\r", "\r"];

test("init asks for all that it is not told, and does what is answered", async () => {
  const person = answering([
    ["Name of the variable with the API key [ROLECALL_API_KEY]:", "\n"],
    ["No variable of this name is set.", ""],
    ["Name of the variable with the API key", "sk_ada_full\n"],
    ["No variable of this name is set. Enter the name of another one, not the key", ""],
    ["Name of the variable with the API key", "sk_test_0123456789abcdef\n"],
    ["This is a key: enter the name of its variable.", "SHOP_KEY\n"],
    ["Base URL of the service (https://…):", `${sandbox.url}\n`],
    ["Which merchants?", "a\r"],
    ["How should live entries that a file does not list be treated?", "j\r"],
    ["Share 2 roles of 2 merchants (1 with adjustments) in shared/roles.yaml?", YES],
    ["rules that today's access", YES],
    ["Write workflows for GitHub Actions?", YES],
  ]);
  const env = { SHOP_KEY: "sk_test_sandbox", TERM: "xterm" };
  const { io, written } = realIo({ cwd, env }, person.io);
  expect(await main(["init", "--codeowners", "@acme/access"], io)).toBe(0);
  expect(person.waiting).toEqual([]);
  expect(written.stdout).toContain("Plans of 3 merchants: no changes;");
  expect(written.stdout).toContain("Before the workflows can run");
  const mc2 = await read("access/mc2.yaml");
  expect(mc2).toContain(`api:\n  base_url: ${sandbox.url}\n  key_env: SHOP_KEY\n`);
  expect(mc2).toContain("include: [../shared/roles.yaml]\nsync: { roles: additive, members: additive }");
  expect(await filesHere()).toEqual([
    ".github/CODEOWNERS",
    ".github/actions/rolecall/.gitignore",
    ".github/actions/rolecall/SHA256SUMS",
    ".github/actions/rolecall/action.yml",
    ".github/actions/rolecall/dist/action.licenses.txt",
    ".github/actions/rolecall/dist/action.mjs",
    ".github/workflows/rolecall-apply.yml",
    ".github/workflows/rolecall-nightly.yml",
    ".github/workflows/rolecall-plan.yml",
    ".gitignore",
    "access/mc1.yaml",
    "access/mc2.yaml",
    "access/mc3.yaml",
    "rolecall.yaml",
    "schemas/merchant.schema.json",
    "shared/roles.yaml",
  ]);
});

test("init writes nothing that was answered with no, and nothing at all if a question is left", async () => {
  const answers = [
    ["Which merchants?", " j \r"],
    ["How should live entries that a file does not list be treated?", "\r"],
    ["Share 2 roles of 2 merchants", NO],
    ["rules that today's access", NO],
  ] as const;
  const env = { ...sandbox.env, TERM: "xterm" };
  const leaving = answering([...answers, ["Write workflows", "q"]]);
  const left = realIo({ cwd, env }, leaving.io);
  expect(await main(["init"], left.io)).toBe(1);
  expect(await filesHere()).toEqual([]);
  const refusing = answering([...answers, ["Write workflows", NO]]);
  expect(await main(["init"], realIo({ cwd, env }, refusing.io).io)).toBe(0);
  expect(await filesHere()).toEqual([
    ".gitignore",
    "access/mc1.yaml",
    "access/mc2.yaml",
    "schemas/merchant.schema.json",
  ]);
  expect(await read("access/mc1.yaml")).not.toContain("include");
});
