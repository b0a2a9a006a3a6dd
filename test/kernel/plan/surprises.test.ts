import { describe, expect, test } from "vitest";
import { compareReviewed } from "../../../src/kernel/approval/compare-reviewed.ts";
import { temporaryName } from "../../../src/kernel/fields/temporary-name.ts";
import { buildPlan } from "../../../src/kernel/plan/build-plan.ts";
import { isEdited } from "../../../src/kernel/plan/edited-plan.ts";
import type { DesiredMember } from "../../../src/model/desired.ts";
import type { LiveRole, LiveState } from "../../../src/model/live.ts";
import type { MemberImage, Plan } from "../../../src/model/plan.ts";
import {
  brief,
  briefFindings,
  briefRefusals,
  desired,
  invited,
  live,
  liveMember,
  liveRole,
  matches,
  member,
  NO_GUARDS,
  NOW,
  OWNER,
  planOf,
  role,
  SYNC,
  until,
} from "../../support/build.ts";
import { freshOf, reviewOf } from "../../support/reviews.ts";

describe("holders", () => {
  test("deferring for one role does not remove another role's last holder", () => {
    const is = live(
      [liveRole("role_a", "A"), liveRole("role_b", "B")],
      [
        liveMember("mem_x", "x@e.x", { roles: ["role_a"] }),
        liveMember("mem_y", "y@e.x", { roles: ["role_b"] }),
      ],
    );
    const want = desired({
      guards: { ...NO_GUARDS, minHolders: { A: 1, B: 1 } },
      members: [member("x@e.x", { roles: ["B"] }), member("p@e.x", { roles: ["A"] })],
    });
    expect(briefRefusals(planOf(want, is)).filter((one) => one.includes("min-holders"))).not.toEqual([]);
  });

  describe("a demotion that waits", () => {
    const [BOSS, CLERK] = [liveRole("role_b", "Boss"), liveRole("role_c", "Clerk")];
    const ada = (...roles: readonly string[]) => liveMember("mem_a", "ada@e.x", { roles: [...roles] });
    const invitation = invited("mem_o", "o@e.x", { roles: ["role_owner"] });
    const is = (...roles: readonly string[]) => live([OWNER, BOSS, CLERK], [ada(...roles), invitation]);
    const input = (state: LiveState, leaveOut?: ReadonlySet<string>, rest: Partial<DesiredMember> = {}) => ({
      desired: desired({
        members: [
          member("ada@e.x", { roles: ["Clerk"], ...rest }),
          member("o@e.x", { roles: ["role_owner"] }),
        ],
      }),
      live: state,
      service: "https://service.example",
      now: NOW,
      matches,
      ...(leaveOut && { leaveOut }),
    });
    const rolesOf = (image: MemberImage | null) => image?.roles.map(({ name }) => name).sort();
    const shown = ({ changes, deferred }: Plan) => ({
      now: changes.map(({ after }) => rolesOf(after as MemberImage)),
      later: deferred.map(({ change: { before, after } }) =>
        [before, after].map((one) => rolesOf(one as MemberImage)),
      ),
    });
    const demoted = { later: [[["Clerk", "Owner"], ["Clerk"]]] };

    test("does not hide what else somebody has given that member", () => {
      const plan = buildPlan(input(is("role_owner", "role_c", "role_b")));
      expect(shown(plan)).toEqual({ now: [["Clerk", "Owner"]], ...demoted });
      expect(briefRefusals(plan)).toEqual([]);
      expect(isEdited(plan)).toBe(false);
      const settled = buildPlan(input(is("role_owner", "role_c")));
      expect(shown(settled)).toEqual({ now: [], ...demoted });
      expect(settled.deferred).toEqual(plan.deferred);
    });

    test("sets what the file says of other fields, and grants nothing before", () => {
      const plan = buildPlan(input(is("role_owner", "role_b"), undefined, { metadata: { desk: "2" } }));
      expect(shown(plan)).toEqual({ now: [["Owner"]], later: [[["Owner"], ["Clerk"]]] });
      expect(plan.changes.map(({ after }) => after?.metadata)).toEqual([{ desk: "2" }]);
    });

    test("waits whole for the user of the key, who may need what it has", () => {
      const plan = buildPlan(input({ ...is("role_owner", "role_c", "role_b"), callerId: "mem_a" }));
      expect(shown(plan)).toEqual({ now: [], later: [[["Boss", "Clerk", "Owner"], ["Clerk"]]] });
    });

    test("never becomes due because its other part is left out, and leaves that when it is left out", () => {
      const state = is("role_owner", "role_c", "role_b");
      const plan = buildPlan(input(state));
      const [now, later] = [plan.changes, plan.deferred.map(({ change }) => change)].map((all) =>
        all.map(({ fingerprint }) => fingerprint),
      );
      expect(shown(buildPlan(input(state, new Set(now))))).toEqual({ now: [], later: [] });
      expect(shown(buildPlan(input(state, new Set(later))))).toEqual({
        now: [["Clerk", "Owner"]],
        later: [],
      });
    });

    test("is approved in both parts by one review", () => {
      const { desired: want, live: state } = input(is("role_owner", "role_c", "role_b"));
      const review = reviewOf("#1", want, state);
      const { refused, account } = compareReviewed([review], freshOf(want, state));
      expect(refused).toEqual([]);
      expect(account.map(({ verdict }) => verdict).sort()).toEqual(["covered", "deferred"]);
      const accepted = live(
        [OWNER, BOSS, CLERK],
        [ada("role_owner", "role_c"), liveMember("mem_o", "o@e.x", { roles: ["role_owner"] })],
      );
      expect(compareReviewed([review], freshOf(want, accepted)).refused).toEqual([]);
    });
  });

  test("the last owner stays also if the role is ignored or not listed", () => {
    const holder = [liveMember("mem_o", "o@e.x", { roles: ["role_owner"] })];
    const ignore = { roles: ["role_*"], members: [] };
    expect(briefRefusals(planOf(desired({ ignore, members: [] }), live([OWNER], holder)))).toEqual([
      "guard min-holders Owner",
    ]);
    expect(briefRefusals(planOf(desired({ members: [] }), live([], holder)))).toEqual([
      "guard min-holders role_owner",
    ]);
  });
});

describe("a replacement that was cut short", () => {
  const old = (permissions: readonly string[]): LiveRole =>
    liveRole("role_1", "Clerk", { permissions, metadata: { v: "1" } });
  const next = (permissions: readonly string[]): LiveRole =>
    liveRole("role_2", "Clerk", { permissions, metadata: { v: "2" } });
  const aside = (permissions: readonly string[]): LiveRole => ({
    ...old(permissions),
    name: temporaryName("Clerk", "role_1"),
  });
  const holder = liveMember("mem_a", "a@e.x", { roles: ["role_1"] });
  const want = (permissions: readonly string[]) =>
    desired({
      sync: { ...SYNC, replaceRoles: true },
      roles: [role("Clerk", { permissions, metadata: { v: "2" } })],
    });

  test("gives nobody permissions that the new role has gained meanwhile", () => {
    const half = live([aside(["sales"]), next(["sales", "refunds_create"])], [holder]);
    const again = planOf(want(["sales"]), half);
    expect(again.changes.map(({ kind, id }) => [kind, id])).toContainEqual(["update", "role_2"]);
    const review = reviewOf("#1", want(["sales"]), live([old(["sales"])], [holder]));
    const { covered, refused } = compareReviewed([review], freshOf(want(["sales"]), half));
    // The end state is the reviewed one: the new role is narrowed before anybody gets it.
    expect(refused).toEqual([]);
    expect(covered.changes).toEqual(again.changes);
    expect(again.impact.members).toEqual([]);
  });

  test("shows what its holders gain and lose, and locks nobody out silently", () => {
    const gaining = planOf(
      want(["sales", "refunds_create"]),
      live([aside(["sales"]), next(["sales", "refunds_create"])], [holder]),
    );
    expect(gaining.impact.members).toMatchObject([{ name: "a@e.x", gained: ["refunds_create"] }]);
    const losing = { ...live([aside(["members_update"]), next([])], [holder]), callerId: "mem_a" };
    expect(briefRefusals(planOf(want([]), losing))).toContain("guard self-lockout a@e.x");
  });
});

describe("ignored members", () => {
  const bot = liveMember("mem_bot", "bot@e.x", { roles: ["role_1"] });
  const ignore = { roles: [], members: ["bot@*"] };

  test("are shown if a role change affects them", () => {
    const is = live([liveRole("role_1", "Bot", { permissions: ["members_update"] })], [bot]);
    const plan = planOf(desired({ ignore, roles: [role("Bot", { permissions: ["refunds_create"] })] }), {
      ...is,
      callerId: "mem_bot",
    });
    expect(plan.impact.members).toMatchObject([
      { name: "bot@e.x", gained: ["refunds_create"], lost: ["members_update"] },
    ]);
    expect(briefRefusals(plan)).toEqual(["guard self-lockout bot@e.x"]);
  });

  test("are exempt from policies", () => {
    const policies = {
      emailDomains: ["example.com"],
      separate: [],
      maxHolders: { Bot: 0 },
      requireUntil: { Bot: null },
      requireMfa: ["Bot"],
      forbidPermissions: [],
    };
    expect(
      briefRefusals(planOf(desired({ ignore, policies }), live([liveRole("role_1", "Bot")], [bot]))),
    ).toEqual([]);
  });

  test("and roles that are declared all the same are an error", () => {
    const both = { roles: ["Clerk"], members: ["*@ag.x"] };
    const want = desired({ ignore: both, roles: [role("Clerk")], members: [member("b@ag.x")] });
    expect(
      briefFindings(planOf(want, live([liveRole("role_1", "Clerk")], [liveMember("mem_1", "b@ag.x")]))),
    ).toEqual([
      "error member-ignored b@ag.x",
      "error role-ignored Clerk",
      "warning members-ignored ignore.members",
      "warning roles-ignored ignore.roles",
    ]);
  });
});

describe("an approval", () => {
  const clerks = [OWNER, liveRole("role_c", "Owner", { permissions: ["sales"] })];

  test("of one role does not approve another with the same name", () => {
    const is = live(clerks, [liveMember("mem_a", "a@e.x")]);
    const want = (id: string) => desired({ members: [member("a@e.x", { roles: [id] })] });
    const review = reviewOf("#1", want("role_c"), is);
    expect(compareReviewed([review], freshOf(want("role_owner"), is)).covered.changes).toEqual([]);
    expect(compareReviewed([review], freshOf(want("role_c"), is)).refused).toEqual([]);
  });

  test("reports what the file no longer does, and gives nobody what comes of it", () => {
    const is = live(
      [liveRole("role_1", "Clerk", { permissions: ["sales", "refunds_create"] })],
      [liveMember("mem_a", "a@e.x")],
    );
    const want = (permissions: readonly string[]) =>
      desired({
        roles: [role("Clerk", { permissions })],
        members: [member("a@e.x", { roles: ["Clerk"] })],
      });
    const review = reviewOf("#1", want(["sales"]), is);
    const comparison = compareReviewed([review], freshOf(want(["sales", "refunds_create"]), is));
    expect(comparison.covered.changes).toEqual([]);
    expect(comparison.refused.flatMap(({ reasons }) => reasons)).toEqual([
      "a@e.x would get refunds_create through Clerk, which no review shows",
    ]);
    expect(comparison.account).toMatchObject([
      { name: "Clerk", verdict: "dropped", reasons: ["the role Clerk still grants refunds_create"] },
      { name: "a@e.x", verdict: "refused" },
    ]);
  });

  test("does not cover permissions that a role has gained meanwhile", () => {
    const is = (permissions: readonly string[]) =>
      live([liveRole("role_1", "Clerk", { permissions })], [liveMember("mem_a", "a@e.x")]);
    const want = desired({ members: [member("a@e.x", { roles: ["Clerk"] })] });
    const review = reviewOf("#1", want, is(["sales"]));
    const comparison = compareReviewed([review], freshOf(want, is(["sales", "refunds_create"])));
    expect(comparison.covered.changes).toEqual([]);
  });

  test("of a new invitation covers what is left when the expired one is gone", () => {
    const want = desired({ members: [member("a@e.x")] });
    const review = reviewOf("#1", want, live([], [invited("mem_1", "a@e.x", { status: "expired" })]));
    expect(compareReviewed([review], freshOf(want, live())).refused).toEqual([]);
  });
});

describe("identity", () => {
  test("a role cannot take over a predefined role's id by its name", () => {
    const is = live(
      [OWNER, liveRole("role_x", "role_owner")],
      [liveMember("mem_o", "o@e.x", { roles: ["role_owner"] })],
    );
    expect(brief(planOf(desired({ members: [member("o@e.x", { roles: ["role_owner"] })] }), is))).toEqual([]);
  });

  test("a pin to somebody else is reported", () => {
    const is = live([], [liveMember("mem_ada", "ada@e.x"), liveMember("mem_bob", "bob@e.x")]);
    const plan = planOf(desired({ members: [member("bob@e.x", { id: "mem_ada" })] }), is);
    expect(briefFindings(plan)).toEqual(["warning member-pin-other bob@e.x"]);
  });

  test("a pin that points to nobody does not keep access that has ended", () => {
    const want = desired({ members: [member("bob@e.x", { id: "mem_old", until: until("2026-01-01") })] });
    expect(briefFindings(planOf(want, live([], [liveMember("mem_new", "bob@e.x")])))).toEqual([
      "error member-pin-missing bob@e.x",
    ]);
    expect(briefFindings(planOf(want, live()))).toEqual([]);
  });

  test("protection sees every address of a member", () => {
    const two = {
      ...liveMember("mem_1", "new@e.x"),
      invite: { email: "old@e.x", expiresAt: "2026-01-01T00:00:00Z" },
    };
    const guards = { protect: { roles: [], members: ["old@e.x"] } };
    expect(briefRefusals(planOf(desired({ guards, members: [] }), live([], [two])))).toEqual([
      "guard protect new@e.x",
    ]);
  });

  test("moving people between two roles of one name counts as taking a role away", () => {
    const roles = [
      liveRole("role_1", "Clerk", { permissions: ["refunds_create"] }),
      liveRole("role_2", "Clerk", { permissions: ["sales"] }),
    ];
    const people = Array.from({ length: 5 }, (_, index) =>
      liveMember(`mem_${index}`, `m${index}@e.x`, { roles: ["role_1"] }),
    );
    const want = desired({
      members: people.map(({ user }) => member(user?.email ?? "", { roles: ["role_2"] })),
    });
    expect(briefRefusals(planOf(want, live(roles, people)))).toEqual(["guard max-removals"]);
  });

  test("an expired invitation of a managed user comes back as a managed user", () => {
    const managed = { passwordEnv: "PW", nickname: "Till" };
    const plan = planOf(
      desired({ members: [member("m@e.x", { managed })] }),
      live([], [invited("mem_1", "m@e.x", { status: "expired" })]),
    );
    expect(plan.changes[0]?.after).toMatchObject({ managed });
  });
});

test("a member claimed by an entry is never removed, even if its id occurs twice", () => {
  const role1 = liveRole("role_1", "Cashier");
  const [one, other] = [liveMember("mem_1", "a@e.x"), liveMember("mem_1", "b@e.x")];
  for (const is of [live([role1, role1], [one, other]), live([role1, role1], [other, one])]) {
    const pinned = desired({
      roles: [role("Cashier", { id: "role_1" })],
      members: [member("a@e.x", { id: "mem_1" })],
    });
    const named = desired({ members: [member("a@e.x")] });
    for (const want of [pinned, named]) {
      expect(planOf(want, is).changes.filter(({ kind }) => kind === "delete")).toEqual([]);
    }
  }
});

test("a name that moves to another role keeps the holders of both", () => {
  const guards = { ...NO_GUARDS, minHolders: { B: 1 } };
  const is = live(
    [liveRole("role_a", "A"), liveRole("role_b", "B")],
    [
      liveMember("mem_x", "x@e.x", { roles: ["role_a"] }),
      liveMember("mem_y", "y@e.x", { roles: ["role_b"] }),
    ],
  );
  const roles = [role("B", { id: "role_a" }), role("C", { id: "role_b" })];
  const want = desired({ guards, roles, members: [member("y@e.x", { roles: ["C"] })] });
  expect(briefRefusals(planOf(want, is))).toEqual(["guard min-holders A"]);
});
