import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type MemoryGit, memoryGit } from "../support/memory-git.ts";
import { openStory, type Run, type RunInputs, type Story } from "../support/story.ts";

const CODES = ["MC1", "MC2", "MC3", "MC4"] as const;
type Code = (typeof CODES)[number];

const SEED = `merchants:
${CODES.map((code) => `  - { code: ${code}, members: [{ email: ada@example.com, roles: [role_owner] }] }`).join("\n")}
keys:
  - { key: sk_test_sandbox, owner: ada@example.com }
`;

const file = (code: Code): string => `access/${code.toLowerCase()}.yaml`;

const text = (code: Code, ...roles: readonly string[]): string =>
  `version: 1\nmerchant: ${code}\nroles:\n${["Day", ...roles].map((name) => `  - { name: ${name}, permissions: [catalog_view] }\n`).join("")}`;

let story: Story;
let memory: MemoryGit;

beforeEach(async () => {
  memory = memoryGit();
  story = await openStory(SEED, { "README.md": "Access.\n" }, { memory });
  await merged(Object.fromEntries(CODES.slice(0, 3).map((code) => [file(code), text(code)])));
  expect((await story.apply()).outputs["result"]).toBe("applied");
});

afterEach(async () => {
  await story.stop();
});

const merged = async (files: Readonly<Record<string, string>>): Promise<void> => {
  const pull = await story.openPull(files);
  await story.plan(pull);
  await story.merge(pull);
};

/** Applies the parts of a matrix one after the other. */
const matrix = async (...parts: readonly RunInputs[]): Promise<readonly Run[]> => {
  const runs: Run[] = [];
  for (const part of parts) runs.push(await story.apply(part));
  return runs;
};

const results = (runs: readonly Run[]): readonly string[] =>
  runs.map(({ outputs }) => outputs["result"] ?? "");

const failsAtRoles = (): Promise<unknown> =>
  story.behind("PUT", "/faults", {
    rules: [{ kind: "status", status: 422, operation: "roles.create", times: 1 }],
  });

/** Somebody removes a role by hand. */
const removeRole = async (code: Code, name: string): Promise<void> => {
  const { items } = (await story.behind("GET", `/v0.1/merchants/${code}/roles?limit=100`)) as {
    readonly items: readonly { readonly id: string; readonly name: string }[];
  };
  await story.behind("DELETE", `/v0.1/merchants/${code}/roles/${items.find((one) => one.name === name)?.id}`);
};

describe("what a matrix of applies has applied", () => {
  const parts = (...merchants: readonly string[]): readonly RunInputs[] =>
    merchants.map((one) => ({ merchants: one }));

  test("is known however the merchants are divided the next time", async () => {
    await merged({ [file("MC1")]: text("MC1", "Night"), [file("MC3")]: text("MC3", "Night") });
    expect(results(await matrix(...parts("MC1 MC2", "MC3")))).toEqual(["applied", "applied"]);
    await removeRole("MC1", "Night");
    await merged({ [file("MC2")]: text("MC2", "Night") });
    // MC1 drifted, and no part is concerned with that.
    expect(results(await matrix(...parts("MC1", "MC2 MC3")))).toEqual(["no-changes", "applied"]);
    expect(results(await matrix({ shard: "1/2" }, { shard: "2/2" }))).toEqual(["no-changes", "no-changes"]);
  });

  test("is known of each part: one that failed is looked at again, in whatever part it is", async () => {
    await merged({ [file("MC1")]: text("MC1", "Night"), [file("MC2")]: text("MC2", "Night") });
    await failsAtRoles();
    expect(results(await matrix(...parts("MC1", "MC2 MC3")))).toEqual(["failed", "applied"]);
    await removeRole("MC2", "Night");
    const [whole] = await matrix({});
    expect(whole?.outputs).toMatchObject({ result: "applied", creates: "1" });
  });

  test("does not hide a merchant that no part has had yet", async () => {
    await merged({ [file("MC4")]: text("MC4") });
    await failsAtRoles();
    expect(results(await matrix(...parts("MC1 MC2", "MC3 MC4")))).toEqual(["no-changes", "failed"]);
    expect(results(await matrix(...parts("MC1", "MC2", "MC3", "MC4")))).toEqual([
      "no-changes",
      "no-changes",
      "no-changes",
      "applied",
    ]);
  });
});

describe("what was applied last", () => {
  test("is where an apply goes on that was skipped for a newer one", async () => {
    await merged({ [file("MC1")]: text("MC1", "Night") });
    await merged({ [file("MC2")]: text("MC2", "Night") });
    await merged({ "README.md": "Access as code.\n" });
    expect((await story.apply()).outputs).toMatchObject({ result: "applied", creates: "2" });
  });

  /** Merges a role, applies it without leaving a mark, and merges the revert. */
  const revertedWithoutMark = async (): Promise<void> => {
    await merged({ [file("MC1")]: text("MC1", "Night") });
    memory.interrupt = memory.loseConnection;
    expect((await story.apply()).outputs).toMatchObject({ "failure-reason": "github", creates: "1" });
    await merged({ [file("MC1")]: text("MC1") });
  };

  test("is not taken for live where an apply left no mark: its revert is applied", async () => {
    await revertedWithoutMark();
    expect((await story.apply()).outputs).toMatchObject({ result: "applied", deletes: "1" });
  });

  test("is not taken for live by a daily run either, which leaves the revert to the apply", async () => {
    await revertedWithoutMark();
    expect((await story.due()).outputs["result"]).toBe("no-changes");
    expect((await story.apply()).outputs).toMatchObject({ result: "applied", deletes: "1" });
  });

  test("stays as it is for a merchant whose file has an error, while the others are applied", async () => {
    await merged({ [file("MC2")]: text("MC2", "Night") });
    const pull = await story.openPull({ [file("MC1")]: text("MC1", "Night") });
    await story.plan(pull);
    await story.review(pull, "APPROVED");
    await story.pushToMain({
      [file("MC1")]: text("MC1", "Night"),
      [file("MC2")]: "version: 1\nmerchant: [\n",
    });
    await story.merge(pull);
    const broken = story.github.git.history(story.github.branches.get("main") ?? "")[1] ?? "";
    const run = await story.apply({}, { sha: broken });
    expect(run.code).toBe(1);
    expect(run.outputs).toMatchObject({ result: "partial", "failure-reason": "partial", creates: "1" });
    expect(run.summary).toContain("Not everything was applied, because files have errors.");
    expect(run.summary).toMatch(/^access\/mc2\.yaml:2:\d+: error: /m);
    expect(story.github.statuses.at(-1)).toMatchObject({ context: "rolecall apply", state: "failure" });
    await story.pushToMain({ [file("MC2")]: text("MC2", "Night") });
    expect((await story.apply()).outputs).toMatchObject({ result: "applied", creates: "1" });
    expect((await story.apply()).outputs["result"]).toBe("no-changes");
  });

  test("stays as it is where an included file has an error, or two files declare a merchant", async () => {
    await merged({ [file("MC1")]: text("MC1", "Night"), [file("MC2")]: text("MC2", "Night") });
    const includes = text("MC1", "Night").replace("roles:", "include: [../shared/all.yaml]\nroles:");
    await story.pushToMain({
      "shared/all.yaml": "version: 1\nguards: 7\n",
      [file("MC1")]: includes,
      "access/mc2-too.yaml": text("MC2"),
    });
    const run = await story.apply();
    expect(run.outputs).toMatchObject({ result: "failed", "failure-reason": "invalid-files", creates: "0" });
    expect(run.summary).toMatch(/^shared\/all\.yaml:2:\d+: error: /m);
    expect(run.summary).toMatch(/^access\/mc2\.yaml:2:\d+: error: /m);
    await story.pushToMain({ "shared/all.yaml": "version: 1\n", "access/mc2-too.yaml": null });
    expect((await story.apply()).outputs).toMatchObject({ result: "applied", creates: "2" });
  });

  test("does not keep a merchant whose file is gone", async () => {
    await merged({ [file("MC1")]: text("MC1", "Night") });
    await failsAtRoles();
    await story.apply();
    const pull = await story.openPull({ [file("MC1")]: null });
    await story.merge(pull);
    const run = await story.apply();
    expect(run.log).toContain(
      `to MC1 were lost: no file declares MC1 any longer; #${pull} changed its file last.`,
    );
    // An apply by hand ends the report.
    await story.run({ command: "apply" });
    expect((await story.apply()).outputs["result"]).toBe("no-changes");
  });

  test("does not cover a commit that nobody reviewed, until it is undone", async () => {
    await story.pushToMain({ [file("MC1")]: text("MC1", "Night") });
    const pushed = await story.apply();
    expect(pushed.outputs["failure-reason"]).toBe("not-approved");
    expect((await story.rerun(pushed)).outputs["failure-reason"]).toBe("not-approved");
    await merged({ [file("MC2")]: text("MC2", "Night") });
    // Another pull request is not blamed for it.
    const run = await story.apply();
    expect(run.outputs).toMatchObject({ result: "applied", "failure-reason": "" });
    expect(run.log).toContain("MC1: differs from its files, as reported for");
    await merged({ [file("MC1")]: text("MC1") });
    expect((await story.apply()).outputs["result"]).toBe("no-changes");
    expect(await story.writes()).toHaveLength(4);
  });

  test("is known through merge commits, by any parent", async () => {
    const first = await story.openPull({ [file("MC1")]: text("MC1", "Night") });
    const second = await story.openPull({ [file("MC2")]: text("MC2", "Night") });
    await story.plan(first);
    await story.plan(second);
    await story.merge(first, "merge");
    expect((await story.apply()).outputs["result"]).toBe("applied");
    await removeRole("MC1", "Night");
    await story.updateBranch(second);
    await story.plan(second);
    await story.merge(second, "merge");
    const run = await story.apply();
    expect(run.outputs).toMatchObject({ result: "applied", creates: "1" });
  });

  test("is not taken for what was applied under another label or to another service", async () => {
    const pull = await story.openPull({ [file("MC1")]: text("MC1", "Night") });
    await story.plan(pull);
    await story.plan(pull, { label: "staging" });
    await story.merge(pull);
    expect((await story.apply({ label: "staging" })).outputs["result"]).toBe("applied");
    await removeRole("MC1", "Night");
    expect((await story.apply()).outputs).toMatchObject({ result: "applied", creates: "1" });
  });
});
