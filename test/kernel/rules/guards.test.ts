import { describe, expect, test } from "vitest";
import { applyOverrides, parseOverride } from "../../../src/kernel/rules/overrides.ts";
import type { DesiredMember, GuardSettings } from "../../../src/model/desired.ts";
import type { LiveMember } from "../../../src/model/live.ts";
import type { Plan } from "../../../src/model/plan.ts";
import { planView } from "../../../src/show/view/plan-view.ts";
import {
  brief,
  briefFindings,
  briefRefusals,
  desired,
  invited,
  leaver,
  live,
  liveMember,
  liveRole,
  member,
  NO_GUARDS,
  planOf,
  role,
  SYNC,
  until,
} from "../../support/build.ts";
import { processorTime } from "../../support/processor-time.ts";

const OWNER = liveRole("role_owner", "Owner", { predefined: true, permissions: ["members_update"] });

function crowd(count: number, rest: Partial<LiveMember> = {}): readonly LiveMember[] {
  return Array.from({ length: count }, (_, index) =>
    liveMember(`mem_${index}`, `m${index}@example.com`, rest),
  );
}

function keep(members: readonly LiveMember[]) {
  return members.map(({ user }) => member(user?.email ?? ""));
}

/** What a plan tells to give to `--allow`, by refusal. */
const printedOverrides = (plan: Plan): readonly (string | null)[] =>
  planView(plan).refusals.map(({ override }) => override?.replace(/^apply --allow /, "") ?? null);

describe("removals", () => {
  test("up to three are always allowed, and more than a quarter is refused", () => {
    const twelve = crowd(12);
    expect(briefRefusals(planOf(desired({ members: keep(twelve.slice(3)) }), live([], twelve)))).toEqual([]);
    const plan = planOf(desired({ members: keep(twelve.slice(4)) }), live([], twelve));
    expect(briefRefusals(plan)).toEqual(["guard max-removals"]);
    expect(plan.refusals[0]?.message).toBe(
      "4 of 12 members would be removed or lose something; the limit is 3.",
    );
    expect(brief(plan)).toHaveLength(4);
  });

  test("the limit can be another share, or a count", () => {
    const twelve = crowd(12);
    const is = live([], twelve);
    const six = keep(twelve.slice(6));
    const refusals = (maxRemovals: GuardSettings["maxRemovals"]) =>
      briefRefusals(
        planOf(desired({ guards: { ...NO_GUARDS, ...(maxRemovals && { maxRemovals }) }, members: six }), is),
      );
    expect(refusals({ percent: 50 })).toEqual([]);
    expect(refusals({ percent: 49 })).toEqual(["guard max-removals"]);
    expect(refusals({ count: 6 })).toEqual([]);
    expect(refusals({ count: 5 })).toEqual(["guard max-removals"]);
  });

  test("a count of nothing allows nothing", () => {
    const guards = { ...NO_GUARDS, maxRemovals: { count: 0 } };
    expect(briefRefusals(planOf(desired({ guards, members: [] }), live([], crowd(1))))).toEqual([
      "guard max-removals",
    ]);
  });

  test("taking a role away counts like a removal, giving one does not", () => {
    const roles = [liveRole("role_1", "Cashier"), liveRole("role_2", "Lead")];
    const eight = crowd(8, { roles: ["role_1"] });
    const without = eight.map(({ user }) => member(user?.email ?? "", { roles: ["Lead"] }));
    const want = desired({ roles: [role("Cashier"), role("Lead")], members: without });
    expect(briefRefusals(planOf(want, live(roles, eight)))).toEqual(["guard max-removals"]);
    const more = eight.map(({ user }) => member(user?.email ?? "", { roles: ["Cashier", "Lead"] }));
    expect(briefRefusals(planOf({ ...want, members: more }, live(roles, eight)))).toEqual([]);
  });

  test("two memberships count as two, also if an entry has the address of the other one", () => {
    const [first, second] = crowd(2, { roles: ["role_1"] });
    const want = desired({ guards: { ...NO_GUARDS, maxRemovals: { count: 1 } } });
    const is = live([liveRole("role_1", "Cashier")], crowd(2, { roles: ["role_1"] }));
    const members = [member(first?.user?.email ?? "", { id: second?.id ?? "" })];
    expect(briefRefusals(planOf({ ...want, members }, is))).toEqual(["guard max-removals"]);
  });

  test("invitations count as in the plan, also expired ones", () => {
    const pending = crowd(8).map(({ id, user }) => invited(id, user?.email ?? ""));
    expect(briefRefusals(planOf(desired({ members: [] }), live([], pending)))).toEqual([
      "guard max-removals",
    ]);
    const expired = pending.map((one) => ({ ...one, status: "expired" as const }));
    expect(briefRefusals(planOf(desired({ members: [] }), live([], expired)))).toEqual([
      "guard max-removals",
    ]);
  });

  test("roles are judged apart from members", () => {
    const roles = Array.from({ length: 8 }, (_, index) =>
      liveRole(`role_${index}`, `R${index}`, { permissions: ["a"] }),
    );
    expect(briefRefusals(planOf(desired({ roles: [] }), live(roles, crowd(100))))).toEqual([
      "guard max-removals",
    ]);
    const emptied = roles.map(({ name }) => role(name));
    expect(briefRefusals(planOf(desired({ roles: emptied }), live(roles, crowd(100))))).toEqual([
      "guard max-removals",
    ]);
  });
});

test("an entry with thousands of roles is judged in time in proportion to them", () => {
  const roles = Array.from({ length: 20_000 }, (_, n) => `R${n}`);
  const before = processorTime();
  planOf(desired({ members: [member("ada@example.com", { roles })] }), live());
  expect(processorTime() - before).toBeLessThan(5000);
});

describe("protected roles and members", () => {
  const guards = { protect: { roles: ["Shift *"], members: ["owner@example.com"] } };

  test("are neither changed nor removed", () => {
    const is = live([liveRole("role_1", "Shift Lead")], [liveMember("mem_1", "Owner@example.com")]);
    const plan = planOf(
      desired({ guards, roles: [role("Shift Lead", { permissions: ["a"] })], members: [] }),
      is,
    );
    expect(briefRefusals(plan)).toEqual(["guard protect Owner@example.com", "guard protect Shift Lead"]);
  });

  test("with two memberships of one address are refused once", () => {
    const twins = ["mem_1", "mem_2"].map((id) => liveMember(id, "owner@example.com"));
    const plan = planOf(desired({ guards, members: [] }), live([], twins));
    expect(brief(plan)).toHaveLength(2);
    expect(briefRefusals(plan)).toEqual(["guard protect owner@example.com"]);
  });

  test("can be created, and left as they are", () => {
    const want = desired({ guards, roles: [role("Shift Lead")], members: [member("owner@example.com")] });
    expect(briefRefusals(planOf(want, live()))).toEqual([]);
    expect(
      briefRefusals(
        planOf(want, live([liveRole("role_1", "Shift Lead")], [liveMember("mem_1", "owner@example.com")])),
      ),
    ).toEqual([]);
  });
});

test("a protected entry that has ended still protects the member whom it is pinned to", () => {
  const guards = { protect: { roles: [], members: ["owner@example.com"] } };
  const entry = member("owner@example.com", { id: "mem_1", until: until("1970-01-01") });
  const is = live([], [liveMember("mem_1", "ada@example.com")]);
  const plan = planOf(desired({ guards, members: [entry] }), is);
  expect(brief(plan)).toEqual(["delete member ada@example.com"]);
  expect(briefRefusals(plan)).toEqual(["guard protect ada@example.com"]);
});

describe("the fewest holders of a role", () => {
  const owner = (id: string, email: string) => liveMember(id, email, { roles: ["role_owner"] });

  test("the only owner is not removed", () => {
    const plan = planOf(desired({ members: [] }), live([OWNER], [owner("mem_1", "ada@example.com")]));
    expect(briefRefusals(plan)).toEqual(["guard min-holders Owner"]);
  });

  test("stays so where a file says it of other roles only, unless it asks for none", () => {
    const is = live([OWNER], [owner("mem_1", "ada@example.com")]);
    const refusedWith = (minHolders: Readonly<Record<string, number>>) =>
      briefRefusals(planOf(desired({ guards: { ...NO_GUARDS, minHolders }, members: [] }), is));
    expect(refusedWith({ role_admin: 1 })).toEqual(["guard min-holders Owner"]);
    expect(refusedWith({ Owner: 2 })).toEqual(["guard min-holders Owner"]);
    expect(refusedWith({ role_owner: 0 })).toEqual([]);
    expect(refusedWith({ Owner: 0 })).toEqual([]);
    expect(refusedWith({})).toEqual([]);
  });

  test("a disabled member does not count as an owner", () => {
    const is = live(
      [OWNER],
      [owner("mem_1", "ada@example.com"), { ...owner("mem_2", "b@example.com"), status: "disabled" }],
    );
    const members = [member("b@example.com", { roles: ["role_owner"] })];
    expect(briefRefusals(planOf(desired({ members }), is))).toEqual(["guard min-holders Owner"]);
  });

  test("a user of an unknown type does not count as an owner", () => {
    const bot = owner("mem_2", "bot@example.com");
    const user = { id: "u", email: "bot@example.com", mfaOnLogin: false, type: "robot" };
    const is = live([OWNER], [owner("mem_1", "ada@example.com"), { ...bot, user }]);
    expect(briefRefusals(planOf(desired({ members: [] }), is))).toEqual(["guard min-holders Owner"]);
  });

  test("a service account does not count as an owner", () => {
    const ada = owner("mem_1", "ada@example.com");
    const user = { id: "user-bot", email: "bot@example.com", mfaOnLogin: false };
    const bot = { ...owner("mem_2", user.email), user: { ...user, type: "service_account" } };
    const is = live([OWNER], [ada, bot]);
    const gone = planOf(desired({ members: [] }), is);
    expect(gone.refusals.map(({ message }) => message)).toEqual([
      'The role "Owner" would lose its only accepted holder, service accounts not counted; it needs 1.',
    ]);
    const bob = member("bob@example.com", { roles: ["role_owner"] });
    const waiting = planOf(desired({ members: [bob] }), is);
    expect(waiting.deferred.map(({ change }) => change.name)).toEqual(["ada@example.com"]);
    // Where service accounts are all that hold it, they are what is kept.
    const bots = live([OWNER], [bot]);
    const without = desired({ members: [member("bot@example.com", { roles: [] })] });
    expect(briefRefusals(planOf(without, bots))).toEqual(["guard min-holders Owner"]);
  });

  test("an override holds for the number of removals that it was given for", () => {
    const guards = { ...NO_GUARDS, minHolders: { role_owner: 2 } };
    const bob = owner("mem_2", "bob@example.com");
    const want = desired({ guards, sync: { ...SYNC, members: "additive" as const } });
    const all = { ...want, members: [member("ada@example.com", { roles: [] })] };
    const is = live([OWNER], [owner("mem_1", "ada@example.com"), bob]);
    const plan = planOf(all, is);
    const override = parseOverride(printedOverrides(plan)[0] ?? "");
    if (override === null) throw new Error("there is no override");
    expect(applyOverrides(plan, [override]).refusals).toEqual([]);
    // Bob is disabled since: the changes are the same, and nobody would be left.
    const since = planOf(all, {
      ...is,
      members: is.members.map((one) => (one === bob ? { ...bob, status: "disabled" } : one)),
    });
    expect(since.fingerprint).toBe(plan.fingerprint);
    expect(applyOverrides(since, [override]).refusals).toHaveLength(1);
  });

  test("one of two owners can be removed", () => {
    const is = live([OWNER], [owner("mem_1", "ada@example.com"), owner("mem_2", "bob@example.com")]);
    const want = desired({ members: [member("bob@example.com", { roles: ["role_owner"] })] });
    expect(briefRefusals(planOf(want, is))).toEqual([]);
  });

  test("the old owner stays until the new one has accepted", () => {
    const is = live([OWNER], [owner("mem_1", "ada@example.com")]);
    const want = desired({ members: [member("bob@example.com", { roles: ["role_owner"] })] });
    const plan = planOf(want, is);
    expect(brief(plan)).toEqual(["create member bob@example.com"]);
    expect(plan.refusals).toEqual([]);
    expect(
      plan.deferred.map(({ change, role: held, waitsFor }) => [change.kind, change.name, held, waitsFor]),
    ).toEqual([["delete", "ada@example.com", "Owner", ["bob@example.com"]]]);
    const accepted = live([OWNER], [owner("mem_1", "ada@example.com"), owner("mem_2", "bob@example.com")]);
    expect(brief(planOf(want, accepted))).toEqual(["delete member ada@example.com"]);
  });

  describe("at the address of a member who is removed", () => {
    const leaving = {
      leavers: [leaver("old@example.com", "2026-06-01")],
      sync: { ...SYNC, members: "additive" as const },
    };
    const is = live([OWNER], [owner("mem_1", "ada@example.com")]);
    const handOver = (...entries: readonly DesiredMember[]): Plan =>
      planOf(desired({ ...leaving, members: [member("old@example.com", { id: "mem_1" }), ...entries] }), is);

    test.each([{}, { managed: { passwordEnv: "TILL" } }])("nobody joins in time: %o", (managed) => {
      const plan = handOver(member("Ada@example.com", { roles: ["role_owner"], ...managed }));
      expect(briefRefusals(plan)).toEqual(["guard min-holders Owner"]);
      expect(plan.deferred).toEqual([]);
    });

    test("nobody is invited before that member goes", () => {
      const plan = handOver(member("ada@example.com"), member("bob@example.com", { roles: ["role_owner"] }));
      expect(brief(plan)).toEqual(["create member bob@example.com"]);
      expect(briefRefusals(plan)).toEqual([]);
      expect(plan.deferred.map(({ change, waitsFor }) => [change.kind, change.name, waitsFor])).toEqual([
        ["delete", "ada@example.com", ["bob@example.com"]],
        ["create", "ada@example.com", ["bob@example.com"]],
      ]);
    });
  });

  test("a role that is already below its minimum, and loses nobody, is only reported", () => {
    const guards = { ...NO_GUARDS, minHolders: { role_owner: 3 } };
    const is = live([OWNER], [owner("mem_1", "ada@example.com")]);
    const want = desired({ guards, members: [member("ada@example.com", { roles: ["role_owner"] })] });
    expect(briefRefusals(planOf(want, is))).toEqual([]);
    expect(briefFindings(planOf(want, is))).toEqual(["warning role-few-holders Owner"]);
  });

  test("holds for custom roles by their name; a role that waits for its last holder is not removed either", () => {
    const guards = { ...NO_GUARDS, minHolders: { Lead: 1 } };
    const lead = liveRole("role_1", "Lead");
    const is = live([lead], [liveMember("mem_1", "ada@example.com", { roles: ["role_1"] })]);
    expect(briefRefusals(planOf(desired({ guards, roles: [role("Lead")], members: [] }), is))).toEqual([
      "guard min-holders Lead",
    ]);
  });
});

describe("locking oneself out", () => {
  const keeper = liveRole("role_1", "Keeper", { permissions: ["members_update", "catalog_view"] });
  const me = liveMember("mem_me", "me@example.com", { roles: ["role_1"] });
  const is = { ...live([keeper], [me, liveMember("mem_2", "b@example.com")]), callerId: "mem_me" };

  test("the caller's own membership is not removed", () => {
    const want = desired({
      roles: [role("Keeper", { permissions: keeper.permissions })],
      members: [member("b@example.com")],
    });
    expect(briefRefusals(planOf(want, is))).toEqual(["guard self-lockout me@example.com"]);
    expect(briefRefusals(planOf(want, { ...is, callerId: null }))).toEqual([]);
    expect(briefFindings(planOf(want, { ...is, callerId: null }))).toEqual([]);
    const unknown = planOf(want, { ...is, callerId: null, callerUnknown: true });
    expect(briefFindings(unknown)).toEqual(["warning caller-unknown the API key"]);
    const sandboxFailure = { code: "service-failed", message: "GET returned 503." } as const;
    expect(briefFindings(planOf(want, { ...is, callerId: null, sandboxFailure }))).toEqual([]);
    const declared = planOf({ ...want, environment: "test" }, { ...is, callerId: null, sandboxFailure });
    expect(briefFindings(declared)).toEqual(["warning environment-unknown test"]);
  });

  test("nor does the caller lose what the next run needs, also through a change of its role", () => {
    const want = desired({ roles: [role("Keeper", { permissions: ["catalog_view"] })] });
    const plan = planOf(want, is);
    expect(briefRefusals(plan)).toEqual(["guard self-lockout me@example.com"]);
    expect(plan.refusals[0]?.message).toContain("members_update");
  });

  test("losing another permission is allowed", () => {
    const want = desired({ roles: [role("Keeper", { permissions: ["members_update"] })] });
    expect(briefRefusals(planOf(want, is))).toEqual([]);
  });
});

describe("an override", () => {
  const twelve = crowd(12);
  const plan = planOf(desired({ members: keep(twelve.slice(6)) }), live([], twelve));
  const text = printedOverrides(plan)[0] ?? "";
  const given = (given: string) =>
    applyOverrides(
      plan,
      [parseOverride(given)].flatMap((one) => one ?? []),
    );

  test("is printed with each refusal, and overrides exactly that one", () => {
    expect(text).toBe(`max-removals=6@${plan.fingerprint.slice(0, 12)}`);
    expect(given(text).refusals).toEqual([]);
  });

  test("for fewer removals does not do", () => {
    expect(given(text.replace("=6", "=5")).refusals).toEqual(plan.refusals);
  });

  test("for another plan does nothing", () => {
    const other = planOf(desired({ members: keep(twelve.slice(7)) }), live([], twelve));
    expect(
      applyOverrides(
        other,
        [parseOverride(text)].flatMap((one) => one ?? []),
      ),
    ).toEqual({ refusals: other.refusals, overridden: [], used: [] });
  });

  test("needs guard, value and enough of the fingerprint", () => {
    for (const wrong of [
      "",
      "max-removals",
      "max-removals@0a1b2c3d4e5f",
      "max-removals=6@0a1b",
      "max-removals=6@xyz",
      "=@",
    ]) {
      expect(parseOverride(wrong)).toBeNull();
    }
    expect(parseOverride("protect=ada@example.com@0a1b2c3d4e5f")).toMatchObject({
      what: "protect=ada@example.com",
    });
  });
});

test("policies and checks are not overridden", () => {
  const policies = {
    separate: [],
    maxHolders: {},
    requireUntil: {},
    requireMfa: [],
    forbidPermissions: ["a"],
  };
  const plan = planOf(desired({ policies, sync: SYNC, roles: [role("R", { permissions: ["a"] })] }), live());
  expect(printedOverrides(plan)).toEqual([null]);
});

test("a replaced role that loses a permission counts as a removal, as one that is changed in place does", () => {
  const sync = { ...SYNC, replaceRoles: true };
  const is = live([liveRole("role_1", "Cashier", { permissions: ["a", "b"], metadata: { team: "a" } })]);
  const refused = (permissions: readonly string[]) => {
    const guards = { ...NO_GUARDS, maxRemovals: { count: 0 } };
    return briefRefusals(
      planOf(desired({ sync, guards, roles: [role("Cashier", { permissions, metadata: {} })] }), is),
    );
  };
  expect(refused(["a", "b"])).toEqual([]);
  expect(refused(["a"])).toEqual([expect.stringContaining("max-removals")]);
});

test("who gets the successor of a replaced role, and another role, loses nothing", () => {
  const is = live(
    [
      liveRole("role_1", "Cashier", { permissions: ["a"], metadata: { team: "a" } }),
      liveRole("role_2", "Clerk"),
    ],
    [liveMember("mem_1", "ada@example.com", { roles: ["role_1"] })],
  );
  const refused = (...roles: readonly string[]) =>
    briefRefusals(
      planOf(
        desired({
          sync: { ...SYNC, replaceRoles: true },
          guards: { ...NO_GUARDS, maxRemovals: { count: 0 } },
          roles: [role("Cashier", { permissions: ["a"], metadata: {} }), role("Clerk")],
          members: [member("ada@example.com", { roles })],
        }),
        is,
      ),
    );
  expect(refused("Cashier", "Clerk")).toEqual([]);
  expect(refused("Clerk")).toEqual(["guard max-removals"]);
});

test("removals of old memberships are not counted if the new ones hold the same roles", () => {
  const names = ["a", "b", "c", "d", "e", "f"];
  const roles = ["role_1"];
  const want = desired({
    members: names.map((name) =>
      member(`${name}@new.example`, { previously: [`${name}@old.example`], roles }),
    ),
  });
  const is = live(
    [liveRole("role_1", "Clerk")],
    names.flatMap((name) => [
      liveMember(`mem_old_${name}`, `${name}@old.example`, { roles }),
      liveMember(`mem_new_${name}`, `${name}@new.example`, { roles }),
    ]),
  );
  const plan = planOf(want, is);
  expect(plan.summary.members.delete).toBe(6);
  expect(plan.refusals).toEqual([]);
});

test("a role that nobody holds, though the file asks for holders, is told of as well", () => {
  const is = live(
    [OWNER, liveRole("role_1", "Boss"), liveRole("role_2", "Cashier")],
    [liveMember("mem_1", "ada@example.com", { roles: ["role_2"] })],
  );
  const minHolders = { Boss: 1, Cashier: 2 };
  const { findings } = planOf(desired({ guards: { ...NO_GUARDS, minHolders } }), is);
  expect(findings.map(({ message }) => message)).toEqual([
    'The role "Boss" has no accepted holder; it needs 1.',
    'The role "Cashier" has 1 accepted holder; it needs 2.',
  ]);
});

test.each([
  ["whom the file protects, is refused at once", ["ada@example.com"], ["guard protect ada@example.com"]],
  ["whose key it is, is refused only when it is due", [], []],
])("a removal that waits, from somebody %s", (_, protectedMembers, refusals) => {
  const want = desired({
    guards: { protect: { roles: [], members: protectedMembers } },
    members: [member("ada@example.com", { roles: [] }), member("new@example.com", { roles: ["role_owner"] })],
  });
  const is = live([OWNER], [liveMember("mem_a", "ada@example.com", { roles: ["role_owner"] })]);
  const plan = planOf(want, { ...is, callerId: "mem_a" });
  expect([brief(plan), plan.deferred.length]).toEqual([["create member new@example.com"], 1]);
  expect(briefRefusals(plan)).toEqual(refusals);
});
