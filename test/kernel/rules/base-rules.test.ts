import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { buildPlan } from "../../../src/kernel/plan/build-plan.ts";
import { type BaseRules, withRulesOf } from "../../../src/kernel/rules/base-rules.ts";
import { looseningsOf } from "../../../src/kernel/rules/loosenings.ts";
import { rolesInRules } from "../../../src/kernel/rules/rule-roles.ts";
import type { DesiredState } from "../../../src/model/desired.ts";
import type { LiveState } from "../../../src/model/live.ts";
import type { Plan } from "../../../src/model/plan.ts";
import { desiredStates, liveStates } from "../../support/arbitrary.ts";
import {
  ADA,
  briefRefusals,
  desired,
  invited,
  live,
  liveMember,
  liveRole,
  matches,
  member,
  NO_GUARDS,
  NOW,
  OWNER,
  people,
  planOf,
  role,
} from "../../support/build.ts";
import { runs } from "../../support/property-runs.ts";
import { type RuleSet, ruleSets } from "../../support/rule-sets.ts";

function planWith(base: BaseRules, head: DesiredState, is: LiveState): Plan {
  return buildPlan({ desired: head, live: is, service: "https://service.example", now: NOW, matches, base });
}

describe("a plan is judged by the rules of the base branch, too", () => {
  test("a guard that head dropped refuses, says whose rule it is, and can be overridden for this plan", () => {
    const head = desired({
      members: [member("ada@example.com", { roles: ["role_owner"] })],
      guards: { protect: { roles: [], members: [] }, maxRemovals: { percent: 100 } },
    });
    const is = live([OWNER], [ADA, ...people(5)]);
    expect(planOf(head, is).refusals).toEqual([]);
    const plan = planWith(desired(), head, is);
    expect(plan.refusals).toEqual([
      {
        rule: "guard",
        code: "max-removals",
        resource: "member",
        name: null,
        check: null,
        message:
          "5 of 6 members would be removed or lose something; the limit is 3. This is a rule of the base branch, which this pull request loosens.",
        hint: "Loosen the rule first, in a separate pull request, or override it for this plan.",
        override: "max-removals=5",
        by: "base",
      },
    ]);
    const overrides = [`max-removals=5@${plan.fingerprint.slice(0, 12)}`];
    const again = planWith(desired(), { ...head, guards: { ...head.guards, overrides } }, is);
    expect(again.fingerprint).toBe(plan.fingerprint);
    expect([again.refusals, again.overridden, again.findings]).toEqual([[], plan.refusals, []]);
  });

  test("what both branches refuse is refused once, as the file's own", () => {
    const head = desired({
      members: [],
      guards: { protect: { roles: [], members: [] }, maxRemovals: { count: 4 } },
    });
    const plan = planWith(desired(), head, live([], people(6)));
    expect(plan.refusals.map(({ code, by }) => [code, by])).toEqual([["max-removals", undefined]]);
  });

  test("what only the base branch refuses is refused beside what the file's own rules refuse", () => {
    const head = desired({ members: [], guards: { ...NO_GUARDS, maxRemovals: { count: 4 } } });
    const protect = { roles: [], members: ["p1@example.com"] };
    const plan = planWith(desired({ guards: { ...NO_GUARDS, protect } }), head, live([], people(6)));
    expect(plan.refusals.map(({ code, name, by }) => [code, name, by])).toEqual([
      ["max-removals", null, undefined],
      ["protect", "p1@example.com", "base"],
    ]);
  });

  test("a removal that the base branch would defer cannot be made at once by needing fewer holders", () => {
    const is = live([OWNER], [ADA, invited("mem_2", "bea@example.com", { roles: ["role_owner"] })]);
    const head = desired({
      members: [member("bea@example.com", { roles: ["role_owner"] })],
      guards: { protect: { roles: [], members: [] }, minHolders: {} },
    });
    expect(planOf(head, is).changes).toHaveLength(1);
    expect(planOf({ ...head, guards: desired().guards }, is).deferred).toHaveLength(1);
    const plan = planWith(desired(), head, is);
    expect(briefRefusals(plan)).toEqual(["guard min-holders-wait Owner"]);
    expect(plan.refusals[0]?.message).toContain("until somebody who is invited has accepted.");
  });

  test("policies and checks of the base branch judge what the files and the plan make worse, by current names", () => {
    const base = desired({
      roles: [role("Payer", { permissions: ["payouts_create"] })],
      policies: { ...desired().policies, maxHolders: { Payer: 0 }, forbidPermissions: ["payouts_create"] },
      checks: [
        { kind: "only", can: "payouts_create", only: [], origin: { file: "shop.yaml", path: ["checks", 0] } },
      ],
    });
    const head = desired({
      roles: [role("Cashier", { previously: ["Payer"], permissions: ["payouts_create"] })],
      members: [member("ada@example.com", { roles: ["Cashier"] })],
    });
    const is = live([liveRole("role_1", "Payer")], []);
    expect(planOf(head, is).refusals).toEqual([]);
    expect(briefRefusals(planWith(base, head, is))).toEqual([
      "policy forbid-permissions Cashier",
      "policy max-holders Cashier",
      "check check-only ada@example.com",
    ]);
  });
});

test("a role that says it was a predefined one leaves the rules of the base branch to that one", () => {
  const base = desired({ guards: { ...desired().guards, minHolders: { role_admin: 1 } } });
  const head = desired({
    roles: [role("Boss", { previously: ["role_admin"] })],
    members: [member("ada@example.com", { roles: ["Boss"] })],
  });
  const is = live(
    [liveRole("role_1", "Boss")],
    [liveMember("mem_1", "ada@example.com", { roles: ["role_admin"] })],
  );
  expect(briefRefusals(planWith(base, head, is))).toContain("guard min-holders role_admin");
});

test("a role that the pull request renames by its id keeps the rules of its live name", () => {
  const base = desired({ policies: { ...desired().policies, maxHolders: { Payer: 0 } } });
  const head = desired({
    roles: [role("Cashier", { id: "role_1" })],
    members: [member("ada@example.com", { roles: ["Cashier"] })],
  });
  const plan = planWith(base, head, live([liveRole("role_1", "Payer")]));
  expect(briefRefusals(plan)).toEqual(["policy max-holders Payer"]);
});

/** The same rules, with some of them dropped or made looser. */
function loosened({ guards: was, policies: old, checks: tests }: RuleSet): fc.Arbitrary<RuleSet> {
  const raised = (record: Readonly<Record<string, number>>, by: number) =>
    fc
      .tuple(fc.subarray(Object.entries(record)), fc.boolean())
      .map(([kept, changed]) =>
        Object.fromEntries(kept.map(([key, value]) => [key, Math.max(0, value + (changed ? by : 0))])),
      );
  return fc
    .record({
      all: fc.boolean(),
      protectRoles: fc.subarray([...was.protect.roles]),
      protectMembers: fc.subarray([...was.protect.members]),
      minHolders: raised(was.minHolders ?? { role_owner: 1 }, -1),
      domains: fc.boolean(),
      separate: fc.subarray([...old.separate]),
      maxHolders: raised(old.maxHolders, 1),
      requireUntil: fc.subarray(Object.entries(old.requireUntil)).map((ends) => Object.fromEntries(ends)),
      requireMfa: fc.subarray([...old.requireMfa]),
      forbidPermissions: fc.subarray([...old.forbidPermissions]),
      kept: fc.subarray([...tests]),
    })
    .map((to): RuleSet => {
      const { emailDomains, ...policy } = old;
      return {
        guards: {
          ...was,
          ...(to.all && { maxRemovals: { percent: 100 } }),
          protect: { roles: to.protectRoles, members: to.protectMembers },
          minHolders: to.minHolders,
        },
        policies: {
          ...policy,
          ...(to.domains && emailDomains && { emailDomains }),
          separate: to.separate,
          maxHolders: to.maxHolders,
          requireUntil: to.requireUntil,
          requireMfa: to.requireMfa,
          forbidPermissions: to.forbidPermissions,
        },
        checks: to.kept,
      };
    });
}

/** Returns whether neither file nor plan has an error of its own, such as a rule that names a role that nobody declares. */
function isSound(state: DesiredState, { findings }: Plan): boolean {
  const declared = new Set(state.roles?.map(({ name }) => name));
  return (
    rolesInRules(state).every((role) => declared.has(role) || role.startsWith("role_")) &&
    findings.every(({ severity }) => severity === "warning")
  );
}

describe("for every base, and every head that is loosened from it", () => {
  const cases = fc
    .record({ want: desiredStates, is: liveStates, base: ruleSets })
    .chain((one) => loosened(one.base).map((head) => ({ ...one, head })));

  test("no plan passes that the rules of the base would have refused, or made wait", () => {
    fc.assert(
      fc.property(cases, ({ want, is, base, head }) => {
        const plan = planWith(base, { ...want, ...head }, is);
        const before = planOf(withRulesOf(base, want), is);
        if (before.refusals.length > 0 || before.fingerprint !== plan.fingerprint) {
          expect(plan.refusals).not.toEqual([]);
        }
      }),
      { numRuns: runs(150) },
    );
  });

  test("whatever only the base refuses is listed among what is looser", () => {
    fc.assert(
      fc.property(cases, ({ want, is, base, head }) => {
        const was = withRulesOf({ ...want, ...base }, want);
        const now = withRulesOf({ ...want, ...head }, want);
        const own = planOf(now, is);
        fc.pre(own.refusals.length === 0 && isSound(now, own));
        if (planWith(was, now, is).refusals.length > 0) {
          expect(looseningsOf(was, now, matches)).not.toEqual([]);
        }
      }),
      { numRuns: runs(150) },
    );
  });

  test("equal rules judge once: the plan is the same, byte for byte", () => {
    fc.assert(
      fc.property(cases, ({ want, is, base }) => {
        const state = withRulesOf({ ...want, ...base }, want);
        const plan = planOf(state, is);
        fc.pre(isSound(state, plan));
        expect(JSON.stringify(planWith(state, state, is))).toBe(JSON.stringify(plan));
        expect(looseningsOf(state, state, matches)).toEqual([]);
      }),
      { numRuns: runs(100) },
    );
  });
});
