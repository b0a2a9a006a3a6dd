import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { BASE, FILE, SEED, WITH_ROLE } from "../support/one-merchant.ts";
import { openStory, type Story } from "../support/story.ts";

let story: Story;

beforeEach(async () => {
  story = await openStory(SEED, { [FILE]: BASE });
});

afterEach(async () => {
  await story.stop();
});

const comment = (pull: number): string => {
  const all = story.comments(pull);
  expect(all).toHaveLength(1);
  return all[0] ?? "";
};

describe("a plan that cannot be applied is red", () => {
  test("without the permission to write the records", async () => {
    await story.stop();
    story = await openStory(SEED, { [FILE]: BASE }, { withGit: true });
    const hook = join(story.refs, "hooks/pre-receive");
    await writeFile(hook, "#!/bin/sh\nexit 1\n", { mode: 0o755 });
    const pull = await story.openPull({ [FILE]: WITH_ROLE });
    const run = await story.plan(pull);
    expect(run.code).toBe(1);
    expect(run.outputs).toMatchObject({ result: "failed", "failure-reason": "github" });
    expect(run.log).toContain("Give the job the permission contents: write, and run it again.");
    expect(comment(pull)).toContain("## ❌ rolecall plan: failed\n");
    expect(comment(pull)).toContain("The records of reviews and applies could not be reached.");
    expect(story.github.statuses.at(-1)).toMatchObject({ context: "rolecall plan", state: "failure" });
    await rm(hook);
    expect((await story.rerun(run)).code).toBe(0);
    expect(comment(pull)).toContain("Cashier");
  });

  test("but not for a fork, which has no records", async () => {
    const fork = await story.openPull({ [FILE]: WITH_ROLE }, { fork: true });
    expect((await story.plan(fork)).outputs["result"]).toBe("unplanned");
    expect(await story.recordedPlans(fork)).toBe(0);
    expect(story.github.statuses).toEqual([]);
  });
});

test("broken YAML is named with file, line and message, in the comment and in the summary", async () => {
  const pull = await story.openPull({
    [FILE]: BASE.replace("roles: [role_owner]", "rolles: [role_owner]"),
    "access/mc2.yaml": "version: 1\nmerchant: MC2\n  members: []\n",
  });
  for (const inputs of [{}, { "api-key": "" }]) {
    const run = await story.plan(pull, inputs);
    expect(run.outputs["failure-reason"]).toBe("invalid-files");
    for (const text of [comment(pull), run.summary]) {
      expect(text).toMatch(/^access\/mc1\.yaml:4:\d+: error: .*rolles/m);
      expect(text).toMatch(/^access\/mc2\.yaml:2:\d+: error: /m);
      expect(text).not.toContain("**On merge**, nothing is changed.");
    }
  }
  const sha = await story.merge(pull);
  const apply = await story.apply({}, { sha });
  expect(apply.outputs["failure-reason"]).toBe("invalid-files");
  expect(apply.summary).toMatch(/^access\/mc1\.yaml:4:\d+: error: /m);
});

test("a 502 on the last edit is tried again, so that no comment goes on planning", async () => {
  const pull = await story.openPull({ [FILE]: WITH_ROLE });
  await story.plan(pull);
  await story.push(pull, { [FILE]: WITH_ROLE.replace("catalog_view", "refunds_create") });
  const { refusals, incidents } = story.github;
  const happens = (): void => {
    const refusal = { method: "PATCH", path: /comments/, status: 502, times: 4 };
    incidents.push({ method: "GET", path: /pulls\/\d+$/, happens: () => refusals.push(refusal) });
  };
  incidents.push({ method: "PATCH", path: /comments/, happens });
  const run = await story.plan(pull);
  expect(refusals.map(({ times }) => times)).toEqual([0]);
  expect(run.code).toBe(0);
  expect(comment(pull)).toContain("refunds_create");
  expect(story.github.comments[0]?.history[1]).toContain("planning…");
  expect(run.log).toContain("GitHub returned 502; the request is retried in 1 s.\n");
});

test.each([true, false])("a 502 on a status is tried again, whether it was set (%s) or not", async (done) => {
  const pull = await story.openPull({ [FILE]: WITH_ROLE });
  story.github.refusals.push({ method: "POST", path: /statuses/, status: 502, done, times: 2 });
  expect((await story.plan(pull)).outputs["failure-reason"]).toBe("");
  expect(story.github.statuses).toHaveLength(done ? 3 : 1);
});

describe("a rate limit is called one", () => {
  const limit = (kind: "primary" | "secondary", method: string, path: RegExp): void => {
    const happens = (): void => story.github.limit(kind, { seconds: 1800 });
    story.github.incidents.push({ method, path, happens });
  };

  test("by plan, which cannot ask what is merged", async () => {
    limit("primary", "POST", /graphql$/);
    const run = await story.plan(await story.openPull({ [FILE]: WITH_ROLE }));
    expect(run.outputs["failure-reason"]).toBe("github");
    expect(run.log).toContain("GitHub's rate limit is used up until 12:32 UTC");
    expect(run.log).not.toContain("requires the permission");
  });

  test("by plan, where it cannot write the comment", async () => {
    limit("secondary", "GET", /comments$/);
    const run = await story.plan(await story.openPull({ [FILE]: WITH_ROLE }));
    expect(run.log).toContain("GitHub's secondary rate limit is reached");
    expect(run.log).not.toContain("requires the permission");
  });

  test("by apply, which refuses and says when to go on", async () => {
    const pull = await story.openPull({ [FILE]: WITH_ROLE });
    await story.plan(pull);
    await story.merge(pull);
    limit("primary", "POST", /graphql$/);
    const refused = await story.apply();
    expect(refused.outputs["failure-reason"]).toBe("github");
    expect(refused.log).toContain("GitHub's rate limit is used up until 12:34 UTC");
    expect(refused.log).toContain("Run the job again when the limit is lifted.");
    expect(refused.log).not.toContain("requires the permission");
    story.clock.advance(1_800_000);
    expect((await story.rerun(refused)).outputs["result"]).toBe("applied");
  });

  test("by drift, where it cannot write the issue", async () => {
    await story.behind("POST", "/v0.1/merchants/MC1/members", {
      email: "dan@example.com",
      roles: ["role_employee"],
    });
    limit("primary", "POST", /issues$/);
    const run = await story.drift();
    expect(run.log).toContain("The drift issue could not be written: GitHub's rate limit is used up");
  });
});

test("an overridden guard is a notice on its line, and no error", async () => {
  const guarded = `${BASE.replace(/ {2}- \{ email: ben.*\n/, "")}guards: { protect: { members: [ben@example.com] } }\n`;
  const pull = await story.openPull({ [FILE]: guarded });
  const plan = await story.plan(pull);
  await story.merge(pull);
  const allow = /protect=ben@example\.com@[0-9a-f]{12}/.exec(plan.log)?.[0] ?? "";
  const apply = await story.apply({ allow });
  expect(apply.outputs["result"]).toBe("applied");
  expect(apply.log).not.toContain("::error");
  expect(apply.log).toMatch(
    /^::notice title=guard protect,file=access\/mc1\.yaml,line=5::MC1: overridden: /m,
  );
});
