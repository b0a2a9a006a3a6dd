import { describe, expect, test } from "vitest";
import type { Check, DesiredState } from "../../../src/model/desired.ts";
import type { LiveMember } from "../../../src/model/live.ts";
import {
  ADDITIVE,
  brief,
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
} from "../../support/build.ts";

const ADMIN = liveRole("role_admin", "Admin", { predefined: true, permissions: ["members_delete"] });

const admin = (id: string): LiveMember => liveMember(id, `${id}@example.com`, { roles: ["role_admin"] });
const check = (rest: object): Check => ({ origin: ORIGIN, ...rest }) as unknown as Check;
const judge = (rest: Partial<DesiredState>, members: readonly LiveMember[]) => {
  const plan = planOf(desired({ sync: ADDITIVE, ...rest }), live([ADMIN], members));
  return { changes: brief(plan), refusals: briefRefusals(plan), findings: briefFindings(plan), plan };
};

describe("what is broken already", () => {
  test("a member can be removed while another one has no MFA", () => {
    const policies = { ...NO_POLICIES, requireMfa: ["role_admin"] };
    const members = [member("ada@example.com", { roles: ["role_admin"] })];
    const { changes, refusals, plan } = judge({ policies, members, sync: SYNC }, [
      admin("ada"),
      admin("bob"),
    ]);
    expect(changes).toEqual(["delete member bob@example.com"]);
    expect(refusals).toEqual([]);
    expect(plan.findings).toEqual([
      {
        code: "require-mfa",
        severity: "warning",
        resource: "member",
        name: "ada@example.com",
        message: 'Existing violation: ada@example.com holds "role_admin" without MFA on login.',
        hint: "This plan does not make it worse. Ask them to turn on MFA, or remove the role.",
      },
    ]);
  });

  test("one of too many holders is removed, though too many are left", () => {
    const policies = { ...NO_POLICIES, maxHolders: { role_admin: 2 } };
    const live = ["a", "b", "c", "d"].map(admin);
    const members = [member("d@example.com", { roles: [] })];
    expect(judge({ policies, members }, live)).toMatchObject({
      changes: ["update member d@example.com"],
      refusals: [],
      findings: ["warning max-holders role_admin"],
    });
    const told = (members: DesiredState["members"]) =>
      judge({ policies, ...(members && { members }) }, live).plan.findings[0]?.message;
    expect(told(members)).toContain('The role "role_admin" would have 3 holders (');
    expect(told([])).toContain('The role "role_admin" has 4 holders (');
  });

  test("swapping one holder for another is no improvement if there are too many", () => {
    const policies = { ...NO_POLICIES, maxHolders: { role_admin: 2 } };
    const live = ["a", "b", "c"].map(admin);
    const members = [member("c@example.com"), member("new@example.com", { roles: ["role_admin"] })];
    expect(judge({ policies, members }, live).refusals).toEqual(["policy max-holders role_admin"]);
  });

  test("a file that breaks a policy by itself is refused, also where that is live already", () => {
    const policies = {
      ...NO_POLICIES,
      maxHolders: { role_admin: 1 },
      separate: [["role_admin", "role_owner"]],
    };
    const members = [
      member("a@example.com", { roles: ["role_admin", "role_owner"] }),
      member("b@example.com", { roles: ["role_admin"] }),
    ];
    const owner = liveMember("a", "a@example.com", { roles: ["role_admin", "role_owner"] });
    const is = live([ADMIN, liveRole("role_owner", "Owner", { predefined: true })], [owner, admin("b")]);
    expect(briefRefusals(planOf(desired({ policies, members }), is))).toEqual([
      "policy max-holders role_admin",
      "policy separate a@example.com",
    ]);
  });

  test("a check that an unlisted member breaks is a warning, one more breach is a refusal", () => {
    const checks = [
      check({ kind: "only", can: "members_delete", only: [] }),
      check({ kind: "at-most", can: "members_delete", atMost: 0 }),
      check({ kind: "cannot", member: "a@example.com", cannot: ["members_delete"] }),
    ];
    expect(judge({ checks }, [admin("a")])).toMatchObject({
      refusals: [],
      findings: [
        "warning check-only a@example.com",
        "warning check-cannot a@example.com",
        "warning check-at-most can members_delete: at most 0",
      ],
    });
    const members = [member("b@example.com", { roles: ["role_admin"] })];
    expect(judge({ checks, members }, [admin("a")]).refusals).toEqual([
      "check check-at-most",
      "check check-only b@example.com",
    ]);
  });

  test("a role that is renamed still breaks what it broke", () => {
    const policies = { ...NO_POLICIES, requireUntil: { Season: null }, requireMfa: ["Season"] };
    const roles = [role("Season", { previously: ["Seasonal"], permissions: [] })];
    const is = live(
      [liveRole("role_1", "Seasonal")],
      [liveMember("a", "a@example.com", { roles: ["role_1"] })],
    );
    const plan = planOf(desired({ policies, roles }), is);
    expect(brief(plan)).toEqual(["update role Season"]);
    expect(briefRefusals(plan)).toEqual([]);
    expect(briefFindings(plan)).toEqual([
      "warning require-mfa a@example.com",
      "warning require-until a@example.com",
    ]);
  });

  test("a permission that no role may grant is refused where the plan adds it to a role that has another one", () => {
    const policies = { ...NO_POLICIES, forbidPermissions: ["x", "y"] };
    const is = live([liveRole("role_1", "Till", { permissions: ["x"] })]);
    const more = desired({ policies, roles: [role("Till", { permissions: ["x", "y"] })] });
    expect(briefRefusals(planOf(more, is))).toEqual(["policy forbid-permissions Till"]);
    const same = desired({ policies, roles: [{ name: "Till", origin: ORIGIN }] });
    expect(briefRefusals(planOf(same, is))).toEqual([]);
  });

  test("an invitation that is renewed breaks nothing that it did not break before", () => {
    const policies = { ...NO_POLICIES, maxHolders: { role_admin: 1 } };
    const members = [{ email: "a@example.com", origin: ORIGIN }];
    const expired = invited("mem_a", "a@example.com", { status: "expired", roles: ["role_admin"] });
    expect(judge({ policies, members }, [expired, admin("b")])).toMatchObject({
      changes: ["replace member a@example.com"],
      refusals: [],
      findings: ["warning member-role-unassignable a@example.com", "warning max-holders role_admin"],
    });
  });
});
