import { expect, test } from "vitest";
import { parseMerchantFile } from "../../../src/index.ts";
import { looseningsOf } from "../../../src/kernel/rules/loosenings.ts";
import type { DesiredState, ProjectSettings } from "../../../src/model/desired.ts";
import { matches } from "../../support/build.ts";

const ROLES = `roles:
  - { name: Approver, permissions: [payouts_view] }
  - { name: Payer, permissions: [payouts_create] }
  - { name: Contractor, permissions: [catalog_view] }
`;

function stateOf(text: string): DesiredState {
  const whole = `version: 1\nmerchant: MC1\n${text.includes("roles:\n") ? "" : ROLES}${text}\n`;
  const { state, diagnostics } = parseMerchantFile("mc1.yaml", whole);
  if (state === null)
    throw new Error(JSON.stringify(diagnostics.filter(({ severity }) => severity === "error")));
  return state;
}

function loosenings(base: string, head: string): readonly string[] {
  return looseningsOf(stateOf(base), stateOf(head), matches).map(({ text }) => text);
}

test.each<readonly [base: string, head: string, texts: readonly string[]]>([
  // Guards.
  ["", "guards: { max_removals: 100% }", ["at most 25% → 100% may be removed"]],
  ["guards: { max_removals: 5 }", "guards: { max_removals: 10 }", ["at most 5 → 10 may be removed"]],
  ["guards: { max_removals: 5 }", "", ["at most 5 → 25% may be removed"]],
  ["guards: { max_removals: 0% }", "guards: { max_removals: 1 }", ["at most 0% → 1 may be removed"]],
  [
    "",
    "guards: { max_gains: {} }",
    [
      "at most 5% besides new members → any number may gain sensitive",
      "at most 2 → any number may gain role_owner",
      "at most 2 → any number may gain role_admin",
    ],
  ],
  [
    "guards: { max_gains: { sensitive: 5% } }",
    "",
    ["at most 5% → 5% besides new members may gain sensitive"],
  ],
  [
    "guards: { max_gains: { sensitive: 3, payouts_create: { at_most: 1, reach: true } } }",
    "guards: { max_gains: { sensitive: 5%, payouts_create: 1 } }",
    ["at most 3 → 5% may gain sensitive", "at most 1 (reach) → 1 may gain payouts_create"],
  ],
  [
    "guards: { protect: { roles: [Payer, 'P*'], members: [ada@example.com, bob@example.com] } }",
    "guards: { protect: { members: ['ada@*'] } }",
    [
      'the role "Payer" is no longer protected',
      'roles that match "P*" are no longer protected',
      "the member bob@example.com is no longer protected",
    ],
  ],
  ["", "guards: { min_holders: {} }", ['minimum number of accepted holders of "role_owner": 1 → 0']],
  [
    "guards: { min_holders: { role_owner: 2, Payer: 1 } }",
    "guards: { min_holders: { role_owner: 1 } }",
    [
      'minimum number of accepted holders of "role_owner": 2 → 1',
      'minimum number of accepted holders of "Payer": 1 → 0',
    ],
  ],
  // Policies.
  ["policies: { email_domains: [example.com] }", "", ["addresses may be in any domain"]],
  [
    "policies: { email_domains: ['*.example.com'] }",
    "policies: { email_domains: [shop.example.com, '*.it.example.com', evil.example] }",
    ["addresses may be in evil.example"],
  ],
  [
    "policies: { separate: [[Approver, Payer, Contractor]] }",
    "policies: { separate: [[Approver, Payer]] }",
    ['"Approver" and "Contractor" may be held together', '"Payer" and "Contractor" may be held together'],
  ],
  ["policies: { separate: [[Approver, Payer]] }", "", ['"Approver" and "Payer" may be held together']],
  [
    "policies: { max_holders: { Payer: 2, role_admin: 3 } }",
    "policies: { max_holders: { role_admin: 5 } }",
    ['"Payer" may have 2 → any number of holders', '"role_admin" may have 3 → 5 holders'],
  ],
  [
    "policies: { require_until: [Contractor], require_mfa: [role_admin], forbid_permissions: [payouts_edit] }",
    "",
    [
      '"Contractor" may be granted without an end date',
      '"role_admin" no longer requires MFA on login',
      "custom roles may grant payouts_edit",
    ],
  ],
  [
    "",
    "policies: { escalation: { assign: [members_create, hire], edit: [] } }",
    [
      "checks no longer count that members_update lets somebody assign roles",
      "checks no longer count that roles_update lets somebody change roles",
    ],
  ],
  // Checks.
  [
    "checks: [{ can: refunds_create, only: [ada@example.com, 'role:Payer'] }]",
    "",
    ['the check that only ada@example.com, holders of "Payer" can refunds_create is gone'],
  ],
  [
    "checks: [{ can: refunds_create, only: [ada@example.com] }]",
    "checks: [{ can: refunds_create, only: [Ada@example.com, bob@example.com] }]",
    ["the check that only ada@example.com can refunds_create also allows bob@example.com"],
  ],
  [
    "checks: [{ can: a_view, at_most: 2 }, { can: b_view, at_most: 1 }]",
    "checks: [{ can: a_view, at_most: 5 }]",
    ["the check that at most 2 can a_view allows 5", "the check that at most 1 can b_view is gone"],
  ],
  [
    "checks: [{ member: bob@example.com, cannot: [a_view, b_view] }]",
    "checks: [{ member: Bob@example.com, cannot: [b_view] }]",
    ["the check that bob@example.com cannot a_view is gone"],
  ],
  // Sync, ignore and what is managed.
  [
    "members: []",
    "members: []\nsync: { roles: additive, members: additive, reinvite: true, replace_roles: true }",
    [
      "roles are no longer removed when unlisted (sync: additive)",
      "members are no longer removed when unlisted (sync: additive)",
      "expired invitations are renewed for 30d → always",
      "roles whose metadata changes may be replaced (sync.replace_roles)",
    ],
  ],
  [
    "ignore: { roles: ['Legacy *'] }",
    "ignore: { roles: ['Legacy *', Old], members: ['*@auditor.example'] }",
    [
      'the role "Old" is no longer managed (ignore)',
      'members that match "*@auditor.example" are no longer managed (ignore)',
    ],
  ],
  ["members: []", "", ['members are no longer managed (no section "members")']],
  [
    "roles:\n  - { name: Payer, permissions: [a] }\nmembers:\n  - { email: ada@example.com, roles: [Payer] }\n  - { email: bob@example.com }",
    "roles:\n  - { name: Payer }\nmembers:\n  - { email: ada@example.com }\nsync: { members: additive }",
    [
      "members are no longer removed when unlisted (sync: additive)",
      'the permissions of "Payer" are no longer managed',
      "the roles of ada@example.com are no longer managed",
      "the member bob@example.com is no longer managed (unlisted, sync: additive)",
    ],
  ],
  // End dates, which no plan shows.
  [
    "policies: { require_until: { Contractor: 90d, Payer: 4h, Approver: 1w } }",
    "policies: { require_until: { Contractor: 13w, Payer: 2h } }",
    ['"Approver" may be granted without an end date', '"Contractor" may be granted for 90d → 13w'],
  ],
  [
    "policies: { require_until: { Contractor: 90d } }",
    "policies: { require_until: [Contractor] }",
    ['"Contractor" may be granted for 90d → any time with an end'],
  ],
  ["policies: { require_until: [Contractor] }", "policies: { require_until: { Contractor: 90d } }", []],
  [
    "leavers:\n  - { email: a@example.com, from: 2099-01-01 }\n  - { email: b@example.com, from: 2099-01-01 }\n  - { email: c@example.com, from: 2099-01-01 }\n  - { email: D@example.com, from: 2099-01-01 }",
    "leavers:\n  - { email: A@example.com, from: 2099-01-01T01:00:00+01:00 }\n  - { email: b@example.com, from: 2099-01-02 }\n  - { email: d@example.com, from: 2099-01-01 }",
    [
      "b@example.com leaves 2099-01-01 → 2099-01-02",
      "c@example.com no longer leaves (leavers, from 2099-01-01)",
    ],
  ],
  [
    "members:\n  - { email: a@example.com, from: 2099-06-30, roles: [{ role: Payer, from: 2099-07-31 }, { role: Approver, from: 2099-07-31 }], suspended: { from: 2099-07-01 } }\n  - { email: b@example.com, suspended: { until: 2099-07-01 } }\n  - { email: c@example.com, suspended: true }\n  - { email: d@example.com, suspended: { from: 2099-02-01 } }",
    "members:\n  - { email: a@example.com, from: 2099-06-29, roles: [Payer, { role: Approver, from: 2099-08-01 }], suspended: { from: 2099-06-01 } }\n  - { email: b@example.com }\n  - { email: c@example.com, suspended: { until: 2099-07-01 } }\n  - { email: d@example.com, suspended: true }",
    [
      "a@example.com is a member from 2099-06-30 → 2099-06-29",
      'a@example.com holds "Payer" from 2099-07-31 → now',
      "b@example.com is suspended until 2099-07-01 → not at all",
      "c@example.com is suspended until further notice → until 2099-07-01",
    ],
  ],
  [
    "members:\n  - { email: a@example.com, until: 2099-06-30, roles: [{ role: Payer, until: 2099-01-31 }] }",
    "members:\n  - { email: a@example.com, until: 2099-12-31, roles: [Payer] }",
    [
      "a@example.com is a member until 2099-06-30 → 2099-12-31",
      'a@example.com holds "Payer" until 2099-01-31 → without end',
    ],
  ],
  [
    "roles:\n  - { name: Payer, permissions: [] }\nmembers:\n  - { email: a@example.com, roles: [{ role: Payer, until: 2099-01-31 }] }",
    "roles:\n  - { name: Cashier, previously: Payer, permissions: [] }\nmembers:\n  - { email: a@example.com, roles: [Cashier] }",
    ['a@example.com holds "Payer" until 2099-01-31 → without end'],
  ],
  [
    "roles:\n  - { name: Payer, id: role_pay1, permissions: [] }\nmembers:\n  - { email: a@example.com, roles: [{ role: Payer, until: 2099-01-31 }] }",
    "roles:\n  - { name: Payer, id: role_pay1, permissions: [] }\nmembers:\n  - { email: a@example.com, roles: [role_pay1] }",
    ['a@example.com holds "Payer" until 2099-01-31 → without end'],
  ],
  [
    "sync: { members: additive }\nmembers:\n  - { email: a@example.com, until: 2099-06-30, roles: [] }",
    "sync: { members: additive }\nmembers:\n  - { email: b@example.com, previously: A@example.com }",
    [
      "the roles of a@example.com are no longer managed",
      "a@example.com is a member until 2099-06-30 → without end",
    ],
  ],
  // Where the requests go.
  [
    "environment: live\napi: { base_url: https://api.example.com }",
    "environment: test\napi: { base_url: https://evil.example, key_env: OTHER_KEY }",
    [
      "environment: live → test",
      "api.base_url: https://api.example.com → https://evil.example",
      "api.key_env: not set → OTHER_KEY",
    ],
  ],
])("%j → %j", (base, head, texts) => {
  expect(loosenings(base, head)).toEqual(texts);
  expect(loosenings(base, base)).toEqual([]);
});

test("limits of a run and the list of sensitive permissions are rules of the project", () => {
  const state = stateOf("");
  const texts = (was: ProjectSettings, is: ProjectSettings): readonly string[] =>
    looseningsOf(
      { ...state, projects: [was] },
      { ...state, projects: [is, { ...was, by: "base" }] },
      matches,
    ).map(({ text }) => text);
  const strict = { run: { maxRemovals: { count: 5 }, maxGains: { role_admin: { count: 1 } } } };
  expect(texts({}, strict)).toEqual(["at most 5% → any number may gain sensitive in a run"]);
  expect(texts(strict, {})).toEqual([
    "at most 5 → 5% may be removed in a run",
    "at most 1 → any number may gain role_admin in a run",
  ]);
  expect(
    texts({ sensitive: ["payouts_*", "!*_view"] }, { sensitive: ["payouts_*", "!*_list", "!*_view"] }),
  ).toEqual(["permissions that match *_list are no longer sensitive"]);
  expect(texts({ sensitive: ["payouts_*", "refunds_*"] }, { sensitive: ["payouts_*"] })).toEqual([
    "permissions that match refunds_* are no longer sensitive",
  ]);
});

test("a project that no longer records live states invites those again who have left", () => {
  const state = stateOf("");
  const recorded = { ...state, projects: [{ liveBranch: "rolecall-live" }] };
  expect(looseningsOf(recorded, { ...state, projects: [{}] }, matches)).toEqual([
    { topic: "sync", text: "members who have left by themselves are invited again (no live_branch)" },
  ]);
  expect(looseningsOf(state, recorded, matches)).toEqual([]);
  expect(looseningsOf(recorded, recorded, matches)).toEqual([]);
});

test("what is stricter is not listed, nor what is written in another way", () => {
  const loose =
    "guards: { max_removals: 100%, min_holders: {} }\nsync: { members: additive, reinvite: true }\nmembers: []";
  const strict = `guards: { max_removals: 2, min_holders: { role_owner: 2 }, protect: { roles: ["*"] } }
policies: { email_domains: [example.com], separate: [[Approver, Payer, Contractor]], max_holders: { Payer: 1 } }
checks: [{ can: a_view, only: [ada@example.com] }, { can: b_view, at_most: 1 }, { member: a@b.co, cannot: [c_view] }]
sync: { reinvite: false }
members: []
environment: test`;
  expect(loosenings(loose, strict)).toEqual([]);
  const another = `guards: { max_removals: 2, min_holders: { role_owner: 3 }, protect: { roles: [Payer, "*"] } }
policies: { email_domains: [EXAMPLE.com], separate: [[Payer, Approver], [Contractor, Payer, Approver]], max_holders: { Payer: 1 } }
checks: [{ member: A@b.co, cannot: [d_view, c_view] }, { can: a_view, only: [] }, { can: b_view, at_most: 0 }]
sync: { reinvite: false }
members: []
environment: test`;
  expect(loosenings(strict, another)).toEqual([]);
});

test("a rule of a renamed role is the same rule", () => {
  const rules = (role: string): string =>
    `policies: { separate: [[Approver, ${role}]], max_holders: { ${role}: 2 } }
guards: { protect: { roles: [${role}] }, min_holders: { ${role}: 1 } }
checks: [{ can: payouts_create, only: ["role:${role}"] }]`;
  const renamed = ROLES.replace("name: Payer,", "name: Cashier, previously: Payer,");
  expect(loosenings(`${ROLES}${rules("Payer")}`, `${renamed}${rules("Cashier")}`)).toEqual([]);
  const pinned = (name: string): string => ROLES.replace("name: Payer,", `name: ${name}, id: role_7Kq2,`);
  expect(
    loosenings(`${pinned("Payer")}${rules("Payer")}`, `${pinned("Cashier")}${rules("Cashier")}`),
  ).toEqual([]);
});

test("an override is no loosening: it is for one plan, whose review shows it", () => {
  expect(loosenings("", "guards: { overrides: [max-removals=5@35e43f876462] }")).toEqual([]);
});
