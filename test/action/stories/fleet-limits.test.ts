import { afterEach, describe, expect, test } from "vitest";
import { changedFleet, codesOf, fleetFiles, fleetSeed } from "../support/fleet.ts";
import { openStory, type Story } from "../support/story.ts";

let story: Story;

afterEach(async () => {
  await story.stop();
});

/** GitHub's limit for one job of a fleet. */
const MOST_REQUESTS = 30;

describe("a fleet in one job", () => {
  test.each([
    [300, 300],
    [300, 40],
  ])(
    "of %i merchants, %i of them changed, takes few requests to GitHub",
    {
      timeout: 120_000,
    },
    async (count, changed) => {
      const codes = codesOf(count);
      story = await openStory(fleetSeed(count), fleetFiles(codes));
      story.github.pageSize = 100;
      const pull = await story.openPull(changedFleet(codes.slice(0, changed)));
      const plan = await story.plan(pull, { concurrency: "32" });
      expect(plan.outputs).toMatchObject({ result: "changes", creates: String(changed) });
      expect(plan.requests.length).toBeLessThanOrEqual(MOST_REQUESTS);
      await story.merge(pull);
      const apply = await story.apply({ concurrency: "32" });
      expect(apply.outputs["result"]).toBe("applied");
      expect(story.comments(pull)[0]?.length).toBeLessThanOrEqual(60_000);
      expect(apply.requests.length).toBeLessThanOrEqual(MOST_REQUESTS);
    },
  );
});
