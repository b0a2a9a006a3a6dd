import { expect, test } from "vitest";
import { runFingerprint } from "../../src/kernel/diff/fingerprint.ts";
import type { Plan, Refusal } from "../../src/model/plan.ts";
import { applyRunOverrides } from "../../src/rules/overrides.ts";
import { desired, live, liveMember, member, planOf } from "../support/build.ts";

const PEOPLE = ["a", "b", "c", "d", "e", "f"].map((name) => `${name}@example.com`);

/** A plan that removes all but one member. */
function planFor(merchant: string): Plan {
  const is = live(
    [],
    PEOPLE.map((email, index) => liveMember(`mem_${index}`, email)),
  );
  return planOf({ ...desired({ members: [member("a@example.com")] }), merchant }, { ...is, merchant });
}

const plans = ["MC1", "MC2", "MC3"].map(planFor);
const run = runFingerprint(plans).slice(0, 12);
const inRun = (some: readonly Plan[], ...texts: readonly string[]): readonly Plan[] =>
  applyRunOverrides(some.map((plan) => ({ plan, texts })));
const refusals = (some: readonly Plan[]): readonly (readonly string[])[] =>
  some.map((plan) => plan.refusals.map(({ code }) => code));

test("an override of the run counts at every merchant whose files have it", () => {
  expect(refusals(plans)).toEqual([["max-removals"], ["max-removals"], ["max-removals"]]);
  const judged = inRun(plans, `max-removals=5@${run}`);
  expect(refusals(judged)).toEqual([[], [], []]);
  expect(judged.map(({ overridden = [] }) => overridden.map(({ code }) => code))).toEqual([
    ["max-removals"],
    ["max-removals"],
    ["max-removals"],
  ]);
  const one = applyRunOverrides(
    plans.map((plan, at) => ({ plan, texts: at === 1 ? [`max-removals=5@${run}`] : [] })),
  );
  expect(refusals(one)).toEqual([["max-removals"], [], ["max-removals"]]);
});

test("it counts for no other run, no more removals, and no rule that the project enforces", () => {
  expect(refusals(inRun(plans.slice(1), `max-removals=5@${run}`))).toEqual([
    ["max-removals"],
    ["max-removals"],
  ]);
  expect(refusals(inRun(plans, `max-removals=4@${run}`))).toEqual(refusals(plans));
  const enforced = plans.map((plan) => ({
    ...plan,
    refusals: plan.refusals.map((refusal): Refusal => ({ ...refusal, rules: "hq/policy.yaml" })),
  }));
  expect(refusals(inRun(enforced, `max-removals=5@${run}`))).toEqual(refusals(plans));
});

test("without such an override every plan stays as it is", () => {
  expect(inRun(plans, "max-removals=5@000000000000")).toEqual(plans);
});
