import { describe, expect, test } from "vitest";
import { runFingerprint } from "../../../src/kernel/diff/fingerprint.ts";
import type { EnforcedRules } from "../../../src/model/desired.ts";
import type { Plan, Refusal } from "../../../src/model/plan.ts";
import { desired, judgedRun, live, liveMember, member, NO_POLICIES, planOf } from "../../support/build.ts";

const PEOPLE = ["a", "b", "c", "d", "e", "f"].map((name) => `${name}@example.com`);

/** A plan that removes all but one member. */
function planFor(merchant: string): Plan {
  const is = live(
    [],
    PEOPLE.map((email, index) => liveMember(`mem_${index}`, email)),
  );
  return planOf({ ...desired({ members: [member("a@example.com")] }), merchant }, { ...is, merchant });
}

function filesWith(overrides: readonly string[], enforced: readonly EnforcedRules[] = []) {
  return { guards: { ...desired().guards, overrides }, enforced };
}

const plans = ["MC1", "MC2", "MC3"].map(planFor);
const run = runFingerprint(plans).slice(0, 12);
const inRun = (some: readonly Plan[], ...texts: readonly string[]): readonly Plan[] =>
  judgedRun(some.map((plan) => ({ plan, files: filesWith(texts) })));
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
  const one = judgedRun(
    plans.map((plan, at) => ({ plan, files: filesWith(at === 1 ? [`max-removals=5@${run}`] : []) })),
  );
  expect(refusals(one)).toEqual([["max-removals"], [], ["max-removals"]]);
});

test("it counts for no other run, and no more removals", () => {
  expect(refusals(inRun(plans.slice(1), `max-removals=5@${run}`))).toEqual([
    ["max-removals"],
    ["max-removals"],
  ]);
  expect(refusals(inRun(plans, `max-removals=4@${run}`))).toEqual(refusals(plans));
});

describe("the rules that the project enforces", () => {
  const text = `max-removals=5@${run}`;
  const rulesWith = (file: string, overrides: readonly string[]): EnforcedRules => ({
    guards: { ...desired().guards, maxRemovals: { percent: 25 }, overrides },
    policies: NO_POLICIES,
    checks: [],
    files: [file],
  });
  const ofRules = (overrides: readonly string[], enforced: readonly EnforcedRules[], by?: "base") =>
    refusals(
      judgedRun(
        plans.map((plan) => ({
          plan: {
            ...plan,
            refusals: plan.refusals.map(
              (one): Refusal => ({ ...one, rules: "hq/policy.yaml", ...(by && { by }) }),
            ),
          },
          files: filesWith(overrides, enforced),
        })),
      ),
    );

  test("are overridden in their own file, for the whole run too", () => {
    expect(ofRules([], [rulesWith("hq/policy.yaml", [text])])).toEqual([[], [], []]);
  });

  test("have overrides for the limits of a run as well, which no file of a merchant sets", () => {
    const projects = [{ run: { maxRemovals: { count: 1 } } }];
    const limitedBy = (overrides: readonly string[]) =>
      refusals(
        judgedRun(
          plans.map((plan) => ({
            plan: { ...plan, refusals: [] },
            files: { ...filesWith([], [rulesWith("hq/policy.yaml", overrides)]), projects },
          })),
        ),
      );
    expect(limitedBy([])).toEqual(plans.map(() => ["run-removals"]));
    expect(limitedBy([`run-removals=4@${run}`])).toEqual(plans.map(() => ["run-removals"]));
    expect(limitedBy([`run-removals=5@${run}`])).toEqual([[], [], []]);
  });

  test("are not overridden by a merchant's file, by other rules, or against the base branch", () => {
    const refused = refusals(plans);
    expect(ofRules([text], [rulesWith("hq/policy.yaml", [])])).toEqual(refused);
    expect(ofRules([], [rulesWith("hq/other.yaml", [text])])).toEqual(refused);
    expect(ofRules([], [rulesWith("hq/policy.yaml", [text])], "base")).toEqual(refused);
  });

  test("make an override in a merchant's file have no effect, which the plan says", () => {
    const guards = { protect: { roles: [], members: [] }, overrides: [text] };
    const made = plans.map(({ merchant }) => {
      const is = live(
        [],
        PEOPLE.map((email, index) => liveMember(`mem_${index}`, email)),
      );
      const want = desired({
        members: [member("a@example.com")],
        guards,
        enforced: [rulesWith("hq/policy.yaml", [])],
      });
      return planOf({ ...want, merchant }, { ...is, merchant });
    });
    const findings = judgedRun(
      made.map((plan) => ({ plan, files: filesWith([text], [rulesWith("hq/policy.yaml", [])]) })),
    ).map((plan) => plan.findings.map(({ message }) => message));
    const message = `The override ${text} in the file has no effect: the rule is enforced, and can only be overridden in its own file.`;
    expect(findings).toEqual([[message], [message], [message]]);
  });

  test("leave no override over that counts at another merchant", () => {
    const files = filesWith([], [rulesWith("hq/policy.yaml", [text])]);
    const made = plans.map((plan) =>
      planOf(
        { ...desired({ members: [member("a@example.com")], ...files }), merchant: plan.merchant },
        {
          ...live(
            [],
            PEOPLE.map((email, index) => liveMember(`mem_${index}`, email)),
          ),
          merchant: plan.merchant,
        },
      ),
    );
    expect(made.flatMap((plan) => plan.refusals.map(({ rules }) => rules))).toEqual(
      plans.map(() => "hq/policy.yaml"),
    );
    const judged = judgedRun(made.map((plan) => ({ plan, files })));
    expect(refusals(judged)).toEqual([[], [], []]);
    expect(judged.flatMap(({ findings }) => findings.map(({ code }) => code))).toEqual([]);
  });
});

test("without such an override every plan stays as it is", () => {
  expect(inRun(plans, "max-removals=5@000000000000")).toEqual(plans);
});
