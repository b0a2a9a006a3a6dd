import type { Plan } from "../../src/model/plan.ts";
import { desired, invited, live, liveMember, liveRole, member, planOf, role } from "./build.ts";

/** A plan with something of everything that a plan can hold: what every renderer is shown. */
export function richPlan(): Plan {
  const is = live(
    [
      liveRole("role_1", "Team Lead", {
        permissions: ["catalog_view", "payouts_view"],
        description: "Runs a shift",
      }),
      liveRole("role_2", "Legacy"),
      liveRole("role_3", "Cashier", { permissions: ["catalog_view"] }),
      liveRole("role_employee", "Employee", { predefined: true }),
    ],
    [
      liveMember("mem_1", "ada@example.com", {
        roles: ["role_1", "role_2"],
        metadata: { team: "till", badge: 7 },
      }),
      liveMember("mem_2", "leaver@example.com", { roles: ["role_3", "role_employee"] }),
      invited("mem_3", "soon@example.com", { roles: ["role_3"] }),
      liveMember("mem_4", "same@example.com", { roles: ["role_3"] }),
      liveMember("mem_5", "off@example.com", { status: "disabled", roles: ["role_3"] }),
    ],
  );
  const want = desired({
    environment: "live",
    roles: [
      role("Shift Lead", {
        id: "role_1",
        description: "Opens and closes the till",
        permissions: ["catalog_view", "refunds_create"],
      }),
      role("Cashier", { permissions: ["catalog_view"] }),
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
        metadata: { team: "office", badge: 7 },
      }),
      member("soon@example.com", { roles: ["Cashier", "Stock Keeper"] }),
      member("same@example.com", { roles: ["Cashier"] }),
      member("off@example.com", { roles: ["Cashier"] }),
      member("new@example.com", { roles: ["Stock Keeper"], metadata: { employee_id: "4711" } }),
      member("till-7@shop.example", {
        roles: ["Cashier"],
        managed: { nickname: "Till 7", passwordEnv: "TILL_7_PASSWORD" },
      }),
      member("typo@example.com", { roles: ["Cashir"] }),
    ],
  });
  return planOf(want, is);
}
