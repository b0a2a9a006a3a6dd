import { afterEach, expect, test } from "vitest";
import { changedFleet, codesOf, fleetFiles, fleetSeed } from "../support/fleet.ts";
import { downloadParts } from "../support/parts.ts";
import { openStory, type Run, type Story } from "../support/story.ts";

let story: Story;

afterEach(async () => {
  await story.stop();
});

/** GitHub's limit for one job of a fleet. */
const MOST_REQUESTS = 30;

const openFleet = async (count: number, changed: number): Promise<number> => {
  const codes = codesOf(count);
  story = await openStory(fleetSeed(count), fleetFiles(codes));
  story.github.pageSize = 100;
  return story.openPull(changedFleet(codes.slice(0, changed)));
};

test("300 changed merchants in one job take few requests to GitHub", async () => {
  const pull = await openFleet(300, 300);
  const plan = await story.plan(pull, { concurrency: "32" });
  expect(plan.outputs).toMatchObject({ result: "changes", creates: "300" });
  expect(plan.requests.length).toBeLessThanOrEqual(MOST_REQUESTS);
});

test("40 changed merchants of 300 are planned and applied with few requests to GitHub", async () => {
  const pull = await openFleet(300, 40);
  const plan = await story.plan(pull, { concurrency: "32" });
  expect(plan.outputs).toMatchObject({ result: "changes", creates: "40" });
  await story.merge(pull);
  const apply = await story.apply({ concurrency: "32" });
  // A row each would say nothing more.
  expect(apply.summary).toContain(
    "|---|---|---|\n| 40 merchants | applied |  |\n\n<details><summary>What was done",
  );
  expect(apply.outputs["result"]).toBe("applied");
  expect(story.comments(pull)[0]?.length).toBeLessThanOrEqual(60_000);
  for (const { requests } of [plan, apply]) expect(requests.length).toBeLessThanOrEqual(MOST_REQUESTS);
});

/** What a repository's token may do in an hour, and how many jobs a matrix may have. */
const [HOUR_LIMIT, MOST_JOBS] = [1000, 256];
/** As many as the example of an apply in a matrix has. */
const APPLY_JOBS = 50;

test("1,000 changed merchants in a matrix are one comment and one approval, within the limit of an hour", async () => {
  const [pull, jobs] = [await openFleet(1000, 1000), 2];
  await story.clone();
  const runs: Run[] = [];
  for (let job = 1; job <= jobs; job++) {
    const inputs = { publish: "later", concurrency: "32", shard: `${job}/${jobs}` };
    const run = await story.plan(pull, inputs);
    expect(run.outputs).toMatchObject({ result: "changes", "has-changes": "true" });
    runs.push(run);
  }
  expect([story.comments(pull), story.github.checks]).toEqual([[], []]);
  // Every job is a check run of its own on the commit, and makes the lists longer.
  for (let job = 0; job < MOST_JOBS; job++) await story.addCheck(pull, { name: `job ${job}` });
  const plans = await downloadParts(runs);
  const published = await story.plan(pull, { command: "publish", plans, "api-key": "" });
  expect(published.outputs).toMatchObject({ result: "changes", creates: "1000" });
  expect(story.comments(pull)).toHaveLength(1);
  expect(story.comments(pull)[0]?.length).toBeLessThanOrEqual(60_000);
  const most = Math.max(...runs.map(({ requests }) => requests.length));
  expect(published.requests.length).toBeLessThanOrEqual(MOST_REQUESTS);
  expect(MOST_JOBS * most + published.requests.length).toBeLessThanOrEqual(HOUR_LIMIT);

  await story.merge(pull);
  const sha = story.github.branches.get("main") ?? "";
  story.github.checks.push(
    ...story.github.checks.slice(0, APPLY_JOBS).map((job) => ({ ...job, head_sha: sha })),
  );
  const apply = await story.apply({ comment: "off", shard: `1/${APPLY_JOBS}` });
  expect(apply.outputs["result"]).toBe("applied");
  expect(APPLY_JOBS * apply.requests.length).toBeLessThanOrEqual(HOUR_LIMIT);
});
