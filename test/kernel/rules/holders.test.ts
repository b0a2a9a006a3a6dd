import { describe, expect, test } from "vitest";
import type { Check } from "../../../src/model/desired.ts";
import {
  brief,
  briefChange,
  briefFindings,
  briefRefusals,
  desired,
  invited,
  live,
  liveMember,
  liveRole,
  member,
  NOW,
  ORIGIN,
  planOf,
  role,
  SYNC,
} from "../../support/build.ts";

const OWNER = liveRole("role_owner", "Owner", { predefined: true, permissions: ["pay"] });
const NONE = desired().policies;
const owner = (id: string) => liveMember(id, `${id}@example.com`, { roles: ["role_owner"] });
const own = (id: string) => member(`${id}@example.com`, { roles: ["role_owner"] });

describe("a managed user", () => {
  const managed = { passwordEnv: "TILL" };
  const till = member("till@example.com", { roles: ["role_owner"], managed });

  test("is a holder at once: no removal is deferred for it", () => {
    const plan = planOf(desired({ members: [till] }), live([OWNER], [owner("a")]));
    expect(brief(plan)).toEqual(["delete member a@example.com", "create member till@example.com"]);
    expect(plan.deferred).toEqual([]);
    expect(briefRefusals(plan)).toEqual([]);
  });

  test("has no MFA yet: where that is required, the plan that creates it is refused", () => {
    const policies = { ...NONE, requireMfa: ["role_owner"] };
    const plan = planOf(desired({ members: [till], policies }), live([OWNER]));
    expect(briefRefusals(plan)).toEqual(["policy require-mfa till@example.com"]);
  });
});

describe("whoever is a member", () => {
  const account = { id: "u", email: "bot@other.example", mfaOnLogin: false, type: "service_account" };

  test("counts for policies and checks also when disabled, as it does for validate", () => {
    const checks: Check[] = [{ kind: "at-most", can: "pay", atMost: 1, origin: ORIGIN }];
    const policies = { ...NONE, maxHolders: { role_owner: 1 } };
    const is = live([OWNER], [owner("a"), { ...owner("b"), status: "disabled" }]);
    const plan = planOf(desired({ members: [own("a"), own("b")], checks, policies }), is);
    expect(briefRefusals(plan)).toEqual(["policy max-holders role_owner"]);
    expect(briefFindings(plan)).toContain("warning check-at-most can pay: at most 1");
  });

  test("has an address of an allowed domain also when a service account, but is not asked for MFA then", () => {
    const policies = { ...NONE, emailDomains: ["example.com"], requireMfa: ["role_owner"] };
    const bot = liveMember("bot", "bot@other.example", { roles: ["role_owner"], user: account });
    const listed = [own("a"), member("bot@other.example", { roles: ["role_owner"] })];
    const plan = planOf(
      desired({ members: listed, policies }),
      live(
        [OWNER],
        [
          bot,
          { ...owner("a"), user: { ...account, email: "a@example.com", mfaOnLogin: true, type: "user" } },
        ],
      ),
    );
    expect(briefRefusals(plan)).toContain("policy email-domains bot@other.example");
    expect([...briefRefusals(plan), ...briefFindings(plan)].filter((one) => one.includes("mfa"))).toEqual([]);
  });
});

describe("a removal that waits", () => {
  const next = invited("b", "b@example.com", { roles: ["role_owner"] });

  test("counts as done for limits of holders and permissions", () => {
    const policies = { ...NONE, maxHolders: { role_owner: 1 } };
    const checks: Check[] = [{ kind: "at-most", can: "pay", atMost: 1, origin: ORIGIN }];
    const want = desired({ members: [own("b")], policies, checks });
    for (const is of [live([OWNER], [owner("a")]), live([OWNER], [owner("a"), next])]) {
      const plan = planOf(want, is);
      expect(plan.deferred.map(({ change }) => briefChange(change))).toEqual(["delete member a@example.com"]);
      expect(briefRefusals(plan)).toEqual([]);
    }
  });

  test("is still deferred if another change is left out", () => {
    const want = desired({ members: [own("b")] });
    const is = live([OWNER], [owner("a"), owner("c"), next]);
    const whole = planOf(want, is);
    expect(brief(whole)).toEqual(["delete member c@example.com"]);
    const part = planOf(want, is, NOW, new Set(whole.changes.map(({ fingerprint }) => fingerprint)));
    expect(brief(part)).toEqual([]);
    expect(part.deferred.map(({ change }) => briefChange(change))).toEqual(["delete member a@example.com"]);
  });
});

describe("somebody protected", () => {
  const guards = { protect: { roles: [], members: ["a@example.com"] } };
  const want = (rest: object) =>
    desired({
      guards,
      sync: { ...SYNC, replaceRoles: true },
      roles: [role("Till", { permissions: ["pay"], metadata: { v: "2" } })],
      ...rest,
    });
  const is = live(
    [liveRole("role_1", "Till", { permissions: ["pay"] })],
    [liveMember("a", "a@example.com", { roles: ["role_1"] })],
  );

  test("moves along with a replaced role, listed or not", () => {
    for (const members of [undefined, [member("a@example.com", { roles: ["Till"] })]]) {
      const plan = planOf(want(members ? { members } : {}), is);
      expect(brief(plan)).toEqual(["replace role Till", "update member a@example.com"]);
      expect(briefRefusals(plan)).toEqual([]);
    }
  });

  test("gets no other role with it", () => {
    const members = [member("a@example.com", { roles: ["Till", "role_owner"] })];
    const plan = planOf(want({ members }), { ...is, roles: [...is.roles, OWNER] });
    expect(briefRefusals(plan)).toEqual(["guard protect a@example.com"]);
  });
});
