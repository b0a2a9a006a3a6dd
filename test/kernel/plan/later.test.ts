import { expect, test } from "vitest";
import { judgeChanges, planParts } from "../../../src/kernel/plan/build-plan.ts";
import { type DatedMerchant, laterDays } from "../../../src/kernel/plan/later.ts";
import { type UpcomingDate, upcomingDates } from "../../../src/kernel/plan/upcoming-dates.ts";
import type { DesiredMember, Grant } from "../../../src/model/desired.ts";
import {
  desired,
  from,
  live,
  liveMember,
  liveRole,
  matches,
  member,
  NO_POLICIES,
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
    planned: {
      plan: planOf(files, input.live),
      live: input.live,
      judgeAt: (now) => planParts({ ...input, now }, judgeChanges),
    },
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

test("a day is refused where it brings what breaks a rule across merchants, with what others bring until then", () => {
  const across = {
    origin: { file: "rolecall.yaml", path: ["across_merchants"] },
    policies: { ...NO_POLICIES, separate: [["Approver", "Payer"]], maxHolders: { Payer: 1 } },
    checks: [],
  };
  const at = (code: string, ...entries: readonly DesiredMember[]): DatedMerchant => {
    const files = desired({
      merchant: code,
      roles: [role("Approver"), role("Payer")],
      members: entries,
      projects: [{ across }],
    });
    const found = {
      ...live([liveRole("role_a", "Approver"), liveRole("role_p", "Payer")], []),
      merchant: code,
    };
    const input = { desired: files, live: found, service, matches };
    return {
      dates: upcomingDates(files, NOW),
      files,
      planned: {
        plan: planOf(files, found),
        live: found,
        judgeAt: (now) => planParts({ ...input, now }, judgeChanges),
      },
    };
  };
  const refusalsOf = (merchants: readonly DatedMerchant[], declared: readonly DatedMerchant[] = []) =>
    laterDays(
      merchants,
      declared.map(({ files }) => files),
    ).map((days) => days.map(({ dates, refusals }) => [dates[0]?.text, ...refusals.map(({ code }) => code)]));
  const fu = (...roles: readonly (string | Grant)[]): DesiredMember => member("fu@example.com", { roles });
  const approver = at("MC2", fu({ role: "Approver", from: from("2026-06-20") }));
  const payer = at("MC1", fu("Payer"));
  const separate = [["2026-06-20", "across-separate"]];
  expect(refusalsOf([payer, approver])).toEqual([[], separate]);
  // A merchant that was not read counts as declared.
  expect(refusalsOf([approver], [payer])).toEqual([separate]);
  // What is refused already is no news on a later day.
  const li = member("li@example.com", { roles: [{ role: "Approver", from: from("2026-06-20") }] });
  const both = at("MC2", fu("Approver"), li);
  expect(refusalsOf([payer, both])).toEqual([[], [["2026-06-20"]]]);
  // Another one gets the role on the day before, or on the day on which it ends.
  const leaving = at("MC1", fu({ role: "Payer", until: until("2026-06-19") }));
  expect(refusalsOf([leaving, approver])).toEqual([[["2026-06-19"]], [["2026-06-20"]]]);
  const joining = at(
    "MC3",
    member("bo@example.com", { roles: [{ role: "Payer", from: from("2026-06-18") }] }),
  );
  expect(refusalsOf([payer, joining])).toEqual([[], [["2026-06-18", "across-max-holders"]]]);
  expect(refusalsOf([leaving, joining])).toEqual([[["2026-06-19"]], [["2026-06-18", "across-max-holders"]]]);
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
  const [later = []] = laterDays([
    { dates: days, planned: { plan, live: live(), judgeAt }, files: desired() },
  ]);
  expect(later.map(({ at, gains }) => [at, gains])).toEqual(
    days.map(({ at, email }) => [at, judged.has(at) ? [] : [{ name: email, gained: ["Helper"] }]]),
  );
  expect(later.filter(({ gains }) => gains.length > 0)).toHaveLength(10);
});
