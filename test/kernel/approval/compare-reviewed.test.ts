import fc from "fast-check";
import { expect, test } from "vitest";
import { applyPlan } from "../../../src/kernel/apply/apply-plan.ts";
import { compareReviewed, isFailure } from "../../../src/kernel/approval/compare-reviewed.ts";
import type { ApplyEvent } from "../../../src/model/events.ts";
import { isApplicable } from "../../support/applicable.ts";
import { applyPorts } from "../../support/apply-ports.ts";
import { desiredStates, liveStates } from "../../support/arbitrary.ts";
import { desired, live, liveMember, liveRole, member, planOf, role } from "../../support/build.ts";
import { modelService } from "../../support/model-service.ts";
import { runs } from "../../support/property-runs.ts";
import { freshOf, reviewOf } from "../../support/reviews.ts";

const briefAccount = (comparison: ReturnType<typeof compareReviewed>): readonly string[] =>
  comparison.account.map(({ review, does, name, verdict }) => `${review} ${does} ${name}: ${verdict}`);

const briefRefused = (comparison: ReturnType<typeof compareReviewed>): readonly string[] =>
  comparison.refused.map(({ change, reasons }) => `${change.kind} ${change.name}: ${reasons.join("; ")}`);

test("a role that somebody widens in the dashboard after the review brings nobody more than was reviewed", () => {
  const helper = liveRole("role_2", "Helper", { permissions: ["catalog_view"] });
  const cashier = liveRole("role_1", "Cashier", { permissions: ["a"] });
  const want = desired({
    sync: { ...desired().sync, roles: "additive" },
    roles: [role("Cashier", { permissions: ["a", "b"] })],
    members: [member("h@example.com", { roles: ["Helper"] })],
  });
  const review = reviewOf("plan.json", want, live([cashier, helper]));
  const wider = { ...helper, permissions: ["catalog_view", "payouts_edit", "members_update"] };
  const comparison = compareReviewed([review], freshOf(want, live([cashier, wider])));
  expect(briefRefused(comparison)).toEqual([
    "create h@example.com: h@example.com would get members_update and payouts_edit through Helper, which no review shows; h@example.com could give itself a and b, which no review shows",
  ]);
  expect(comparison.covered.changes.map(({ name }) => name)).toEqual(["Cashier"]);
  expect(briefAccount(comparison)).toEqual([
    "plan.json update Cashier: covered",
    "plan.json create h@example.com: refused",
  ]);
  expect(isFailure(comparison)).toBe(true);
});

test("a permission that only two reviewed changes together bring is refused by name", () => {
  const is = live([liveRole("role_2", "Helper", { permissions: ["catalog_view"] })]);
  const base = { roles: [role("Helper", { permissions: ["catalog_view"] })], members: [] };
  const first = desired({ ...base, members: [member("h@example.com", { roles: ["Helper"] })] });
  const second = desired({
    ...base,
    roles: [role("Helper", { permissions: ["catalog_view", "payouts_edit"] })],
  });
  const both = desired({ roles: second.roles ?? [], members: first.members ?? [] });
  const comparison = compareReviewed(
    [reviewOf("#1", first, is), reviewOf("#2", second, is)],
    freshOf(both, is),
  );
  expect(briefRefused(comparison)).toEqual([
    "create h@example.com: h@example.com would get payouts_edit through Helper, which no review shows",
  ]);
  expect(briefAccount(comparison)).toEqual(["#1 create h@example.com: refused", "#2 update Helper: covered"]);
});

test("a reviewed removal that another file takes back is dropped, with the place", () => {
  const is = live([], [liveMember("mem_1", "bob@example.com", { roles: [] })]);
  const without = desired({ members: [] });
  const listed = desired({
    members: [{ ...member("bob@example.com"), origin: { file: "shared.yaml", path: ["members", 0] } }],
  });
  const comparison = compareReviewed(
    [reviewOf("#1", without, is), reviewOf("#2", listed, is)],
    freshOf(listed, is),
  );
  expect(comparison.refused).toEqual([]);
  expect(comparison.account).toMatchObject([
    {
      review: "#1",
      does: "remove",
      name: "bob@example.com",
      verdict: "dropped",
      reasons: ["bob@example.com is still there"],
      origins: [{ file: "shared.yaml", path: ["members", 0] }],
    },
  ]);
  expect(isFailure(comparison)).toBe(true);
});

test("after any part of an apply, what is left is still approved, and everything is done in the end", async () => {
  const input = fc.record({ want: desiredStates, is: liveStates, writes: fc.nat(8) });
  await fc.assert(
    fc.asyncProperty(input, async ({ want, is, writes }) => {
      const plan = planOf(want, is);
      fc.pre(isApplicable(plan));
      const service = modelService(is);
      const stop = new AbortController();
      let ended = 0;
      if (writes === 0) stop.abort();
      const emit = ({ type }: ApplyEvent): void => {
        if (type === "change-ended" && ++ended >= writes) stop.abort();
      };
      await applyPlan(plan, applyPorts(service, { emit, stop: stop.signal }));
      const comparison = compareReviewed([reviewOf("#1", want, is)], freshOf(want, service.state()));
      expect(briefRefused(comparison)).toEqual([]);
      expect(comparison.account.filter(({ verdict }) => verdict === "dropped")).toEqual([]);
    }),
    { numRuns: runs(120) },
  );
});
