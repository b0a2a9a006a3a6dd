import { expect, test } from "vitest";
import { judgeChanges, planParts } from "../../../src/kernel/plan/build-plan.ts";
import { type DatedMerchant, laterDays } from "../../../src/kernel/plan/later.ts";
import { type UpcomingDate, upcomingDates } from "../../../src/kernel/plan/upcoming-dates.ts";
import {
  desired,
  from,
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

const service = "https://service.example";
const SENSITIVE = { permissions: ["payouts_edit"] };

/** A merchant at which 15 people get a sensitive role on one day, and 15 others lose it on another. */
function merchant(code: string, day: string): DatedMerchant {
  const people = Array.from({ length: 15 }, (_, index) => `${code}-${index}@example.com`);
  const grants = [
    { role: "Lead", from: from(day) },
    { role: "Lead", until: until("2026-06-25") },
  ];
  const files = desired({
    merchant: code,
    roles: [role("Cashier"), role("Lead", SENSITIVE)],
    members: grants.flatMap((grant, index) =>
      people.map((email) => member(`${index}-${email}`, { roles: ["Cashier", grant] })),
    ),
    guards: { ...desired().guards, maxGains: {}, maxRemovals: { percent: 100 } },
  });
  const found = live(
    [liveRole("role_1", "Cashier"), liveRole("role_2", "Lead", SENSITIVE)],
    [["role_1"], ["role_1", "role_2"]].flatMap((roles, which) =>
      people.map((email, index) => liveMember(`mem_${which}_${index}`, `${which}-${email}`, { roles })),
    ),
  );
  const input = { desired: files, live: { ...found, merchant: code }, service, matches };
  return {
    dates: upcomingDates(files, NOW),
    judgeAt: (now) => planParts({ ...input, now }, judgeChanges),
    files,
  };
}

test("the days of a run are judged by its limits, for all merchants on which they fall together", () => {
  const codesOf = (...merchants: readonly DatedMerchant[]) =>
    laterDays(merchants).map((days) => days.map(({ refusals }) => refusals.map(({ code }) => code)));
  const [one, two] = [merchant("MC1", "2026-06-20"), merchant("MC2", "2026-06-20")];
  expect(codesOf(one, two)).toEqual([
    [["run-gains"], ["run-removals"]],
    [["run-gains"], ["run-removals"]],
  ]);
  expect(codesOf(one)).toEqual([[[], []]]);
  expect(codesOf(one, merchant("MC3", "2026-06-21"))).toEqual([
    [[], ["run-removals"]],
    [[], ["run-removals"]],
  ]);
  const reviewed = (each: DatedMerchant): DatedMerchant => ({
    ...each,
    files: { ...each.files, reviewedEnds: each.files },
  });
  expect(codesOf(reviewed(one), reviewed(two))).toEqual([
    [["run-gains"], []],
    [["run-gains"], []],
  ]);
});

test("a day beyond those that are judged counts as one that may bring anything", () => {
  const days = Array.from(
    { length: 60 },
    (_, at): UpcomingDate => ({
      at,
      text: `${at}`,
      email: `m${at}@example.com`,
      what: "joins",
      roles: ["Helper"],
    }),
  );
  const judged = new Set<number>();
  const plan = planOf(desired(), live());
  const judgeAt = (now: number) => {
    judged.add(now);
    return () => plan;
  };
  const [later = []] = laterDays([{ dates: days, judgeAt, files: desired() }]);
  expect(later.map(({ at, gains }) => [at, gains])).toEqual(
    days.map(({ at, email }) => [at, judged.has(at) ? [] : [{ name: email, gained: ["Helper"] }]]),
  );
  expect(later.filter(({ gains }) => gains.length > 0)).toHaveLength(10);
});
