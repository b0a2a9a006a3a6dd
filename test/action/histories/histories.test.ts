import fc from "fast-check";
import { expect, test } from "vitest";
import { runs } from "../../support/property-runs.ts";
import { histories } from "./history-steps.ts";
import { brokenByAction } from "./run-history.ts";

test("whatever happens to pull requests, accounts and runs, what the last reviewer saw is made: nothing more, nothing less", async () => {
  await fc.assert(
    fc.asyncProperty(histories, async (steps) => {
      expect(await brokenByAction(steps)).toEqual([]);
    }),
    { numRuns: runs(60) },
  );
});
