import { expect, test } from "vitest";
import { atOnce, mapInSteps } from "../../src/config/steps.ts";

test("a long list is gone through in steps, and nothing of it is left out", () => {
  const items = Array.from({ length: 1203 }, (_, index) => index);
  const steps = mapInSteps(items, (item, index) => [item, index]);
  let pauses = 0;
  let step = steps.next();
  for (; !step.done; step = steps.next()) pauses += 1;
  expect(step.value).toEqual(items.map((item) => [item, item]));
  expect(pauses).toBe(2);
  expect(atOnce(mapInSteps([], String))).toEqual([]);
});
