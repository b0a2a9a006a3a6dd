import { describe, expect, test } from "vitest";
import type { PastRun } from "../../../src/model/apply.ts";
import type { DesiredMember, DesiredState } from "../../../src/model/desired.ts";
import { RolecallError } from "../../../src/model/errors.ts";
import type { LiveState } from "../../../src/model/live.ts";
import { approve } from "../../../src/plan/approve.ts";
import { buildPlan } from "../../../src/plan/build-plan.ts";
import { invitationsAfter, type LostInvitation } from "../../../src/plan/undo/lost-state.ts";
import { undoPlan } from "../../../src/plan/undo/undo-plan.ts";
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

function lostOf(run: PastRun): ReadonlyMap<string, LostInvitation> {
  return new Map([...invitationsAfter(run)].flatMap(([key, lost]) => (lost ? [[key, lost]] : [])));
}

function planAfter(run: PastRun, is: LiveState, members: readonly DesiredMember[] = [BARE]) {
  const input = { desired: desired({ members }), live: is, service: SERVICE, now: NOW, matches };
  return buildPlan({ ...input, lost: lostOf(run) });
}

describe("an expired invitation that a run removed and could not renew", () => {
  test("is in the journal with all its fields", async () => {
    const { run } = await ran(2);
    expect([...invitationsAfter(run)]).toEqual([
      [
        "ada@example.com",
        {
          run: run.run.run,
          id: "mem_1",
          roles: [{ id: "role_1", name: "Cashier" }],
          metadata: { badge: 7 },
        },
      ],
    ]);
  });

  test.each(["beside", "replace", "renew", "conflict"] as const)(
    "is not lost once it is renewed (%s)",
    async (mode) => {
      expect([...lostOf((await ran(0, { mode })).run)]).toEqual([]);
      expect([...invitationsAfter((await ran(1, { mode })).run)]).toEqual([]);
    },
  );

  test("is lost where another expired invitation was cleared away before it", async () => {
    const is = live([CASHIER], [...IS.members, invited("mem_0", "ada@example.com", { status: "expired" })]);
    expect([...lostOf((await ran(2, { is })).run).keys()]).toEqual(["ada@example.com"]);
  });

  test("is sent by the next plan with what it held, and the plan says why", async () => {
    const { run, service } = await ran(2);
    const plan = planAfter(run, service.state());
    expect(plan.changes).toMatchObject([
      {
        kind: "create",
        after: { roles: [{ id: "role_1", name: "Cashier" }], metadata: { badge: 7 } },
      },
    ]);
    expect(briefFindings(plan)).toEqual(["warning member-invitation-lost ada@example.com"]);
  });

  test("is what the approval of its renewal covers", async () => {
    const approved = planOf(desired(WANT), IS);
    const { run, service } = await ran(2);
    expect(approve(planAfter(run, service.state()), approved)).toEqual({ status: "approved" });
  });

  test("gives way to what the file manages by now", async () => {
    const { run, service } = await ran(2);
    const entry = member("ada@example.com", { roles: [], metadata: { badge: 8 } });
    expect(planAfter(run, service.state(), [entry]).changes).toMatchObject([
      { after: { roles: [], metadata: { badge: 8 } } },
    ]);
  });

  test("is sent without a role that is gone, and the plan says which", async () => {
    const { run } = await ran(2);
    const plan = planAfter(run, live([liveRole("role_9", "Cashier")]));
    expect(plan.changes).toMatchObject([{ after: { roles: [], metadata: { badge: 7 } } }]);
    expect(briefFindings(plan)).toEqual([
      "warning member-role-gone ada@example.com",
      "warning member-invitation-lost ada@example.com",
    ]);
  });

  test("is sent for an entry that is pinned to it", async () => {
    const { run, service } = await ran(2);
    const pinned = { ...BARE, id: "mem_1" };
    expect(brief(planAfter(run, service.state(), [pinned]))).toEqual(["create member ada@example.com"]);
    const other = { ...BARE, id: "mem_2" };
    expect(briefFindings(planAfter(run, service.state(), [other]))).toEqual([
      "error member-pin-missing ada@example.com",
    ]);
  });

  test("without that journal is a finding about this member, and the rest of the plan goes on", async () => {
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
      { code: "invited-again", message: expect.stringContaining("a new invitation is sent") },
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
  expect(approve(fresh, planOf(want, IS))).toEqual({ status: "approved" });
});
