import { describe, expect, test } from "vitest";
import { applyPlan } from "../../../src/kernel/apply/apply-plan.ts";
import type { DesiredState } from "../../../src/model/desired.ts";
import { RolecallError } from "../../../src/model/errors.ts";
import type { ApplyEvent } from "../../../src/model/events.ts";
import type { LiveState } from "../../../src/model/live.ts";
import type { LiveWriter } from "../../../src/model/ports.ts";
import { applyPorts } from "../../support/apply-ports.ts";
import { desired, invited, live, liveMember, liveRole, member, planOf, role } from "../../support/build.ts";
import { memoryJournal } from "../../support/memory-journal.ts";
import { type ExpiredMode, modelService } from "../../support/model-service.ts";

const LIMITED = new RolecallError("invitation-limited", "ada@example.com: too many.", {
  request: { method: "POST", path: "/", status: 429, attempts: 1 },
});

/**
 * Applies with one lane where Ada's invitations are refused: they wait until everything else is done, and are then
 * given up, or sent where `late` says so. `from` is the first invitation that is refused.
 */
async function apply(
  is: LiveState,
  want: DesiredState,
  {
    mode = "beside",
    late = false,
    from = 1,
    edit = (writer: LiveWriter): LiveWriter => writer,
  }: {
    readonly mode?: ExpiredMode;
    readonly late?: boolean;
    readonly from?: number;
    readonly edit?: (writer: LiveWriter) => LiveWriter;
  } = {},
) {
  const service = modelService(is, mode);
  let invitations = 0;
  const writer: LiveWriter = edit({
    ...service.writer,
    createMember: async (draft, options) => {
      const holdBack = options?.holdBack;
      if (draft.email !== "ada@example.com") return service.writer.createMember(draft, options);
      invitations += 1;
      if (invitations < from) return service.writer.createMember(draft, options);
      if (holdBack === undefined) throw new Error("it cannot be held back");
      await options?.beforeSending?.();
      holdBack.held();
      const over = AbortSignal.any([holdBack.ending, holdBack.stop]);
      await new Promise((resolve) => over.addEventListener("abort", resolve));
      if (late && !holdBack.stop.aborted) return service.writer.createMember(draft);
      throw LIMITED;
    },
  });
  const journal = memoryJournal();
  const events: ApplyEvent[] = [];
  const emit = (event: ApplyEvent): void => void events.push(event);
  const result = await applyPlan(
    planOf(want, is),
    applyPorts({ ...service, writer }, { journal, emit, concurrency: 1 }),
  );
  const statuses = Object.fromEntries(
    result.outcomes.map(({ status, change }) => [`${change.kind} ${change.name}`, status]),
  );
  return { result, statuses, calls: service.calls, journal: journal.entries, events };
}

const BOTH = desired({ members: [member("ada@example.com"), member("bob@example.com")] });
const CY = live([], [liveMember("mem_cy", "cy@example.com")]);

describe("an invitation that is refused for its address", () => {
  test("delays nobody else, and is listed at the end", async () => {
    const { result, statuses, calls, journal, events } = await apply(CY, BOTH);
    expect(calls).toEqual(["create member bob@example.com", "delete member mem_cy"]);
    expect(statuses).toEqual({
      "create ada@example.com": "failed",
      "create bob@example.com": "done",
      "delete cy@example.com": "done",
    });
    expect(result).toMatchObject({ status: "incomplete", writes: 2 });
    expect(events.map(({ type }) => type)).not.toContain("apply-stopped");
    expect(journal.at(-1)).toMatchObject({
      type: "end",
      status: "incomplete",
      cause: null,
      outcomes: { done: 2, failed: 1 },
    });
    expect(journal.filter(({ type }) => type === "outcome")).toContainEqual(
      expect.objectContaining({ write: 1, status: "failed", failure: LIMITED.failure }),
    );
  });

  test("is sent if its wait ends before the apply does", async () => {
    const { result, statuses, calls } = await apply(CY, BOTH, { late: true });
    expect(calls.at(-1)).toBe("create member ada@example.com");
    expect([result.status, new Set(Object.values(statuses))]).toEqual(["done", new Set(["done"])]);
  });

  test("is not sent any more where something else has stopped the run", async () => {
    const edit = (writer: LiveWriter): LiveWriter => ({
      ...writer,
      deleteMember: async () => {
        throw new RolecallError("conflict", "No.");
      },
    });
    const { result, statuses } = await apply(CY, BOTH, { late: true, edit });
    expect(result.status).toBe("stopped");
    expect(statuses).toMatchObject({
      "create ada@example.com": "failed",
      "create bob@example.com": "done",
      "delete cy@example.com": "failed",
    });
  });
});

describe("a new invitation in the place of an expired one, which is refused for its address", () => {
  const IS = live(
    [liveRole("role_1", "Old"), liveRole("role_2", "Unused")],
    [invited("mem_1", "ada@example.com", { status: "expired", roles: ["role_1"], metadata: { badge: 7 } })],
  );
  const WANT = desired({ roles: [role("New")], members: [member("ada@example.com", { roles: ["New"] })] });

  test("leaves the expired one and the role that it holds, and nothing else", async () => {
    const { result, statuses, calls } = await apply(IS, WANT);
    expect(calls).toEqual(["create role New", "delete role role_2"]);
    expect(result.status).toBe("incomplete");
    expect(statuses).toMatchObject({
      "replace ada@example.com": "failed",
      "delete Unused": "done",
      "delete Old": "not-started",
    });
  });

  test("keeps the role only until it is sent", async () => {
    const { result, calls } = await apply(IS, WANT, { late: true });
    expect(result.status).toBe("done");
    expect(calls.slice(-3)).toEqual([
      "create member ada@example.com",
      "delete member mem_1",
      "delete role role_1",
    ]);
  });

  test("is unfinished where the expired one is gone already, and stops nothing", async () => {
    const { result, statuses, calls } = await apply(IS, WANT, { mode: "conflict", from: 2 });
    expect(calls.slice(1)).toEqual([
      "create member ada@example.com",
      "delete member mem_1",
      "delete role role_2",
      "delete role role_1",
    ]);
    expect(result.status).toBe("incomplete");
    expect(statuses).toMatchObject({ "replace ada@example.com": "unfinished", "delete Old": "done" });
  });
});
