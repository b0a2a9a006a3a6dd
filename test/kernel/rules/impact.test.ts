import { expect, test } from "vitest";
import {
  briefFindings,
  desired,
  invited,
  live,
  liveMember,
  liveRole,
  member,
  OWNER,
  planOf,
  role,
  SYNC,
} from "../../support/build.ts";

const LEAD = liveRole("role_1", "Lead", { permissions: ["catalog_view", "payouts_view"] });

test("an edit of a role tells what each of its holders gains and loses", () => {
  const is = live(
    [LEAD],
    ["a", "b"].map((name) => liveMember(`mem_${name}`, `${name}@example.com`, { roles: ["role_1"] })),
  );
  const plan = planOf(
    desired({ roles: [role("Lead", { permissions: ["catalog_view", "refunds_create"] })] }),
    is,
  );
  expect(plan.impact.members.map(({ name, gained, lost }) => [name, gained, lost])).toEqual([
    ["a@example.com", ["refunds_create"], ["payouts_view"]],
    ["b@example.com", ["refunds_create"], ["payouts_view"]],
  ]);
  expect(plan.impact.permissions).toEqual([
    { permission: "payouts_view", gained: 0, lost: 2 },
    { permission: "refunds_create", gained: 2, lost: 0 },
  ]);
});

test("roles with one name are told apart by their ids", () => {
  const twins = ["role_1", "role_2"].map((id) => liveRole(id, "Till"));
  const is = live(twins, [liveMember("mem_1", "a@example.com", { roles: ["role_1"] })]);
  const want = desired({
    sync: { ...SYNC, roles: "additive" },
    members: [member("a@example.com", { roles: ["role_2"] })],
  });
  expect(planOf(want, is).impact.roles).toEqual([
    { name: "Till (role_1)", before: 1, after: 0 },
    { name: "Till (role_2)", before: 0, after: 1 },
  ]);
});

test("people with the same roles share the lists of what they gain and lose", () => {
  const permissions = Array.from({ length: 100 }, (_, n) => `p${n}`);
  const emails = Array.from({ length: 50 }, (_, n) => `u${n}@example.com`);
  const plan = planOf(
    desired({
      roles: [role("Lead", { permissions })],
      members: emails.map((email) => member(email, { roles: ["Lead"] })),
    }),
    live([LEAD], []),
  );
  expect(new Set(plan.impact.members.map(({ gained }) => gained)).size).toBe(1);
  expect(plan.impact.permissions).toEqual(
    permissions.toSorted().map((permission) => ({ permission, gained: 50, lost: 0 })),
  );
});

test("what somebody keeps through another role is not lost", () => {
  const is = live(
    [LEAD, liveRole("role_2", "Viewer", { permissions: ["catalog_view"] })],
    [liveMember("mem_1", "a@example.com", { roles: ["role_1", "role_2"] })],
  );
  const want = desired({
    sync: { ...SYNC, roles: "additive" },
    roles: [],
    members: [member("a@example.com", { roles: ["Viewer"] })],
  });
  expect(planOf(want, is).impact.members).toMatchObject([{ gained: [], lost: ["payouts_view"] }]);
});

test("somebody who leaves loses everything, somebody new gains it", () => {
  const is = live([LEAD], [liveMember("mem_1", "old@example.com", { roles: ["role_1"] })]);
  const want = desired({
    roles: [role("Lead", { permissions: LEAD.permissions })],
    members: [member("new@example.com", { roles: ["Lead"] })],
  });
  const { members, roles } = planOf(want, is).impact;
  expect(members.map(({ name, gained, lost }) => [name, gained.length, lost.length])).toEqual([
    ["new@example.com", 2, 0],
    ["old@example.com", 0, 2],
  ]);
  expect(roles).toEqual([]);
});

test("the holders of a role are counted before and after", () => {
  const is = live([LEAD], [liveMember("mem_1", "a@example.com", { roles: ["role_1"] })]);
  const want = desired({
    sync: { ...SYNC, members: "additive" },
    members: [member("b@example.com", { roles: ["Lead"] })],
  });
  expect(planOf(want, is).impact.roles).toEqual([{ name: "Lead", before: 1, after: 2 }]);
});

test("the permissions of a predefined role that the service does not return are unknown", () => {
  const want = desired({ members: [member("a@example.com", { roles: ["role_owner"] })] });
  expect(planOf(want, live([OWNER])).impact.members).toEqual([
    { name: "a@example.com", gained: [], lost: [], unknownGained: ["Owner"], unknownLost: [] },
  ]);
});

test("an expired invitation and a disabled member have nothing to lose", () => {
  const is = live(
    [LEAD],
    [
      invited("mem_1", "a@example.com", { status: "expired", roles: ["role_1"] }),
      liveMember("mem_2", "b@example.com", { status: "disabled", roles: ["role_1"] }),
    ],
  );
  expect(planOf(desired({ members: [] }), is).impact.members).toEqual([]);
});

test("a metadata change touches nobody's access", () => {
  const is = live([LEAD], [liveMember("mem_1", "a@example.com", { roles: ["role_1"] })]);
  const want = desired({ members: [member("a@example.com", { roles: ["Lead"], metadata: { team: "x" } })] });
  expect(planOf(want, is).impact).toEqual({ members: [], permissions: [], roles: [] });
});

test("holders of a removed role lose access, also members whom the file does not manage", () => {
  const is = live(
    [liveRole("role_1", "Cashier", { permissions: ["refunds_create"] })],
    [
      liveMember("mem_1", "ada@example.com", { roles: ["role_1"] }),
      liveMember("mem_2", "bot@example.com", {
        roles: ["role_1"],
        user: { id: "u2", email: "bot@example.com", mfaOnLogin: false, type: "service_account" },
      }),
    ],
  );
  const { impact } = planOf(desired({ roles: [] }), is);
  expect(impact.members).toEqual(
    ["ada@example.com", "bot@example.com"].map((name) => ({
      name,
      gained: [],
      lost: ["refunds_create"],
      unknownGained: [],
      unknownLost: [],
    })),
  );
  expect(impact.roles).toEqual([{ name: "Cashier", before: 2, after: 0 }]);
});

test("an absent section is not managed, whatever is live", () => {
  const is = live([liveRole("role_1", "Cashier")], [liveMember("mem_1", "ada@example.com")]);
  const none = { create: 0, update: 0, replace: 0, delete: 0, unchanged: 0 };
  expect(planOf(desired({ roles: [role("Cashier")] }), is).summary).toEqual({
    roles: { ...none, unchanged: 1 },
    members: { ...none, unmanaged: 1 },
  });
  expect(planOf(desired({ members: [] }), is).summary).toEqual({
    roles: { ...none, unmanaged: 1 },
    members: { ...none, delete: 1 },
  });
});

test("a role without permissions in the file is not a role of unknown permissions", () => {
  const { permissions: _, ...till } = role("Till");
  const plan = planOf(
    desired({ roles: [till], members: [member("ada@example.com", { roles: ["Till"] })] }),
    live(),
  );
  expect(briefFindings(plan)).toEqual(["error role-needs-permissions Till"]);
  expect(plan.impact.members).toEqual([]);
});
