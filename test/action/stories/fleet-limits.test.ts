import { afterEach, expect, test } from "vitest";
import { changedFleet, codesOf, fleetFiles, fleetSeed } from "../support/fleet.ts";
import { openStory, type Story } from "../support/story.ts";

let story: Story;

afterEach(async () => {
  await story.stop();
});

const openFleet = async (count: number): Promise<readonly string[]> => {
  const codes = codesOf(count);
  story = await openStory(fleetSeed(count), fleetFiles(codes), { withGit: true });
  story.github.pageSize = 100;
  expect((await story.apply({ concurrency: "32" })).outputs["result"]).toBe("no-changes");
  return codes;
};

test("100 changed merchants are planned and applied with few requests to GitHub", {
  timeout: 120_000,
}, async () => {
  const codes = await openFleet(100);
  const pull = await story.openPull(changedFleet(codes));
  const plan = await story.plan(pull, { concurrency: "32" });
  expect(plan.outputs).toMatchObject({ result: "changes", creates: "100" });
  await story.merge(pull);
  const apply = await story.apply({ concurrency: "32" });
  // A row each would say nothing more.
  expect(apply.summary).toContain(
    "|---|---|---|\n| 100 merchants | applied |  |\n\n<details><summary>What was done",
  );
  expect(apply.outputs["result"]).toBe("applied");
  expect(story.comments(pull)[0]?.length).toBeLessThanOrEqual(60_000);
  for (const { requests } of [plan, apply]) expect(requests.length).toBeLessThanOrEqual(40);
  expect((await story.apply()).outputs["result"]).toBe("no-changes");
});

test("the jobs of a matrix apply a part each, and together all", async () => {
  const codes = await openFleet(12);
  const pull = await story.openPull(changedFleet(codes));
  await story.plan(pull);
  await story.merge(pull);
  const shards = ["1/3", "2/3", "3/3"];
  const creates: number[] = [];
  for (const shard of shards) {
    const run = await story.apply({ shard });
    expect(run.outputs["failure-reason"]).toBe("");
    creates.push(Number(run.outputs["creates"]));
  }
  expect(creates.reduce((sum, count) => sum + count, 0)).toBe(12);
  expect(await story.recordedPlans(pull)).toBe(0);
  for (const shard of shards) expect((await story.apply({ shard })).outputs["result"]).toBe("no-changes");
});
