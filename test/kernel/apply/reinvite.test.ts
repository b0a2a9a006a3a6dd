import { describe, expect, test } from "vitest";
import { applyPlan } from "../../../src/kernel/apply/apply-plan.ts";
import type { Outcome, WriteIntended } from "../../../src/model/apply.ts";
import { type ErrorCode, RolecallError } from "../../../src/model/errors.ts";
import type { LiveWriter } from "../../../src/model/ports.ts";
import { applyPorts } from "../../support/apply-ports.ts";
import { desired, invited, live, liveRole, member, planOf } from "../../support/build.ts";
import { memoryJournal } from "../../support/memory-journal.ts";
import { beginning, type ExpiredMode, type ModelService, modelService } from "../../support/model-service.ts";

const IS = live(
  [liveRole("role_1", "Cashier")],
  [
    invited("mem_1", "ada@example.com", {
      status: "expired",
      roles: ["role_1"],
      metadata: { badge: 7 },
    }),
  ],
);
/** It manages neither roles nor metadata. */
const WANT = desired({ members: [{ ...member("ada@example.com"), roles: undefined }].map(strip) });

function strip({ roles: _, ...rest }: object & { roles: undefined }): ReturnType<typeof member> {
  return rest as ReturnType<typeof member>;
}

interface Applied {
  readonly outcome: Outcome | undefined;
  readonly service: ModelService;
  readonly intents: readonly WriteIntended[];
  readonly outcomes: readonly string[];
}

/** Applies the new invitation; `fail` is what becomes of the nth request that creates (1) or removes. */
async function apply(
  mode: ExpiredMode,
  fail: {
    readonly create?: number;
    readonly remove?: true;
    readonly error?: RolecallError;
    readonly vanishes?: RolecallError;
  } = {},
  records = true,
): Promise<Applied> {
  const service = modelService(IS, mode);
  let creates = 0;
  const error = fail.error ?? failing("rate-limited");
  const writer: LiveWriter = beginning({
    ...service.writer,
    createMember: async (draft) => {
      creates += 1;
      if (creates === fail.create) throw error;
      return service.writer.createMember(draft);
    },
    deleteMember: async (id) => {
      if (fail.remove) throw error;
      await service.writer.deleteMember(id);
      if (fail.vanishes) throw fail.vanishes;
    },
  });
  const journal = memoryJournal();
  const ports = applyPorts({ ...service, writer }, { journal, recheck: records });
  const { outcomes } = await applyPlan(planOf(WANT, IS), ports);
  return {
    outcome: outcomes[0],
    service,
    intents: journal.entries.flatMap((entry) => (entry.type === "intent" ? [entry] : [])),
    outcomes: journal.entries.flatMap((entry) => (entry.type === "outcome" ? [entry.status] : [])),
  };
}

function failing(code: ErrorCode, uncertain = false, method = "POST"): RolecallError {
  const request = { method, path: "/", attempts: 1, ...(uncertain && { uncertain }) };
  return new RolecallError(code, "No.", { request });
}

const HELD = { roles: ["role_1"], metadata: { badge: 7 } };

describe("a new invitation in the place of an expired one", () => {
  test.each([
    ["beside", "mem_new1", ["create member ada@example.com", "delete member mem_1"]],
    ["replace", "mem_new1", ["create member ada@example.com"]],
    ["renew", "mem_1", ["create member ada@example.com"]],
    [
      "conflict",
      "mem_new1",
      ["create member ada@example.com", "delete member mem_1", "create member ada@example.com"],
    ],
  ] as const)("keeps roles and metadata that no file manages (%s)", async (mode, id, calls) => {
    for (const records of [true, false]) {
      const { outcome, service } = await apply(mode, {}, records);
      expect(outcome).toMatchObject({ status: "done", id });
      expect(service.state().members).toMatchObject([{ id, status: "pending", ...HELD }]);
      // Without a look nobody knows that it is gone.
      if (records || mode !== "replace") expect(service.calls).toEqual(calls);
    }
  });

  test.each(["beside", "replace", "renew", "conflict"] as const)(
    "that is refused at first leaves the expired one (%s)",
    async (mode) => {
      const { outcome, service, intents } = await apply(mode, { create: 1 });
      expect(outcome).toMatchObject({ status: "failed", failure: { code: "rate-limited" } });
      expect(service.state().members).toEqual(IS.members);
      expect(intents).toMatchObject([{ part: "create", id: "mem_1", before: { metadata: { badge: 7 } } }]);
    },
  );

  test("that is refused when the expired one is gone is unfinished, and the journal holds what that one held", async () => {
    const { outcome, service, intents } = await apply("conflict", { create: 2 });
    expect(outcome).toMatchObject({
      status: "unfinished",
      removed: true,
      failure: { code: "rate-limited" },
      change: { before: { roles: [{ id: "role_1", name: "Cashier" }], metadata: { badge: 7 } } },
    });
    expect(service.state().members).toEqual([]);
    expect(intents).toMatchObject([
      { part: "create", id: "mem_1", after: { metadata: { badge: 7 } } },
      { part: "remove", id: "mem_1", before: { metadata: { badge: 7 } } },
      { part: "create", id: null, after: { roles: [{ id: "role_1" }] } },
    ]);
  });

  test("is still sent where the run is stopped once the expired one is removed", async () => {
    const service = modelService(IS, "conflict");
    const stop = new AbortController();
    const writer: LiveWriter = beginning({
      ...service.writer,
      createMember: async (draft, options) => {
        if (stop.signal.aborted && options?.finishes !== true) throw failing("network");
        return service.writer.createMember(draft);
      },
      deleteMember: async (id) => {
        await service.writer.deleteMember(id);
        stop.abort();
      },
    });
    const { outcomes } = await applyPlan(
      planOf(WANT, IS),
      applyPorts({ ...service, writer }, { stop: stop.signal }),
    );
    expect(outcomes).toMatchObject([{ status: "done" }]);
    expect(service.state().members).toMatchObject([{ status: "pending", ...HELD }]);
  });

  test("whose response is lost after the expired one was removed is unknown, and reports the removal", async () => {
    const { outcome } = await apply("conflict", { create: 2, error: failing("network", true) });
    expect(outcome).toMatchObject({ status: "unknown", removed: true });
  });

  test("whose first response is lost is unknown, and the expired one stays", async () => {
    const { outcome, service } = await apply("conflict", { create: 1, error: failing("conflict", true) });
    expect(outcome).toMatchObject({ status: "unknown" });
    expect(outcome).not.toHaveProperty("removed");
    expect(service.state().members).toEqual(IS.members);
  });

  test("fails and keeps the expired one where that cannot be removed", async () => {
    const { outcome, service } = await apply("conflict", { remove: true });
    expect(outcome).toMatchObject({ status: "failed", failure: { code: "rate-limited" } });
    expect(service.state().members).toEqual(IS.members);
  });

  test.each([true, false])(
    "goes on with what the expired one held where that went at the removal (recheck: %s)",
    async (records) => {
      const gone = failing("not-found", false, "DELETE");
      const renewed = await apply("conflict", { vanishes: gone }, records);
      expect(renewed.outcome).toMatchObject({ status: "done", id: "mem_new1" });
      expect(renewed.service.state().members).toMatchObject([{ status: "pending", ...HELD }]);
      const { outcome, service, outcomes } = await apply("conflict", { vanishes: gone, create: 2 }, records);
      expect(outcome).toMatchObject({ status: "unfinished", removed: true });
      expect(service.state().members).toEqual([]);
      expect(outcomes).toEqual(["failed", "done", "failed"]);
    },
  );

  test("fails if the service reports the expired one missing although it exists", async () => {
    const gone = failing("not-found", false, "DELETE");
    const { outcome, service } = await apply("conflict", { remove: true, error: gone });
    expect(outcome).toMatchObject({ status: "failed", failure: { code: "not-found" } });
    expect(service.state().members).toEqual(IS.members);
  });

  test("reports the expired one as perhaps removed if the outcome is unknown", async () => {
    const { outcome } = await apply("conflict", { remove: true, error: failing("network", true) });
    expect(outcome).toMatchObject({ status: "unknown", removed: "unknown" });
  });

  test("is unfinished where the expired one beside it cannot be removed: the next run removes it", async () => {
    const { outcome, service } = await apply("beside", { remove: true });
    expect(outcome).toMatchObject({ status: "unfinished", failure: { code: "rate-limited" } });
    expect(outcome).not.toHaveProperty("removed");
    expect(planOf(WANT, service.state()).changes).toMatchObject([{ kind: "delete", id: "mem_1" }]);
  });
});
