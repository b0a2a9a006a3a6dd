import { expect, test } from "vitest";
import { sensitiveIn } from "../../../src/kernel/rules/settings/sensitive.ts";
import { risksOf, riskTitle } from "../../../src/show/view/risk-view.ts";
import { desired, invited, live, liveMember, liveRole, member, planOf, role } from "../../support/build.ts";

test.each([
  ["members_create", true],
  ["members_view", false],
  ["roles_update", true],
  ["payouts_edit", true],
  ["payouts_view", false],
  ["api_keys_edit", true],
  ["owner_transfer", true],
  ["merchant_close", true],
  ["merchant_read", false],
  ["refunds_create", true],
  ["refunds.list", false],
  ["payouts_review", true],
  ["catalog_edit", false],
])("%s is sensitive: %s", (permission, sensitive) => {
  expect(sensitiveIn()(permission)).toBe(sensitive);
});

test("whoever becomes an administrator is told once, whoever was one is not", () => {
  const admin = liveRole("role_admin", "Admin", { predefined: true, permissions: ["members_create"] });
  const want = desired({
    roles: [role("Helper", { permissions: ["roles_update"] })],
    members: [
      member("ada@example.com", { roles: ["role_admin", "Helper"] }),
      member("bob@example.com", { roles: ["role_admin", "Helper"] }),
      member("late@example.com", { roles: ["role_admin"] }),
    ],
  });
  const is = live(
    [admin],
    [
      liveMember("mem_1", "ada@example.com", { roles: ["role_admin"] }),
      invited("mem_2", "late@example.com", { roles: ["role_admin"], status: "expired" }),
    ],
  );
  const risks = risksOf(planOf(want, is));
  expect(risks.map(({ kind, items }) => [kind, items.map(({ name }) => name)])).toEqual([
    ["administrators", ["bob@example.com"]],
    ["sensitive", ["ada@example.com", "late@example.com"]],
    ["reach", ["late@example.com"]],
  ]);
});

test("whoever can newly give himself a sensitive permission is a risk; who could before is not", () => {
  const want = desired({
    roles: [
      role("Lead", { permissions: ["members_update"] }),
      role("Payer", { permissions: ["payouts_edit", "catalog_view"] }),
      role("Seller", { permissions: ["checkouts_create"] }),
    ],
    members: [
      member("new@example.com", { roles: ["Lead"] }),
      member("old@example.com", { roles: ["Lead", "Seller"] }),
      member("plain@example.com", { roles: ["Seller"] }),
    ],
  });
  const is = live(
    [
      liveRole("role_1", "Lead", { permissions: ["members_update"] }),
      liveRole("role_2", "Payer", { permissions: ["payouts_edit", "catalog_view"] }),
    ],
    [liveMember("mem_1", "old@example.com", { roles: ["role_1"] })],
  );
  const reach = risksOf(planOf(want, is)).filter(({ kind }) => kind === "reach");
  expect(reach.map(({ items, origin }) => riskTitle("reach", items, origin))).toEqual([
    "1 member can newly reach sensitive permissions",
  ]);
  expect(reach.flatMap(({ items }) => items)).toEqual([
    { name: "new@example.com", what: "payouts_edit", resource: "member" },
  ]);
});

test("removing an expired invitation is not shown as a removal", () => {
  const twice = [
    liveMember("mem_1", "ada@example.com"),
    invited("mem_2", "ada@example.com", { status: "expired" }),
  ];
  const plan = planOf(desired({ members: [member("ada@example.com")] }), live([], twice));
  expect(plan.changes).toHaveLength(1);
  expect(risksOf(plan)).toEqual([]);
});
