import { describe, expect, test } from "vitest";
import { planDue } from "../../../src/kernel/plan/due.ts";
import { withReviewedEnds } from "../../../src/kernel/read/reviewed-ends.ts";
import type { DesiredState } from "../../../src/model/desired.ts";
import type { Refusal } from "../../../src/model/plan.ts";
import {
  brief,
  desired,
  from,
  judgedRun,
  leaver,
  live,
  liveMember,
  liveRole,
  matches,
  member,
  NOW,
  planOf,
  role,
  until,
} from "../../support/build.ts";

const PEOPLE = Array.from({ length: 21 }, (_, index) => `p${index}@example.com`);
const SEASONAL = PEOPLE.slice(0, 6);
const [PAST, SOON, FAR] = ["2026-06-14", "2026-06-20", "2027-06-20"].map(until) as [
  ReturnType<typeof until>,
  ReturnType<typeof until>,
  ReturnType<typeof until>,
];

type Entry = NonNullable<Parameters<typeof member>[1]>;

/** Files that say the same of the six seasonal workers, and nothing of the dates of the other 15. */
function files(
  seasonal: Entry | ((email: string) => Entry) = {},
  rest: Partial<DesiredState> = {},
): DesiredState {
  const members = PEOPLE.map((email) => {
    const own = SEASONAL.includes(email) ? (typeof seasonal === "function" ? seasonal(email) : seasonal) : {};
    return member(email, { roles: ["Cashier"], ...own });
  });
  return desired({ roles: [role("Cashier")], members, ...rest });
}

const is = live(
  [liveRole("role_1", "Cashier")],
  PEOPLE.map((email, index) => liveMember(`mem_${index}`, email, { roles: ["role_1"] })),
);

function refusalsOf(head: DesiredState, base?: DesiredState): readonly Refusal[] {
  return planOf(withReviewedEnds(head, base), is).refusals;
}

describe("access that a date has ended", () => {
  test("is a removal if no earlier files are known, and the way out is named", () => {
    const [refusal] = refusalsOf(files({ until: PAST }));
    expect(refusal?.message).toBe("6 of 21 members would be removed or lose something; the limit is 5.");
    expect(refusal?.hint).toContain('"rolecall apply --only due"');
  });

  test("has ended at the very moment of its end", () => {
    const ended = files({ until: { text: "2026-06-15T12:00:00Z", ends: NOW } });
    expect(refusalsOf(ended, ended)).toEqual([]);
    const [refusal] = refusalsOf(ended, files({ until: FAR }));
    expect(refusal?.message).toContain("6 of 21 members would be removed or lose something; the limit");
    expect(refusal?.hint).toContain('"rolecall apply --only due"');
  });

  test("is no removal if the earlier files have the date, whether or not the entry stays", () => {
    expect(refusalsOf(files({ until: PAST }), files({ until: PAST }))).toEqual([]);
    const ended = { roles: [{ role: "Cashier", until: PAST }] };
    expect(refusalsOf(files({ roles: [] }), files(ended))).toEqual([]);
    const rest = files().members?.filter(({ email }) => !SEASONAL.includes(email)) ?? [];
    expect(refusalsOf(desired({ members: rest }), files({ until: PAST }))).toEqual([]);
    const left = { leavers: SEASONAL.map((email) => leaver(email, "2026-06-14")) };
    expect(refusalsOf(files({}, left), files({}, left))).toEqual([]);
    expect(refusalsOf(files({ suspended: {} }), files({ suspended: {} }))).toEqual([]);
  });

  test("of a suspension is no removal for roles either that no file lists", () => {
    const more = live(
      [liveRole("role_1", "Cashier"), liveRole("role_2", "Lead")],
      is.members.map((one) => ({ ...one, roles: ["role_1", "role_2"] })),
    );
    const state = (seasonal: Entry): DesiredState => {
      const { members = [], ...rest } = files(seasonal);
      const others = members
        .slice(6)
        .map((one) => ({ ...one, roles: [{ role: "Cashier" }, { role: "Lead" }] }));
      return {
        ...rest,
        roles: [role("Cashier"), role("Lead")],
        members: [...members.slice(0, 6), ...others],
      };
    };
    const plan = (head: Entry, base: Entry) => planOf(withReviewedEnds(state(head), state(base)), more);
    const away = { suspended: { from: from("2026-06-14") } };
    expect(plan(away, away).changes.flatMap(({ fields }) => fields)).toHaveLength(6);
    expect(plan(away, away).changes[0]).toMatchObject({
      fields: [{ removed: [{ id: "role_1" }, { id: "role_2" }] }],
    });
    expect(plan(away, away).refusals).toEqual([]);
    expect(plan({}, {}).refusals).toMatchObject([{ code: "max-removals" }]);
  });

  test("is a removal if the earlier files have a later date, or none", () => {
    for (const before of [{ until: FAR }, {}, { suspended: { until: PAST } }]) {
      expect(refusalsOf(files({ until: PAST }), files(before))).toMatchObject([{ code: "max-removals" }]);
    }
    const over = { suspended: { until: PAST } };
    expect(refusalsOf(files({ roles: [] }), files(over))).toMatchObject([{ code: "max-removals" }]);
  });

  test("counts for what else is removed with it", () => {
    const both = live(
      [liveRole("role_1", "Cashier"), liveRole("role_2", "Lead")],
      is.members.map((one) => ({ ...one, roles: ["role_1", "role_2"] })),
    );
    const grants = { roles: [{ role: "Cashier", until: PAST }, { role: "Lead" }] };
    const roles = [role("Cashier"), role("Lead")];
    const everybody = (entry: Entry): DesiredState =>
      desired({
        roles,
        members: PEOPLE.map((email) =>
          member(email, SEASONAL.includes(email) ? entry : { roles: ["Cashier", "Lead"] }),
        ),
      });
    const refusals = (head: Entry): readonly Refusal[] =>
      planOf(withReviewedEnds(everybody(head), everybody(grants)), both).refusals;
    expect(refusals(grants)).toEqual([]);
    expect(refusals({ roles: [{ role: "Cashier", until: PAST }] })).toMatchObject([{ code: "max-removals" }]);
  });

  test("is removed by an apply of what is due, however many it ends for", () => {
    const head = files({ until: PAST });
    const input = { live: is, service: "https://service.example", now: NOW, matches };
    const plan = planDue({ ...input, desired: withReviewedEnds(head, head) });
    expect(brief(plan)).toEqual(SEASONAL.map((email) => `delete member ${email}`));
    expect(plan.refusals).toEqual([]);
  });
});

describe("a date to come", () => {
  test("is a removal in the plan that introduces or advances it", () => {
    for (const [after, before] of [
      [{ until: SOON }, {}],
      [{ until: SOON }, { until: FAR }],
      [{ roles: [{ role: "Cashier", until: SOON }] }, {}],
      [{ suspended: { from: from("2026-06-20") } }, {}],
    ] as const) {
      expect(refusalsOf(files(after), files(before))).toMatchObject([
        {
          code: "max-removals",
          message:
            "6 of 21 members would be removed or lose something, 6 of them by end dates that were added or brought forward; the limit is 5.",
          hint: "Check the dates that are new or earlier in the files.",
        },
      ]);
    }
    const leavers = SEASONAL.map((email) => leaver(email, "2026-06-20"));
    expect(refusalsOf(files({}, { leavers }), files())).toMatchObject([{ code: "max-removals" }]);
  });

  test("is none if it stays, comes later, or is that of somebody new or of a new role", () => {
    expect(refusalsOf(files({ until: SOON }), files({ until: SOON }))).toEqual([]);
    expect(refusalsOf(files({ until: FAR }), files({ until: SOON }))).toEqual([]);
    expect(refusalsOf(files({ until: SOON }))).toEqual([]);
    const base = files();
    const others = { ...base, members: base.members?.filter(({ email }) => !SEASONAL.includes(email)) ?? [] };
    expect(refusalsOf(files({ until: SOON }), others)).toEqual([]);
    const roles = [{ role: "Cashier" }, { role: "Cashier 2", until: SOON }];
    const second = { roles: [role("Cashier"), role("Cashier 2")] };
    expect(refusalsOf(files({ roles }, second), files({}, second))).toEqual([]);
  });

  test("counts together with what is removed now", () => {
    const few = files((email) => (email === SEASONAL[0] ? { roles: [] } : { until: SOON }));
    expect(refusalsOf(few, files())).toMatchObject([
      {
        message:
          "6 of 21 members would be removed or lose something, 5 of them by end dates that were added or brought forward; the limit is 5.",
      },
    ]);
  });

  test("is that of the person, whatever the address", () => {
    const named = desired({
      members: PEOPLE.map((email) =>
        SEASONAL.includes(email)
          ? member(`new-${email}`, { roles: ["Cashier"], previously: [email], until: SOON })
          : member(email, { roles: ["Cashier"] }),
      ),
    });
    expect(refusalsOf(named, files())).toMatchObject([{ code: "max-removals" }]);
    expect(refusalsOf(named, files({ until: SOON }))).toEqual([]);
  });
});

test("the limit of a run counts dates as that of a merchant does", () => {
  const run = (after: Entry, before?: Entry): readonly (readonly string[])[] => {
    const parts = ["MC1", "MC2", "MC3", "MC4"].map((merchant) => {
      const at = (text: string): string => text.replace("@", `@${merchant}.`);
      const here = (state: DesiredState): DesiredState => ({
        ...state,
        merchant,
        guards: { ...state.guards, maxRemovals: { percent: 100 } },
        members: state.members?.map((one) => ({ ...one, email: at(one.email) })) ?? [],
      });
      const members = is.members.map((one) => ({
        ...one,
        user: { ...one.user, email: at(one.user?.email ?? "") },
      }));
      const state = withReviewedEnds(here(files(after)), before && here(files(before)));
      const lived = { ...is, merchant, members: members as typeof is.members };
      return { plan: planOf(state, lived), files: state };
    });
    return judgedRun(parts).map(({ refusals }) => refusals.map(({ code }) => code));
  };
  const [refused, passed] = [["run-removals"], []];
  expect(run({ until: PAST })).toEqual([refused, refused, refused, refused]);
  expect(run({ until: PAST }, { until: PAST })).toEqual([passed, passed, passed, passed]);
  expect(run({ until: SOON }, {})).toEqual([refused, refused, refused, refused]);
  expect(run({ until: SOON }, { until: SOON })).toEqual([passed, passed, passed, passed]);
});
