import { expect, test } from "vitest";
import { declaredRuleResults, liveRuleResults } from "../../../src/ask/report/rule-results.ts";
import type { DesiredState, EnforcedRules } from "../../../src/model/desired.ts";
import type { LiveMember, LiveState } from "../../../src/model/live.ts";
import type { ReportedRule } from "../../../src/model/reports.ts";
import {
  desired,
  invited,
  live,
  liveMember,
  liveRole,
  matches,
  member,
  NO_POLICIES,
  NOW,
  planOf,
  role,
} from "../../support/build.ts";

const CHECK = {
  kind: "only",
  can: "payouts_edit",
  only: ["ada@example.com"],
  origin: { file: "access/MC1.yaml", path: ["checks", 0] },
} as const;

const NO_PROTECT = { roles: [], members: [] };

const OWNER = liveRole("role_owner", "Owner", { predefined: true, permissions: ["payouts_edit"] });
const CASHIER = liveRole("role_1", "Cashier", { permissions: ["sell"] });

const withMfa = (one: LiveMember, mfaOnLogin: boolean): LiveMember => ({
  ...one,
  user: { id: one.id, email: "", type: "user", ...one.user, mfaOnLogin },
});

const is = live(
  [OWNER, CASHIER],
  [
    withMfa(liveMember("mem_1", "ada@example.com", { roles: ["role_owner"] }), true),
    withMfa(liveMember("mem_2", "bob@example.com", { roles: ["role_1"] }), false),
    invited("mem_3", "new@example.com", { roles: ["role_1"] }),
  ],
);

const results = (rules: readonly ReportedRule[], side: "before" | "after" = "after") =>
  Object.fromEntries(rules.map((one) => [one.rule.text, [one[side].status, ...one[side].reasons]]));

const liveResults = (want: DesiredState, state: LiveState = is) =>
  liveRuleResults({ live: state, desired: want, plan: null, now: NOW, matches });

test("each policy and check has passed, has failed with who fails it, or is not known", () => {
  const want = desired({
    policies: {
      ...NO_POLICIES,
      emailDomains: ["example.com"],
      separate: [["role_owner", "Cashier"]],
      maxHolders: { Cashier: 1 },
      requireMfa: ["role_owner", "Cashier"],
    },
    checks: [CHECK],
  });
  expect(results(liveResults(want))).toEqual({
    "can payouts_edit: only ada@example.com": ["passed"],
    "email_domains: example.com": ["passed"],
    "separate: role_owner, Cashier": ["passed"],
    "max_holders Cashier: 1": [
      "failed",
      'The role "Cashier" has 2 holders (bob@example.com, new@example.com); the limit is 1.',
    ],
    "require_mfa: role_owner": ["passed"],
    "require_mfa: Cashier": ["failed", 'bob@example.com holds "Cashier" without MFA on login.'],
    "min_holders role_owner: 1": ["passed"],
  });
  const [, bob, pending] = is.members;
  const unknown = live(
    is.roles,
    [bob && withMfa(bob, true), pending].flatMap((one) => one ?? []),
  );
  expect(results(liveResults(want, unknown))["require_mfa: Cashier"]).toEqual([
    "unknown",
    "MFA of new@example.com is not known.",
  ]);
});

test("guards judge plans; the fewest holders are also counted without one", () => {
  const want = desired({
    guards: {
      protect: { roles: ["Cashier"], members: ["ada@*"] },
      minHolders: { role_owner: 2, Cashier: 1, Gone: 1 },
      maxRemovals: { count: 1 },
    },
  });
  expect(results(liveResults(want))).toEqual({
    "protect role Cashier": ["not-judged"],
    "protect ada@*": ["not-judged"],
    "min_holders role_owner: 2": ["failed", '"Owner" has 1 accepted holder (ada@example.com); it needs 2.'],
    "min_holders Cashier: 1": ["passed"],
    "min_holders Gone: 1": ["unknown", "No role is named Gone."],
    "max_removals: 1": ["not-judged"],
  });
});

test("a plan's rules have a result before and after it; a guard that refuses it has failed", () => {
  const want = desired({
    guards: { protect: { roles: [], members: ["bob@*", "zoe@*"] }, maxRemovals: { count: 5 } },
    policies: { ...NO_POLICIES, maxHolders: { Cashier: 1, role_owner: 1 } },
    roles: [role("Cashier", { permissions: ["sell"] })],
    members: [
      member("ada@example.com", { roles: ["role_owner"] }),
      member("new@example.com", { roles: ["Cashier", "role_owner"] }),
    ],
  });
  const rules = liveRuleResults({ live: is, desired: want, plan: planOf(want, is), now: NOW, matches });
  expect(results(rules, "before")).toMatchObject({
    "max_holders Cashier: 1": ["failed", expect.stringContaining("has 2 holders")],
    "max_holders role_owner: 1": ["passed"],
    "protect bob@*": ["not-judged"],
  });
  expect(results(rules)).toMatchObject({
    "max_holders Cashier: 1": ["passed"],
    "max_holders role_owner: 1": ["failed", expect.stringContaining("would have 2 holders")],
    "protect bob@*": ["failed", expect.stringContaining("bob@example.com is protected")],
    "protect zoe@*": ["passed"],
    "max_removals: 5": ["passed"],
  });
});

test("a refusal that the file overrides is no failure, and enforced rules have their own results", () => {
  const enforced: EnforcedRules = {
    guards: { protect: NO_PROTECT, maxRemovals: { count: 5 } },
    policies: { ...NO_POLICIES, maxHolders: { Cashier: 1 } },
    checks: [],
    files: ["rules/all.yaml"],
  };
  const want = desired({
    guards: { protect: NO_PROTECT, maxRemovals: { count: 0 } },
    members: [
      member("ada@example.com", { roles: ["role_owner"] }),
      member("new@example.com", { roles: ["Cashier"] }),
    ],
  });
  const { fingerprint } = planOf(want, is);
  const overriding = desired({
    ...want,
    enforced: [enforced],
    guards: { ...want.guards, overrides: [`max-removals=1@${fingerprint.slice(0, 12)}`] },
  });
  const plan = planOf(overriding, is);
  const rules = liveRuleResults({ live: is, desired: overriding, plan, now: NOW, matches });
  expect(rules.map(({ rule, after }) => [rule.text, rule.enforcedBy, after.status])).toEqual([
    ["max_removals: 0", null, "overridden"],
    ["max_holders Cashier: 1", "rules/all.yaml", "passed"],
    ["max_removals: 5", "rules/all.yaml", "passed"],
    ["min_holders role_owner: 1", "rules/all.yaml", "passed"],
  ]);
});

test("a set of separate roles that is written twice is one rule, with each violation once", () => {
  const set = ["role_owner", "Cashier"];
  const want = desired({
    policies: { ...NO_POLICIES, separate: [set, set] },
    members: [member("ada@example.com", { roles: set })],
  });
  expect(
    declaredRuleResults(want, NOW).flatMap(({ rule, after }) =>
      rule.text.startsWith("separate") ? [after.reasons] : [],
    ),
  ).toEqual([['ada@example.com holds "Cashier" and "role_owner" together.']]);
});

test("the files alone do not say who uses MFA or has accepted", () => {
  const want = desired({
    guards: { protect: NO_PROTECT, minHolders: { role_owner: 1 } },
    policies: { ...NO_POLICIES, requireMfa: ["role_owner"], separate: [["role_owner", "Cashier"]] },
    checks: [CHECK],
    members: [member("ada@example.com", { roles: ["role_owner", "Cashier"] })],
  });
  expect(results(declaredRuleResults(want, NOW))).toEqual({
    "can payouts_edit: only ada@example.com": ["passed"],
    "separate: role_owner, Cashier": ["failed", 'ada@example.com holds "Cashier" and "role_owner" together.'],
    "require_mfa: role_owner": ["unknown", 'Not known from the files: MFA of 1 holder of "role_owner".'],
    "min_holders role_owner: 1": ["unknown", 'Not known from the files: who has accepted "role_owner".'],
  });
});
