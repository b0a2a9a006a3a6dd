import { describe, expect, test } from "vitest";
import type { Check } from "../../../src/model/desired.ts";
import {
  ADDITIVE,
  briefFindings,
  briefRefusals,
  desired,
  invited,
  live,
  liveMember,
  liveRole,
  member,
  NO_POLICIES,
  ORIGIN,
  planOf,
  role,
  SYNC,
  until,
} from "../../support/build.ts";

const ROLES = [role("Approver", { permissions: ["approve"] }), role("Payer", { permissions: ["pay"] })];
const LIVE_ROLES = [
  liveRole("role_1", "Approver", { permissions: ["approve"] }),
  liveRole("role_2", "Payer", { permissions: ["pay"] }),
];

describe("policies", () => {
  test("addresses must be in the allowed domains; live ones outside are reported", () => {
    const policies = { ...NO_POLICIES, emailDomains: ["example.com", "*.example.org"] };
    const members = ["a@example.com", "b@EXAMPLE.com", "c@x.example.org"].map((email) => member(email));
    const is = live([], [liveMember("mem_1", "d@example.org"), liveMember("mem_2", "e@notexample.com")]);
    const plan = planOf(
      desired({ policies, sync: ADDITIVE, members: [...members, member("f@example.net")] }),
      is,
    );
    expect(briefRefusals(plan)).toEqual(["policy email-domains f@example.net"]);
    expect(briefFindings(plan)).toEqual([
      "warning email-domains d@example.org",
      "warning email-domains e@notexample.com",
    ]);
  });

  test("nobody holds two separate roles, however they got them", () => {
    const policies = { ...NO_POLICIES, separate: [["Approver", "Payer"]] };
    const members = [
      member("a@example.com", { roles: ["Approver", "Payer"] }),
      member("b@example.com", { roles: ["Payer"] }),
    ];
    expect(briefRefusals(planOf(desired({ policies, roles: ROLES, members }), live()))).toEqual([
      "policy separate a@example.com",
    ]);
    const held = [liveMember("mem_1", "c@example.com", { roles: ["role_1", "role_2"] })];
    const untouched = planOf(desired({ policies, roles: ROLES }), live(LIVE_ROLES, held));
    expect(briefRefusals(untouched)).toEqual([]);
    expect(briefFindings(untouched)).toEqual(["warning separate c@example.com"]);
    const taken = desired({
      policies,
      roles: ROLES,
      members: [member("c@example.com", { roles: ["Payer"] })],
    });
    expect(briefRefusals(planOf(taken, live(LIVE_ROLES, held)))).toEqual([]);
  });

  test("a role has no more holders than allowed", () => {
    const policies = { ...NO_POLICIES, maxHolders: { Payer: 1 } };
    const members = ["a@example.com", "b@example.com"].map((email) => member(email, { roles: ["Payer"] }));
    const plan = planOf(desired({ policies, roles: ROLES, members }), live());
    expect(briefRefusals(plan)).toEqual(["policy max-holders Payer"]);
    expect(plan.refusals[0]?.message).toContain("a@example.com, b@example.com");
  });

  test("a role that is only given for a time needs an end date, of the grant or of the membership", () => {
    const policies = { ...NO_POLICIES, requireUntil: { Payer: null } };
    const members = [
      member("a@example.com", { roles: ["Payer"] }),
      member("b@example.com", { roles: [{ role: "Payer", until: until("2027-01-31") }] }),
      member("c@example.com", { roles: ["Payer"], until: until("2027-01-31") }),
    ];
    expect(briefRefusals(planOf(desired({ policies, roles: ROLES, members }), live()))).toEqual([
      "policy require-until a@example.com",
    ]);
  });

  test("the end of a membership is an end of the roles that the file does not list", () => {
    const policies = { ...NO_POLICIES, requireUntil: { Payer: null } };
    const members = [
      { email: "a@example.com", until: until("2027-01-31"), origin: ORIGIN },
      { email: "b@example.com", origin: ORIGIN },
    ];
    const is = live(LIVE_ROLES, [
      liveMember("mem_1", "a@example.com", { roles: ["role_2"] }),
      liveMember("mem_2", "b@example.com", { roles: ["role_2"] }),
    ]);
    const { refusals, findings } = planOf(desired({ policies, roles: ROLES, members }), is);
    expect(refusals).toEqual([]);
    expect(findings.map(({ message, hint }) => `${message} ${hint}`)).toEqual([
      'Existing violation: b@example.com holds "Payer" without an end date. This plan does not make it worse. ' +
        'Add "until:" to the member, or write { role: Payer, until: 2027-01-31 } among its roles.',
    ]);
  });

  test("holders need MFA on login; for invited members it is unknown", () => {
    const policies = { ...NO_POLICIES, requireMfa: ["Payer"] };
    const user = { id: "u", email: "b@example.com", mfaOnLogin: true, type: "user" };
    const unsafe = { ...user, email: "robot@example.com", mfaOnLogin: false };
    const is = live(LIVE_ROLES, [
      liveMember("mem_1", "a@example.com", { roles: ["role_2"] }),
      liveMember("mem_2", "b@example.com", { roles: ["role_2"], user }),
      invited("mem_3", "c@example.com", { roles: ["role_2"] }),
      liveMember("mem_4", "d@example.com"),
      liveMember("mem_5", "bot@example.com", {
        roles: ["role_2"],
        user: { ...unsafe, type: "service_account" },
      }),
      liveMember("mem_6", "robot@example.com", { roles: ["role_2"], user: { ...unsafe, type: "robot" } }),
      liveMember("mem_7", "untold@example.com", {
        roles: ["role_2"],
        user: { ...user, email: "untold@example.com", mfaOnLogin: null },
      }),
    ]);
    const members = [member("d@example.com", { roles: ["Payer"] })];
    const plan = planOf(desired({ policies, members, sync: ADDITIVE }), is);
    expect(briefRefusals(plan)).toEqual(["policy require-mfa d@example.com"]);
    expect(briefFindings(plan)).toEqual([
      "warning require-mfa a@example.com",
      "warning member-mfa-unknown c@example.com",
      "warning require-mfa robot@example.com",
      "warning member-mfa-unknown untold@example.com",
    ]);
    const unknown = plan.findings.filter(({ code }) => code === "member-mfa-unknown");
    expect(unknown.map(({ hint }) => hint)).toEqual([
      "It will be known once the invitation is accepted.",
      "The service does not report it; check it there before you rely on the policy.",
    ]);
  });

  test("a permission that no role has is reported as a likely misspelling", () => {
    const policies = {
      ...NO_POLICIES,
      forbidPermissions: ["refunds_creat", "payouts_edit"],
      escalation: { assign: ["members_updat", "members_create"], edit: ["stock_edit"] },
    };
    const origin = { file: "shop.yaml", path: [] };
    const checks: readonly Check[] = [
      { kind: "at-most", can: "payout_view", atMost: 1, origin },
      { kind: "cannot", member: "ada@example.com", cannot: ["refunds_create", "stock_edt"], origin },
    ];
    const is = live([
      liveRole("role_1", "Till", { permissions: ["refunds_create"] }),
      liveRole("role_2", "Legacy", { permissions: ["stock_edit"] }),
    ]);
    const ignore = { roles: ["Legacy"], members: [] };
    const roles = [role("Till"), role("Payer", { permissions: ["payouts_view"] })];
    const { findings } = planOf(desired({ policies, checks, ignore, roles }), is);
    const told = findings.filter(({ code }) => code === "rule-permission-unknown");
    expect(told.map(({ severity, message, hint }) => `${severity}: ${message} ${hint}`)).toEqual([
      'warning: A guard, policy or check names the permission "members_updat", which no role has. Did you mean "members_update"?',
      'warning: A guard, policy or check names the permission "payout_view", which no role has. Did you mean "payouts_view"?',
      'warning: A guard, policy or check names the permission "refunds_creat", which no role has. Did you mean "refunds_create"?',
      'warning: A guard, policy or check names the permission "stock_edt", which no role has. Did you mean "stock_edit"?',
    ]);
  });

  test("no custom role grants what is forbidden; a predefined one may", () => {
    const policies = { ...NO_POLICIES, forbidPermissions: ["pay"] };
    const is = live([
      ...LIVE_ROLES,
      liveRole("role_owner", "Owner", { predefined: true, permissions: ["pay"] }),
    ]);
    const given = desired({ policies, roles: [...ROLES, role("Cashier", { permissions: ["pay"] })] });
    expect(briefRefusals(planOf(given, is))).toEqual([
      "policy forbid-permissions Cashier",
      "policy forbid-permissions Payer",
    ]);
    expect(briefFindings(planOf(desired({ policies }), is))).toEqual(["warning forbid-permissions Payer"]);
    const cleared = desired({ policies, roles: [role("Payer")], sync: { ...SYNC, roles: "additive" } });
    expect(briefRefusals(planOf(cleared, is))).toEqual([]);
  });
});

describe("checks", () => {
  const members = [
    member("a@example.com", { roles: ["Payer"] }),
    member("b@example.com", { roles: ["Approver"] }),
    member("c@example.com", { roles: ["Approver", "Payer"] }),
  ];
  const judged = (check: object) =>
    planOf(
      desired({ roles: ROLES, members, checks: [{ origin: ORIGIN, ...check } as unknown as Check] }),
      live(),
    );

  test('"only" allows the named members and the holders of named roles', () => {
    const plan = judged({ kind: "only", can: "pay", only: ["A@example.com"] });
    expect(briefRefusals(plan)).toEqual(["check check-only c@example.com"]);
    expect(plan.refusals[0]?.message).toContain("through Payer");
    expect(
      briefRefusals(judged({ kind: "only", can: "pay", only: ["a@example.com", "role:Approver"] })),
    ).toEqual([]);
  });

  test('"at most" limits the number of members', () => {
    expect(briefRefusals(judged({ kind: "at-most", can: "pay", atMost: 1 }))).toEqual([
      "check check-at-most",
    ]);
    expect(briefRefusals(judged({ kind: "at-most", can: "pay", atMost: 2 }))).toEqual([]);
  });

  test("a member cannot do it", () => {
    expect(
      briefRefusals(judged({ kind: "cannot", member: "C@example.com", cannot: ["approve", "fly"] })),
    ).toEqual(["check check-cannot c@example.com"]);
    expect(briefRefusals(judged({ kind: "cannot", member: "b@example.com", cannot: ["pay"] }))).toEqual([]);
  });

  test("a role of unknown permissions makes a check inconclusive, which is reported", () => {
    const owner = liveRole("role_owner", "Owner", { predefined: true });
    const is = live([owner], [liveMember("mem_1", "o@example.com", { roles: ["role_owner"] })]);
    const check: Check = { kind: "only", can: "pay", only: [], origin: ORIGIN };
    expect(briefFindings(planOf(desired({ checks: [check] }), is))).toEqual(["warning check-unknown Owner"]);
  });
});
