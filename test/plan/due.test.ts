import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { DesiredState } from "../../src/model/desired.ts";
import type { Plan } from "../../src/model/plan.ts";
import { approvalRecord, approveByRecord } from "../../src/plan/approve.ts";
import { buildPlan } from "../../src/plan/build-plan.ts";
import { approveOverTime, dueSince, planDue, upcomingEnds } from "../../src/plan/due.ts";
import { desiredStates, liveStates, mirror } from "../support/arbitrary.ts";
import {
  brief,
  desired,
  live,
  liveMember,
  liveRole,
  matches,
  member,
  NOW,
  planOf,
  role,
  until,
} from "../support/build.ts";

const service = "https://service.example";
const is = live(
  [liveRole("role_1", "Cashier"), liveRole("role_2", "Lead")],
  [
    liveMember("mem_1", "ada@example.com", { roles: ["role_1", "role_2"] }),
    liveMember("mem_2", "bob@example.com", { roles: ["role_1"] }),
  ],
);
const roles = [role("Cashier"), role("Lead")];

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
    expect(plan.changes.map((change) => dueSince(change, want))).toEqual([ended.ends]);
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
    expect(plan.changes.map((change) => dueSince(change, want))).toEqual(
      plan.changes.map(({ id }) => (id === "mem_1" ? second.ends : first.ends)),
    );
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
    expect(plan.changes.map((change) => dueSince(change, want))).toEqual([null, null]);
    expect(planDue({ desired: want, live: is, service, now: NOW, matches }).changes).toEqual([]);
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

describe("a plan of what is due", () => {
  test("has only changes of the whole plan, and gives nobody anything", () => {
    fc.assert(
      fc.property(desiredStates, liveStates, ends, (state, found, days) => {
        const want = withEnds(state, days);
        const input = { desired: want, live: found, service, now: NOW, matches };
        const [due, all] = [planDue(input), buildPlan(input)];
        const known = new Set(
          [...all.changes, ...all.deferred.map(({ change }) => change)].map((one) => one.fingerprint),
        );
        expect(due.changes.filter(({ fingerprint }) => !known.has(fingerprint))).toEqual([]);
        expect(
          due.impact.members.filter(({ gained, unknownGained }) => gained.length + unknownGained.length > 0),
        ).toEqual([]);
      }),
    );
  });

  test("is the whole plan where only time has passed", () => {
    fc.assert(
      fc.property(liveStates, ends, (found, days) => {
        const want = withEnds(mirror(found), days);
        const before = buildPlan({ desired: want, live: found, service, now: 0, matches });
        fc.pre(before.changes.length + before.deferred.length === 0);
        const input = { desired: want, live: found, service, now: NOW, matches };
        const [due, all] = [planDue(input), buildPlan(input)];
        expect(due.changes).toEqual(all.changes);
      }),
    );
  });
});

describe("an approval over time", () => {
  const wants = (lead: string | null, metadata: Record<string, string> = {}) =>
    desired({
      roles,
      members: [
        member("ada@example.com", {
          roles: ["Cashier", lead === null ? "Lead" : { role: "Lead", until: until(lead) }],
          metadata,
        }),
        member("bob@example.com", { roles: ["Cashier", "Lead"] }),
      ],
    });
  const [reviewed, end] = [NOW - 3 * 86_400_000, "2026-06-13"];
  const approvalOf = (want: DesiredState) => {
    const record = approvalRecord(planOf(want, is, reviewed));
    return (plan: Plan) => approveByRecord(plan, record);
  };

  test("holds for what follows from an end that has passed since, also beside a change that was reviewed", () => {
    for (const metadata of [{}, { desk: "2" }]) {
      const want = wants(end, metadata);
      const [fresh, then] = [planOf(want, is), planOf(want, is, reviewed)];
      const check = approvalOf(want);
      expect(check(fresh).status).toBe("new-changes");
      expect(approveOverTime(fresh, () => then, check)).toEqual({ status: "approved" });
    }
  });

  test("does not hold for anything else: a change of the file or of the live state since", () => {
    const check = approvalOf(wants(end));
    const names = (want: DesiredState) => {
      const result = approveOverTime(planOf(want, is), () => planOf(want, is, reviewed), check);
      return result.status === "new-changes" ? result.changes.map(({ name }) => name) : result.status;
    };
    expect(names(wants(end, { desk: "2" }))).toEqual(["ada@example.com"]);
    // An end that had passed already at the time of the review was not in the file then.
    expect(names(wants("2026-06-01"))).toEqual(["ada@example.com"]);
    expect(names(wants(null))).toBe("approved");
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
  expect(upcomingEnds(want, NOW).map(({ ends: at, email, roles: names }) => [at, email, names])).toEqual([
    [until("2026-06-20").ends, "bob@example.com", ["Lead"]],
    [until("2026-07-01").ends, "bob@example.com", null],
    [until("2026-07-31").ends, "ada@example.com", ["Cashier", "Lead"]],
  ]);
});
