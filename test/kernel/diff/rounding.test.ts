import { expect, test } from "vitest";
import {
  brief,
  briefFindings,
  desired,
  invited,
  live,
  liveMember,
  liveRole,
  member,
  planOf,
  role,
  SYNC,
} from "../../support/build.ts";

// As it is read where the service says 9007199254740993.
const ORDER = { order: 9007199254740992 };
const rounded = ["order"];
const CASHIER = liveRole("role_1", "Cashier");
const ADA = liveMember("mem_1", "ada@example.com", { metadata: ORDER, rounded });

test("roles are given to a member whose metadata had to be rounded, and is not managed", () => {
  const members = [member("ada@example.com", { roles: ["Cashier"] })];
  const plan = planOf(desired({ members }), live([CASHIER], [ADA]));
  expect([brief(plan), briefFindings(plan)]).toEqual([["update member ada@example.com"], []]);
});

test("a change that would write a rounded number is not planned, and reported", () => {
  const members = [
    member("ada@example.com", { metadata: { ...ORDER, team: "till" } }),
    member("bob@example.com", { metadata: { team: "till" } }),
  ];
  const plan = planOf(desired({ members }), live([], [ADA, liveMember("mem_2", "bob@example.com")]));
  expect(brief(plan)).toEqual(["update member bob@example.com"]);
  expect(plan.summary.members).toMatchObject({ update: 1, unchanged: 1 });
  expect(plan.findings).toMatchObject([
    {
      code: "metadata-rounded",
      severity: "warning",
      name: "ada@example.com",
      message:
        'A number in the metadata of ada@example.com cannot be represented exactly ("order") and would be written back changed, so ada@example.com is not changed.',
    },
  ]);
});

test("a number that was rounded can be declared as text, or left out", () => {
  for (const metadata of [{ order: "9007199254740993" }, {}]) {
    const plan = planOf(desired({ members: [member("ada@example.com", { metadata })] }), live([], [ADA]));
    expect([brief(plan), briefFindings(plan)]).toEqual([["update member ada@example.com"], []]);
  }
});

test("an invitation is not renewed with a rounded number", () => {
  const expired = invited("mem_1", "ada@example.com", { status: "expired", metadata: ORDER, rounded });
  const plan = planOf(desired({ members: [member("ada@example.com")] }), live([], [expired]));
  expect([brief(plan), briefFindings(plan)]).toEqual([[], ["warning metadata-rounded ada@example.com"]]);
  // 2^53 itself is a number like any other, where the service says just that.
  const exact = invited("mem_1", "ada@example.com", { status: "expired", metadata: ORDER });
  expect(brief(planOf(desired({ members: [member("ada@example.com")] }), live([], [exact])))).toEqual([
    "replace member ada@example.com",
  ]);
});

test("a role is not replaced where that would round, nor given to anybody by its successor", () => {
  const half = { share: 0.12345678901234568 };
  const is = live(
    [liveRole("role_1", "Cashier", { metadata: half, rounded: ["share"] })],
    [liveMember("mem_1", "ada@example.com", { roles: ["role_1"] })],
  );
  const want = desired({
    sync: { ...SYNC, replaceRoles: true },
    roles: [role("Cashier", { metadata: { ...half, owner: "ops" } })],
  });
  const plan = planOf(want, is);
  expect([brief(plan), briefFindings(plan)]).toEqual([[], ["warning metadata-rounded Cashier"]]);
});
