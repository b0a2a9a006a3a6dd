import type { DesiredState } from "../../src/model/desired.ts";
import type { LiveState } from "../../src/model/live.ts";
import type { Plan } from "../../src/model/plan.ts";
import { desired, invited, live, liveMember, liveRole, member, planOf, role, until } from "./build.ts";

/** What a rich plan is made from. */
export interface RichStates {
  readonly is: LiveState;
  readonly want: DesiredState;
}

/** A plan with something of everything that a plan can hold: what every renderer is shown. */
export function richPlan(): Plan {
  const { want, is } = richStates();
  return planOf(want, is);
}

/** Live and desired states that differ in every way. */
export function richStates(): RichStates {
  const is = live(
    [
      liveRole("role_1", "Team Lead", {
        permissions: ["catalog_view", "payouts_view"],
        description: "Runs a shift",
      }),
      liveRole("role_2", "Legacy"),
      liveRole("role_3", "Cashier", { permissions: ["catalog_view"] }),
      liveRole("role_4", "Auditor", {
        permissions: ["catalog_view"],
        description: "Looks at what was sold, and at what was refunded",
      }),
      liveRole("role_employee", "Employee", { predefined: true }),
      liveRole("role_admin", "Admin", { predefined: true, permissions: ["api_keys_edit", "members_create"] }),
      liveRole("role_owner", "Owner", {
        predefined: true,
        permissions: ["members_create", "owner_transfer"],
      }),
    ],
    [
      liveMember("mem_1", "ada@example.com", {
        roles: ["role_1", "role_2"],
        metadata: { team: "till", badge: 7, desk: { floor: 1, seat: "A" } },
      }),
      liveMember("mem_2", "leaver@example.com", { roles: ["role_3", "role_employee"] }),
      invited("mem_3", "soon@example.com", { roles: ["role_3"] }),
      liveMember("mem_4", "same@example.com", { roles: ["role_3"] }),
      liveMember("mem_6", "owner@example.com", { roles: ["role_owner"] }),
      invited("mem_7", "next@example.com", { roles: ["role_owner"] }),
      invited("mem_8", "late@example.com", { roles: ["role_4"], status: "expired" }),
      liveMember("mem_9", "temp@agency.example", { roles: ["role_3"] }),
      liveMember("mem_5", "off@example.com", { status: "disabled", roles: ["role_3"] }),
    ],
  );
  const want = desired({
    environment: "live",
    guards: { protect: { roles: ["Legacy"], members: [] } },
    policies: {
      separate: [],
      maxHolders: {},
      requireUntil: {},
      requireMfa: [],
      forbidPermissions: ["roles_update"],
    },
    roles: [
      role("Shift Lead", {
        id: "role_1",
        description: "Opens and closes the till",
        permissions: ["catalog_view", "refunds_create"],
      }),
      role("Cashier", { permissions: ["catalog_view"] }),
      role("Auditor", {
        permissions: ["catalog_view", "roles_update"],
        description: "Looks at what was sold, and at what was paid back",
      }),
      role("Stock Keeper", {
        description: "Counts what is there",
        permissions: [
          "catalog_view",
          "inventory_adjust",
          "inventory_count",
          "inventory_view",
          "orders_view",
          "suppliers_view",
        ],
        metadata: { owner: "retail-ops" },
      }),
    ],
    members: [
      member("ada@example.com", {
        roles: ["Shift Lead", "role_employee"],
        metadata: { team: "office", badge: 7, desk: { floor: 2, seat: "A" } },
      }),
      member("soon@example.com", { roles: ["Cashier", "Stock Keeper"] }),
      member("same@example.com", { roles: ["Cashier", "role_admin"] }),
      member("next@example.com", { roles: ["role_owner"] }),
      member("late@example.com", { roles: ["Auditor"] }),
      member("temp@agency.example", { roles: [{ role: "Cashier", until: until("2026-05-31") }] }),
      member("off@example.com", { roles: ["Cashier"] }),
      member("new@example.com", { roles: ["Stock Keeper"], metadata: { employee_id: "4711" } }),
      member("till-7@shop.example", {
        roles: ["Cashier"],
        managed: { nickname: "Till 7", passwordEnv: "TILL_7_PASSWORD" },
      }),
      member("typo@example.com", { roles: ["Cashir"] }),
    ],
  });
  return { is, want };
}
