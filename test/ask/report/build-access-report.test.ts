import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { declaredReport, liveReport } from "../../../src/ask/report/build-access-report.ts";
import type { AccessReport } from "../../../src/model/reports.ts";
import { desiredStates, liveStates } from "../../support/arbitrary.ts";
import {
  desired,
  invited,
  live,
  liveMember,
  liveRole,
  member,
  NOW,
  planOf,
  role,
  until,
} from "../../support/build.ts";
import { processorTime } from "../../support/processor-time.ts";

const SERVICE = { service: "https://service.example", environment: null };

function names(report: AccessReport, side: "before" | "after") {
  return report.members.filter((one) => one[side] !== null).map(({ name }) => name);
}

describe("a report of the live state", () => {
  const is = live(
    [liveRole("role_1", "Cashier", { permissions: ["sell"], description: "Sells" })],
    [
      liveMember("mem_1", "Ada@example.com", { roles: ["role_1"] }),
      invited("mem_2", "bob@example.com", { roles: ["role_1"] }),
    ],
  );

  test("holds everybody, also whom the file ignores", () => {
    const report = liveReport({
      live: is,
      desired: desired({ ignore: { roles: ["*"], members: ["*"] } }),
      plan: null,
      ...SERVICE,
    });
    expect(names(report, "after")).toEqual(["Ada@example.com", "bob@example.com"]);
    expect(report.members[0]?.before).toBe(report.members[0]?.after);
    expect(report.members[1]?.invitedUntil).toBe("2030-01-08T00:00:00.000Z");
    expect(report.roles).toMatchObject([
      { name: "Cashier", description: "Sells", after: { permissions: ["sell"] } },
    ]);
  });

  test("takes the ends from the file, whatever the case of the address", () => {
    const wanted = desired({
      members: [
        member("ada@EXAMPLE.com", {
          roles: [{ role: "Cashier", until: until("2026-07-31") }],
          until: until("2027-01-31"),
        }),
      ],
    });
    const [ada, bob] = liveReport({ live: is, desired: wanted, plan: null, ...SERVICE }).members;
    expect(ada?.ends.map(({ role: of, text }) => [of, text])).toEqual([
      [null, "2027-01-31"],
      ["Cashier", "2026-07-31"],
    ]);
    expect(bob?.ends).toEqual([]);
  });

  test("takes the ends of a membership with a previous address from the entry", () => {
    const wanted = desired({
      members: [member("new@example.com", { previously: ["ada@EXAMPLE.com"], until: until("2027-01-31") })],
    });
    const [ada] = liveReport({ live: is, desired: wanted, plan: null, ...SERVICE }).members;
    expect(ada?.ends.map(({ text }) => text)).toEqual(["2027-01-31"]);
  });

  test("with a plan holds before and after", () => {
    const wanted = desired({
      roles: [role("Cashier", { permissions: ["sell", "refund"] })],
      members: [
        member("ada@example.com", { roles: ["Cashier"] }),
        member("cy@example.com", { roles: ["Cashier"] }),
      ],
    });
    const report = liveReport({ live: is, desired: wanted, plan: planOf(wanted, is), ...SERVICE });
    expect(names(report, "before")).toEqual(["Ada@example.com", "bob@example.com"]);
    expect(names(report, "after")).toEqual(["Ada@example.com", "cy@example.com"]);
    expect(report.members.map(({ after }) => after?.status)).toEqual(["accepted", undefined, "invited"]);
    expect(report.roles[0]?.before).toEqual({ permissions: ["sell"] });
    expect(report.roles[0]?.after).toEqual({ permissions: ["refund", "sell"] });
  });
});

test("a user of the merchant's own needs no invitation", () => {
  const managed = { nickname: "Till 7", passwordEnv: "TILL_7" };
  const wanted = desired({ members: [member("till-7@shop.example", { managed })] });
  const report = liveReport({ live: live(), desired: wanted, plan: planOf(wanted, live()), ...SERVICE });
  expect(report.members).toMatchObject([
    {
      name: "till-7@shop.example",
      nickname: "Till 7",
      type: "managed_user",
      before: null,
      after: { status: "accepted" },
    },
  ]);
});

test("thousands of new roles are reported in time in proportion to them", () => {
  const wanted = desired({
    roles: Array.from({ length: 8000 }, (_, n) => role(`Role ${n}`, { description: `${n}` })),
  });
  const plan = planOf(wanted, live());
  const start = processorTime();
  const { roles } = liveReport({ live: live(), desired: wanted, plan, ...SERVICE });
  expect(processorTime() - start).toBeLessThan(2000);
  expect(roles).toHaveLength(8000);
  expect(roles.every(({ name, description }) => name === `Role ${description}`)).toBe(true);
});

test("the report after a plan has as many members as the plan's counts say", () => {
  fc.assert(
    fc.property(desiredStates, liveStates, (want, is) => {
      const plan = planOf(want, is);
      const report = liveReport({ live: is, desired: want, plan, ...SERVICE });
      expect(names(report, "before")).toHaveLength(is.members.length);
      const { create, delete: remove } = plan.summary.members;
      expect(names(report, "after")).toHaveLength(is.members.length + create - remove);
      const keys = new Set(report.roles.map(({ key }) => key));
      for (const { after } of report.members)
        for (const key of after?.roles ?? []) expect(keys).toContain(key);
    }),
  );
});

test("a report of the files holds whose access has not ended, and every role that is named", () => {
  const past = until("2026-01-31");
  const report = declaredReport(
    desired({
      roles: [role("Cashier", { permissions: ["sell"] })],
      members: [
        member("ada@example.com", { roles: ["Cashier", "role_owner", { role: "Gone", until: past }] }),
        member("bob@example.com", { roles: [{ role: "Cashier", until: past }] }),
        member("cy@example.com", { roles: ["Cashier"], until: past }),
        member("di@example.com", { roles: [] }),
      ],
    }),
    NOW,
  );
  expect(names(report, "after")).toEqual(["ada@example.com", "di@example.com"]);
  expect(
    report.roles.map(({ name, id, predefined, after }) => [name, id, predefined, after?.permissions]),
  ).toEqual([
    ["Cashier", null, false, ["sell"]],
    ["role_owner", "role_owner", true, null],
  ]);
  expect(report.members[0]?.after).toEqual({ status: "declared", roles: ["Cashier", "role_owner"] });
  // What has ended is in the files still, and is said to have.
  expect(report.members.map(({ name, after, ends }) => [name, after !== null, ends])).toEqual([
    ["ada@example.com", true, [{ role: "Gone", ...past }]],
    ["bob@example.com", false, [{ role: "Cashier", ...past }]],
    ["cy@example.com", false, [{ role: null, ...past }]],
    ["di@example.com", true, []],
  ]);
});
