import fc from "fast-check";
import { expect, test } from "vitest";
import { runs } from "../support/property-runs.ts";
import { cases } from "./case.ts";
import { disagreements } from "./compare.ts";
import { runProgram } from "./run-program.ts";

test("for any files and any live state, the plan, what it refuses and what an apply leaves are as documented", async () => {
  let applied = 0;
  await fc.assert(
    fc.asyncProperty(cases, async (one) => {
      const made = await runProgram(one);
      if (made.after !== null) applied += 1;
      expect(disagreements(one, made)).toEqual([]);
    }),
    { numRuns: runs(120) },
  );
  expect(applied).toBeGreaterThan(20);
});
