import { expect, test } from "vitest";
import { driftOf } from "../../src/plan/drift.ts";
import { desired, live, liveRole, planOf, role } from "../support/build.ts";

const PLAN = planOf(
  desired({ roles: [role("Cashier", { permissions: ["a"] })] }),
  live([liveRole("role_1", "Cashier")]),
);

test.each([
  ["the live one, after the commit", 1_000_000, 2_000_000, "outside-git"],
  ["the file, after the live one", 2_000_000, 1_000_000, "not-applied"],
  ["the file, within the second that git can tell", 1_000_000, 1_000_999, "not-applied"],
  ["nobody knows, without git", null, 1_000_000, "unknown"],
  ["nobody knows, when it is not live", 1_000_000, null, "unknown"],
])("it is told which side moved: %s", (_, file, is, cause) => {
  const { changes } = driftOf(PLAN, { file: () => file, live: () => is });
  expect(changes.map((change) => change.cause)).toEqual([cause]);
});
