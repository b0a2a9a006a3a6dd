import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { applyPlan } from "../../../src/kernel/apply/apply-plan.ts";
import { dependenciesOf, leftOutWith } from "../../../src/kernel/plan/select.ts";
import type { LiveState } from "../../../src/model/live.ts";
import type { Plan } from "../../../src/model/plan.ts";
import { isApplicable } from "../../support/applicable.ts";
import { applyPorts } from "../../support/apply-ports.ts";
import { desiredStates, liveStates } from "../../support/arbitrary.ts";
import {
  brief,
  briefRefusals,
  desired,
  invited,
  live,
  liveMember,
  liveRole,
  member,
  planOf,
  role,
  SYNC,
} from "../../support/build.ts";
import { modelService } from "../../support/model-service.ts";
import { runs } from "../../support/property-runs.ts";

/** The plan without one of its changes, in short. */
function without(
  plan: Plan,
  left: string,
  again: (leaveOut: ReadonlySet<string>) => Plan,
): readonly string[] {
  const out = plan.changes.filter((change) => brief({ ...plan, changes: [change] })[0] === left);
  expect(out).toHaveLength(1);
  return brief(again(new Set(out.map(({ fingerprint }) => fingerprint))));
}

function choosing(want: Parameters<typeof planOf>[0], is: LiveState) {
  const plan = planOf(want, is);
  return (left: string) => without(plan, left, (leaveOut) => planOf(want, is, undefined, leaveOut));
}

describe("leaving a change out", () => {
  test("of a role that is to be created leaves its grants out, and nothing else", () => {
    const want = desired({
      roles: [role("New")],
      members: [member("a@example.com", { roles: ["New"] }), member("b@example.com")],
    });
    expect(choosing(want, live())("create role New")).toEqual(["create member b@example.com"]);
  });

  test("of a holder keeps the role that would be removed", () => {
    const is = live(
      [liveRole("role_1", "Old")],
      [liveMember("mem_1", "a@example.com", { roles: ["role_1"] })],
    );
    const want = desired({ roles: [], members: [] });
    expect(choosing(want, is)("delete member a@example.com")).toEqual([]);
    expect(choosing(want, is)("delete role Old")).toEqual(["delete member a@example.com"]);
  });

  test("of a rename keeps the name from whoever was to take it", () => {
    const is = live([liveRole("role_1", "A"), liveRole("role_2", "B")]);
    const want = desired({ roles: [role("C", { id: "role_2" }), role("B", { id: "role_1" })] });
    expect(choosing(want, is)("update role C")).toEqual([]);
    expect(choosing(want, is)("update role B")).toEqual(["update role C"]);
  });

  test("of a holder keeps the role from being replaced, with all its holders", () => {
    const is = live(
      [liveRole("role_1", "Till", { metadata: { a: 1 } })],
      [
        liveMember("mem_1", "a@example.com", { roles: ["role_1"] }),
        liveMember("mem_2", "b@example.com", { roles: ["role_1"] }),
      ],
    );
    const want = desired({
      sync: { ...SYNC, replaceRoles: true },
      roles: [role("Till", { metadata: { a: 2 } })],
    });
    expect(choosing(want, is)("update member a@example.com")).toEqual([]);
  });

  test("of an expired invitation leaves out the new one that it is in the way of", () => {
    const is = live(
      [],
      [
        invited("mem_1", "a@example.com", { status: "expired" }),
        invited("mem_2", "A@example.com", { status: "expired" }),
      ],
    );
    const want = desired({ members: [member("a@example.com")] });
    expect(choosing(want, is)("delete member A@example.com")).toEqual([]);
    expect(choosing(want, is)("replace member a@example.com")).toEqual(["delete member A@example.com"]);
  });

  test("applies the guards to the rest", () => {
    const owners = ["a", "b"].map((name) =>
      liveMember(`mem_${name}`, `${name}@example.com`, { roles: ["role_owner"] }),
    );
    const is = live([liveRole("role_owner", "Owner", { predefined: true })], owners);
    const want = desired({ members: [] });
    expect(briefRefusals(planOf(want, is))).toContain("guard min-holders Owner");
    const kept = planOf(want, is)
      .changes.slice(0, 1)
      .map(({ fingerprint }) => fingerprint);
    const rest = planOf(want, is, undefined, new Set(kept));
    expect(brief(rest)).toEqual(["delete member b@example.com"]);
    expect(briefRefusals(rest)).toEqual([]);
    expect(rest.summary.members.unchanged).toBe(1);
  });

  test("says why another one is left out, too", () => {
    const { changes } = planOf(
      desired({ roles: [role("New")], members: [member("a@example.com", { roles: ["New"] })] }),
      live(),
    );
    const [create, grant] = changes.map(({ fingerprint }) => fingerprint);
    expect([...leftOutWith(dependenciesOf(changes), [String(create)])]).toEqual([
      [create, null],
      [grant, "it needs the role New"],
    ]);
  });
});

const inputs = fc.record({
  want: desiredStates,
  is: liveStates,
  picks: fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }),
});

/** What a terminal leaves out: what is not picked, and what waits anyway. */
function leaveOutOf(plan: Plan, picks: readonly boolean[]): ReadonlySet<string> {
  const unpicked = plan.changes.filter((_, index) => !picks[index % picks.length]);
  return new Set(
    [...unpicked, ...plan.deferred.map(({ change }) => change)].map(({ fingerprint }) => fingerprint),
  );
}

describe("for every selection", () => {
  test("an apply makes exactly the selected changes, and leaves the rest to do", async () => {
    let judged = 0;
    await fc.assert(
      fc.asyncProperty(inputs, async ({ want, is, picks }) => {
        const full = planOf(want, is);
        fc.pre(isApplicable(full));
        const leaveOut = leaveOutOf(full, picks);
        const part = planOf(want, is, undefined, leaveOut);
        const out = leftOutWith(dependenciesOf(full.changes), leaveOut);
        const expected = full.changes.filter(({ fingerprint }) => !out.has(fingerprint));
        const waiting = part.deferred.map(({ change }) => change.fingerprint);
        expect([...part.changes.map(({ fingerprint }) => fingerprint), ...waiting].sort()).toEqual(
          expected.map(({ fingerprint }) => fingerprint).sort(),
        );
        // What waits for an acceptance can keep a role from going; nothing else may.
        if (part.deferred.length === 0) expect(isApplicable(part)).toBe(true);
        fc.pre(isApplicable(part));
        judged += 1;

        const service = modelService(is);
        const result = await applyPlan(part, applyPorts(service));
        expect(result.outcomes.filter(({ status }) => status !== "done")).toEqual([]);

        const rest = planOf(want, service.state(), undefined, leaveOut);
        const waited = new Set(waiting);
        expect(rest.changes.filter(({ fingerprint }) => !waited.has(fingerprint))).toEqual([]);
      }),
      { numRuns: runs(150) },
    );
    expect(judged).toBeGreaterThan(30);
  });

  test("without any choice the plan is the same to the byte", () => {
    fc.assert(
      fc.property(inputs, ({ want, is }) => {
        expect(JSON.stringify(planOf(want, is, undefined, new Set()))).toBe(JSON.stringify(planOf(want, is)));
      }),
    );
  });
});
