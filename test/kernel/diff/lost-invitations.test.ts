import { describe, expect, test } from "vitest";
import { compareReviewed } from "../../../src/kernel/approval/compare-reviewed.ts";
import type { PastRun } from "../../../src/model/apply.ts";
import type { DesiredState } from "../../../src/model/desired.ts";
import { RolecallError } from "../../../src/model/errors.ts";
import type { LiveState } from "../../../src/model/live.ts";
import { netEffects } from "../../../src/runs/net-effects.ts";
import { undoPlan } from "../../../src/runs/undo-plan.ts";
import {
  brief,
  briefFindings,
  desired,
  invited,
  live,
  liveRole,
  matches,
  member,
  NOW,
  planOf,
  role,
} from "../../support/build.ts";
import { beginning, type ExpiredMode, type ModelService, modelService } from "../../support/model-service.ts";
import { runOf } from "../../support/past-run.ts";
import { freshOf, reviewOf } from "../../support/reviews.ts";

const CASHIER = liveRole("role_1", "Cashier");
const HELD = { status: "expired", roles: ["role_1"], metadata: { badge: 7 } } as const;
const IS = live([CASHIER], [invited("mem_1", "Ada@example.com", HELD)]);
const { roles: _, ...BARE } = member("ada@example.com");
const WANT: Partial<DesiredState> = { members: [BARE] };
const SERVICE = "https://service.example";

/** Applies a file where the nth creation of a member is refused; 0: none. */
async function ran(
  refused: number,
  {
    mode = "conflict",
    is = IS,
    want = WANT,
  }: { mode?: ExpiredMode; is?: LiveState; want?: Partial<DesiredState> } = {},
): Promise<{ readonly run: PastRun; readonly service: ModelService }> {
  const service = modelService(is, mode);
  let creates = 0;
  const writer: ModelService["writer"] = beginning({
    ...service.writer,
    createMember: async (draft) => {
      creates += 1;
      if (creates === refused) throw new RolecallError("rate-limited", "Too many invitations.");
      return service.writer.createMember(draft);
    },
  });
  return { run: await runOf(planOf(desired(want), is), { ...service, writer }), service };
}

describe("an expired invitation that a run removed and could not renew", () => {
  test("is sent by the next plan with what the file lists, under the approval of its renewal", async () => {
    const want = desired({
      members: [member("ada@example.com", { roles: ["Cashier"], metadata: { badge: 8 } })],
    });
    const { run, service } = await ran(2, { want });
    expect(netEffects(run).members).toMatchObject([{ name: "ada@example.com", lost: true }]);
    const plan = planOf(want, service.state());
    expect(plan.changes).toMatchObject([
      { kind: "create", after: { roles: [{ id: "role_1", name: "Cashier" }], metadata: { badge: 8 } } },
    ]);
    const comparison = compareReviewed([reviewOf("#1", want, IS)], freshOf(want, service.state()));
    expect(comparison.refused).toEqual([]);
  });

  test.each(["beside", "replace", "renew", "conflict"] as const)(
    "is not lost once it is renewed (%s)",
    async (mode) => {
      const { members } = netEffects((await ran(0, { mode })).run);
      expect(members.filter(({ lost }) => lost)).toEqual([]);
    },
  );

  test("is lost where another expired invitation was cleared away before it", async () => {
    const is = live([CASHIER], [...IS.members, invited("mem_0", "ada@example.com", { status: "expired" })]);
    const { members } = netEffects((await ran(2, { is })).run);
    expect(members.filter(({ lost }) => lost)).toMatchObject([{ name: "ada@example.com" }]);
  });

  test("is a finding where the file lists no roles, and the rest of the plan goes on", async () => {
    const { service } = await ran(2);
    const plan = planOf(desired({ members: [BARE, member("bob@example.com")] }), service.state());
    expect(brief(plan)).toEqual(["create member bob@example.com"]);
    expect(briefFindings(plan)).toEqual(["warning member-needs-roles ada@example.com"]);
  });

  test("comes back as a new invitation with undo, which says so", async () => {
    const { run, service } = await ran(2);
    const input = { desired: desired(), live: service.state(), service: SERVICE, now: NOW, matches };
    const { plan, notes } = undoPlan(run, input);
    expect(plan.changes).toMatchObject([
      { kind: "create", after: { roles: [{ id: "role_1" }], metadata: { badge: 7 } } },
    ]);
    expect(notes).toMatchObject([
      {
        code: "invited-again",
        message: expect.stringContaining("a new invitation with the same content is sent"),
      },
    ]);
  });
});

test.each(["beside", "replace", "conflict"] as const)(
  "a renewed invitation goes with undo, and the expired one does not come back (%s)",
  async (mode) => {
    const { run, service } = await ran(0, { mode });
    const input = { desired: desired(), live: service.state(), service: SERVICE, now: NOW, matches };
    const { plan, notes } = undoPlan(run, input);
    expect(brief(plan)).toEqual(["delete member Ada@example.com"].map((text) => text.replace("Ada", "ada")));
    expect(notes.map(({ code }) => code)).toEqual(["invitation-expired"]);
  },
);

test("an approved renewal covers the expired one that was left beside the new one", () => {
  const want = desired({ members: [member("ada@example.com")], roles: [role("Cashier")] });
  const half = live([CASHIER], [...IS.members, invited("mem_2", "ada@example.com")]);
  const fresh = planOf(want, half);
  expect(fresh.changes).toMatchObject([{ kind: "delete", id: "mem_1" }]);
  expect(compareReviewed([reviewOf("#1", want, IS)], freshOf(want, half)).refused).toEqual([]);
});
