import fc from "fast-check";
import { expect, test } from "vitest";
import { declaredReport } from "../../../../src/ask/report/build-access-report.ts";
import type { DesiredState } from "../../../../src/model/desired.ts";
import type { LiveMember, LiveState, LiveUser } from "../../../../src/model/live.ts";
import {
  endingsOf,
  holdersAt,
  measuresOf,
  mfaOf,
  permissionImpacts,
  sensitivities,
  timeRange,
} from "../../../../src/show/html/client/access-model.ts";
import { pageMerchant } from "../../../../src/show/html/page-data.ts";
import { planView } from "../../../../src/show/view/plan-view.ts";
import { desiredStates, liveStates } from "../../../support/arbitrary.ts";
import {
  desired,
  invited,
  live,
  liveMember,
  liveRole,
  member,
  NOW,
  planOf,
  role,
  until,
} from "../../../support/build.ts";
import { reportOf } from "../../../support/report.ts";

const numbers = (...args: Parameters<typeof measuresOf>): Record<string, number | null> =>
  Object.fromEntries(measuresOf(...args).map(({ title, count }) => [title, count]));

const merchantOf = (want: DesiredState, is: LiveState, planned = false) => {
  const plan = planned ? planOf(want, is) : null;
  return pageMerchant({ report: reportOf(want, is, plan), view: plan && planView(plan) });
};

const user = (id: string, rest: Partial<LiveUser>, roles: readonly string[] = []): LiveMember => ({
  ...liveMember(id, rest.email ?? "", { roles }),
  user: { id, email: "", mfaOnLogin: false, type: "user", ...rest },
});

test("counts administrators from the files, and nothing that only the service knows", () => {
  const want = desired({
    roles: [role("Cashier", { permissions: ["sell"] })],
    members: [
      member("ada@example.com", { roles: ["role_owner"] }),
      member("bob@example.com", { roles: ["role_admin", { role: "Cashier", until: until("2026-06-30") }] }),
      member("cy@example.com", { roles: ["Cashier"] }),
    ],
  });
  const merchant = pageMerchant({ report: declaredReport(want, NOW), view: null });
  expect(numbers(merchant, { now: NOW, about: "declared" })).toEqual({
    Members: 3,
    Roles: 3,
    Administrators: 2,
    "Hold sensitive permissions": 2,
    "Without MFA": null,
    "Open invitations": null,
    "Expired invitations": null,
    "Ending within 30 days": 1,
  });
});

test("counts live members without MFA, but no account that nobody logs in as", () => {
  const is = live(
    [liveRole("role_admin", "Admin", { predefined: true, permissions: [] })],
    [
      user("mem_1", { email: "ada@example.com", mfaOnLogin: false }, ["role_admin"]),
      user("mem_2", { email: "bob@example.com", mfaOnLogin: true }),
      user("mem_3", { email: "bot@example.com", type: "service_account" }),
      invited("mem_4", "new@example.com"),
      invited("mem_5", "old@example.com", { status: "expired" }),
    ],
  );
  const merchant = merchantOf(desired(), is);
  expect(merchant.members.map(mfaOf)).toEqual(["no", "yes", "none", "unknown", "unknown"]);
  expect(numbers(merchant, { now: NOW, about: "live" })).toMatchObject({
    Members: 5,
    Administrators: 1,
    "Without MFA": 1,
    "Open invitations": 1,
    "Expired invitations": 1,
  });
});

test("who gains and loses a permission is the same as in the plan", () => {
  fc.assert(
    fc.property(desiredStates, liveStates, (want, is) => {
      const plan = planOf(want, is);
      const report = reportOf(want, is, plan);
      const merchant = pageMerchant({ report, view: planView(plan) });
      const named = permissionImpacts(merchant).map(({ permission, gained, lost }) => ({
        permission: merchant.permissions[permission]?.name ?? "",
        gained: gained.length,
        lost: lost.length,
      }));
      const byName = (a: { permission: string }, b: { permission: string }) =>
        a.permission < b.permission ? -1 : 1;
      expect(named.sort(byName)).toEqual([...plan.impact.permissions].sort(byName));
    }),
  );
});

test("sensitive permissions come first, then those that most people gain or lose", () => {
  const want = desired({
    roles: [role("Clerk", { permissions: ["sell", "look", "payouts_edit"] })],
    members: [
      member("ada@example.com", { roles: ["Clerk"] }),
      member("bob@example.com", { roles: ["Clerk"] }),
    ],
  });
  const is = live(
    [
      liveRole("role_1", "Clerk", { permissions: ["sell", "stock"] }),
      liveRole("role_2", "Old", { permissions: ["look"] }),
    ],
    [
      liveMember("mem_1", "ada@example.com", { roles: ["role_1", "role_2"] }),
      liveMember("mem_2", "cy@example.com", { roles: ["role_1"] }),
    ],
  );
  const merchant = merchantOf(want, is, true);
  const names = (indexes: readonly number[]) => indexes.map((index) => merchant.members[index]?.name);
  expect(
    permissionImpacts(merchant).map(({ permission, gained, lost }) => [
      merchant.permissions[permission]?.name,
      names(gained),
      names(lost),
    ]),
  ).toEqual([
    ["payouts_edit", ["ada@example.com", "bob@example.com"], []],
    ["sell", ["bob@example.com"], ["cy@example.com"]],
    ["stock", [], ["ada@example.com", "cy@example.com"]],
    ["look", ["bob@example.com"], []],
  ]);
});

test("people are counted once for a permission, however many roles give it, and only if they can use it", () => {
  const is = live(
    [
      liveRole("role_1", "One", { permissions: ["payouts_edit", "sell"] }),
      liveRole("role_2", "Two", { permissions: ["sell"] }),
      liveRole("role_admin", "Admin", { predefined: true, permissions: [] }),
    ],
    [
      liveMember("mem_1", "ada@example.com", { roles: ["role_1", "role_2"] }),
      liveMember("mem_2", "bob@example.com", { roles: ["role_2"] }),
      liveMember("mem_3", "cy@example.com", { roles: ["role_1"], status: "disabled" }),
      liveMember("mem_4", "di@example.com", { roles: ["role_2", "role_admin"] }),
    ],
  );
  const merchant = merchantOf(desired(), is);
  const { byPermission, byRole } = holdersAt(merchant, "after");
  expect(
    Object.fromEntries(byPermission.map((one, index) => [merchant.permissions[index]?.name, one])),
  ).toEqual({
    payouts_edit: [0],
    sell: [0, 1, 3],
  });
  expect(Object.fromEntries(byRole.map((one, index) => [merchant.roles[index]?.name, one]))).toEqual({
    One: [0],
    Two: [0, 1, 3],
    Admin: [3],
  });
  expect(merchant.members.map(sensitivities(merchant, "after"))).toEqual([
    { administrator: false, sensitive: 1, unknown: false },
    { administrator: false, sensitive: 0, unknown: false },
    { administrator: false, sensitive: 0, unknown: false },
    { administrator: true, sensitive: 0, unknown: true },
  ]);
});

test("grants, memberships and open invitations end in one line of time, the earliest first", () => {
  const is = live(
    [liveRole("role_1", "One", { permissions: [] })],
    [
      liveMember("mem_1", "ada@example.com", { roles: ["role_1"] }),
      invited("mem_2", "new@example.com", {
        invite: { email: "new@example.com", expiresAt: "2026-06-20T08:00:00Z" },
      }),
      invited("mem_3", "late@example.com", { status: "expired" }),
    ],
  );
  const want = desired({
    members: [
      member("ada@example.com", {
        roles: [{ role: "One", until: until("2026-05-31") }],
        until: until("2026-12-31"),
      }),
    ],
  });
  const endings = endingsOf(merchantOf(want, is));
  expect(endings.map(({ member: { name }, kind, role: of, text }) => [name, kind, of, text])).toEqual([
    ["ada@example.com", "grant", "One", "2026-05-31"],
    ["new@example.com", "invitation", "", "2026-06-20"],
    ["ada@example.com", "membership", "", "2026-12-31"],
    ["late@example.com", "invitation", "", "2030-01-08"],
  ]);
});

test("a time line shows today, and what is near whatever is far", () => {
  const DAY = 86_400_000;
  const range = (...days: readonly number[]) => {
    const { first, last } = timeRange(
      days.map((one) => ({ ends: NOW + one * DAY })),
      NOW,
    );
    return [Math.round((first - NOW) / DAY), Math.round((last - NOW) / DAY)];
  };
  expect(range(3)).toEqual([-7, 30]);
  expect(range(-100, 3, 90)).toEqual([-100, 90]);
  expect(range(-4000, 90, 30_000)).toEqual([-7, 90]);
  expect(range(30_000)).toEqual([-7, 730]);
});
