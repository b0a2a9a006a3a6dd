import { afterEach, beforeEach, expect, test } from "vitest";
import { BASE, FILE, SEED, WITH_ROLE } from "../support/one-merchant.ts";
import { openStory, type Story } from "../support/story.ts";

let story: Story;

beforeEach(async () => {
  story = await openStory(SEED, { [FILE]: BASE }, { withGit: true });
});

afterEach(async () => {
  await story.stop();
});

for (const method of ["squash", "merge", "rebase"] as const) {
  test(`what was planned and reviewed is applied after the merge (${method}), once, and clean at night`, async () => {
    const pull = await story.openPull({ [FILE]: WITH_ROLE });
    expect((await story.plan(pull)).outputs["result"]).toBe("changes");
    await story.review(pull, "APPROVED");
    await story.merge(pull, method);
    const apply = await story.apply();
    expect(apply.outputs["result"]).toBe("applied");
    expect(story.comments(pull)).toHaveLength(1);
    expect(await story.writes()).toEqual(["POST /v0.1/merchants/MC1/roles"]);
    expect((await story.rerun(apply)).outputs["result"]).toBe("no-changes");
    expect((await story.due()).outputs["result"]).toBe("no-changes");
    expect((await story.drift()).outputs["result"]).toBe("clean");
  });
}

test("of two pull requests in a row the second is planned on the merge of both", async () => {
  const first = await story.openPull({ [FILE]: WITH_ROLE });
  const second = await story.openPull({ "access/notes.txt": "nothing" });
  await story.plan(first);
  await story.merge(first);
  await story.apply();
  await story.updateBranch(second);
  expect((await story.plan(second)).outputs["result"]).toBe("no-changes");
  expect(story.files("main")).toEqual({ [FILE]: WITH_ROLE });
  await story.merge(second, "merge");
  expect(Object.keys(story.files("main"))).toEqual([FILE, "access/notes.txt"]);
});

test("a secondary limit in the middle of a run is waited out", async () => {
  const pull = await story.openPull({ [FILE]: WITH_ROLE });
  story.github.limit("secondary", { after: 2, seconds: 30 });
  const before = story.clock.now();
  const run = await story.plan(pull);
  expect(run.outputs["result"]).toBe("changes");
  expect(story.clock.now() - before).toBeGreaterThanOrEqual(30_000);
  expect(story.comments(pull)).toHaveLength(1);
});
