import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isSuspended } from "../../../src/kernel/diff/active-member.ts";
import { buildPlan } from "../../../src/kernel/plan/build-plan.ts";
import { keptAccess, planDue, planEnded } from "../../../src/kernel/plan/due.ts";
import { dueSince } from "../../../src/kernel/plan/due-since.ts";
import { upcomingDates } from "../../../src/kernel/plan/upcoming-dates.ts";
import { withReviewedEnds } from "../../../src/kernel/read/reviewed-ends.ts";
import type { DesiredState, Grant } from "../../../src/model/desired.ts";
import type { Change } from "../../../src/model/plan.ts";
import { desiredStates, liveStates, mirror } from "../../support/arbitrary.ts";
import {
  brief,
  briefFindings,
  desired,
  from,
  invited,
  leaver,
  live,
  liveMember,
  liveRole,
  matches,
  member,
  NO_POLICIES,
  NOW,
  planOf,
  role,
  SYNC,
  until,
} from "../../support/build.ts";

const service = "https://service.example";
const is = live(
  [liveRole("role_1", "Cashier"), liveRole("role_2", "Lead")],
  [
    liveMember("mem_1", "ada@example.com", { roles: ["role_1", "role_2"] }),
    liveMember("mem_2", "bob@example.com", { roles: ["role_1"] }),
  ],
);
const roles = [role("Cashier"), role("Lead")];
/** A state whose dates have been reviewed. */
const reviewed = (rest: Parameters<typeof desired>[0]): DesiredState => {
  const state = desired(rest);
  return withReviewedEnds(state, state);
};
const NO_RULES = { policies: NO_POLICIES, guards: desired().guards };
const EXPIRED = { status: "expired", roles: ["role_1"] } as const;

describe("a change is due", () => {
  test("if it removes a role whose end has passed, since that end", () => {
    const ended = until("2026-06-14");
    const want = desired({
      roles,
      members: [
        member("ada@example.com", { roles: ["Cashier", { role: "Lead", until: ended }] }),
        member("bob@example.com", { roles: ["Cashier"] }),
      ],
    });
    const plan = planOf(want, is);
    expect(brief(plan)).toHaveLength(1);
    expect(plan.changes.map((change) => dueSince(change, want, NOW))).toEqual([ended.ends]);
  });

  test("if it removes a member whose membership, or whose every role, has ended", () => {
    const [first, second] = [until("2026-06-10"), until("2026-06-12")];
    const want = desired({
      roles,
      members: [
        member("ada@example.com", {
          roles: [
            { role: "Cashier", until: first },
            { role: "Lead", until: second },
          ],
        }),
        member("BOB@example.com", { roles: ["Cashier"], until: first }),
      ],
    });
    const plan = planOf(want, is);
    expect(plan.changes.map(({ kind }) => kind)).toEqual(["delete", "delete"]);
    expect(plan.changes.map((change) => dueSince(change, want, NOW))).toEqual(
      plan.changes.map(({ id }) => (id === "mem_1" ? second.ends : first.ends)),
    );
  });

  test("if it suspends a member whose roles the file does not list", () => {
    const begun = from("2026-06-14");
    const want = desired({
      roles,
      members: [
        { email: "ada@example.com", suspended: { from: begun }, origin: { file: "access.yaml", path: [] } },
      ],
      sync: { ...SYNC, members: "additive" },
    });
    const plan = planOf(want, is);
    expect(brief(plan)).toEqual(["update member ada@example.com"]);
    expect(plan.changes.map((change) => dueSince(change, want, NOW))).toEqual([begun.starts]);
  });

  test("if it removes a member between two grants, one of which has ended, since that end", () => {
    const ended = until("2026-06-14");
    const gap = (...grants: readonly Grant[]) => {
      const others = [member("ada@example.com", { roles: ["Cashier", "Lead"] })];
      const want = desired({ roles, members: [...others, member("bob@example.com", { roles: grants })] });
      const plan = planOf(want, is);
      expect(plan.changes).toMatchObject([{ kind: "delete", id: "mem_2", reason: "access-not-begun" }]);
      expect(planDue({ desired: want, live: is, service, now: NOW, matches }).changes).toHaveLength(
        dueSince(plan.changes[0] as Change, want, NOW) === null ? 0 : 1,
      );
      return plan.changes.map((change) => dueSince(change, want, NOW));
    };
    const [lastWeek, nextWeek, later] = [from("2026-06-10"), from("2026-06-22"), until("2026-07-31")];
    const next = { role: "Lead", from: nextWeek, until: later };
    expect(gap({ role: "Cashier", until: ended }, next)).toEqual([ended.ends]);
    expect(gap({ role: "Cashier", from: lastWeek, until: ended }, next)).toEqual([ended.ends]);
    expect(gap({ role: "Cashier", from: nextWeek, until: later })).toEqual([null]);
  });

  test("if it removes a suspended member between two grants, who holds no role any more", () => {
    const ended = until("2026-06-14");
    const want = desired({
      roles,
      members: [
        member("ada@example.com", { roles: ["Cashier", "Lead"] }),
        member("bob@example.com", {
          roles: [
            { role: "Cashier", until: ended },
            { role: "Lead", from: from("2026-06-22") },
          ],
          suspended: { from: from("2026-06-10") },
        }),
      ],
    });
    const held = {
      ...is,
      members: is.members.map((one) => (one.id === "mem_2" ? { ...one, roles: [] } : one)),
    };
    const plan = planOf(want, held);
    expect(plan.changes).toMatchObject([{ kind: "delete", id: "mem_2", reason: "access-not-begun" }]);
    expect(plan.changes.map((change) => dueSince(change, want, NOW))).toEqual([ended.ends]);
  });

  test("unless it does more, or the file does not list what it removes", () => {
    const ended = until("2026-06-14");
    const want = desired({
      roles,
      members: [
        member("ada@example.com", {
          roles: ["Cashier", { role: "Lead", until: ended }],
          metadata: { desk: "2" },
        }),
      ],
    });
    const plan = planOf(want, is);
    expect(plan.changes.map((change) => dueSince(change, want, NOW))).toEqual([null, null]);
  });

  test("by its part that takes ended access, whatever else the file changes at the member", () => {
    const want = desired({
      roles,
      members: [
        member("ada@example.com", {
          roles: ["Cashier", { role: "Lead", until: until("2026-06-14") }],
          metadata: { desk: "2" },
        }),
        member("bob@example.com", { roles: ["Cashier"] }),
      ],
    });
    const due = planDue({ desired: want, live: is, service, now: NOW, matches });
    expect(due.changes).toMatchObject([
      { kind: "update", id: "mem_1", after: { metadata: {} }, fields: [{ removed: [{ id: "role_2" }] }] },
    ]);
    expect(due.findings).toEqual([]);
  });
});

/** Sets ends, from a list of days around now, on members and grants. */
const withEnds = (state: DesiredState, days: readonly (number | null)[]): DesiredState => {
  let next = 0;
  const end = () => {
    const day = days[next++ % days.length] ?? null;
    return day === null ? {} : { until: { text: "", ends: NOW + day * 86_400_000 } };
  };
  return {
    ...state,
    ...(state.members && {
      members: state.members.map((one) => ({
        ...one,
        ...end(),
        ...(one.roles && { roles: one.roles.map((grant) => ({ ...grant, ...end() })) }),
      })),
    }),
  };
};
const ends = fc.array(fc.option(fc.integer({ min: -3, max: 3 })), { minLength: 1, maxLength: 7 });

describe("a plan of what is due, where a role is yet to be renamed", () => {
  test.each([
    ["separate", from("2026-06-14"), { policies: { ...NO_POLICIES, separate: [["Seller", "Lead"]] } }],
    ["max_holders", from("2026-06-14"), { policies: { ...NO_POLICIES, maxHolders: { Seller: 1 } } }],
    ["min_holders", undefined, { guards: { ...desired().guards, minHolders: { Seller: 2 } } }],
  ])("is judged by the rules about the new name: %s", (_, begun, rules) => {
    const want = desired({
      roles: [role("Seller", { previously: ["Cashier"] }), role("Lead")],
      members: [
        member("ada@example.com", { roles: [{ role: "Seller", ...(begun && { from: begun }) }, "Lead"] }),
        member("bob@example.com", { roles: ["Seller"], until: until("2026-06-14") }),
        member("cleo@example.com", { roles: ["Seller"] }),
      ],
      ...rules,
    });
    const found = live(
      [liveRole("role_1", "Cashier"), liveRole("role_2", "Lead")],
      [
        liveMember("mem_1", "ada@example.com", { roles: ["role_2"] }),
        liveMember("mem_2", "bob@example.com", { roles: ["role_1"] }),
        liveMember("mem_3", "cleo@example.com", { roles: ["role_1"] }),
      ],
    );
    const judged = (state: DesiredState): readonly unknown[] => {
      const due = planDue({ desired: state, live: found, service, now: NOW, matches });
      return [brief(due), due.refusals.map(({ code }) => code), due.deferred.length];
    };
    expect(judged(want)).not.toEqual(judged({ ...want, ...NO_RULES }));
  });
});

describe("what is due and left out is a warning", () => {
  const begun = from("2026-06-14");
  const left = (rest: Parameters<typeof desired>[0]) => {
    const want = desired({ roles, sync: { ...SYNC, members: "additive" }, ...rest });
    const { changes, findings, refusals } = planDue({ desired: want, live: is, service, now: NOW, matches });
    expect(refusals).toEqual([]);
    return [
      changes.map(({ name }) => name),
      findings.map(({ severity, code, name, message }) => [severity, code, name, message]),
    ];
  };

  test("since the file changes more at the member, or a managed user needs a password", () => {
    const bob = member("bob@example.com", {
      roles: ["Cashier", { role: "Lead", from: begun }],
      metadata: { desk: "2" },
    });
    const till = member("till@example.com", {
      from: begun,
      roles: ["Cashier"],
      managed: { passwordEnv: "P" },
    });
    expect(left({ members: [bob, till] })).toEqual([
      [],
      [
        [
          "warning",
          "due-left-out",
          "bob@example.com",
          "Access that a date would give bob@example.com is left out: the file also changes something else for this member.",
        ],
        [
          "warning",
          "due-left-out",
          "till@example.com",
          "Access that a date would give till@example.com is left out: a managed user needs a password.",
        ],
      ],
    ]);
  });

  test("since a role is yet to be created; the others are given", () => {
    const early = until("2026-06-14");
    const state = {
      roles: [...roles, role("New")],
      members: [
        member("ada@example.com", {
          roles: ["Cashier", { role: "Lead", until: early }, { role: "New", from: begun }],
        }),
        member("bob@example.com", {
          roles: ["Cashier", { role: "Lead", from: begun }, { role: "New", from: begun }],
        }),
        member("cleo@example.com", { roles: ["New"], from: begun }),
        member("dan@example.com", { roles: ["Cashier", "New"], from: begun }),
        member("eve@example.com", { roles: ["New", "Lead"], suspended: { until: early } }),
      ],
    };
    const people = [...is.members, liveMember("mem_3", "eve@example.com", { roles: [] })];
    const want = desired({ sync: { ...SYNC, members: "additive" }, ...state });
    const due = planDue({ desired: want, live: { ...is, members: people }, service, now: NOW, matches });
    expect(due.changes).toMatchObject([
      { kind: "update", name: "ada@example.com", after: { roles: [{ id: "role_1" }] } },
      { kind: "update", name: "bob@example.com", after: { roles: [{ id: "role_1" }, { id: "role_2" }] } },
      { kind: "create", name: "dan@example.com", after: { roles: [{ id: "role_1" }] } },
      { kind: "update", name: "eve@example.com", after: { roles: [{ id: "role_2" }] } },
    ]);
    const why = (name: string) =>
      `Access that a date would give ${name} is left out: the role "New" does not exist yet.`;
    expect(due.findings.map(({ code, message }) => [code, message])).toEqual(
      state.members.map(({ email }) => ["due-left-out", why(email)]),
    );
  });

  test("since a rule refuses what gives access; what takes it from the same member is made", () => {
    const members = [
      member("ada@example.com", { roles: ["Cashier", { role: "Lead", until: until("2026-06-14") }] }),
      member("bob@example.com", { roles: ["Cashier", { role: "Lead", from: begun }] }),
    ];
    const policies = { ...NO_POLICIES, separate: [["Cashier", "Lead"]] };
    expect(left({ members, policies })).toEqual([
      ["ada@example.com"],
      [
        [
          "warning",
          "due-left-out",
          "bob@example.com",
          expect.stringMatching(/^Access that a date would give bob@example\.com is left out: .*Cashier/),
        ],
      ],
    ]);
    const both = member("bob@example.com", {
      roles: [
        { role: "Cashier", until: until("2026-06-14") },
        { role: "Lead", from: begun },
      ],
    });
    const found = left({ members: [both], policies: { ...NO_POLICIES, maxHolders: { Lead: 1 } } });
    expect(found[0]).toEqual(["bob@example.com"]);
    expect(found[1]).toMatchObject([["warning", "due-left-out", "bob@example.com", expect.any(String)]]);
  });
});

describe("a limit on gains refuses what dates give", () => {
  const people = Array.from({ length: 11 }, (_, at) => `p${at}@example.com`);
  const found = live(
    [liveRole("role_1", "Cashier"), liveRole("role_2", "Lead", { permissions: ["payouts_edit"] })],
    [
      liveMember("mem_1", "ada@example.com", { roles: ["role_2"] }),
      ...people.map((email, at) => liveMember(`p_${at}`, email, { roles: ["role_1"] })),
    ],
  );
  const input = (overrides: readonly string[], rest: Partial<DesiredState> = {}, now = NOW) => ({
    desired: desired({
      roles: [role("Cashier"), role("Lead", { permissions: ["payouts_edit"] })],
      members: [
        member("ada@example.com", { roles: ["Lead"], until: until("2026-06-14") }),
        ...people.map((email) =>
          member(email, { roles: ["Cashier", { role: "Lead", from: from("2026-06-14") }] }),
        ),
      ],
      guards: { ...desired().guards, overrides },
      ...rest,
    }),
    live: found,
    service,
    now,
    matches,
  });
  const hintOf = (findings: ReturnType<typeof planDue>["findings"]): string =>
    findings.find(({ code }) => code === "due-left-out")?.hint ?? "";

  test("of a merchant, or of the run, and what has ended is removed", () => {
    const due = planDue(input([]));
    expect([brief(due), due.refusals]).toEqual([["delete member ada@example.com"], []]);
    const ample = { ...desired().guards, maxGains: {} };
    const allowed = planDue(input([], { guards: ample }));
    expect(brief(allowed)).toHaveLength(12);
    const ofRun = {
      rule: "guard",
      code: "run-gains",
      check: null,
      resource: "member",
      name: null,
      hint: "",
    } as const;
    const override = "run-gains=sensitive:0123456789ab";
    const refused = planDue(input([], { guards: ample }), [
      { ...ofRun, message: "The run gives.", override },
    ]);
    expect([brief(refused), refused.refusals]).toEqual([["delete member ada@example.com"], []]);
    expect(hintOf(refused.findings)).toMatch(
      /add to guards\.overrides: run-gains=sensitive:0123456789ab@[0-9a-f]{12}\.$/,
    );
  });

  test("until the override that the warning prints is in the file, which may be there before the day", () => {
    const [override = ""] = /max-gains=\S+[0-9a-f]/.exec(hintOf(planDue(input([])).findings)) ?? [];
    const rest = [member("new@example.com", { roles: ["Cashier"] })];
    const files = input([override]);
    const withNew = {
      ...files,
      desired: { ...files.desired, members: [...(files.desired.members ?? []), ...rest] },
    };
    for (const due of [planDue(files), planDue(withNew)]) {
      expect([brief(due).length, due.refusals, due.findings]).toEqual([12, [], []]);
    }
    expect(briefFindings(buildPlan(input([override], {}, NOW - 5 * 86_400_000)))).toEqual([]);
    const past = input([override], { members: [] });
    expect(briefFindings(buildPlan(past))).toContain(`warning override-left-over ${override}`);
  });
});

describe("nothing that is wrong elsewhere keeps access that has ended", () => {
  const ended = until("2026-06-14");
  const holders = ["cleo@example.com", "dan@example.com", "eve@example.com", "gil@example.com"];
  const found = live(
    [liveRole("role_1", "Cashier"), liveRole("role_2", "Lead"), liveRole("role_3", "Boss")],
    [
      liveMember("mem_1", "ada@example.com", { roles: ["role_1", "role_3"] }),
      ...holders.map((email, at) => liveMember(`mem_${at + 2}`, email, { roles: ["role_1", "role_2"] })),
    ],
  );
  const ada = (rest: Parameters<typeof member>[1] = {}) =>
    member("ada@example.com", { roles: ["Cashier", "Boss"], ...rest });
  const gil = (rest: Parameters<typeof member>[1] = {}) =>
    member("gil@example.com", { roles: ["Cashier", { role: "Lead", until: ended }], ...rest });
  const members = [
    ada(),
    member("cleo@example.com", { roles: ["Cashier", "Lead"], until: ended }),
    member("dan@example.com", { roles: [{ role: "Lead", until: ended }] }),
    gil(),
  ];
  const declared = [role("Cashier"), role("Lead"), role("Boss")];
  const input = (rest: Parameters<typeof desired>[0], state = found) => ({
    desired: reviewed({
      roles: declared,
      members,
      leavers: [leaver("eve@example.com", "2026-06-01")],
      ...rest,
    }),
    live: state,
    service,
    now: NOW,
    matches,
  });
  const all = [
    "delete member cleo@example.com",
    "delete member dan@example.com",
    "delete member eve@example.com",
    "update member gil@example.com",
  ];
  const guards = desired().guards;
  const twin = { ...found, roles: [...found.roles, liveRole("role_4", "Cashier")] };
  const others = members.slice(1);
  const cases: readonly (readonly [string, Parameters<typeof desired>[0], typeof found, boolean])[] = [
    [
      "a grant of an unknown role",
      { members: [ada({ roles: ["Cashier", "Ghost"] }), ...others] },
      found,
      true,
    ],
    [
      "an unknown role of somebody whose other grant has ended",
      {
        members: [
          ...members.slice(0, 3),
          gil({ roles: ["Cashier", "Ghost", { role: "Lead", until: ended }] }),
        ],
      },
      found,
      true,
    ],
    ["two live roles of one name", {}, twin, true],
    [
      "a pin to a deleted role",
      { roles: [role("Cashier", { id: "role_9" }), ...declared.slice(1)] },
      found,
      true,
    ],
    ["a pin to a deleted member", { members: [ada({ id: "mem_9" }), ...others] }, found, true],
    [
      "a rule that names an unknown role",
      { guards: { ...guards, minHolders: { role_ghost: 1 } } },
      found,
      true,
    ],
    [
      "metadata that cannot be changed",
      { roles: [role("Cashier", { metadata: { a: "1" } }), ...declared.slice(1)] },
      found,
      false,
    ],
    [
      "a policy that is broken live and in the files",
      { policies: { ...NO_POLICIES, separate: [["Cashier", "Boss"]] } },
      found,
      false,
    ],
    [
      "protection from a change that is not due",
      {
        members: [ada({ roles: ["Boss"] }), ...others],
        guards: { ...guards, protect: { roles: [], members: ["ada@example.com"] } },
      },
      found,
      false,
    ],
  ];

  test.each(cases)("%s", (_, rest, state, isError) => {
    const whole = buildPlan(input(rest, state));
    const errors = whole.findings.filter(({ severity }) => severity === "error");
    expect(isError ? errors : whole.refusals).not.toEqual([]);
    for (const plan of [planDue(input(rest, state)), planEnded(input(rest, state))]) {
      expect(brief(plan)).toEqual(all);
      expect(plan.changes.at(-1)).toMatchObject({ fields: [{ removed: [{ id: "role_2" }] }] });
      expect(plan.refusals).toEqual([]);
      expect(keptAccess(plan)).toEqual([]);
      expect(plan.findings.map(({ severity, message }) => [severity, message])).toEqual(
        expect.arrayContaining(errors.map(({ message }) => ["warning", message])),
      );
    }
  });

  test("and a rule that refuses one removal keeps that one alone, with its reason", () => {
    const protect = { roles: [], members: ["eve@example.com"] };
    const plan = planDue(input({ guards: { ...guards, protect } }));
    expect(brief(plan)).toEqual(all.filter((text) => !text.includes("eve@")));
    expect(plan.refusals).toEqual([]);
    expect(keptAccess(plan)).toEqual([
      "Access of eve@example.com that has ended is kept: The member eve@example.com is protected, and this plan would delete it.",
    ]);
  });

  test("and a minimum of holders keeps as many as it needs, of somebody who loses more that role alone", () => {
    const both = gil({
      roles: [
        { role: "Cashier", until: ended },
        { role: "Lead", until: ended },
        { role: "Boss", from: from("2027-01-01") },
      ],
      until: until("2027-06-30"),
    });
    const suspended = gil({ roles: ["Cashier", "Lead"], suspended: { from: from("2026-06-14") } });
    const rest = { guards: { ...guards, minHolders: { Lead: 1 } } };
    const plan = planDue(input({ ...rest, members: [...members.slice(0, 3), suspended] }));
    expect(brief(plan)).toEqual(all);
    expect(plan.changes.at(-1)).toMatchObject({ fields: [{ removed: [{ id: "role_1" }] }] });
    expect(keptAccess(plan)).toEqual([expect.stringMatching(/^Access of gil@example\.com .*"Lead"/)]);
    const gap = planDue(input({ ...rest, members: [...members.slice(0, 3), both] }));
    expect(brief(gap)).toEqual(all.slice(0, 3));
  });

  test("but nothing is taken from people of whom it is not clear whether it is theirs", () => {
    const other = liveMember("mem_8", "CLEO@example.com", { roles: ["role_2"] });
    const plan = planDue(input({}, { ...found, members: [...found.members, other] }));
    expect(brief(plan)).toEqual(all.slice(1));
    expect(keptAccess(plan)).toEqual([expect.stringMatching(/^Access of cleo@example\.com .*mem_2.*mem_8/)]);
    const byId = gil({ roles: ["Cashier", { role: "role_4", until: ended }] });
    const held = found.members.map((one) => (one.id === "mem_5" ? { ...one, roles: ["role_4"] } : one));
    const ambiguous = planDue(input({ members: [...members.slice(0, 3), byId] }, { ...twin, members: held }));
    expect(brief(ambiguous)).toEqual(all.slice(0, 3));
  });

  test("what dates give is left out if a role is in error, and given in spite of an error at another member", () => {
    const begun = { role: "Boss", from: from("2026-06-14") };
    const joins = member("new@example.com", { roles: ["Boss"], from: from("2026-06-14") });
    const given = { members: [...members, joins] };
    expect(brief(planDue(input(given)))).toContain("create member new@example.com");
    const unknown = { members: [ada({ roles: ["Ghost", begun] }), ...others, joins] };
    expect(brief(planDue(input(unknown)))).toContain("create member new@example.com");
    const wrong = planDue(input({ ...given, guards: { ...guards, minHolders: { role_ghost: 1 } } }));
    expect(brief(wrong)).toEqual(all);
    expect(briefFindings(wrong)).toContain("warning due-left-out new@example.com");
  });
});

test("a suspension takes all roles, also those that no file lists", () => {
  const want = desired({
    roles,
    members: [
      member("ada@example.com", { roles: ["Cashier"], suspended: { from: from("2026-06-14") } }),
      member("bob@example.com", { roles: [], suspended: { from: from("2026-06-14") } }),
    ],
  });
  const due = planDue({ desired: want, live: is, service, now: NOW, matches });
  expect(due.changes).toMatchObject([
    { id: "mem_1", after: { roles: [] } },
    { id: "mem_2", after: { roles: [] } },
  ]);
  expect([due.refusals, due.findings]).toEqual([[], []]);
});

describe("a role that does not exist and is granted later", () => {
  const want = desired({
    sync: { ...SYNC, roles: "additive" },
    members: [
      member("ada@example.com", { roles: ["Cashier", "Lead"], until: until("2026-06-14") }),
      member("bob@example.com", { roles: ["Cashier", { role: "Ghost", from: from("2027-06-01") }] }),
    ],
  });
  const input = { desired: want, live: is, service, now: NOW, matches };

  test("is an error of the plan, and a warning beside what is due, which it does not hold up", () => {
    expect(briefFindings(buildPlan(input))).toEqual(["error member-role-unknown bob@example.com"]);
    const due = planDue(input);
    expect(brief(due)).toEqual(["delete member ada@example.com"]);
    expect(briefFindings(due)).toEqual(["warning member-role-unknown bob@example.com"]);
  });
});

describe("access that has ended is taken", () => {
  const ended = member("ada@example.com", {
    roles: ["Lead", { role: "Cashier", until: until("2026-06-14") }],
  });
  const kept = member("bob@example.com", { roles: ["Cashier"] });
  const gone = ["update member ada@example.com", "delete member left@example.com"];
  const left = liveMember("mem_3", "left@example.com", { roles: ["role_2"] });
  const held = { ...is, members: [...is.members, left] };
  const bob = held.members.map((one) => (one.id === "mem_2" ? { ...one, roles: ["role_1", "role_2"] } : one));

  test.each<[string, Parameters<typeof desired>[0], Partial<typeof held>]>([
    [
      "another member is granted a role that does not exist",
      { members: [ended, member("bob@example.com", { roles: ["Cashier", "role_ghost"] })] },
      {},
    ],
    [
      "a declared role may stand for two",
      { roles: [...roles, role("Other")], members: [ended, kept] },
      { roles: [...held.roles, liveRole("role_3", "Other"), liveRole("role_4", "Other")] },
    ],
    [
      "an entry stands for two members",
      { members: [ended, kept, member("dup@example.com")] },
      {
        members: [
          ...held.members,
          ...["mem_4", "mem_5"].map((id) => liveMember(id, "dup@example.com", { roles: [] })),
        ],
      },
    ],
    ["another member is pinned to nobody", { members: [ended, { ...kept, id: "mem_gone" }] }, {}],
    [
      "metadata of a role cannot be changed in place",
      { roles: [role("Cashier"), role("Lead", { metadata: { a: 1 } })], members: [ended, kept] },
      {},
    ],
    [
      "a guard names a role that does not exist",
      { members: [ended, kept], guards: { ...desired().guards, protect: { roles: ["Ghost"], members: [] } } },
      {},
    ],
    [
      "somebody else breaks a policy, as before",
      {
        members: [ended, member("bob@example.com", { roles: ["Cashier", "Lead"] })],
        policies: { ...NO_POLICIES, separate: [["Cashier", "Lead"]] },
      },
      {
        members: [
          ...held.members.filter(({ id }) => id !== "mem_2"),
          ...bob.filter(({ id }) => id === "mem_2"),
        ],
      },
    ],
  ])("where %s, which is a warning", (_, state, changed) => {
    const want = desired({ roles, leavers: [leaver("left@example.com", "2026-06-01")], ...state });
    const due = planDue({ desired: want, live: { ...held, ...changed }, service, now: NOW, matches });
    expect([brief(due), due.refusals]).toEqual([gone, []]);
    expect(due.findings.length).toBeGreaterThan(0);
    expect(due.findings.filter(({ severity }) => severity === "error")).toEqual([]);
  });

  test("from a suspended member whole, also the roles that the entry does not list", () => {
    for (const listed of [["Cashier"], []]) {
      const entry = {
        ...member("ada@example.com", { roles: listed }),
        suspended: { from: from("2026-06-14") },
      };
      const due = planDue({
        desired: desired({ roles, members: [entry, kept] }),
        live: is,
        service,
        now: NOW,
        matches,
      });
      expect(due.changes).toMatchObject([{ name: "ada@example.com", after: { roles: [] } }]);
    }
  });
});

describe("a plan of what is due", () => {
  test("takes all access that has ended, whatever else is to change", () => {
    fc.assert(
      fc.property(desiredStates, liveStates, ends, (state, found, days) => {
        const want = { ...withEnds(state, days), ...NO_RULES };
        const input = { desired: want, live: found, service, now: NOW, matches };
        const [due, all] = [planDue(input), buildPlan(input)];
        fc.pre(due.refusals.length === 0 && due.deferred.length + all.deferred.length === 0);
        const removed = (change: Change): readonly unknown[] =>
          change.fields.flatMap((diff) => (diff.field === "roles" ? diff.removed.map(({ id }) => id) : []));
        for (const change of all.changes) {
          const entry = want.members?.find(({ email }) => email.toLowerCase() === change.name.toLowerCase());
          const ended = (entry?.roles ?? []).filter((grant) => (grant.until?.ends ?? NOW + 1) <= NOW);
          if (change.kind !== "update" || change.resource !== "member") continue;
          const own = due.changes.find(({ id }) => id === change.id);
          const taken = change.before.roles.filter(
            ({ id, name }) =>
              ended.some(({ role: one }) => one === name || one === id) && removed(change).includes(id),
          );
          // Only the default minimum of owners keeps anything.
          if (keptAccess(due).some((why) => why.includes(`of ${change.name} `))) continue;
          expect(own === undefined ? [] : removed(own)).toEqual(
            expect.arrayContaining(taken.map(({ id }) => id)),
          );
        }
      }),
    );
  });

  test("has only changes of the whole plan, or parts of them, and gives nobody anything", () => {
    fc.assert(
      fc.property(desiredStates, liveStates, ends, (state, found, days) => {
        const want = withEnds(state, days);
        const input = { desired: want, live: found, service, now: NOW, matches };
        const [due, all] = [planDue(input), buildPlan(input)];
        const planned = [...all.changes, ...all.deferred.map(({ change }) => change)];
        const known = new Set(planned.map((one) => one.fingerprint));
        for (const part of due.changes.filter(({ fingerprint }) => !known.has(fingerprint))) {
          const whole = planned.find(({ id }) => id === part.id);
          expect(part.kind).toBe("update");
          expect(part.fields).toMatchObject([{ field: "roles", added: [] }]);
          const [mine, others] = [part, whole].map((one) =>
            one?.fields.flatMap((diff) => (diff.field === "roles" ? diff.removed : [])),
          );
          expect(others).toEqual(expect.arrayContaining([...(mine ?? [])]));
        }
        expect(
          due.impact.members.filter(({ gained, unknownGained }) => gained.length + unknownGained.length > 0),
        ).toEqual([]);
      }),
    );
  });

  test("is the whole plan where only time has passed", () => {
    fc.assert(
      fc.property(liveStates, ends, (found, days) => {
        const state = withEnds(mirror(found), days);
        const want = withReviewedEnds(state, state);
        const before = buildPlan({ desired: want, live: found, service, now: 0, matches });
        fc.pre(before.changes.length + before.deferred.length === 0);
        const input = { desired: want, live: found, service, now: NOW, matches };
        const [due, all] = [planDue(input), buildPlan(input)];
        if (all.refusals.length === 0) expect(due.changes).toEqual(all.changes);
        expect(due.refusals).toEqual([]);
        const kept = due.findings.filter(({ code }) => code === "due-kept").map(({ name }) => name);
        const names = due.changes.map(({ name }) => name);
        expect(new Set([...names, ...kept])).toEqual(new Set(all.changes.map(({ name }) => name)));
      }),
    );
  });
});

/** Sets a beginning or a suspension, from a list of days around now, on members and grants. */
const withStarts = (state: DesiredState, days: readonly (number | null)[]): DesiredState => {
  let next = 0;
  const day = () => days[next++ % days.length] ?? null;
  const starts = () => {
    const at = day();
    return at === null ? {} : { from: { text: "", starts: NOW + at * 86_400_000 } };
  };
  const away = () => {
    const [first, last] = [starts(), day()];
    if (last === null) return {};
    return { suspended: { ...first, until: { text: "", ends: NOW + (last + 1) * 86_400_000 } } };
  };
  return {
    ...state,
    ...(state.members && {
      members: state.members.map((one) => ({
        ...one,
        ...starts(),
        ...away(),
        ...(one.roles && { roles: one.roles.map((grant) => ({ ...grant, ...starts() })) }),
      })),
    }),
  };
};

describe("beginnings and suspensions", () => {
  test("what a plan gives has begun, and nobody who is suspended holds anything after it", () => {
    fc.assert(
      fc.property(desiredStates, liveStates, ends, (state, found, days) => {
        const want = withStarts(state, days);
        const plan = buildPlan({ desired: want, live: found, service, now: NOW, matches });
        const all = [...plan.changes, ...plan.deferred.map(({ change }) => change)];
        for (const entry of want.members ?? []) {
          const own = all.filter(({ name }) => name.toLowerCase() === entry.email.toLowerCase());
          const given = own.flatMap((change) => {
            if (change.resource !== "member" || change.reason === "immutable-field") return [];
            if (change.kind === "create") return change.after.roles;
            return change.fields.flatMap((diff) => (diff.field === "roles" ? diff.added : []));
          });
          const isGone = entry.from !== undefined && entry.from.starts > NOW;
          if (isGone || isSuspended(entry, NOW)) expect(given).toEqual([]);
          const early = new Set(
            (entry.roles ?? []).flatMap(({ role: name, from }) =>
              from !== undefined && from.starts > NOW ? name : [],
            ),
          );
          expect(given.filter(({ id, name }) => early.has(name) || early.has(id ?? ""))).toEqual([]);
        }
      }),
    );
  });

  test("bring the same plan as the file without them, at another time", () => {
    fc.assert(
      fc.property(desiredStates, liveStates, ends, (state, found, days) => {
        const want = withStarts(state, days);
        const later = NOW + 30 * 86_400_000;
        const reasonless = (one: DesiredState) =>
          buildPlan({ desired: one, live: found, service, now: later, matches }).changes.map(
            ({ reason: _, fingerprint: __, ...change }) => change,
          );
        expect(reasonless(want)).toEqual(reasonless(state));
      }),
    );
  });

  const [before, after] = [NOW - 86_400_000, NOW + 86_400_000];
  const on = (starts: number) => ({ text: "-", starts });
  const entry = (rest: Parameters<typeof member>[1]) => {
    const want = desired({
      roles,
      members: [member("bob@example.com", rest), member("ada@example.com", { roles: ["Cashier", "Lead"] })],
    });
    const plan = planOf(want, is);
    return { want, plan, since: plan.changes.map((change) => dueSince(change, want, NOW)) };
  };

  test("are due where time alone has brought them", () => {
    expect(entry({ roles: ["Cashier", { role: "Lead", from: on(before) }] }).since).toEqual([before]);
    expect(entry({ roles: ["Cashier"], suspended: { from: on(before) } }).since).toEqual([before]);
    expect(
      entry({ roles: ["Cashier", "Lead"], suspended: { until: { text: "-", ends: before } } }).since,
    ).toEqual([before]);
    expect(entry({ from: on(before), roles: ["Cashier", "Lead"] }).since).toEqual([before]);
  });

  test("are not due where the file, or somebody, has brought them", () => {
    // Suspended by a change of the file.
    expect(entry({ roles: ["Cashier"], suspended: {} }).since).toEqual([null]);
    // A role that no file lists.
    expect(entry({ roles: ["Lead"], suspended: { from: on(before) } }).since).toEqual([null]);
    // Another role without a date.
    expect(entry({ roles: [{ role: "Cashier", from: on(before) }, "Lead"] }).since).toEqual([null]);
    // A member who is not to be there yet.
    expect(entry({ from: on(after), roles: ["Cashier"] }).since).toEqual([null]);
    // A suspension that is yet to come brings no roles back.
    expect(
      entry({
        roles: ["Cashier", "Lead"],
        suspended: { from: on(after), until: { text: "-", ends: after + 1 } },
      }).since,
    ).toEqual([null]);
  });

  test("bring a new member when the membership, or the first of its roles, begins, but no managed user", () => {
    const joins = (rest: Parameters<typeof member>[1]) => {
      const want = desired({
        roles,
        members: [member("new@example.com", rest)],
        sync: { ...SYNC, members: "additive" },
      });
      return planOf(want, is).changes.map((change) => dueSince(change, want, NOW));
    };
    const grants = [
      { role: "Cashier", from: on(before) },
      { role: "Lead", from: on(before - 1) },
    ];
    expect(joins({ roles: grants })).toEqual([before - 1]);
    expect(joins({ from: on(before + 1), roles: grants })).toEqual([before + 1]);
    expect(joins({ from: on(before), roles: ["Cashier"] })).toEqual([before]);
    expect(joins({ roles: [...grants.slice(1), "Cashier"] })).toEqual([null]);
    expect(joins({ roles: grants, managed: { passwordEnv: "P" } })).toEqual([null]);
    expect(joins({ roles: [{ role: "Cashier", from: on(after) }] })).toEqual([]);
    expect(joins({ roles: grants, suspended: {} })).toEqual([]);
  });

  test("bring a member who joins without roles, and one who is invited when a suspension ends", () => {
    const joins = (rest: Parameters<typeof member>[1], state = is) => {
      const want = desired({
        roles,
        members: [member("new@example.com", rest)],
        sync: { ...SYNC, members: "additive" },
      });
      const plan = planDue({ desired: want, live: state, service, now: NOW, matches });
      return plan.changes.map((change) => [change.kind, dueSince(change, want, NOW)]);
    };
    const ended = { until: { text: "-", ends: before } };
    expect(joins({ from: on(before), roles: [] })).toEqual([["create", before]]);
    expect(joins({ roles: ["Cashier"], suspended: ended })).toEqual([["create", before]]);
    expect(joins({ roles: [], suspended: ended })).toEqual([["create", before]]);
    expect(joins({ roles: [] })).toEqual([]);
    const expired = { ...is, members: [...is.members, invited("mem_9", "new@example.com", EXPIRED)] };
    expect(joins({ roles: ["Cashier"], suspended: ended }, expired)).toEqual([["replace", before]]);
    expect(joins({ roles: ["Cashier", "Lead"], suspended: ended }, expired)).toEqual([["replace", before]]);
    expect(joins({ roles: ["Cashier"] }, expired)).toEqual([]);
    // While suspended, nothing of an expired invitation could be changed.
    expect(joins({ roles: ["Cashier"], metadata: { desk: 1 }, suspended: ended }, expired)).toEqual([
      ["replace", before],
    ]);
  });

  test("announce nobody who joins while suspended", () => {
    const dates = (rest: Parameters<typeof member>[1]) =>
      upcomingDates({ members: [member("new@example.com", rest)] }, NOW).map(({ what }) => what);
    const away = { until: { text: "-", ends: after + 86_400_000 } };
    expect(dates({ from: on(after), roles: ["Cashier"], suspended: away })).toEqual(["back"]);
    expect(dates({ roles: [{ role: "Cashier", from: on(after) }], suspended: away })).toEqual(["back"]);
    expect(dates({ from: on(after), roles: ["Cashier"] })).toEqual(["joins"]);
  });

  test("what gives access never keeps access that has ended", () => {
    const want = desired({
      roles,
      members: [
        member("ada@example.com", {
          roles: ["Cashier", { role: "Lead", until: { text: "-", ends: before } }],
        }),
        member("bob@example.com", { roles: ["Cashier", { role: "Lead", from: on(before) }] }),
      ],
      policies: { ...NO_POLICIES, separate: [["Cashier", "Lead"]] },
    });
    const input = { desired: want, live: is, service, now: NOW, matches };
    expect(buildPlan(input).refusals).toHaveLength(1);
    expect(planDue(input).changes.map(({ name }) => name)).toEqual(["ada@example.com"]);
    const open = { ...input, desired: { ...want, policies: NO_POLICIES } };
    expect(planDue(open).changes.map(({ name }) => name)).toEqual(["ada@example.com", "bob@example.com"]);
  });

  test("with a role that passes from its only holder to the next one by dates, on one day", () => {
    const passing = (next: Grant) => {
      const want = desired({
        roles,
        guards: { ...desired().guards, minHolders: { Lead: 1 } },
        members: [
          member("ada@example.com", { roles: ["Cashier", { role: "Lead", until: until("2026-06-14") }] }),
          member("bob@example.com", { roles: ["Cashier", next] }),
        ],
      });
      const plan = planDue({ desired: want, live: is, service, now: NOW, matches });
      return [plan.changes.map(({ name }) => name), keptAccess(plan).length, plan.refusals];
    };
    const [ada, bob] = ["ada@example.com", "bob@example.com"];
    expect(passing({ role: "Lead", from: from("2026-06-15") })).toEqual([[ada, bob], 0, []]);
    // Nobody may hold the role yet, or it is not due to be given.
    expect(passing({ role: "Lead", from: from("2026-06-16") })).toEqual([[], 1, []]);
    expect(passing({ role: "Lead" })).toEqual([[], 1, []]);
  });

  test("with what is due and waits, whether the file's invitation that it waits for was sent or not", () => {
    const want = desired({
      roles,
      guards: { ...desired().guards, minHolders: { Lead: 1 } },
      members: [
        member("bob@example.com", { roles: ["Cashier"] }),
        member("new@example.com", { roles: ["Lead"] }),
      ],
      leavers: [leaver("ADA@example.com", "2026-06-01")],
    });
    const awaited = liveMember("mem_3", "new@example.com", { roles: ["role_2"], status: "pending" });
    for (const now of [is, { ...is, members: [...is.members, awaited] }]) {
      const plan = planDue({ desired: want, live: now, service, now: NOW, matches });
      expect(plan.changes).toEqual([]);
      expect(plan.refusals).toEqual([]);
      expect(plan.deferred.map(({ change }) => `${change.kind} ${change.name}`)).toEqual([
        "delete ada@example.com",
      ]);
    }
  });
});

test("ends to come are listed in their order, each grant at the earlier of its own end and that of the membership", () => {
  const want = desired({
    members: [
      member("ada@example.com", {
        roles: [
          { role: "Lead", until: until("2026-07-31") },
          { role: "Cashier", until: until("2026-07-31") },
          "Clerk",
        ],
      }),
      member("bob@example.com", {
        until: until("2026-07-01"),
        roles: [
          { role: "Cashier", until: until("2026-12-31") },
          { role: "Lead", until: until("2026-06-20") },
        ],
      }),
      member("eve@example.com", { until: until("2026-01-01"), roles: ["Cashier"] }),
    ],
  });
  expect(upcomingDates(want, NOW).map(({ at, email, roles: names }) => [at, email, names])).toEqual([
    [until("2026-06-20").ends, "bob@example.com", ["Lead"]],
    [until("2026-07-01").ends, "bob@example.com", []],
    [until("2026-07-31").ends, "ada@example.com", ["Cashier", "Lead"]],
  ]);
});

describe("access under a previous address that another change removes", () => {
  const moved = live(
    [liveRole("role_1", "Cashier"), liveRole("role_2", "Lead")],
    ["old", "new"].map((name) =>
      liveMember(`mem_${name}`, `${name}@example.com`, { roles: ["role_1", "role_2"] }),
    ),
  );
  const taken = (rest: Parameters<typeof member>[1]) => {
    const entry = member("new@example.com", { previously: ["old@example.com"], ...rest });
    const want = reviewed({ roles, members: [entry] });
    const { changes } = planDue({ desired: want, live: moved, service, now: NOW, matches });
    return changes.map(({ kind, name, fields }) => [
      kind,
      name,
      fields.flatMap((diff) => (diff.field === "roles" ? diff.removed.map((ref) => ref.name) : [])),
    ]);
  };

  test("is taken if it has ended", () => {
    expect(taken({ roles: ["Cashier", { role: "Lead", until: until("2026-06-14") }] })).toEqual([
      ["update", "new@example.com", ["Lead"]],
      ["update", "old@example.com", ["Lead"]],
    ]);
  });

  test("is taken during a suspension", () => {
    expect(taken({ roles: ["Cashier", "Lead"], suspended: { from: from("2026-06-14") } })).toEqual([
      ["update", "new@example.com", ["Cashier", "Lead"]],
      ["update", "old@example.com", ["Cashier", "Lead"]],
    ]);
  });

  test("stays if nothing has ended", () => {
    expect(taken({ roles: ["Cashier", "Lead"] })).toEqual([]);
  });
});

test("an expired invitation beside a member, which gives nobody access, is left to the whole plan", () => {
  const entry = member("ada@example.com", {
    roles: ["Lead", { role: "Cashier", until: until("2026-06-14") }],
  });
  const again = invited("mem_4", "ada@example.com", { ...EXPIRED });
  const found = { ...is, members: [...is.members, again] };
  const want = reviewed({ roles, sync: { ...SYNC, members: "additive" }, members: [entry] });
  const due = planDue({ desired: want, live: found, service, now: NOW, matches });
  expect(due.changes.map(({ kind, id }) => [kind, id])).toEqual([["update", "mem_1"]]);
});

test.each([
  ["has ended", { roles: ["Cashier"], until: until("2026-06-14") }],
  [
    "is between two grants",
    {
      roles: [
        { role: "Cashier", until: until("2026-06-14") },
        { role: "Cashier", from: from("2026-12-20") },
      ],
    },
  ],
])("an expired invitation beside a member whose access %s goes with the member", (_, entry) => {
  const again = invited("mem_4", "bob@example.com", { ...EXPIRED });
  const [, bob] = is.members;
  const found = live(is.roles, [...(bob ? [bob] : []), again]);
  const want = reviewed({ roles, members: [member("bob@example.com", entry)] });
  const due = planDue({ desired: want, live: found, service, now: NOW, matches });
  expect(due.changes.map(({ kind, id }) => [kind, id]).sort()).toEqual([
    ["delete", "mem_2"],
    ["delete", "mem_4"],
  ]);
});

test("who holds only what begins later keeps it, whatever else has ended", () => {
  const entry = member("bob@example.com", {
    roles: [
      { role: "Lead", until: until("2026-06-14") },
      { role: "Cashier", from: from("2026-12-20") },
    ],
  });
  const dueOf = (held: readonly string[]) => {
    const bob = liveMember("mem_2", "bob@example.com", { roles: held });
    const state = reviewed({ roles, members: [entry] });
    return brief(planDue({ desired: state, live: live(is.roles, [bob]), service, now: NOW, matches }));
  };
  expect(dueOf(["role_1"])).toEqual([]);
  expect(dueOf(["role_2"])).toEqual(["delete member bob@example.com"]);
});
