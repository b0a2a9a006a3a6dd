import { describe, expect, test } from "vitest";
import { declaredReport, liveReport } from "../../../src/ask/report/build-access-report.ts";
import { adoptLive } from "../../../src/edit/adopt/adopt-live.ts";
import { planDue } from "../../../src/kernel/plan/due.ts";
import { dueSince } from "../../../src/kernel/plan/due-since.ts";
import { upcomingDates } from "../../../src/kernel/plan/upcoming-dates.ts";
import type { DesiredState } from "../../../src/model/desired.ts";
import {
  brief,
  briefFindings,
  briefRefusals,
  desired,
  from,
  invited,
  leaver,
  live,
  liveMember,
  liveRole,
  matches,
  member,
  NOW,
  planOf,
  role,
  SYNC,
  until,
} from "../../support/build.ts";

const IS = live(
  [liveRole("role_1", "Cashier"), liveRole("role_owner", "Owner", { predefined: true })],
  [
    liveMember("mem_1", "Karim@example.com", { roles: ["role_1"] }),
    liveMember("mem_2", "ada@example.com", { roles: ["role_owner"] }),
  ],
);
const MEMBERS = [
  member("karim@example.com", { roles: ["Cashier"] }),
  member("ada@example.com", { roles: ["role_owner"] }),
];
const LEFT = [leaver("KARIM@example.com", "2026-06-15")];
const want = (rest: Partial<DesiredState> = {}): DesiredState =>
  desired({ roles: [role("Cashier")], members: MEMBERS, leavers: LEFT, ...rest });
const reasons = (state: DesiredState, is = IS) =>
  planOf(state, is).changes.map(({ kind, id, reason }) => `${kind} ${id} ${reason}`);

describe("somebody who has left holds nothing", () => {
  test.each<readonly [what: string, rest: Partial<DesiredState>]>([
    ["listed", {}],
    ["not listed", { members: MEMBERS.slice(1) }],
    ["listed and ignored", { ignore: { roles: [], members: ["karim@*"] }, members: MEMBERS.slice(1) }],
    ["additive", { members: MEMBERS.slice(1), sync: { ...SYNC, members: "additive" } }],
    ["pinned", { members: [{ ...MEMBERS[0], id: "mem_1" }, ...MEMBERS.slice(1)] as typeof MEMBERS }],
  ])("%s", (_, rest) => {
    expect(reasons(want(rest))).toEqual(["delete mem_1 left"]);
  });

  test("also without a section of members", () => {
    const { members: _, ...rest } = want();
    expect(reasons(rest)).toEqual(["delete mem_1 left"]);
    expect(planOf(rest, IS).summary.members).toMatchObject({ delete: 1, unmanaged: 1 });
  });

  test("at the first moment of that day, and not before", () => {
    const start = Date.parse("2026-06-15T00:00:00.000Z");
    expect(brief(planOf(want(), IS, start - 1))).toEqual([]);
    expect(brief(planOf(want(), IS, start))).toEqual(["delete member Karim@example.com"]);
  });

  test("whatever kind of membership it is, and however many there are", () => {
    const user = { id: "u", email: "karim@example.com", mfaOnLogin: false };
    const is = live(IS.roles, [
      invited("mem_3", "karim@example.com"),
      invited("mem_4", "karim@example.com", { status: "expired" }),
      liveMember("mem_5", "karim@example.com", { user: { ...user, type: "managed_user" } }),
      liveMember("mem_6", "karim@example.com", { user: { ...user, type: "service_account" } }),
      liveMember("mem_7", "karim@example.com", { status: "disabled" }),
    ]);
    expect(reasons(want({ members: [] }), is)).toEqual([3, 4, 5, 6, 7].map((id) => `delete mem_${id} left`));
  });

  test("nor is anybody of that address invited, or one whose entry is pinned to such a member", () => {
    expect(brief(planOf(want(), live(IS.roles, IS.members.slice(1))))).toEqual([]);
    const pinned = [member("new@example.com", { id: "mem_1", roles: ["Cashier"] }), ...MEMBERS.slice(1)];
    expect(reasons(want({ members: pinned }))).toEqual(["delete mem_1 left"]);
    expect(briefFindings(planOf(want({ members: pinned }), IS))).toEqual([
      "warning member-pin-left new@example.com",
    ]);
  });

  test("nor does the member that an entry of that address is pinned to, whatever its address is by now", () => {
    const pinned = [member("karim@example.com", { id: "mem_1", roles: ["Cashier"] }), ...MEMBERS.slice(1)];
    const is = live(IS.roles, [liveMember("mem_1", "k@example.com"), ...IS.members.slice(1)]);
    const state = want({ members: pinned });
    expect(reasons(state, is)).toEqual(["delete mem_1 left"]);
    expect(planOf(state, is).changes.map((change) => dueSince(change, state, NOW))).toEqual([
      Date.parse("2026-06-15T00:00:00.000Z"),
    ]);
  });

  test("but guards apply", () => {
    const owner = want({ leavers: [leaver("ada@example.com", "2026-06-15")] });
    expect(briefRefusals(planOf(owner, IS))).toEqual(["guard min-holders Owner"]);
    const protect = { roles: [], members: ["karim@example.com"] };
    expect(briefRefusals(planOf(want({ guards: { protect } }), IS))).toEqual([
      "guard protect Karim@example.com",
    ]);
  });
});

test("that somebody has left is due", () => {
  const input = { desired: want({ roles: [] }), live: IS, service: "s", now: NOW, matches };
  expect(brief(planDue(input))).toEqual(["delete member Karim@example.com"]);
});

test("who is to leave is announced, whether listed or not, and nothing that comes after", () => {
  const leavers = [leaver("karim@example.com", "2026-07-01"), leaver("zoe@example.com", "2026-06-20")];
  const members = [
    member("karim@example.com", {
      until: until("2026-08-01"),
      roles: [{ role: "Cashier", from: from("2026-06-30") }],
    }),
    member("gone@example.com", { until: until("2026-06-30") }),
  ];
  const dates = upcomingDates(
    { members, leavers: [...leavers, leaver("gone@example.com", "2026-06-01")] },
    NOW,
  );
  expect(dates.map(({ email, text, what }) => [email, text, what])).toEqual([
    ["zoe@example.com", "2026-06-20", "leaves-unlisted"],
    ["karim@example.com", "2026-06-30", "joins"],
    ["karim@example.com", "2026-07-01", "leaves"],
  ]);
});

test("beginnings and suspensions are announced too", () => {
  const members = [
    member("new@example.com", {
      from: from("2026-07-01"),
      roles: [
        "Cashier",
        { role: "Lead", from: from("2026-08-01") },
        { role: "Clerk", from: from("2026-06-20") },
      ],
    }),
    member("ada@example.com", { roles: ["Cashier", { role: "Lead", from: from("2026-06-16") }] }),
    member("away@example.com", {
      roles: ["Cashier"],
      suspended: { from: from("2026-07-01"), until: until("2026-07-31") },
    }),
  ];
  expect(
    upcomingDates({ members }, NOW).map(({ email, text, what, roles }) => [email, text, what, roles]),
  ).toEqual([
    ["ada@example.com", "2026-06-16", "begins", ["Lead"]],
    ["away@example.com", "2026-07-01", "suspended", []],
    ["new@example.com", "2026-07-01", "joins", ["Cashier", "Clerk"]],
    ["away@example.com", "2026-07-31", "back", []],
    ["new@example.com", "2026-08-01", "begins", ["Lead"]],
  ]);
});

test("a report of the files leaves out who has left, and one of what is live says who leaves when", () => {
  const later = want({ leavers: [leaver("karim@example.com", "2026-07-01")] });
  expect(declaredReport(want(), NOW).members.map(({ name }) => name)).toEqual(["ada@example.com"]);
  const end = { role: null, text: "before 2026-07-01", ends: Date.parse("2026-07-01T00:00:00Z") };
  expect(declaredReport(later, NOW).members[1]?.ends).toEqual([end]);
  const report = liveReport({ live: IS, desired: later, service: "s", environment: null, plan: null });
  expect(report.members.map(({ ends }) => ends)).toEqual([[], [end]]);
});

test("a pull adopts nobody who has left, and leaves the entry to its author", () => {
  const unwritable = { roles: new Map(), members: new Map() };
  const input = { live: IS, findings: [], now: NOW, matches, unwritable };
  expect(adoptLive({ ...input, desired: want({ members: MEMBERS.slice(1) }) }).edits).toEqual([]);
  const other = [member("karim@example.com", { roles: ["role_owner"] }), ...MEMBERS.slice(1)];
  expect(adoptLive({ ...input, desired: want({ members: other }) }).edits).toEqual([]);
  expect(adoptLive({ ...input, desired: want({ members: other, leavers: [] }) }).edits).toHaveLength(1);
});

describe("somebody who is suspended", () => {
  const away = (rest: Parameters<typeof member>[1]) =>
    want({
      leavers: [],
      members: [member("karim@example.com", { roles: ["Cashier"], ...rest }), ...MEMBERS.slice(1)],
    });
  const plans = (rest: Parameters<typeof member>[1], is = IS) =>
    planOf(away(rest), is).changes.map(({ kind, reason, after }) => [
      kind,
      reason,
      after && "roles" in after ? after.roles.map(({ name }) => name) : null,
    ]);

  test("keeps the membership, without roles, from the first day to the last", () => {
    const suspended = { from: from("2026-06-15"), until: until("2026-06-15") };
    expect(plans({ suspended })).toEqual([["update", "suspended", []]]);
    const start = Date.parse("2026-06-15T00:00:00.000Z");
    const at = (now: number) => brief(planOf(away({ suspended }), IS, now));
    expect([at(start - 1), at(start), at(start + 86_400_000 - 1), at(start + 86_400_000)]).toEqual([
      [],
      ["update member karim@example.com"],
      ["update member karim@example.com"],
      [],
    ]);
  });

  test("gets the roles back that the file lists then", () => {
    const is = live(IS.roles, [liveMember("mem_1", "karim@example.com"), ...IS.members.slice(1)]);
    expect(plans({ suspended: { until: until("2026-06-14") } }, is)).toEqual([
      ["update", "suspension-ended", ["Cashier"]],
    ]);
  });

  test("is not invited meanwhile, not even again", () => {
    expect(plans({ suspended: {} }, live(IS.roles, IS.members.slice(1)))).toEqual([]);
    const expired = invited("mem_1", "karim@example.com", { status: "expired", roles: ["role_1"] });
    expect(plans({ suspended: {} }, live(IS.roles, [expired, ...IS.members.slice(1)]))).toEqual([]);
    const pending = invited("mem_1", "karim@example.com", { roles: ["role_1"] });
    expect(plans({ suspended: {} }, live(IS.roles, [pending, ...IS.members.slice(1)]))).toEqual([
      ["update", "suspended", []],
    ]);
  });

  test("is no accepted holder", () => {
    const state = away({});
    const members = [
      member("ada@example.com", { roles: ["role_owner"], suspended: {} }),
      ...(state.members ?? []).slice(0, 1),
    ];
    expect(briefRefusals(planOf({ ...state, members }, IS))).toEqual(["guard min-holders Owner"]);
  });

  test("keeps ignored roles, and is warned of if no file lists the others", () => {
    const ignore = { roles: ["Owner"], members: [] };
    const is = live(IS.roles, [
      liveMember("mem_1", "karim@example.com", { roles: ["role_1", "role_owner"] }),
    ]);
    const { roles: _, ...entry } = member("karim@example.com", { suspended: {} });
    const state = want({ leavers: [], ignore, members: [entry] });
    expect(planOf(state, is).changes.map(({ after }) => after)).toMatchObject([
      { roles: [{ name: "Owner" }] },
    ]);
    expect(briefFindings(planOf(state, is))).toContain("warning member-roles-lost karim@example.com");
    const listed = {
      ...state,
      members: [member("karim@example.com", { roles: ["Cashier"], suspended: {} })],
    };
    expect(briefFindings(planOf(listed, is))).not.toContain("warning member-roles-lost karim@example.com");
  });
});

describe("somebody whose access is yet to begin", () => {
  const plans = (rest: Parameters<typeof member>[1], is = IS) =>
    reasons(want({ leavers: [], members: [member("karim@example.com", rest), ...MEMBERS.slice(1)] }), is);
  const later = from("2026-06-16");

  test("is not invited, and is no member any more", () => {
    const nobody = live(IS.roles, IS.members.slice(1));
    expect(plans({ from: later, roles: ["Cashier"] }, nobody)).toEqual([]);
    expect(plans({ roles: [{ role: "Cashier", from: later }] }, nobody)).toEqual([]);
    expect(plans({ roles: [{ role: "Cashier", from: from("2026-06-15") }] }, nobody)).toEqual([
      "create null declared",
    ]);
    expect(plans({ from: later, roles: ["Cashier"] })).toEqual(["delete mem_1 access-not-begun"]);
    expect(plans({ roles: [{ role: "Cashier", from: later }] })).toEqual(["delete mem_1 access-not-begun"]);
  });

  test("holds the other roles", () => {
    expect(plans({ roles: ["role_owner", { role: "Cashier", from: later }] })).toEqual([
      "update mem_1 declared",
    ]);
  });
});

test("a pull keeps beginnings and suspensions that say what is live, and takes out the others", () => {
  const unwritable = { roles: new Map(), members: new Map() };
  const edits = (rest: Parameters<typeof member>[1], members = IS.members) =>
    adoptLive({
      desired: want({ leavers: [], members: [member("karim@example.com", rest), ...MEMBERS.slice(1)] }),
      live: live(IS.roles, members),
      findings: [],
      now: NOW,
      matches,
      unwritable,
    }).edits.map((edit) => (edit.kind === "update-member" ? edit.fields : edit.kind));
  const later = from("2026-06-16");
  const bare = [liveMember("mem_1", "karim@example.com"), ...IS.members.slice(1)];
  expect(edits({ roles: ["Cashier"], suspended: {} }, bare)).toEqual([]);
  expect(edits({ roles: ["Cashier"], suspended: {} }, IS.members.slice(1))).toEqual([]);
  expect(edits({ roles: ["Cashier"], suspended: {} })).toEqual([{ suspended: null }]);
  expect(edits({ roles: ["Cashier"], from: later }, IS.members.slice(1))).toEqual([]);
  expect(edits({ roles: ["Cashier"], from: later })).toEqual([{ from: null }]);
  expect(edits({ roles: ["Cashier", { role: "role_owner", from: later }] })).toEqual([]);
  expect(edits({ roles: [{ role: "Cashier", from: later }] })).toMatchObject([
    { grants: { begin: ["Cashier"] } },
  ]);
});
