import { describe, expect, test } from "vitest";
import { buildPlan } from "../../../src/kernel/plan/build-plan.ts";
import type { BaseRules } from "../../../src/kernel/rules/base-rules.ts";
import { declaredOf } from "../../../src/kernel/rules/judge-policies.ts";
import { parseFrom, parsePeriod, parseUntil } from "../../../src/kernel/values/dates.ts";
import type { DesiredState, Duration } from "../../../src/model/desired.ts";
import { undoPlan } from "../../../src/runs/undo-plan.ts";
import {
  briefFindings,
  briefRefusals,
  desired,
  leaver,
  live,
  liveMember,
  liveRole,
  matches,
  member,
  NO_POLICIES,
  NOW,
  role,
} from "../../support/build.ts";
import { modelService } from "../../support/model-service.ts";
import { runOf } from "../../support/past-run.ts";

const period = (text: string): Duration => parsePeriod(text) ?? { text, ms: 0 };
const dates = (from: string | null, until: string) => {
  const [start, end] = [from === null ? null : parseFrom(from), parseUntil(until)];
  return { ...(start && { from: start }), ...(end && { until: end }) };
};
const limited = (limit: string) => ({
  ...NO_POLICIES,
  requireUntil: { Contractor: period(limit) },
});
const find = (name: string): string => name;
const longGrants = (state: Pick<DesiredState, "policies" | "members" | "leavers">) =>
  declaredOf(state, { desired: state, find, now: NOW });

/** Whether a grant is too long at noon on 15 June 2026, UTC. */
const isLong = (limit: string, from: string | null, until: string): boolean => {
  const members = [member("a@example.com", { roles: [{ role: "Contractor", ...dates(from, until) }] })];
  return longGrants({ policies: limited(limit), members }).length > 0;
};

describe("a grant is too long", () => {
  test.each<readonly [limit: string, from: string | null, until: string, long: boolean]>([
    // A date counts by its day: today and 90 days.
    ["90d", null, "2026-09-13", false],
    ["90d", null, "2026-09-14", true],
    ["2w", null, "2026-06-29", false],
    ["2w", null, "2026-06-30", true],
    ["90d", null, "2026-09-13T12:00:00Z", false],
    ["90d", null, "2026-09-13T12:00:01Z", true],
    // In hours to the second: the end of a day is that of its last hour.
    ["4h", null, "2026-06-15T16:00:00Z", false],
    ["4h", null, "2026-06-15T16:00:01Z", true],
    ["4h", null, "2026-06-15", true],
    ["12h", null, "2026-06-15", false],
    // From its beginning, whenever that is.
    ["30d", "2027-01-01", "2027-01-31", false],
    ["30d", "2027-01-01", "2027-02-01", true],
    ["30d", "2026-01-01", "2026-06-16", true],
    ["4h", "2027-01-01T08:00:00Z", "2027-01-01T12:00:00Z", false],
  ])("with %s, from %s until %s: %s", (limit, from, until, long) => {
    expect(isLong(limit, from, until)).toBe(long);
  });

  test("by the earlier end and the later beginning of grant and membership", () => {
    const long = (grant: object, rest: object) =>
      longGrants({
        policies: limited("30d"),
        members: [member("a@example.com", { roles: [{ role: "Contractor", ...grant }], ...rest })],
      }).map((one) =>
        /"Contractor" (?:from (\S+) )?until (\S+);/.exec(one.refusal("live").message)?.slice(1),
      );
    expect(long(dates(null, "2027-01-01"), dates(null, "2026-06-30"))).toEqual([]);
    expect(long({}, dates(null, "2026-12-31"))).toEqual([[undefined, "2026-12-31"]]);
    expect(long(dates("2026-12-15", "2026-12-31"), dates("2026-12-20", "2027-06-30"))).toEqual([]);
    expect(long(dates("2026-07-01", "2026-12-31"), dates("2026-08-01", "2027-06-30"))).toEqual([
      ["2026-08-01", "2026-12-31"],
    ]);
  });

  test("not if it has ended, or its holder has left, or it has no end, which is another matter", () => {
    const long = (members: DesiredState["members"], leavers: DesiredState["leavers"] = []) =>
      longGrants({ policies: limited("1d"), leavers, ...(members && { members }) });
    const far = member("a@example.com", { roles: [{ role: "Contractor", ...dates(null, "2027-01-01") }] });
    expect(long([far])).toHaveLength(1);
    expect(long([far], [leaver("A@example.com", "2026-06-01")])).toEqual([]);
    expect(long([member("a@example.com", { roles: ["Contractor"] })])).toEqual([]);
    expect(
      long([
        member("a@example.com", { roles: [{ role: "Contractor", ...dates("2026-01-01", "2026-06-01") }] }),
      ]),
    ).toEqual([]);
  });
});

describe("a plan", () => {
  const state = (until: string, rest: object = {}, limit = "30d"): DesiredState =>
    desired({
      roles: [role("Contractor")],
      members: [member("a@example.com", { roles: [{ role: "Contractor", ...dates(null, until) }], ...rest })],
      policies: limited(limit),
    });
  const roles = [liveRole("role_1", "Contractor")];
  const holds = live(roles, [liveMember("mem_1", "A@example.com", { roles: ["role_1"] })]);
  const bare = live(roles, [liveMember("mem_1", "a@example.com")]);
  const plan = (head: DesiredState, is = live(roles), base?: BaseRules) => {
    const input = { desired: head, live: is, service: "s", now: NOW, matches };
    const made = buildPlan({ ...input, ...(base && { base }) });
    return [...briefRefusals(made), ...briefFindings(made).filter((text) => text.includes("until"))];
  };
  const refused = ["policy until-limit a@example.com"];
  const warned = ["warning until-limit a@example.com"];

  test("refuses a new grant, and only warns of one that is live", () => {
    expect(plan(state("2026-12-31"))).toEqual(refused);
    expect(plan(state("2026-12-31"), bare)).toEqual(refused);
    expect(plan(state("2026-12-31"), holds)).toEqual(warned);
    expect(plan(state("2026-07-15"))).toEqual([]);
  });

  test("refuses a later end than on the base branch, and warns of one that is there", () => {
    expect(plan(state("2026-12-31"), holds, state("2026-12-30"))).toEqual(refused);
    expect(plan(state("2026-12-31"), holds, state("2026-12-31"))).toEqual(warned);
    expect(plan(state("2026-12-31"), bare, state("2027-12-31"))).toEqual(warned);
    expect(
      plan(state("2026-12-31"), holds, {
        ...state("2026-12-31"),
        members: [member("a@example.com", { roles: ["Contractor"] })],
      }),
    ).toEqual(warned);
    expect(plan(state("2026-12-31"), holds, { ...state("2026-12-31"), members: [] })).toEqual(warned);
    expect(plan(state("2026-12-31"), bare, { ...state("2026-12-31"), members: [] })).toEqual(refused);
  });

  test("follows a role that the head branch renames", () => {
    const renamed = state("2026-12-31");
    const head = {
      ...renamed,
      roles: [role("Temp", { previously: ["Contractor"] })],
      members: [member("a@example.com", { roles: [{ role: "Temp", ...dates(null, "2026-12-31") }] })],
      policies: { ...limited("30d"), requireUntil: { Temp: period("30d") } },
    };
    expect(plan(head, bare, renamed)).toEqual(warned);
    expect(plan(head, bare, state("2026-12-30"))).toEqual(refused);
  });

  test("is the same under a new address, of which the base branch or the live membership may have the old one", () => {
    const head = (until: string) => ({
      ...state(until),
      members: [
        member("new@example.com", {
          previously: ["A@example.com"],
          roles: [{ role: "Contractor", ...dates(null, until) }],
        }),
      ],
    });
    const [isWarned, isRefused] = [
      "warning until-limit new@example.com",
      "policy until-limit new@example.com",
    ];
    expect(plan(head("2026-12-31"), holds)).toEqual([isWarned]);
    expect(plan(head("2026-12-31"), bare)).toEqual([isRefused]);
    expect(plan(head("2026-12-31"), bare, state("2026-12-31"))).toEqual([isWarned]);
    expect(plan(head("2026-12-31"), holds, state("2026-12-30"))).toEqual([isRefused]);
    // The live grant has the end of its entry.
    expect(plan(head("2026-07-15"), holds)).toEqual([]);
  });

  test("is judged by the limit of the base branch, too", () => {
    const head = { ...state("2026-12-31"), policies: NO_POLICIES };
    expect(plan(head, live(roles), { ...state("2026-12-31"), members: [] })).toEqual(refused);
  });

  test("refuses a grant that is yet to begin", () => {
    const later = dates("2027-01-01", "2027-06-30");
    const head = {
      ...state("2026-12-31"),
      members: [member("a@example.com", { roles: [{ role: "Contractor", ...later }] })],
    };
    expect(plan(head)).toEqual(refused);
  });

  test("gives back to who is suspended what was granted before", () => {
    expect(plan(state("2026-12-31", { suspended: dates(null, "2026-06-01") }), bare)).toEqual(warned);
    expect(plan(state("2026-12-31", { suspended: dates(null, "2026-06-01") }))).toEqual(refused);
  });

  test("of an undo is not judged by it: the file gives nothing then", async () => {
    const service = modelService(holds);
    const run = await runOf(
      buildPlan({
        desired: { ...state("2026-12-31"), members: [] },
        live: holds,
        service: "s",
        now: NOW,
        matches,
      }),
      service,
    );
    const input = { desired: state("2026-12-31"), live: service.state(), service: "s", now: NOW, matches };
    expect(briefRefusals(undoPlan(run, input).plan)).not.toContain(refused[0]);
  });
});
