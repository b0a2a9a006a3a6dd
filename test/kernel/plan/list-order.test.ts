import fc from "fast-check";
import { expect, test } from "vitest";
import { liveSnapshot } from "../../../src/ask/access/access-snapshot.ts";
import { whoIs } from "../../../src/ask/access/ask-access.ts";
import { liveReport } from "../../../src/ask/report/build-access-report.ts";
import { driftOf } from "../../../src/ask/report/detect-drift.ts";
import { liveRuleResults } from "../../../src/ask/report/rule-results.ts";
import type { Check, DesiredState, Policies } from "../../../src/model/desired.ts";
import type { LiveState } from "../../../src/model/live.ts";
import { pageMerchant } from "../../../src/show/html/page-data.ts";
import { planView } from "../../../src/show/view/plan-view.ts";
import { desiredStates, liveStates } from "../../support/arbitrary.ts";
import { matches, NOW, planOf } from "../../support/build.ts";
import { runs } from "../../support/property-runs.ts";
import { wildStates } from "../../support/wild-states.ts";

const PERMISSIONS = ["catalog_view", "refunds_create", "payouts_edit", "members_update", "roles_update"];
const ROLES = ["Cashier", "Shift Lead", "Auditor", "role_employee", "role_manager"];

const somePermissions = fc.subarray(PERMISSIONS, { maxLength: 2 });
const origin = { file: "a.yaml", path: ["checks", 0] } as const;
const reach = fc.constantFrom({}, { reach: true as const });

const checks: fc.Arbitrary<readonly Check[]> = fc.array(
  fc.oneof(
    fc
      .tuple(fc.constantFrom(...PERMISSIONS), fc.subarray(["ada@example.com", "role:Cashier"]), reach)
      .map(([can, only, more]): Check => ({ kind: "only", can, only, origin, ...more })),
    fc
      .tuple(fc.constantFrom(...PERMISSIONS), fc.nat(2), reach)
      .map(([can, atMost, more]): Check => ({ kind: "at-most", can, atMost, origin, ...more })),
    fc
      .tuple(somePermissions, reach)
      .map(
        ([cannot, more]): Check => ({ kind: "cannot", member: "ada@example.com", cannot, origin, ...more }),
      ),
  ),
  { maxLength: 3 },
);

const policies: fc.Arbitrary<Policies> = fc.record({
  separate: fc.array(fc.subarray(ROLES, { minLength: 2, maxLength: 3 }), { maxLength: 2 }),
  maxHolders: fc.dictionary(fc.constantFrom(...ROLES), fc.nat(1), { maxKeys: 2 }),
  requireUntil: fc.dictionary(fc.constantFrom(...ROLES), fc.constant(null), { maxKeys: 2 }),
  requireMfa: fc.subarray(ROLES, { maxLength: 2 }),
  forbidPermissions: somePermissions,
  escalation: fc.constantFrom({}, { assign: ["catalog_view", "members_update"], edit: ["refunds_create"] }),
});

const ignore = fc.record({
  roles: fc.subarray(["Cash*", "role_1", "*ead"]),
  members: fc.subarray(["ada@*", "mem_1", "*zoe*"]),
});

/** Live states whose roles grant permissions that lead to others. */
const granting = fc.tuple(liveStates, fc.array(somePermissions, { minLength: 10, maxLength: 10 })).map(
  ([is, granted]): LiveState => ({
    ...is,
    roles: is.roles.map((role, index) => ({
      ...role,
      permissions: [...new Set([...role.permissions, ...(granted[index] ?? [])])],
    })),
  }),
);

const cases = fc.record({
  want: fc.tuple(desiredStates, policies, checks, ignore).map(
    ([want, rules, tests, globs]): DesiredState => ({
      ...want,
      policies: rules,
      checks: tests,
      ignore: globs,
    }),
  ),
  is: fc.oneof(granting, granting, wildStates),
});

/** Reorders the lists of a live state: roles, members, the permissions of each role and the roles of each member. */
function reordered(is: LiveState, seed: number): LiveState {
  let state = seed;
  const shuffled = <T>(items: readonly T[]): readonly T[] => {
    const keyed = items.map((item) => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return { item, key: state };
    });
    return keyed.sort((a, b) => a.key - b.key).map(({ item }) => item);
  };
  return {
    ...is,
    roles: shuffled(is.roles).map((role) => ({ ...role, permissions: shuffled(role.permissions) })),
    members: shuffled(is.members).map((member) => ({ ...member, roles: shuffled(member.roles) })),
  };
}

test("the order of the service's lists changes no byte of a plan's page, of answers and of drift", () => {
  fc.assert(
    fc.property(cases, fc.nat(), ({ want, is }, seed) => {
      const [one, two] = [is, reordered(is, seed)].map((state) => {
        const plan = planOf(want, state);
        const about = { live: state, desired: want, plan };
        const report = liveReport({ ...about, service: plan.service, environment: null });
        const rules = liveRuleResults({ ...about, now: NOW, matches }).map((rule) => ({
          ...rule,
          place: null,
        }));
        const unknown = (): null => null;
        return {
          page: pageMerchant({ report, view: planView(plan), rules }),
          answers: whoIs([liveSnapshot(state, want, null)], "*", matches),
          drift: driftOf(about, plan, { file: unknown, live: unknown }),
        };
      });
      expect(JSON.stringify(two, null, 1)).toBe(JSON.stringify(one, null, 1));
    }),
    { numRuns: runs(200) },
  );
});

test("the order of the service's lists changes no byte of a plan, hints included", () => {
  fc.assert(
    fc.property(cases, fc.nat(), ({ want, is }, seed) => {
      const [one, two] = [planOf(want, is), planOf(want, reordered(is, seed))];
      expect(JSON.stringify(two, null, 1)).toBe(JSON.stringify(one, null, 1));
    }),
    { numRuns: runs(400) },
  );
});
