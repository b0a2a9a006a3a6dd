import { expect, test } from "vitest";
import { orderOptions } from "../../../src/app/apply/order-options.ts";
import { ADA, desired, live, NO_GUARDS, NO_POLICIES, OWNER } from "../../support/build.ts";

test("an apply knows the roles that guards keep, of the file and of enforced rules, and the owner of the key", () => {
  const state = desired({
    guards: { protect: { roles: ["Seller"], members: [] }, minHolders: { Payer: 2 } },
    enforced: [
      {
        guards: { ...NO_GUARDS, minHolders: { role_owner: 2 } },
        policies: { ...NO_POLICIES, maxHolders: { Cashier: 3 } },
        checks: [],
        files: ["hq/policy.yaml"],
      },
    ],
  });
  expect(orderOptions({ state }, { ...live([OWNER], [ADA]), callerId: "mem_1" })).toEqual({
    caller: ADA,
    keptRoles: ["Payer", "role_owner"],
  });
});
