import { expect, test } from "vitest";
import {
  ADDITIVE,
  brief,
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
  until,
} from "../../support/build.ts";

const CASHIER = liveRole("role_1", "Cashier");

test("a member who is not there yet is invited with roles of both kinds", () => {
  const want = desired({
    roles: [role("Cashier")],
    members: [member("ada@example.com", { roles: ["Cashier", "role_owner"] })],
  });
  const plan = planOf(want, live([CASHIER, OWNER]));
  expect(brief(plan)).toEqual(["create member ada@example.com"]);
  expect(plan.changes[0]?.after).toMatchObject({
    roles: [
      { id: "role_1", name: "Cashier" },
      { id: "role_owner", name: "Owner" },
    ],
  });
});

test("a role that the same plan creates is given by its name", () => {
  const want = desired({
    roles: [role("Cashier")],
    members: [member("ada@example.com", { roles: ["Cashier"] })],
  });
  expect(planOf(want, live()).changes[1]?.after).toMatchObject({ roles: [{ id: null, name: "Cashier" }] });
});

test("addresses are compared without regard to case", () => {
  const want = desired({ members: [member("Ada@Example.com")] });
  expect(brief(planOf(want, live([], [liveMember("mem_1", "ada@example.COM")])))).toEqual([]);
});

test("a pending invitation whose expiry has passed is shown, and left as it is", () => {
  const overdue = invited("mem_a", "ada@example.com", {
    invite: { email: "ada@example.com", expiresAt: "2026-01-08T00:00:00Z" },
  });
  const made = planOf(desired({ members: [member("ada@example.com")] }), live([], [overdue]));
  expect(made.changes).toEqual([]);
  expect(made.findings.map(({ message }) => message)).toEqual([
    "The invitation of ada@example.com expired at 2026-01-08T00:00:00Z, but the service still lists it as pending.",
  ]);
});

test("a pending invitation counts as present and can be updated", () => {
  const want = desired({
    roles: [role("Cashier")],
    members: [member("ada@example.com", { roles: ["Cashier"] })],
  });
  const plan = planOf(want, live([CASHIER], [invited("mem_1", "ada@example.com")]));
  expect(brief(plan)).toEqual(["update member ada@example.com"]);
  expect(plan.changes[0]?.fields).toEqual([
    { field: "roles", added: [{ id: "role_1", name: "Cashier" }], removed: [] },
  ]);
});

test("roles and metadata that the file leaves out go out as they are live", () => {
  const { roles: _, ...bare } = member("ada@example.com", { metadata: { team: "till" } });
  const is = live(
    [CASHIER],
    [liveMember("mem_1", "ada@example.com", { roles: ["role_1"], metadata: { old: 1 } })],
  );
  const plan = planOf(desired({ members: [bare] }), is);
  expect(plan.changes[0]?.fields).toEqual([
    { field: "metadata", before: { old: 1 }, after: { team: "till" } },
  ]);
  expect(plan.changes[0]?.after).toMatchObject({ roles: [{ id: "role_1" }] });
  const kept = planOf(desired({ members: [member("ada@example.com")] }), is);
  expect(kept.changes[0]?.after).toMatchObject({ roles: [], metadata: { old: 1 } });
});

test("empty metadata clears what is live", () => {
  const is = live([], [liveMember("mem_1", "ada@example.com", { metadata: { old: 1 } })]);
  const plan = planOf(desired({ members: [member("ada@example.com", { metadata: {} })] }), is);
  expect(plan.changes[0]?.fields).toEqual([{ field: "metadata", before: { old: 1 }, after: {} }]);
});

test("a pinned member keeps its identity whatever its address", () => {
  const is = live([], [liveMember("mem_1", "old@example.com")]);
  const want = desired({ members: [member("new@example.com", { id: "mem_1", metadata: { a: 1 } })] });
  expect(planOf(want, is).changes.map(({ kind, id }) => [kind, id])).toEqual([["update", "mem_1"]]);
});

test("nobody is invited at the address of a member that another entry is pinned to", () => {
  const is = live([OWNER], [liveMember("mem_1", "ada@example.com")]);
  const pinned = member("bob@example.com", { id: "mem_1" });
  const plan = planOf(desired({ members: [pinned, member("ada@example.com")] }), is);
  expect(plan.changes).toEqual([]);
  expect(briefFindings(plan)).toContain("error member-pinned-elsewhere ada@example.com");
});

test("a pin that no member has is an error, and the member of that address is not removed for it", () => {
  const want = desired({ members: [member("ada@example.com", { id: "mem_9" })] });
  const plan = planOf(want, live([], [liveMember("mem_1", "ada@example.com")]));
  expect(brief(plan)).toEqual([]);
  expect(briefFindings(plan)).toEqual(["error member-pin-missing ada@example.com"]);
});

test("two live members of one address are an error that names both ids, and neither is touched", () => {
  const is = live([], [liveMember("mem_2", "ada@example.com"), liveMember("mem_1", "Ada@example.com")]);
  const plan = planOf(desired({ members: [member("ada@example.com")] }), is);
  expect(brief(plan)).toEqual([]);
  expect(plan.findings[0]?.message).toContain("mem_1, mem_2");
});

test("an unlisted person with an expired invitation beside a membership is removed, and counts, once", () => {
  const is = live(
    [],
    [invited("mem_1", "ada@example.com", { status: "expired" }), liveMember("mem_2", "Ada@example.com")],
  );
  const guards = { ...desired().guards, maxRemovals: { count: 1 } };
  const plan = planOf(desired({ members: [], guards }), is);
  expect(plan.changes.map(({ id, reason }) => [id, reason])).toEqual([
    ["mem_2", "unlisted"],
    ["mem_1", "invitation-expired"],
  ]);
  expect(plan.refusals).toEqual([]);
});

test("expired invitations beside a live membership are leftovers, and removed", () => {
  const is = live(
    [],
    [invited("mem_1", "ada@example.com", { status: "expired" }), liveMember("mem_2", "ada@example.com")],
  );
  const plan = planOf(desired({ members: [member("ada@example.com")] }), is);
  expect(plan.changes.map(({ kind, id, reason }) => [kind, id, reason])).toEqual([
    ["delete", "mem_1", "invitation-expired"],
  ]);
});

test.each([
  ["its address", "ada@example.com", ["delete mem_1"]],
  ["another address", "till@example.com", []],
])(
  "beside a pinned member of %s, an additive file removes expired invitations of that address alone",
  (_, at, changes) => {
    const is = live(
      [liveRole("role_1", "Cashier")],
      [
        invited("mem_1", "ada@example.com", { status: "expired" }),
        liveMember("mem_2", at, { roles: ["role_1"] }),
      ],
    );
    const members = [member("ada@example.com", { id: "mem_2", roles: ["role_1"] })];
    const plan = planOf(desired({ sync: ADDITIVE, members }), is);
    expect(plan.changes.map(({ kind, id }) => `${kind} ${id}`)).toEqual(changes);
  },
);

test("a grant whose end is past is gone, one that has not come yet stays", () => {
  const want = desired({
    roles: [role("Cashier")],
    members: [
      member("ada@example.com", {
        roles: [
          { role: "Cashier", until: until("2026-06-14") },
          { role: "role_owner", until: until("2026-06-15") },
        ],
      }),
    ],
  });
  const is = live(
    [CASHIER, OWNER],
    [liveMember("mem_1", "ada@example.com", { roles: ["role_1", "role_owner"] })],
  );
  const plan = planOf(want, is);
  expect(plan.changes.map(({ kind, reason }) => [kind, reason])).toEqual([["update", "access-ended"]]);
  expect(plan.changes[0]?.fields).toEqual([
    { field: "roles", added: [], removed: [{ id: "role_1", name: "Cashier" }] },
  ]);
});

test("a member whose every grant has ended is removed, also where members are additive", () => {
  const ended = [{ role: "Cashier", until: until("2026-01-31") }];
  const want = desired({
    sync: ADDITIVE,
    roles: [role("Cashier")],
    members: [member("ada@example.com", { roles: ended })],
  });
  const plan = planOf(want, live([CASHIER], [liveMember("mem_1", "ada@example.com", { roles: ["role_1"] })]));
  expect(plan.changes.map(({ kind, reason }) => [kind, reason])).toEqual([["delete", "access-ended"]]);
  expect(brief(planOf(want, live([CASHIER])))).toEqual([]);
});

test("a membership that has ended is removed; a member who never had a role is not taken for one", () => {
  const want = desired({
    members: [member("ada@example.com", { until: until("2026-01-31") }), member("bob@example.com")],
  });
  const is = live([], [liveMember("mem_1", "ada@example.com"), liveMember("mem_2", "bob@example.com")]);
  expect(brief(planOf(want, is))).toEqual(["delete member ada@example.com"]);
});

test("the plan of a later day takes away what will have ended by then", () => {
  const grants = [{ role: "role_owner" }, { role: "Cashier", until: until("2027-01-31") }];
  const want = desired({ roles: [role("Cashier")], members: [member("ada@example.com", { roles: grants })] });
  const is = live(
    [CASHIER, OWNER],
    [liveMember("mem_1", "ada@example.com", { roles: ["role_1", "role_owner"] })],
  );
  expect(brief(planOf(want, is))).toEqual([]);
  expect(brief(planOf(want, is, Date.parse("2027-02-01T00:00:00Z")))).toEqual([
    "update member ada@example.com",
  ]);
});

test("a plan does not see ignored members and roles", () => {
  const ignore = { roles: ["Legacy *"], members: ["*@auditor.example", "mem_9*"] };
  const is = live(
    [liveRole("role_1", "Legacy Till")],
    [liveMember("mem_1", "eve@Auditor.example"), liveMember("mem_99", "x@example.com")],
  );
  expect(brief(planOf(desired({ ignore, roles: [], members: [] }), is))).toEqual([]);
});

test("an ignored role that a member holds goes along when the member's roles are sent", () => {
  const ignore = { roles: ["Legacy *"], members: [] };
  const is = live(
    [liveRole("role_9", "Legacy Till"), CASHIER],
    [liveMember("mem_1", "ada@example.com", { roles: ["role_9"] })],
  );
  const want = desired({
    ignore,
    roles: [role("Cashier")],
    members: [member("ada@example.com", { roles: ["Cashier"] })],
  });
  const [change] = planOf(want, is).changes;
  expect(change?.fields).toEqual([
    { field: "roles", added: [{ id: "role_1", name: "Cashier" }], removed: [] },
  ]);
  expect(change?.after).toMatchObject({ roles: [{ id: "role_1" }, { id: "role_9", name: "Legacy Till" }] });
});

test("an ignored role cannot be given", () => {
  const want = desired({
    ignore: { roles: ["Cashier"], members: [] },
    members: [member("ada@example.com", { roles: ["Cashier"] })],
  });
  expect(briefFindings(planOf(want, live([CASHIER])))).toEqual([
    "error member-role-ignored ada@example.com",
    "warning roles-ignored ignore.roles",
  ]);
});

test("an unlisted member is removed where members are authoritative, and left alone where they are additive", () => {
  const is = live([], [liveMember("mem_1", "ada@example.com")]);
  expect(brief(planOf(desired({ members: [] }), is))).toEqual(["delete member ada@example.com"]);
  const additive = desired({ members: [], sync: { ...SYNC, roles: "authoritative", members: "additive" } });
  expect(brief(planOf(additive, is))).toEqual([]);
});

test("without a members section no member is touched", () => {
  expect(brief(planOf(desired({ roles: [] }), live([], [liveMember("mem_1", "ada@example.com")])))).toEqual(
    [],
  );
});

const ofType = (type: string) => ({
  ...liveMember("mem_1", "bot@example.com"),
  user: { id: "u", email: "bot@example.com", mfaOnLogin: false, type },
});

test.each([
  ["service_account", "bot@example.com is a service account that the file does not list; it is left alone."],
  ["system_account", "bot@example.com is a system account that the file does not list; it is left alone."],
  ["robot", 'bot@example.com is not listed, and its user type "robot" is unknown; it is left alone.'],
])("an unlisted %s is never removed, and shown", (type, message) => {
  const plan = planOf(desired({ members: [] }), live([], [ofType(type)]));
  expect(brief(plan)).toEqual([]);
  expect(plan.findings).toMatchObject([{ code: "member-service-account", severity: "warning", message }]);
  expect(plan.summary.members).toMatchObject({ unchanged: 0, unmanaged: 1 });
});

test("an account of any type is managed where the file lists it, and removed where its access ends", () => {
  const listed = (rest: object) => desired({ members: [member("bot@example.com", rest)] });
  const is = live([CASHIER], [ofType("system_account")]);
  const plan = planOf(listed({ roles: ["Cashier"] }), is);
  expect([brief(plan), briefFindings(plan)]).toEqual([["update member bot@example.com"], []]);
  expect(brief(planOf(listed({ until: until("2026-01-31") }), is))).toEqual([
    "delete member bot@example.com",
  ]);
});

test.each(["user", "managed_user"])("an unlisted %s is removed", (type) => {
  expect(brief(planOf(desired({ members: [] }), live([], [ofType(type)])))).toEqual([
    "delete member bot@example.com",
  ]);
});

test("accounts that nobody invited are not reported if unlisted members stay", () => {
  const plan = planOf(desired({ sync: ADDITIVE, members: [] }), live([], [ofType("robot")]));
  expect([brief(plan), briefFindings(plan)]).toEqual([[], []]);
});

test("a member without an address is never removed, and reported", () => {
  const { user: _, ...nameless } = liveMember("mem_1", "");
  const plan = planOf(desired({ members: [] }), live([], [nameless]));
  expect(brief(plan)).toEqual([]);
  expect(briefFindings(plan)).toEqual(["warning member-without-address mem_1"]);
  const user = { id: "u", mfaOnLogin: false, type: "user" };
  expect(planOf(desired({ members: [] }), live([], [{ ...nameless, user }]))).toEqual(plan);
});

test("a disabled member is reported, since no request can enable it", () => {
  const is = live([], [liveMember("mem_1", "ada@example.com", { status: "disabled" })]);
  expect(briefFindings(planOf(desired({ members: [member("ada@example.com")] }), is))).toEqual([
    "warning member-disabled ada@example.com",
  ]);
});

test("a role that does not exist is an error, and the member is left as it is", () => {
  const want = desired({ members: [member("ada@example.com", { roles: ["Cashir"] })] });
  const plan = planOf(want, live([CASHIER], [liveMember("mem_1", "ada@example.com")]));
  expect(brief(plan)).toEqual([]);
  expect(briefFindings(plan)).toEqual(["error member-role-unknown ada@example.com"]);
});

test("a live role can be given where roles are not managed, unless two have its name", () => {
  const want = desired({ members: [member("ada@example.com", { roles: ["Cashier"] })] });
  const is = [liveMember("mem_1", "ada@example.com")];
  expect(brief(planOf(want, live([CASHIER], is)))).toEqual(["update member ada@example.com"]);
  const plan = planOf(want, live([CASHIER, liveRole("role_2", "Cashier")], is));
  expect(briefFindings(plan)).toEqual(["error member-role-ambiguous ada@example.com"]);
});

test("a role that the same plan removes cannot be given by its id", () => {
  const want = desired({ roles: [], members: [member("ada@example.com", { roles: ["role_1"] })] });
  const plan = planOf(want, live([CASHIER], []));
  expect(briefFindings(plan)).toEqual(["error member-role-removed ada@example.com"]);
});

test("a member who is not there yet needs roles", () => {
  const { roles: _, ...bare } = member("ada@example.com");
  expect(briefFindings(planOf(desired({ members: [bare] }), live()))).toEqual([
    "warning member-needs-roles ada@example.com",
  ]);
});

test("a managed user's nickname is kept in step, its password never compared", () => {
  const managed = { nickname: "Till 7", passwordEnv: "TILL_7_PASSWORD" };
  const till = liveMember("mem_1", "till@example.com");
  const user = {
    id: "u",
    email: "till@example.com",
    mfaOnLogin: false,
    type: "managed_user",
  };
  const want = desired({ members: [member("till@example.com", { managed })] });
  const plan = planOf(want, live([], [{ ...till, user: { ...user, nickname: "Till" } }]));
  expect(plan.changes[0]?.fields).toEqual([{ field: "nickname", before: "Till", after: "Till 7" }]);
  expect(brief(planOf(want, live([], [{ ...till, user: { ...user, nickname: "Till 7" } }])))).toEqual([]);
});

test("an ordinary user who is written as managed is reported and not changed", () => {
  const managed = { nickname: "Till 7", passwordEnv: "TILL_7_PASSWORD" };
  const want = desired({ members: [member("till@example.com", { managed })] });
  const plan = planOf(want, live([], [liveMember("mem_1", "till@example.com")]));
  expect(brief(plan)).toEqual([]);
  expect(briefFindings(plan)).toEqual(["warning member-not-managed till@example.com"]);
});

test("the sums tell what changes and what stays", () => {
  const is = live(
    [CASHIER, liveRole("role_2", "Old")],
    [
      liveMember("mem_1", "ada@example.com"),
      liveMember("mem_2", "bob@example.com"),
      liveMember("mem_3", "eve@example.com"),
    ],
  );
  const want = desired({
    roles: [role("Cashier"), role("New")],
    members: [
      member("ada@example.com"),
      member("bob@example.com", { metadata: { a: 1 } }),
      member("new@example.com"),
    ],
  });
  expect(planOf(want, is).summary).toEqual({
    roles: { create: 1, update: 0, replace: 0, delete: 1, unchanged: 1 },
    members: { create: 1, update: 1, replace: 0, delete: 1, unchanged: 1 },
  });
});

test("a member whose entry says nothing of roles goes with a replaced role to its successor", () => {
  const { roles: _, ...silent } = member("ada@example.com");
  const want = desired({
    sync: { ...SYNC, replaceRoles: true },
    roles: [role("Cashier", { metadata: { till: "2" } })],
    members: [silent],
  });
  const old = liveRole("role_1", "Cashier", { metadata: { till: "1" } });
  const ada = liveMember("mem_1", "ada@example.com", { roles: ["role_1"] });
  const plan = planOf(want, live([old], [ada]));
  expect(brief(plan)).toEqual(["replace role Cashier", "update member ada@example.com"]);
  expect(plan.changes[1]).toMatchObject({
    reason: "declared",
    after: { roles: [{ id: null, name: "Cashier" }] },
  });
});

test.each([
  ["Casheir", "Cashier"],
  ["role_employe", "role_employee"],
  ["cashier", "Cashier"],
  ["Admin", "role_admin"],
  ["manager", "role_manager"],
  ["Something else", null],
])("a role that nobody knows, %s, comes with the live or predefined name that is near: %s", (name, near) => {
  const want = desired({ members: [member("ada@example.com", { roles: [name] })] });
  const [finding] = planOf(want, live([CASHIER])).findings;
  expect(finding?.code).toBe("member-role-unknown");
  if (near === null) expect(finding?.hint).toContain("Correct the name");
  else expect(finding?.hint).toContain(`Did you mean "${near}"?`);
});

test("what is ignored by its id and declared by its name or address is an error, not a creation that would fail", () => {
  const is = live([liveRole("role_1", "Clerk")], [liveMember("mem_1", "Ada@example.com")]);
  const want = desired({
    ignore: { roles: ["role_1"], members: ["mem_1"] },
    roles: [role("Clerk")],
    members: [member("ada@example.com")],
  });
  expect(briefFindings(planOf(want, is)).slice(0, 2)).toEqual([
    "error member-ignored ada@example.com",
    "error role-ignored Clerk",
  ]);
  const renamed = desired({
    ignore: { roles: ["role_1"], members: [] },
    roles: [role("Till", { previously: ["Clerk"] })],
  });
  expect(briefFindings(planOf(renamed, is))[0]).toBe("error role-ignored Till");
});

test("an entry is for who of its address is not ignored, and no invitation is renewed beside an ignored member", () => {
  const beside = (status: "pending" | "expired") => {
    const is = live(
      [],
      [liveMember("mem_1", "ada@example.com"), invited("mem_2", "ada@example.com", { status })],
    );
    const ignore = { roles: [], members: ["mem_1"] };
    return briefFindings(planOf(desired({ ignore, members: [member("ada@example.com")] }), is));
  };
  expect(beside("pending")).not.toContain("error member-ignored ada@example.com");
  expect(beside("expired")).toContain("error member-ignored ada@example.com");
});

test("members whom an additive file does not list are counted as not managed", () => {
  const is = live([], [liveMember("mem_a", "ada@example.com"), liveMember("mem_b", "bob@example.com")]);
  const made = planOf(desired({ sync: ADDITIVE, members: [member("ada@example.com")] }), is);
  expect(made.summary.members).toMatchObject({ unchanged: 1, unmanaged: 1 });
  const all = planOf(
    desired({ sync: ADDITIVE, members: [member("ada@example.com"), member("bob@example.com")] }),
    is,
  );
  expect(all.summary.members).not.toHaveProperty("unmanaged");
});

test("a pin to an open invitation of another address is warned of", () => {
  const is = live([], [invited("mem_b", "bob@example.com")]);
  const made = planOf(desired({ members: [member("ada@example.com", { id: "mem_b" })] }), is);
  expect(briefFindings(made)).toEqual(["warning member-pin-other ada@example.com"]);
});

test("a service account that moves along with a replaced role is not said to be left alone", () => {
  const account = liveMember("mem_1", "sa@example.com", { roles: ["role_1"] });
  const plan = planOf(
    desired({
      sync: { ...SYNC, replaceRoles: true },
      roles: [role("Cashier", { metadata: { a: "b" } })],
      members: [],
    }),
    live(
      [liveRole("role_1", "Cashier")],
      [{ ...account, user: account.user && { ...account.user, type: "service_account" } } as typeof account],
    ),
  );
  expect(brief(plan)).toEqual(["replace role Cashier", "update member sa@example.com"]);
  expect(plan.findings.map(({ message }) => message)).toEqual([
    "sa@example.com is a service account that the file does not list; it moves to the successor of a replaced role, but is otherwise left alone.",
  ]);
});
