import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { planChanges, planParts } from "../../../src/kernel/plan/build-plan.ts";
import { selectionJudge } from "../../../src/kernel/plan/select.ts";
import type { DesiredState } from "../../../src/model/desired.ts";
import type { LiveState } from "../../../src/model/live.ts";
import { changeId } from "../../../src/model/plan.ts";
import { desiredStates, liveStates } from "../../support/arbitrary.ts";
import {
  brief,
  briefRefusals,
  desired,
  live,
  liveMember,
  liveRole,
  matches,
  member,
  NOW,
  planOf,
  role,
} from "../../support/build.ts";

/** A plan of which parts can be judged, as a session makes it. */
function selectable(want: DesiredState, is: LiveState) {
  const input = { desired: want, live: is, service: "https://service.example", now: NOW, matches };
  const parts = planParts(input, planChanges);
  return { plan: parts(), planWithout: parts, files: want, live: is };
}

/** The ids of the changes that are called so. */
function idsOf({ plan }: ReturnType<typeof selectable>, name: string): ReadonlySet<string> {
  const called = plan.changes.filter((change) => change.name === name);
  return new Set(called.map((change) => changeId(plan.merchant, change)));
}

describe("a selection", () => {
  const is = live(
    [liveRole("role_1", "Till", { permissions: ["catalog_view"] })],
    [
      liveMember("mem_1", "ada@example.com", { roles: ["role_1"] }),
      liveMember("mem_2", "bo@example.com", { roles: ["role_1"] }),
    ],
  );

  test("has the impact and the sums of what is kept", () => {
    const want = desired({
      roles: [role("Till", { permissions: ["catalog_view", "payouts_edit"] })],
      members: [member("ada@example.com", { roles: ["Till"] })],
    });
    const one = selectable(want, is);
    const judge = selectionJudge([one]);
    expect(judge(new Set()).plans[0]?.impact.members).toHaveLength(2);
    const [part] = judge(idsOf(one, "Till")).plans;
    expect(part?.impact.permissions).toEqual([{ permission: "catalog_view", gained: 0, lost: 1 }]);
    expect(part?.summary.roles).toMatchObject({ update: 0, unchanged: 1 });
  });

  test("is refused for what it does, not for what the whole plan does", () => {
    const want = desired({
      members: [member("ada@example.com", { roles: ["Till"] }), member("cy@other.example")],
      policies: { ...desired().policies, emailDomains: ["example.com"] },
    });
    const one = selectable(want, is);
    const judge = selectionJudge([one]);
    expect(judge(new Set()).plans.map(briefRefusals)).toEqual([["policy email-domains cy@other.example"]]);
    const { plans, out } = judge(idsOf(one, "cy@other.example"));
    expect(plans.map(brief)).toEqual([["delete member bo@example.com"]]);
    expect(out.size).toBe(1);
  });

  test("of one merchant leaves the plans of the others as they are", () => {
    const [one, two] = [
      selectable(desired({ merchant: "MC1", members: [] }), is),
      selectable(desired({ merchant: "MC2", members: [] }), is),
    ];
    const { plans } = selectionJudge([one, two])(idsOf(one, "bo@example.com"));
    expect(plans.map((plan) => plan.changes.length)).toEqual([1, 2]);
    expect(plans[1]).toBe(two.plan);
  });

  test("is another run, which an override of the whole run does not cover", () => {
    const guards = { protect: { roles: [], members: [] }, maxRemovals: { count: 0 } };
    const plans = ["MC1", "MC2"].map((merchant) =>
      selectable(desired({ merchant, members: [], guards: { ...guards, overrides: ["x"] } }), is),
    );
    // As the run's override leaves it.
    const overridden = plans.map((one) => ({ ...one, plan: { ...one.plan, refusals: [] } }));
    const judge = selectionJudge(overridden);
    expect(judge(new Set()).plans.map(briefRefusals)).toEqual([[], []]);
    const [first] = overridden;
    if (first === undefined) throw new Error("There is no plan.");
    expect(judge(idsOf(first, "bo@example.com")).plans.map(briefRefusals)).toEqual([
      ["guard max-removals"],
      ["guard max-removals"],
    ]);
  });
});

test("for every selection the plans are those that an apply makes of it, one after the other", () => {
  let judged = 0;
  const inputs = fc.record({
    want: desiredStates,
    is: liveStates,
    picks: fc.array(fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }), { minLength: 1, maxLength: 3 }),
  });
  fc.assert(
    fc.property(inputs, ({ want, is, picks }) => {
      const one = selectable(want, is);
      const { changes, merchant } = one.plan;
      const judge = selectionJudge([one]);
      for (const picked of picks) {
        const chosen = changes.filter((_, index) => !picked[index % picked.length]);
        const { plans, out, leaveOut } = judge(new Set(chosen.map((change) => changeId(merchant, change))));
        expect(plans).toEqual([planOf(want, is, NOW, leaveOut[0])]);
        const due = new Set(plans[0]?.changes.map(({ fingerprint }) => fingerprint));
        const waits = new Set(plans[0]?.deferred.map(({ change }) => change.fingerprint));
        for (const change of changes) {
          const isKept = due.has(change.fingerprint) || waits.has(change.fingerprint);
          expect(out.has(changeId(merchant, change))).toBe(!isKept);
        }
        judged += chosen.length;
      }
    }),
  );
  expect(judged).toBeGreaterThan(100);
});
