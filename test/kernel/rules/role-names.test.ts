import { describe, expect, test } from "vitest";
import { judgeEach } from "../../../src/ask/coverage/judge-each.ts";
import { scopeOf } from "../../../src/kernel/diff/scope.ts";
import { accessBefore, roleFinder } from "../../../src/kernel/rules/access.ts";
import type { DesiredState } from "../../../src/model/desired.ts";
import type { LiveRole } from "../../../src/model/live.ts";
import {
  briefFindings,
  briefRefusals,
  desired,
  live,
  liveMember,
  liveRole,
  matches,
  member,
  NO_POLICIES,
  planOf,
  role,
} from "../../support/build.ts";

const PAYER = liveRole("role_1", "Payer");
const OTHER = liveRole("role_2", "Payer");
const APPROVER = liveRole("role_3", "Approver");
const ADA = liveMember("mem_1", "ada@example.com", { roles: ["role_3"] });

const RULES: Partial<DesiredState> = {
  policies: { ...NO_POLICIES, separate: [["Approver", "Payer"]] },
  sync: { roles: "additive", members: "additive", reinvite: true, replaceRoles: false },
};

/** Both orders in which a service may list the roles. */
const ORDERS: readonly (readonly [string, readonly LiveRole[]])[] = [
  ["in one order", [PAYER, OTHER, APPROVER]],
  ["in the other", [APPROVER, OTHER, PAYER]],
];

test("a rule with the live name of a role that the file renames by its id applies to the role", () => {
  const state = desired({
    roles: [role("Payments", { id: "role_1" })],
    members: [member("ada@example.com", { roles: ["Payments"] })],
    policies: { ...NO_POLICIES, maxHolders: { Payer: 0 } },
  });
  const is = live([PAYER], [liveMember("mem_1", "ada@example.com", { roles: [] })]);
  expect(briefRefusals(planOf(state, is))).toEqual(["policy max-holders Payer"]);
});

describe.each(ORDERS)("two live roles with one name, listed %s", (_, roles) => {
  test.each<readonly [string, Partial<DesiredState>]>([
    ["separate", {}],
    ["max_holders", { policies: { ...NO_POLICIES, maxHolders: { Payer: 1 } } }],
    ["require_mfa", { policies: { ...NO_POLICIES, requireMfa: ["Payer"] } }],
    ["require_until", { policies: { ...NO_POLICIES, requireUntil: { Payer: null } } }],
    ["min_holders", { policies: NO_POLICIES, guards: { ...desired().guards, minHolders: { Payer: 1 } } }],
    [
      "a check",
      {
        policies: NO_POLICIES,
        checks: [{ kind: "only", can: "x", only: ["role:Payer"], origin: desired().origin }],
      },
    ],
    [
      "an enforced rule",
      {
        policies: NO_POLICIES,
        enforced: [
          {
            guards: desired().guards,
            policies: { ...NO_POLICIES, requireMfa: ["Payer"] },
            checks: [],
            files: ["rules.yaml"],
          },
        ],
      },
    ],
  ])("are an error where a rule names them: %s", (__, rules) => {
    const plan = planOf(desired({ ...RULES, ...rules }), live(roles, [ADA]));
    expect(briefFindings(plan)).toEqual(["error rule-role-ambiguous Payer"]);
    expect(plan.findings[0]?.message).toContain("role_1, role_2");
  });

  test("are an error where a member is granted them", () => {
    const members = [member("ada@example.com", { roles: ["Approver", "Payer"] })];
    const plan = planOf(desired({ ...RULES, policies: NO_POLICIES, members }), live(roles, [ADA]));
    expect(briefFindings(plan)).toEqual(["error member-role-ambiguous ada@example.com"]);
  });

  test("break the rules that name them in a check and in a report", () => {
    const want = desired(RULES);
    const access = accessBefore(
      scopeOf(live(roles, [ADA]), want.ignore, matches),
      { roles: [], members: [] },
      { mergeReplacedRoles: false },
    );
    const judged = { access, settled: access, find: roleFinder(access, new Map()) };
    expect(judgeEach(judged, want).flatMap(({ violations }) => violations)).toEqual([
      expect.stringContaining('names "Payer", but two or more live roles have that name: role_1, role_2'),
    ]);
  });

  test.each(["role_1", "role_2"])("are told apart by a pin, for rules and grants alike (%s)", (id) => {
    const want = desired({
      ...RULES,
      roles: [role("Payer", { id })],
      members: [member("ada@example.com", { roles: ["Approver", "Payer"] })],
    });
    const plan = planOf(want, live(roles, [ADA]));
    expect(briefFindings(plan)).toEqual([]);
    expect(plan.changes).toMatchObject([{ fields: [{ field: "roles", added: [{ id }] }] }]);
    expect(briefRefusals(plan)).toEqual(["policy separate ada@example.com"]);
  });

  test("are told apart by the id in a rule", () => {
    const policies = { ...NO_POLICIES, separate: [["Approver", "role_2"]] };
    const holder = liveMember("mem_2", "bob@example.com", { roles: ["role_2"] });
    const members = [member("bob@example.com", { roles: ["Approver", "role_2"] })];
    const plan = planOf(desired({ ...RULES, policies, members }), live(roles, [holder]));
    expect(briefFindings(plan)).toEqual([]);
    expect(briefRefusals(plan)).toEqual(["policy separate bob@example.com"]);
  });

  test("may keep their name where an entry that is pinned to one of them changes it", () => {
    const want = desired({
      ...RULES,
      policies: NO_POLICIES,
      roles: [role("Payer", { id: "role_1", permissions: ["x"] })],
    });
    expect(planOf(want, live(roles, [ADA]))).toMatchObject({ findings: [], changes: [{ id: "role_1" }] });
  });
});

describe("a permission that looks like a typing error", () => {
  const is = live([liveRole("role_1", "Till", { permissions: ["catalog_view", "tips_edit"] })]);
  const misspelt = (permissions: readonly string[], state: Partial<DesiredState> = {}): readonly string[] =>
    planOf(desired({ roles: [role("Till", { permissions })], ...state }), is).findings.flatMap(
      ({ code, severity, message, hint }) =>
        code === "permission-misspelt" ? [`${severity}: ${message} ${hint}`] : [],
    );

  test("is an error that names the one that was meant, unless it is live or listed by the project", () => {
    expect(misspelt(["catalog_veiw"])).toEqual([
      'error: The role "Till" has the permission "catalog_veiw", which no live role has. Did you mean "catalog_view"? If both exist, list "catalog_veiw" under "permissions" in rolecall.yaml.',
    ]);
    expect(misspelt(["catalog_veiw"], { projects: [{ permissions: ["catalog_veiw"] }] })).toEqual([]);
    expect(misspelt(["catalog_view", "tips_edit", "stock_edit"])).toEqual([]);
    // One of two new ones in the files is probably wrong.
    expect(misspelt(["stock_edit", "stock_eidt"])).toHaveLength(2);
    expect(misspelt(["members_upate"])).toHaveLength(1);
  });
});
