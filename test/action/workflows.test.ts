import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { NoOperationTraceWriter, parseWorkflow } from "@actions/workflow-parser";
import { parseAction } from "@actions/workflow-parser/actions/action-parser";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { OUTPUTS } from "../../src/action/context/action-context.ts";
import { INPUT_DEFAULTS, readInputs } from "../../src/action/context/inputs.ts";
import { blocksOf } from "../support/pages.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");
const action = parse(read("action.yml"));
const WORKFLOWS = readdirSync(join(ROOT, "examples/github")).filter((name) => name.endsWith(".yml"));

interface WorkflowStep {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}

interface Job {
  readonly permissions?: object;
  readonly concurrency?: object;
  readonly needs?: string;
  readonly if?: string;
  readonly steps: readonly WorkflowStep[];
  readonly "timeout-minutes"?: number;
}

test("action.yml keeps to GitHub's own schema of actions", () => {
  const { context } = parseAction(
    { name: "action.yml", content: read("action.yml") },
    new NoOperationTraceWriter(),
  );
  expect(context.errors.getErrors().map(({ message }) => message)).toEqual([]);
});

test("action.yml has the inputs that are read, with the same defaults", () => {
  const inputs = action.inputs as Readonly<Record<string, { default?: string; required?: boolean }>>;
  expect(Object.keys(inputs)).toEqual(Object.keys(INPUT_DEFAULTS));
  for (const [name, value] of Object.entries(INPUT_DEFAULTS)) {
    if (name === "command") expect(inputs[name]?.required).toBe(true);
    else if (name === "github-token") expect(inputs[name]?.default).toMatch(/^\$\{\{ github\.token \}\}$/);
    else expect([name, inputs[name]?.default]).toEqual([name, value]);
  }
});

test("a plan is made again for another base branch, and passwords change without anything else", () => {
  const { on } = parse(read("examples/github/rolecall-plan.yml"));
  expect(on.pull_request.types).toEqual(["opened", "synchronize", "reopened", "edited"]);
  expect(read("examples/github/rolecall-passwords.yml")).toMatch(/rolecall apply --yes "\$\{options/);
});

test("action.yml has the outputs that are set", () => {
  expect(Object.keys(action.outputs).sort()).toEqual([...OUTPUTS, "result", "failure-reason"].sort());
});

test("the page about the action has a row for every input, with its default, and for every output", () => {
  const page = read("docs/action.md");
  for (const [name, value] of Object.entries(INPUT_DEFAULTS)) {
    const row = page.split("\n").find((line) => line.startsWith(`| \`${name}\` |`)) ?? "";
    expect(row, name).not.toBe("");
    if (value !== "") expect(row, name).toContain(`\`${value}\``);
  }
  for (const name of [...OUTPUTS, "result", "failure-reason"])
    expect(page, name).toContain(`| \`${name}\` |`);
});

test("the program is the committed bundle, on the Node that GitHub's runners have", () => {
  expect(action.runs).toEqual({ using: "node24", main: "dist/action.mjs" });
});

describe.each(WORKFLOWS)("examples/github/%s", (name) => {
  const content = read(`examples/github/${name}`);
  const workflow = parse(content) as { readonly permissions: object; readonly jobs: Record<string, Job> };
  const jobs = Object.values(workflow.jobs);
  const steps = jobs.flatMap((job) => job.steps);

  test("keeps to GitHub's own schema of workflows", () => {
    const { context } = parseWorkflow({ name, content }, new NoOperationTraceWriter());
    expect(context.errors.getErrors().map(({ message }) => message)).toEqual([]);
  });

  test("every action is pinned by commit, with its version", () => {
    const uses = content.split("\n").filter((line) => /^\s*(- )?uses:/.test(line));
    expect(uses.length).toBe(steps.filter((step) => step.uses).length);
    for (const line of uses)
      expect(line).toMatch(
        /uses: (\.\/\.github\/actions\/rolecall|[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+)$/,
      );
  });

  test("grants each job what it needs, and nothing to the others", () => {
    // A called workflow has the permissions that its caller grants, and fails if it asks for more.
    const isCalled = content.includes("\n  workflow_call:");
    expect(workflow.permissions).toEqual(isCalled ? undefined : {});
    for (const job of jobs) {
      expect(job.permissions === undefined).toBe(isCalled);
      expect(job["timeout-minutes"]).toBeGreaterThan(0);
    }
  });

  test("no input becomes part of a command", () => {
    for (const { run = "" } of steps) expect(run).not.toContain("${{");
  });

  test("gives the action inputs that it has", () => {
    const own = steps.filter((step) => step.uses === "./.github/actions/rolecall");
    expect(own.length > 0 || steps.some(({ run }) => run?.includes("rolecall"))).toBe(true);
    for (const { with: inputs = {} } of own) {
      expect(Object.keys(inputs).filter((key) => !Object.hasOwn(INPUT_DEFAULTS, key))).toEqual([]);
      const literal = Object.entries(inputs).filter(([, value]) => !/\$\{\{/.test(String(value)));
      const env = Object.fromEntries(
        literal.map(([key, value]) => [`INPUT_${key.toUpperCase()}`, String(value)]),
      );
      const isGiven = /\$\{\{/.test(String(inputs["command"]));
      if (inputs["command"] !== "drift") expect(Object.keys(inputs)).toContain("approval-secret");
      if (!isGiven) expect(readInputs(env).command).toBe(inputs["command"]);
    }
  });
});

test("the callers of the reusable workflow run when and beside what the examples do", () => {
  const callers = blocksOf("yml").filter(({ text }) => text.includes("/rolecall-reusable.yml@"));
  const shown = new Map(callers.map(({ text }) => [parse(text).name, parse(text)]));
  const example = (name: string) => parse(read(`examples/github/rolecall-${name}.yml`));
  const [plan, apply] = [example("plan"), example("apply")];
  expect(shown.get(plan.name)).toMatchObject({ on: plan.on, concurrency: plan.concurrency });
  const { description: _, ...scope } = apply.on.workflow_dispatch.inputs.scope;
  expect(shown.get(apply.name).on).toEqual({ ...apply.on, workflow_dispatch: { inputs: { scope } } });
  for (const { name, jobs } of [plan, apply]) {
    for (const [job, { permissions, concurrency, needs, if: condition }] of Object.entries<Job>(jobs)) {
      const own = { permissions, concurrency, needs, if: condition };
      expect(shown.get(name).jobs[job]).toMatchObject(JSON.parse(JSON.stringify(own)));
    }
  }
});

test.each(["README.md", "docs/src/action.md"])("the workflow in %s is the example's, shortened", (page) => {
  const [shown] = blocksOf("yml").filter((block) => block.page === page);
  const { plan } = parse(read("examples/github/rolecall-plan.yml")).jobs as { readonly plan: Job };
  const job: Job = parse(shown?.text ?? "").jobs.plan;
  expect(job.permissions).toEqual(plan.permissions);
  const withoutIds = ({ uses, with: inputs }: WorkflowStep) => ({ uses, with: inputs });
  expect(job.steps.map(withoutIds)).toEqual(plan.steps.slice(0, 2).map(withoutIds));
});

test("the workflows that the pages show keep to GitHub's own schema", () => {
  const blocks = blocksOf("yml");
  expect(blocks.length).toBeGreaterThan(0);
  for (const { text } of blocks) {
    const { context } = parseWorkflow({ name: "shown.yml", content: text }, new NoOperationTraceWriter());
    expect(context.errors.getErrors().map(({ message }) => message)).toEqual([]);
  }
});
