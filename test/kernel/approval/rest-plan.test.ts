import { expect, test } from "vitest";
import { restPlan } from "../../../src/kernel/approval/rest-plan.ts";
import { brief, desired, live, liveMember, liveRole, matches, member, role } from "../../support/build.ts";
import { freshOf } from "../../support/reviews.ts";

test("what is left gives what the changes that are made do not", () => {
  const fresh = freshOf(
    desired({
      roles: [
        role("Cashier", { permissions: ["catalog_view", "refunds_create"] }),
        role("Till", { permissions: ["stock_edit"] }),
      ],
      members: [
        member("ada@example.com", { roles: ["Cashier"] }),
        member("cy@example.com", { roles: ["Cashier"] }),
        member("dan@example.com", { roles: ["Till"] }),
        member("eve@example.com", { roles: ["Cashier", "Till"] }),
      ],
    }),
    live(
      [liveRole("role_1", "Cashier", { permissions: ["catalog_view"] })],
      [
        liveMember("mem_1", "ada@example.com", { roles: ["role_1"] }),
        liveMember("mem_2", "bob@example.com", { roles: ["role_1"] }),
        liveMember("mem_3", "eve@example.com", { roles: ["role_1"] }),
      ],
    ),
  );
  const isLeft = ({ name }: { readonly name: string }): boolean => /^(?:dan|eve)@/.test(name);
  const { changes } = fresh.plan;
  const [made, left] = [changes.filter((change) => !isLeft(change)), changes.filter(isLeft)];
  const rest = restPlan(fresh, made, new Set(left.map(({ fingerprint }) => fingerprint)), matches);
  expect(brief(rest)).toEqual(["create member dan@example.com", "update member eve@example.com"]);
  expect(rest.summary.members).toEqual({ create: 1, update: 1, replace: 0, delete: 0, unchanged: 2 });
  expect(rest.summary.roles).toMatchObject({ create: 0, update: 0, unchanged: 2 });
  // The wider Cashier and the new Till are made, and only Till is given.
  expect(rest.impact.members.map(({ name, gained, lost }) => [name, gained, lost])).toEqual([
    ["dan@example.com", ["stock_edit"], []],
    ["eve@example.com", ["stock_edit"], []],
  ]);
  expect(rest.impact.roles).toEqual([{ name: "Till", before: 0, after: 2 }]);
});
