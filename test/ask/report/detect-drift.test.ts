import { expect, test } from "vitest";
import { driftOf } from "../../../src/ask/report/detect-drift.ts";
import { driftText, driftView } from "../../../src/show/view/drift-view.ts";
import {
  desired,
  invited,
  live,
  liveMember,
  liveRole,
  member,
  planOf,
  role,
  SYNC,
  until,
} from "../../support/build.ts";

const DESIRED = desired({ roles: [role("Cashier", { permissions: ["a"] })] });
const LIVE = live([liveRole("role_1", "Cashier")]);
const PLAN = planOf(DESIRED, LIVE);

test.each([
  ["the live one, after the commit", 1_000_000, 2_000_000, "outside-git"],
  ["the file, after the live one", 2_000_000, 1_000_000, "not-applied"],
  ["the file, within the second that git can tell", 1_000_000, 1_000_999, "not-applied"],
  ["nobody knows, without git", null, 1_000_000, "unknown"],
  ["nobody knows, when it is not live", 1_000_000, null, "unknown"],
])("reports which side changed: %s", (_, file, is, cause) => {
  const { changes } = driftOf({ desired: DESIRED, live: LIVE }, PLAN, { file: () => file, live: () => is });
  expect(changes.map((change) => change.cause)).toEqual([cause]);
});

const AT = { file: () => 0, live: () => 1_000_000 };

test("reports what happened outside git, not its revert", () => {
  const want = desired({ members: [member("a@example.com", { roles: ["role_manager"] })] });
  const is = live(
    [
      liveRole("role_admin", "Admin", { predefined: true, permissions: ["x"] }),
      liveRole("role_manager", "Manager", { predefined: true, permissions: ["y"] }),
    ],
    [
      liveMember("a", "a@example.com", { roles: ["role_admin"] }),
      liveMember("b", "b@example.com", { roles: ["role_admin"] }),
    ],
  );
  const drift = driftOf({ desired: want, live: is }, planOf(want, is), AT);
  expect(drift.changes.map(({ event }) => event)).toEqual(["changed", "added"]);
  expect(drift.impact).toEqual({
    members: [
      { name: "a@example.com", gained: ["x"], lost: ["y"], unknownGained: [], unknownLost: [] },
      { name: "b@example.com", gained: ["x"], lost: [], unknownGained: [], unknownLost: [] },
    ],
    permissions: [
      { permission: "x", gained: 2, lost: 0 },
      { permission: "y", gained: 0, lost: 1 },
    ],
    roles: [
      { name: "Admin", before: 0, after: 2 },
      { name: "Manager", before: 1, after: 0 },
    ],
  });
});

test("reports a policy that live access breaks, whichever side changed, also by a role's new name", () => {
  const policies = { ...desired().policies, maxHolders: { Season: 0 } };
  const want = desired({ policies, roles: [role("Season", { previously: ["Seasonal"] })] });
  const is = live(
    [liveRole("role_1", "Seasonal")],
    [liveMember("a", "a@example.com", { roles: ["role_1"] })],
  );
  const { violations } = driftOf({ desired: want, live: is }, planOf(want, is), AT);
  expect(violations).toMatchObject([
    { code: "max-holders", message: 'The role "Season" has 1 holder (a@example.com); the limit is 0.' },
  ]);
});

test("a past end date makes a removal due, and is no change outside git", () => {
  const want = desired({ members: [member("a@example.com", { until: until("2026-01-31") })] });
  const is = live([], [liveMember("a", "a@example.com")]);
  const { changes } = driftOf({ desired: want, live: is }, planOf(want, is), AT);
  expect(changes).toMatchObject([{ cause: "due", event: null }]);
});

test("a membership that a new address replaces was not added outside git: its removal is not applied", () => {
  const entry = member("a@new.example", { previously: ["a@old.example"], roles: ["role_1"] });
  const want = desired({ members: [entry] });
  const is = live(
    [liveRole("role_1", "Cashier")],
    [
      liveMember("a", "a@old.example", { roles: ["role_1"] }),
      liveMember("b", "a@new.example", { roles: ["role_1"] }),
    ],
  );
  const drift = driftOf({ desired: want, live: is }, planOf(want, is), AT);
  expect(drift.changes).toMatchObject([{ cause: "not-applied", event: null }]);
  expect(driftView(drift).groups[0]?.rows).toMatchObject([
    { kind: "delete", remark: "the address has changed" },
  ]);
});

test("members of a replaced role are no drift", () => {
  const sync = { ...SYNC, replaceRoles: true };
  const want = desired({ sync, roles: [role("Till", { permissions: ["x"], metadata: { a: 1 } })] });
  const is = live(
    [liveRole("role_1", "Till", { permissions: ["x"] })],
    [liveMember("a", "a@example.com", { roles: ["role_1"] })],
  );
  const drift = driftOf({ desired: want, live: is }, planOf(want, is), AT);
  expect(drift.changes.map(({ event }) => event)).toEqual(["changed", null]);
  expect(driftText(driftView(drift).sums)).toBe("1 difference (1 changed outside git)");
});

test("a role's metadata that differs is a difference, also where no apply can change it", () => {
  const want = desired({ roles: [role("Cashier", { permissions: ["b"], metadata: { owner: "ops" } })] });
  const is = live([liveRole("role_1", "Cashier", { permissions: ["b"], metadata: { owner: "till" } })]);
  const drift = driftOf({ desired: want, live: is }, planOf(want, is), AT);
  expect(drift.changes.map(({ cause, event }) => [cause, event])).toEqual([["outside-git", "changed"]]);
  const { groups, sums } = driftView(drift);
  expect(driftText(sums)).toBe("1 difference (1 changed outside git)");
  expect(groups[0]?.rows[0]?.verb).toBe("changed outside git");
  const named = { ...want, roles: [role("Cashier", { permissions: ["a"], metadata: { owner: "ops" } })] };
  const { plan } = driftOf({ desired: named, live: is }, planOf(named, is), AT);
  expect(plan.changes.map(({ fields }) => fields.map(({ field }) => field))).toEqual([
    ["permissions", "metadata"],
  ]);
});

test("moving with a replaced role is no change of the member's roles", () => {
  const sync = { ...SYNC, replaceRoles: true };
  const roles = [role("Cashier", { permissions: ["a"], metadata: { owner: "ops" } }), role("Till")];
  const members = [
    member("a@example.com", { roles: ["Cashier"], metadata: { n: "2" } }),
    member("b@example.com", { roles: ["Till"] }),
    member("c@example.com", { roles: ["Cashier", "Till"] }),
  ];
  const want = desired({ sync, roles, members });
  const is = live(
    [liveRole("role_1", "Cashier", { permissions: ["a"] }), liveRole("role_2", "Till")],
    [
      liveMember("a", "a@example.com", { roles: ["role_1"], metadata: { n: "1" } }),
      liveMember("b", "b@example.com", { roles: ["role_1", "role_2"] }),
      liveMember("c", "c@example.com", { roles: ["role_1"] }),
    ],
  );
  const { changes } = driftOf({ desired: want, live: is }, planOf(want, is), AT).plan;
  const names = (refs: readonly { readonly name: string }[]) => refs.map(({ name }) => name).join();
  const told = changes.map(({ name, fields }) => [
    name,
    ...fields.map((diff) =>
      diff.field === "roles" ? `+${names(diff.added)} -${names(diff.removed)}` : diff.field,
    ),
  ]);
  expect(told).toEqual([
    ["Cashier", "metadata"],
    ["a@example.com", "metadata"],
    ["b@example.com", "+ -Cashier"],
    ["c@example.com", "+Till -"],
  ]);
});

test("a rule that live access breaks is reported once", () => {
  const policies = { ...desired().policies, requireMfa: ["Cashier"], maxHolders: { Cashier: 0 } };
  const want = desired({
    policies,
    sync: { ...SYNC, members: "additive" },
    roles: [role("Cashier")],
    members: [],
  });
  const is = live([liveRole("role_1", "Cashier")], [liveMember("a", "a@example.com", { roles: ["role_1"] })]);
  const planned = planOf(want, is);
  expect(planned.findings).toHaveLength(2);
  const { plan, violations } = driftOf({ desired: want, live: is }, planned, AT);
  expect(violations).toHaveLength(2);
  expect(plan.findings).toEqual([]);
});

test("a rename outside git is reported as it happened, not as its revert", () => {
  const want = desired({ roles: [role("Cashier", { permissions: ["a"] })] });
  const is = live([liveRole("role_1", "Till", { permissions: ["a"] })]);
  const plan = planOf(want, is);
  expect(plan.findings.map(({ code }) => code)).toEqual(["role-likely-renamed"]);
  const drift = driftOf({ desired: want, live: is }, plan, AT);
  expect(drift.changes.map(({ event }) => event).sort()).toEqual(["added", "missing"]);
  expect(drift.plan.findings).toEqual([]);
});

test("a removal that waits for an acceptance counts as done, as in the plan: a policy is not broken by it", () => {
  const want = desired({
    policies: { ...desired().policies, maxHolders: { role_owner: 1 } },
    members: [
      member("ada@example.com", { roles: ["role_manager"] }),
      member("new@example.com", { roles: ["role_owner"] }),
    ],
  });
  const roles = ["owner", "manager"].map((name) => liveRole(`role_${name}`, name, { predefined: true }));
  const owner = { roles: ["role_owner"] };
  const is = live(roles, [
    liveMember("mem_a", "ada@example.com", owner),
    invited("mem_n", "new@example.com", owner),
  ]);
  const plan = planOf(want, is);
  expect([plan.changes, plan.refusals]).toEqual([[], []]);
  expect(plan.deferred).toHaveLength(1);
  expect(driftOf({ desired: want, live: is }, plan, AT).violations).toEqual([]);
  const more = live(roles, [...is.members, liveMember("mem_e", "eve@example.com", owner)]);
  const additive = { ...want, sync: { ...SYNC, members: "additive" } } as const;
  const broken = driftOf({ desired: additive, live: more }, planOf(additive, more), AT).violations;
  expect(broken.map(({ code }) => code)).toEqual(["max-holders"]);
});

test("declared and not live is reported as such, not as a loss", () => {
  const want = desired({
    roles: [role("Cashier", { permissions: ["a"] })],
    members: [member("new@example.com", { roles: ["Cashier"] })],
  });
  const drift = driftOf({ desired: want, live: live() }, planOf(want, live()), AT);
  expect(drift.changes.map(({ cause, event }) => [cause, event])).toEqual([
    ["unknown", "missing"],
    ["unknown", "missing"],
  ]);
  expect(drift.impact.members).toEqual([]);
  const { groups, sums, risks } = driftView(drift);
  expect([driftText(sums), risks]).toEqual(["2 differences (2 declared, not live)", []]);
  expect(groups.flatMap(({ rows }) => rows.map(({ verb }) => verb))).toEqual([
    "declared, not live",
    "declared, not live",
  ]);
});

test("a declared member whom the plan cannot create is a difference", () => {
  const want = desired({ members: [{ email: "new@example.com", origin: { file: "shop.yaml", path: [] } }] });
  const planned = planOf(want, live());
  expect(planned.changes).toEqual([]);
  const { changes, plan } = driftOf({ desired: want, live: live() }, planned, AT);
  expect(changes.map(({ event }) => event)).toEqual(["missing"]);
  expect(plan.changes.map(({ name }) => name)).toEqual(["new@example.com"]);
});
