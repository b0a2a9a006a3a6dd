import fc from "fast-check";
import { expect, test } from "vitest";
import { runs } from "../support/property-runs.ts";
import { brokenPromises, histories } from "./history.ts";

test("whatever is merged, edited elsewhere and ended by dates: what the last reviewer saw is made, nothing more, nothing less", async () => {
  await fc.assert(
    fc.asyncProperty(histories, async (steps) => {
      expect(await brokenPromises(steps)).toEqual([]);
    }),
    { numRuns: runs(60) },
  );
});
