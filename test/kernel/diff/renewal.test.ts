import { describe, expect, test } from "vitest";
import type { Renewal } from "../../../src/kernel/diff/plan-members.ts";
import { buildPlan } from "../../../src/kernel/plan/build-plan.ts";
import type { DesiredMember, Reinvite } from "../../../src/model/desired.ts";
import type { LiveMember } from "../../../src/model/live.ts";
import {
  briefFindings,
  desired,
  invited,
  live,
  liveMember,
  matches,
  member,
  NOW,
  SYNC,
} from "../../support/build.ts";

const DAY = 86_400_000;
const EXPIRED = { status: "expired" } as const;
const MONTH: Reinvite = { text: "30d", ms: 30 * DAY };

function plan(
  is: readonly LiveMember[],
  {
    entry = member("ada@example.com"),
    reinvite = true,
    renewal = {},
  }: { entry?: DesiredMember; reinvite?: Reinvite; renewal?: Renewal } = {},
) {
  const state = desired({ sync: { ...SYNC, reinvite }, members: [entry] });
  const input = { live: live([], is), service: "https://service.example", now: NOW, matches };
  return buildPlan({ ...input, desired: state, renewal });
}

const rows = ({ changes }: ReturnType<typeof plan>) =>
  changes.map(({ kind, id, reason }) => `${kind} ${id} ${reason}`);

/** When the entry of ada was committed, in days before now. */
function committed(days: number): Renewal {
  const at = NOW - days * DAY;
  return { committed: new Map([["ada@example.com", { at, day: new Date(at).toISOString().slice(0, 10) }]]) };
}

const ONE = [invited("mem_1", "Ada@example.com", EXPIRED)];
const RENEWED = ["replace mem_1 invitation-expired"];

describe("an expired invitation", () => {
  test("is renewed while its entry is younger than the period, and reported afterwards", () => {
    expect(rows(plan(ONE, { reinvite: MONTH, renewal: committed(29.9) }))).toEqual(RENEWED);
    const old = plan(ONE, { reinvite: MONTH, renewal: committed(30) });
    expect(rows(old)).toEqual([]);
    expect(old.findings).toMatchObject([
      {
        code: "member-not-accepted",
        severity: "warning",
        message: expect.stringContaining(
          "ada@example.com has not accepted an invitation since the entry was last changed, on 2026-05-16",
        ),
        hint: "Remove the entry, or send another one with --reinvite ada@example.com.",
      },
    ]);
  });

  test("is left as it is after the period, whatever its entry holds by now", () => {
    const entry = { ...member("ada@example.com", { roles: [] }), metadata: { desk: 2 } };
    const old = plan(ONE, { entry, reinvite: MONTH, renewal: committed(30) });
    expect([rows(old), briefFindings(old)]).toEqual([[], ["warning member-not-accepted ada@example.com"]]);
  });

  test("reports after the period, too, that the entry has a role that does not exist", () => {
    const entry = member("ada@example.com", { roles: ["Gone"] });
    expect(briefFindings(plan(ONE, { entry, reinvite: MONTH, renewal: committed(30) }))).toEqual([
      "error member-role-unknown ada@example.com",
      "warning member-not-accepted ada@example.com",
    ]);
  });

  test("is always renewed where git does not know the entry", () => {
    expect(rows(plan(ONE, { reinvite: MONTH }))).toEqual(RENEWED);
  });

  test("is renewed once on request, whatever the file says", () => {
    const renewal = { ...committed(400), asked: new Set(["ada@example.com"]) };
    for (const reinvite of [MONTH, false]) expect(rows(plan(ONE, { reinvite, renewal }))).toEqual(RENEWED);
  });

  test("is not renewed where the file says so", () => {
    const off = plan(ONE, { reinvite: false });
    expect([rows(off), briefFindings(off)]).toEqual([[], ["warning member-expired ada@example.com"]]);
  });

  test("is not renewed, or always, where its entry says so", () => {
    const entry = (reinvite: boolean) => ({ ...member("ada@example.com"), reinvite });
    for (const reinvite of [true, MONTH]) {
      const off = plan(ONE, { entry: entry(false), reinvite, renewal: committed(1) });
      expect([rows(off), briefFindings(off)]).toEqual([[], ["warning member-expired ada@example.com"]]);
    }
    expect(rows(plan(ONE, { entry: entry(true), reinvite: false }))).toEqual(RENEWED);
    const renewal = { ...committed(400), asked: new Set(["ada@example.com"]) };
    expect(rows(plan(ONE, { entry: entry(false), reinvite: MONTH, renewal }))).toEqual(RENEWED);
  });
});

describe("of several expired invitations of one address", () => {
  const at = (id: string, expiresAt: string) =>
    invited(id, "ada@example.com", { ...EXPIRED, invite: { email: "ada@example.com", expiresAt } });

  test("the one that expired last is renewed, and the others are removed", () => {
    const is = [at("mem_1", "2026-01-08T00:00:00Z"), at("mem_2", "2026-03-08T00:00:00Z")];
    expect(rows(plan(is))).toEqual(["delete mem_1 invitation-expired", "replace mem_2 invitation-expired"]);
  });

  test("the first by id is where they expired together", () => {
    const is = [at("mem_2", "2026-01-08T00:00:00Z"), at("mem_1", "2026-01-08T00:00:00Z")];
    expect(rows(plan(is))).toEqual(["replace mem_1 invitation-expired", "delete mem_2 invitation-expired"]);
  });

  test("the pinned one is, whenever it expired", () => {
    const is = [at("mem_1", "2026-01-08T00:00:00Z"), at("mem_2", "2026-03-08T00:00:00Z")];
    const entry = member("ada@example.com", { id: "mem_1" });
    expect(rows(plan(is, { entry }))).toEqual([
      "replace mem_1 invitation-expired",
      "delete mem_2 invitation-expired",
    ]);
  });
});

describe("an entry that is pinned to an expired invitation", () => {
  const entry = member("ada@example.com", { id: "mem_1" });

  test("has it renewed", () => {
    expect(rows(plan(ONE, { entry }))).toEqual(RENEWED);
    expect(plan(ONE, { entry }).findings).toEqual([]);
  });

  test("stands for the new one afterwards, and the plan says which id to write", () => {
    const after = plan([invited("mem_2", "ada@example.com")], { entry });
    expect(rows(after)).toEqual([]);
    expect(after.findings).toMatchObject([
      { code: "member-pin-renewed", hint: expect.stringContaining("mem_2") },
    ]);
  });

  test("stands for the new one also where the expired one is still there, which is removed", () => {
    const half = plan([...ONE, invited("mem_2", "ada@example.com")], { entry });
    expect(rows(half)).toEqual(["delete mem_1 invitation-expired"]);
    expect(briefFindings(half)).toEqual(["warning member-pin-renewed ada@example.com"]);
  });

  test("keeps it beside a membership, so that the entry stays clear until its id is corrected", () => {
    const both = [...ONE, liveMember("mem_2", "ada@example.com")];
    expect(rows(plan(both, { entry }))).toEqual([]);
    expect(briefFindings(plan(both, { entry }))).toEqual(["warning member-pin-renewed ada@example.com"]);
  });

  test("does not stand for somebody else of that address", () => {
    expect(briefFindings(plan([liveMember("mem_2", "ada@example.com")], { entry }))).toEqual([
      "error member-pin-missing ada@example.com",
    ]);
  });
});
