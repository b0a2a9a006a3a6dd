import { expect, test } from "vitest";
import type { DesiredState } from "../../../../src/model/desired.ts";
import type { LiveMember, LiveState, LiveUser } from "../../../../src/model/live.ts";
import { declaredReport } from "../../../../src/plan/report/build-access-report.ts";
import { measuresOf, mfaOf } from "../../../../src/render/html/client/access-model.ts";
import { pageMerchant } from "../../../../src/render/html/page-data.ts";
import { planView } from "../../../../src/render/view/plan-view.ts";
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
