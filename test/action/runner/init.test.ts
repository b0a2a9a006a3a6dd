import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { rolecall, startSandbox } from "../../support/rolecall.ts";
import { nodesUnderTest } from "../support/nodes.ts";
import { openRepository, type Repository } from "../support/repository.ts";

const SEED = `merchants:
  - code: MC1
    members:
      - { email: ada@example.com, roles: [role_owner], mfa: true }
      - { email: ben@example.com, roles: [role_employee] }
keys:
  - { key: sk_test_sandbox, owner: ada@example.com }
`;
const FILE = "access/mc1.yaml";

let folder = "";
let files: Readonly<Record<string, string>> = {};
let repository: Repository;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "rolecall-init-"));
  execFileSync("git", ["init", "-q"], { cwd: folder });
  const seed = join(folder, ".git", "seed.yaml");
  await writeFile(seed, SEED);
  const sandbox = await startSandbox(["--seed", seed]);
  const { code, stderr } = await rolecall(["init", "MC1", "--yes", "--workflows"], {
    cwd: folder,
    env: sandbox.env,
  });
  await sandbox.stop();
  expect([code, stderr]).toEqual([0, ""]);
  execFileSync("git", ["add", "-A"], { cwd: folder });
  const names = execFileSync("git", ["ls-files"], { cwd: folder, encoding: "utf8" }).trim().split("\n");
  files = Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await readFile(join(folder, name), "utf8")] as const)),
  );
  repository = await openRepository(SEED, files);
});

afterAll(async () => {
  await repository.stop();
  await rm(folder, { recursive: true });
});

interface ActionStep {
  readonly uses?: string;
  readonly with?: Readonly<Record<string, string>>;
}

/** Runs the step of a job that uses the action, as the workflow of the repository has it. */
async function runJob(workflow: string, job: string, options: Parameters<Repository["step"]>[1]) {
  const { jobs } = parse(files[`.github/workflows/rolecall-${workflow}.yml`] ?? "");
  const steps: readonly ActionStep[] = jobs[job].steps;
  const step = steps.find(({ uses }) => uses?.startsWith("./"));
  const action = step?.uses?.slice(2) ?? "";
  const { main } = parse(files[`${action}/action.yml`] ?? "").runs;
  expect(Object.keys(files)).toContain(`${action}/${main}`);
  const values: Readonly<Record<string, string>> = {
    "vars.ROLECALL_BASE_URL": repository.service.url,
    "secrets.ROLECALL_READ_KEY": "sk_test_sandbox",
    "secrets.ROLECALL_WRITE_KEY": "sk_test_sandbox",
    "secrets.ROLECALL_APPROVAL_SECRET": "0123456789abcdef0123456789abcdef",
    "inputs.scope || 'changed'": "changed",
  };
  const inputs = Object.entries(step?.with ?? {}).map(([name, text]) => [
    name,
    text.replace(/^\$\{\{ (.*) \}\}$/, (_, expression) => values[expression] ?? ""),
  ]);
  const bundle = join(repository.folder, action, main);
  return await repository.step(Object.fromEntries(inputs), { ...options, bundle });
}

test.each(nodesUnderTest())(
  "what init writes into an empty repository plans, applies and checks without another file, on $name",
  async ({ path: node }) => {
    const pull = 1 + repository.lastRun();
    const changed = `${files[FILE]}  - { email: cleo-${pull}@example.com, roles: [role_employee] }\n`;
    await repository.propose(pull, { [FILE]: changed });
    const plan = await runJob("plan", "plan", { node, pull, event: "pull_request" });
    expect(plan.outputs).toMatchObject({ result: "changes", creates: "1" });
    const sha = await repository.merge(pull);
    const applied = await runJob("apply", "apply", { node, event: "push", sha, ref: "refs/heads/main" });
    expect([applied.code, applied.outputs["result"]]).toEqual([0, "applied"]);
    for (const [job, result] of [
      ["due", "no-changes"],
      ["drift", "clean"],
    ] as const) {
      const end = await runJob("nightly", job, { node, event: "schedule", sha, ref: "refs/heads/main" });
      expect([job, end.code, end.outputs["result"]]).toEqual([job, 0, result]);
    }
  },
);
