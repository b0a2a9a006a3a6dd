import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { convertWorkflowTemplate, NoOperationTraceWriter, parseWorkflow } from "@actions/workflow-parser";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";

const ROOT = resolve(import.meta.dirname, "../..");
const FOLDER = join(ROOT, ".github/workflows");
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

interface WorkflowStep {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}

interface Job {
  readonly needs?: string | readonly string[];
  readonly environment?: string;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly steps: readonly WorkflowStep[];
  readonly strategy?: { readonly matrix: { readonly node: readonly string[] } };
  readonly "runs-on": string;
  readonly "timeout-minutes"?: number;
}

interface Workflow {
  readonly permissions: object;
  readonly jobs: Readonly<Record<string, Job>>;
}

const ci: Workflow = parse(read(".github/workflows/ci.yml"));
const release: Workflow = parse(read(".github/workflows/release.yml"));

/** Returns the commands of a job, in order. */
const commands = (job: Job | undefined): readonly string[] =>
  (job?.steps ?? []).flatMap(({ run = [] }) => run);

describe.each(readdirSync(FOLDER))(".github/workflows/%s", (name) => {
  const content = readFileSync(join(FOLDER, name), "utf8");
  const workflow: Workflow = parse(content);
  const jobs = Object.values(workflow.jobs);
  const steps = jobs.flatMap((job) => job.steps);

  test("keeps to GitHub's own schema, and its expressions and jobs refer to what exists", async () => {
    const { context, value } = parseWorkflow({ name, content }, new NoOperationTraceWriter());
    if (value === undefined) throw new Error(`${name} is empty`);
    const template = await convertWorkflowTemplate(context, value);
    expect([context.errors.getErrors().map(({ message }) => message), template.errors ?? []]).toEqual([
      [],
      [],
    ]);
  });

  test("every action is pinned by commit, with its version", () => {
    const uses = content.split("\n").filter((line) => /^\s*(- )?uses:/.test(line));
    expect(uses.length).toBe(steps.filter((step) => step.uses).length);
    for (const line of uses) expect(line).toMatch(/uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  test("has one commit for a version of an action, the examples included", () => {
    const examples = readdirSync(join(ROOT, "examples/github")).filter((one) => one.endsWith(".yml"));
    const all = [content, ...examples.map((one) => read(`examples/github/${one}`))].join("\n");
    const pins = new Map<string, string>();
    for (const [, action = "", commit = ""] of all.matchAll(/uses: ([\w-]+\/[\w-]+)@([0-9a-f]{40} # \S+)/g)) {
      expect([action, pins.get(action) ?? commit]).toEqual([action, commit]);
      pins.set(action, commit);
    }
  });

  test("grants permissions job by job, on a runner of a fixed version, for a limited time", () => {
    expect(workflow.permissions).toEqual({});
    for (const job of jobs) {
      expect(job.permissions).toBeDefined();
      expect(job["runs-on"]).toMatch(/^ubuntu-\d+\.\d+$/);
      expect(job["timeout-minutes"]).toBeGreaterThan(0);
    }
  });

  test("puts no expression into a shell, and leaves no credentials in a checkout", () => {
    expect(steps.filter(({ run = "" }) => run.includes("${{"))).toEqual([]);
    for (const step of steps.filter(({ uses = "" }) => uses.startsWith("actions/checkout@")))
      expect(step.with?.["persist-credentials"]).toBe(false);
  });

  test("runs scripts that exist, in a shell that understands them", () => {
    for (const run of steps.flatMap((step) => step.run ?? [])) {
      execFileSync("bash", ["-n", "-c", run]);
      for (const [, path = ""] of run.matchAll(/(?:^|\s)(\.ci\/\w+|scripts\/[\w-]+\.mjs)/g))
        expect([path, existsSync(join(ROOT, path))]).toEqual([path, true]);
    }
  });
});

test("ci.yml runs everything on the oldest Node.js that the package supports, and on each that is maintained", () => {
  const { node = [] } = ci.jobs["test"]?.strategy?.matrix ?? {};
  const { engines } = JSON.parse(read("package.json"));
  expect(engines.node).toBe(`>=${node[0]}.0`);
  expect(node).toEqual(["20.19", "22", "24", "26"]);
  expect(commands(ci.jobs["test"])).toEqual([".ci/run"]);
});

test("ci.yml checks the subjects of a pull request's commits, with the history that this takes", () => {
  const commits = ci.jobs["commits"];
  expect(commands(commits)).toEqual(['node scripts/commit-subjects.mjs "origin/$GITHUB_BASE_REF"']);
  expect(commits?.steps[0]?.with?.["fetch-depth"]).toBe(0);
});

describe("release.yml", () => {
  test("tests before it packs, and packs before anything is published", () => {
    const [, run, , pack] = commands(release.jobs["build"]);
    expect([run, pack]).toEqual([".ci/run", 'node scripts/release.mjs "$GITHUB_REF_NAME" release']);
    for (const [name, { needs = [] }] of Object.entries(release.jobs))
      if (name !== "build") expect([needs].flat()).toContain("build");
    expect(release.jobs["release"]?.needs).toEqual(["build", "npm", "image"]);
  });

  test("publishes only the files that were packed, with the checksums that they had", () => {
    for (const name of ["npm", "release"]) {
      const { steps = [] } = release.jobs[name] ?? {};
      expect(steps.some(({ uses = "" }) => uses.startsWith("actions/checkout@"))).toBe(false);
      const check = steps.findIndex(({ run }) => run === "sha256sum --check SHA256SUMS");
      const publish = steps.findIndex(({ run = "" }) => /^npm publish|gh release create/m.test(run));
      expect(check).toBeGreaterThan(-1);
      expect(publish).toBeGreaterThan(check);
    }
  });

  test("gives what installs packages no right to write, and what writes an environment to protect", () => {
    for (const [name, { permissions = {}, environment, steps }] of Object.entries(release.jobs)) {
      const installs = steps.some(({ run = "" }) => /\.ci\/run|npm (ci|install)/.test(run));
      const writes = Object.values(permissions).includes("write");
      expect([name, installs && writes]).toEqual([name, false]);
      expect([name, environment]).toEqual([name, writes ? "release" : undefined]);
    }
    expect(release.jobs["npm"]?.permissions).toEqual({ "id-token": "write" });
    expect(commands(release.jobs["npm"]).at(-1)).toContain("--provenance --access public");
  });
});
