import { expect, test } from "vitest";
import type { EnforcedRules } from "../../../src/model/desired.ts";
import type { Plan } from "../../../src/model/plan.ts";
import { planView } from "../../../src/show/view/plan-view.ts";
import {
  briefFindings,
  briefRefusals,
  desired,
  live,
  liveMember,
  NO_POLICIES,
  planOf,
} from "../../support/build.ts";

const IS = live(
  [],
  Array.from({ length: 6 }, (_, index) => liveMember(`mem_${index}`, `p${index}@example.com`)),
);
const NONE = { roles: [], members: [] };

function planFor(overrides: readonly string[], protect: readonly string[] = [], is = IS): Plan {
  const guards = { protect: { ...NONE, members: protect }, overrides };
  return planOf(desired({ members: [], guards }), is);
}

const PLAIN = planFor([]);
const AT = `@${PLAIN.fingerprint.slice(0, 12)}`;

test("an override in the file is for its plan: what it overrides is no refusal, and the plan is the same plan", () => {
  expect(briefRefusals(PLAIN)).toEqual(["guard max-removals"]);
  expect(Object.hasOwn(PLAIN, "overridden")).toBe(false);
  for (const text of [`max-removals=6${AT}`, `max-removals=9${AT}`]) {
    const plan = planFor([text]);
    expect({ ...plan, overridden: [], refusals: [] }).toEqual({ ...PLAIN, overridden: [], refusals: [] });
    expect([plan.refusals, plan.overridden]).toEqual([[], PLAIN.refusals]);
  }
});

test("it overrides nothing else, and the line that the plan prints has what is missing as well", () => {
  const plan = planFor([`max-removals=6${AT}`], ["p0@*", "p1@example.com"]);
  expect(briefRefusals(plan)).toEqual(["guard protect p0@example.com", "guard protect p1@example.com"]);
  const line = `overrides: [max-removals=6${AT}, protect=p0@example.com${AT}, protect=p1@example.com${AT}]`;
  expect(planView(plan).overrides).toBe(line);
  expect(planView(plan, () => null, [], "undo").overrides).toBeNull();
  expect(planView(PLAIN).overridden).toEqual([]);
  expect(planView(plan).overridden.map(({ code }) => code)).toEqual(["max-removals"]);
});

test("a line is YAML, whatever the name of a role is", () => {
  const [refusal] = PLAIN.refusals;
  if (refusal === undefined) throw new Error("there is a refusal");
  const named = (override: string) => planView({ ...PLAIN, refusals: [{ ...refusal, override }] }).overrides;
  expect(named("min-holders=Shift Lead:0")).toBe(`overrides: [min-holders=Shift Lead:0${AT}]`);
  expect(named('min-holders=Lead, "night":0')).toBe(`overrides: ["min-holders=Lead, \\"night\\":0${AT}"]`);
  expect(named("min-holders=a: b #1:0")).toBe(`overrides: ["min-holders=a: b #1:0${AT}"]`);
});

test.each([
  ["the plan is another", ["max-removals=6@0123456789ab"], IS, "it is for another plan"],
  ["there is nothing left to do", [`max-removals=6${AT}`], live(), "this plan has no changes"],
  ["too few may be removed", [`max-removals=5${AT}`], IS, "this plan is not refused for this reason"],
  [
    "nothing is refused for that",
    [`protect=p0@example.com${AT}`],
    IS,
    "this plan is not refused for this reason",
  ],
])("it is left over if %s, which is a warning", (_, overrides, is, why) => {
  const plan = planFor(overrides, [], is);
  expect(briefFindings(plan)).toEqual([`warning override-left-over ${overrides[0]}`]);
  expect(plan.findings[0]?.message).toBe(`The override ${overrides[0]} in the file has no effect: ${why}.`);
  expect(plan.findings[0]?.hint).toBe("Remove it from guards.overrides.");
});

test("the plan prints a line only if a file may have it", () => {
  const [refusal] = PLAIN.refusals;
  if (refusal === undefined) throw new Error("there is a refusal");
  const lineOf = (override: string) => planView({ ...PLAIN, refusals: [{ ...refusal, override }] }).overrides;
  expect(lineOf("changed-addresses=112")).toBe(`overrides: [changed-addresses=112${AT}]`);
  expect(lineOf("password-enables=till-2@example.com")).toBeNull();
});

test("one in a merchant's file for an enforced rule has no effect, which the plan says", () => {
  const rules: EnforcedRules = {
    files: ["hq/rules.yaml"],
    guards: { ...desired().guards, maxRemovals: { count: 1 } },
    policies: NO_POLICIES,
    checks: [],
  };
  const guards = { protect: NONE, overrides: [`max-removals=6${AT}`] };
  const plan = planOf(desired({ members: [], guards, enforced: [rules] }), IS);
  expect(briefRefusals(plan)).toEqual(["guard max-removals"]);
  expect(plan.findings.map(({ message, hint }) => [message, hint])).toEqual([
    [
      `The override max-removals=6${AT} in the file has no effect: the rule is enforced, and can only be overridden in its own file.`,
      "Move it to guards.overrides in the rule file.",
    ],
  ]);
});
