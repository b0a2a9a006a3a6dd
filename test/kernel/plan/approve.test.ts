import fc from "fast-check";
import { expect, test } from "vitest";
import { applyPlan } from "../../../src/kernel/apply/apply-plan.ts";
import { approve } from "../../../src/kernel/plan/approve.ts";
import { buildPlan } from "../../../src/kernel/plan/build-plan.ts";
import type { ApplyEvent } from "../../../src/model/events.ts";
import type { Plan } from "../../../src/model/plan.ts";
import { isApplicable } from "../../support/applicable.ts";
import { applyPorts } from "../../support/apply-ports.ts";
import { desiredStates, liveStates } from "../../support/arbitrary.ts";
import {
  desired,
  live,
  liveMember,
  liveRole,
  matches,
  member,
  NOW,
  planOf,
  role,
} from "../../support/build.ts";
import { modelService } from "../../support/model-service.ts";
import { runs } from "../../support/property-runs.ts";

const IS = live([liveRole("role_1", "Lead")], [liveMember("mem_1", "a@example.com")]);
const WANT = desired({ roles: [role("Lead", { permissions: ["a"] })], members: [member("b@example.com")] });
const APPROVED = planOf(WANT, IS);

test("the same plan, written as JSON and read back, is approved", () => {
  expect(approve(planOf(WANT, IS), JSON.parse(JSON.stringify(APPROVED)))).toEqual({ status: "approved" });
});

test("changes already made drop out, and the rest is still approved", () => {
  const half = live([liveRole("role_1", "Lead", { permissions: ["a"] })], IS.members);
  expect(approve(planOf(WANT, half), APPROVED)).toEqual({ status: "approved" });
});

test("a change that is not in the approved plan is named and not approved", () => {
  const more = desired({ ...WANT, members: [member("b@example.com"), member("c@example.com")] });
  const approval = approve(planOf(more, IS), APPROVED);
  expect(approval).toMatchObject({ status: "new-changes" });
  expect(approval.status === "new-changes" && approval.changes.map(({ name }) => name)).toEqual([
    "c@example.com",
  ]);
});

test("the same change from another starting point is another change", () => {
  const moved = live([liveRole("role_1", "Lead", { permissions: ["z"] })], IS.members);
  expect(approve(planOf(WANT, moved), APPROVED)).toMatchObject({ status: "new-changes" });
});

test("an invitation that was accepted meanwhile changes nothing about the approval", () => {
  const pending = live([], [{ ...liveMember("mem_1", "a@example.com"), status: "pending" }]);
  const want = desired({ members: [member("a@example.com", { metadata: { x: 1 } })] });
  expect(
    approve(planOf(want, live([], [liveMember("mem_1", "a@example.com")])), planOf(want, pending)),
  ).toEqual({ status: "approved" });
});

test.each([["merchant"], ["service"]] as const)("a plan for another %s is refused", (field) => {
  const fresh = planOf(WANT, IS);
  expect(approve({ ...fresh, [field]: "other" } as Plan, APPROVED)).toMatchObject({
    status: "elsewhere",
    field,
  });
});

test("a plan for the other environment is refused", () => {
  const of = (environment: "live" | "test") => planOf({ ...WANT, environment }, IS);
  expect(approve(of("live"), of("test"))).toMatchObject({ status: "elsewhere", field: "environment" });
});

test("two spellings of one address are one service", () => {
  const fresh = planOf(WANT, IS);
  const { service } = fresh;
  const approved = buildPlan({ desired: WANT, live: IS, service: `${service}:443/`, now: NOW, matches });
  expect(approve(fresh, approved)).toEqual({ status: "approved" });
});

test.each([
  [null, "live"],
  ["live", null],
] as const)("a plan of environment %s is good for %s: a key need not tell", (before, now) => {
  const of = (environment: "live" | null) => planOf({ ...WANT, ...(environment && { environment }) }, IS);
  expect(approve(of(now), of(before))).toEqual({ status: "approved" });
});

test("a plan that was edited after it was made is refused", () => {
  const edited = JSON.parse(JSON.stringify(APPROVED));
  edited.changes[0].after.permissions = ["a", "payouts_edit"];
  expect(approve(APPROVED, edited)).toEqual({ status: "tampered" });
  const removed = JSON.parse(JSON.stringify(APPROVED));
  removed.changes.pop();
  expect(approve(APPROVED, removed)).toEqual({ status: "tampered" });
});

test("after any part of an apply, what is left is still approved", async () => {
  const input = fc.record({ want: desiredStates, is: liveStates, writes: fc.nat(8) });
  await fc.assert(
    fc.asyncProperty(input, async ({ want, is, writes }) => {
      const approved = planOf(want, is);
      fc.pre(isApplicable(approved));
      const service = modelService(is);
      const stop = new AbortController();
      let ended = 0;
      if (writes === 0) stop.abort();
      const emit = ({ type }: ApplyEvent): void => {
        if (type === "change-ended" && ++ended >= writes) stop.abort();
      };
      await applyPlan(approved, applyPorts(service, { emit, stop: stop.signal }));
      expect(approve(planOf(want, service.state()), approved)).toEqual({ status: "approved" });
    }),
    { numRuns: runs(120) },
  );
});
