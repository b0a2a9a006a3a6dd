import { expect, test } from "vitest";
import { applyPlan } from "../../../src/kernel/apply/apply-plan.ts";
import { type ErrorDetails, RolecallError } from "../../../src/model/errors.ts";
import type { ApplyEvent } from "../../../src/model/events.ts";
import type { LiveWriter } from "../../../src/model/ports.ts";
import { connectTo, json } from "../../service/support.ts";
import { applyPorts } from "../../support/apply-ports.ts";
import { desired, invited, live, liveMember, liveRole, member, planOf, role } from "../../support/build.ts";
import { memoryJournal } from "../../support/memory-journal.ts";
import { beginning, modelService } from "../../support/model-service.ts";

const IS = live([liveRole("role_1", "A"), liveRole("role_2", "B")]);
const WANT = desired({
  roles: [role("A", { permissions: ["a"] }), role("B", { permissions: ["b"] })],
});

test("Ctrl-C during a recheck prevents the write, and leaves no intent", async () => {
  const service = modelService(IS);
  const stop = new AbortController();
  const lookup = {
    ...service.lookup,
    getRole: async (id: string) => {
      stop.abort();
      return service.lookup.getRole(id);
    },
  };
  const journal = memoryJournal();
  const ports = applyPorts({ ...service, lookup }, { stop: stop.signal, journal });
  const result = await applyPlan(planOf(WANT, IS), ports);
  expect(service.calls).toEqual([]);
  expect(result.outcomes.map(({ status }) => status)).toEqual(["not-started", "not-started"]);
  expect(journal.entries.map(({ type }) => type)).toEqual(["end"]);
});

test("a run that is stopped before it restores what the service emptied does not say that it does", async () => {
  const is = live(
    [liveRole("role_1", "A")],
    [liveMember("mem_1", "ada@example.com", { metadata: { desk: 1 } })],
  );
  const service = modelService(is);
  const stop = new AbortController();
  let updates = 0;
  const writer: LiveWriter = {
    ...service.writer,
    updateMember: async (id, update, options) => {
      updates += 1;
      const request = { method: "PUT", path: "/", attempts: 0 };
      if (updates > 1) throw new RolecallError("network", "The run was stopped.", { request });
      await options?.beforeSending?.();
      stop.abort();
      return service.writer.updateMember(id, { metadata: {}, ...update });
    },
  };
  const events: ApplyEvent[] = [];
  const ports = applyPorts(
    { ...service, writer },
    { stop: stop.signal, emit: (event) => events.push(event) },
  );
  const want = desired({ members: [member("ada@example.com", { roles: ["A"] })] });
  const { outcomes } = await applyPlan(planOf(want, is), ports);
  expect(outcomes[0]).toMatchObject({
    status: "failed",
    failure: { message: expect.stringMatching(/They were not restored: the run was stopped first\.$/) },
  });
  expect(events.map(({ type }) => type)).not.toContain("fields-emptied");
});

/** A service that is told to wait when the stop comes. */
async function stoppedWith(code: "rate-limited" | "network", details: ErrorDetails) {
  const service = modelService(IS);
  const stop = new AbortController();
  const writer: LiveWriter = beginning({
    ...service.writer,
    updateRole: async () => {
      stop.abort();
      throw new RolecallError(code, "It was not done.", details);
    },
  });
  const journal = memoryJournal();
  const ports = applyPorts({ ...service, writer }, { stop: stop.signal, journal });
  const result = await applyPlan(planOf(WANT, IS), ports);
  return { statuses: result.outcomes.map(({ status }) => status), journal };
}

test("a write that still waited for its turn when the run was stopped is not a failure", async () => {
  const request = { method: "PATCH", path: "/", attempts: 0 };
  const { statuses, journal } = await stoppedWith("rate-limited", { request });
  expect(statuses).toEqual(["not-started", "not-started"]);
  expect(journal.entries[1]).toMatchObject({ type: "outcome", status: "not-sent", failure: null });
});

test("a write whose turn never came before the run was stopped is in no journal and in no event", async () => {
  const stop = new AbortController();
  const { writer, seen } = connectTo(
    async () => {
      stop.abort();
      return json({ id: "mem_new" }, 201);
    },
    { concurrency: 2, signal: stop.signal },
  );
  const journal = memoryJournal();
  const events: ApplyEvent[] = [];
  const want = desired({ members: Array.from({ length: 60 }, (_, at) => member(`m${at}@example.com`)) });
  const ports = applyPorts(
    { writer: writer("MC1"), lookup: modelService(live()).lookup },
    { journal, stop: stop.signal, concurrency: 60, emit: (event) => void events.push(event) },
  );
  const { outcomes } = await applyPlan(planOf(want, live()), ports);
  const intents = journal.entries.filter(({ type }) => type === "intent");
  expect(seen.length).toBeLessThan(5);
  expect(intents).toHaveLength(seen.length);
  expect(events.filter(({ type }) => type === "change-started")).toHaveLength(seen.length);
  expect(outcomes.filter(({ status }) => status === "not-started")).toHaveLength(60 - seen.length);
});

test("a write that waited to be tried again because nothing was reached is not a failure either", async () => {
  const request = { method: "PATCH", path: "/", attempts: 2 };
  expect((await stoppedWith("network", { request })).statuses).toEqual(["not-started", "not-started"]);
});

test("Ctrl-C does not wait for queued rechecks", async () => {
  const service = modelService(IS);
  const stop = new AbortController();
  const lookup = {
    ...service.lookup,
    getRole: (_: string, signal?: AbortSignal) =>
      new Promise<never>((_resolve, reject) => {
        signal?.addEventListener("abort", () => reject(signal.reason));
        stop.abort();
      }),
  };
  const ports = applyPorts({ ...service, lookup }, { stop: stop.signal });
  const { outcomes } = await applyPlan(planOf(WANT, IS), ports);
  expect(outcomes.map(({ status }) => status)).toEqual(["not-started", "not-started"]);
});

test("a write that may have been done when the run was stopped stays unknown", async () => {
  const request = { method: "PATCH", path: "/", attempts: 2, uncertain: true };
  expect((await stoppedWith("network", { request })).statuses).toEqual(["unknown", "not-started"]);
});

test("a new invitation still goes out when the stop comes after the expired one was removed", async () => {
  const is = live([], [invited("mem_1", "ada@example.com", { status: "expired" })]);
  const service = modelService(is, "conflict");
  const stop = new AbortController();
  const writer: LiveWriter = beginning({
    ...service.writer,
    deleteMember: async (id) => {
      stop.abort();
      await service.writer.deleteMember(id);
    },
  });
  const want = desired({ members: [member("ada@example.com")] });
  const result = await applyPlan(planOf(want, is), applyPorts({ ...service, writer }, { stop: stop.signal }));
  expect(service.calls).toEqual([
    "create member ada@example.com",
    "delete member mem_1",
    "create member ada@example.com",
  ]);
  expect(result.status).toBe("done");
});

test("the event says what stopped it: its own failure, or another cause", async () => {
  const told = async (writer: LiveWriter, stop: AbortSignal): Promise<ApplyEvent | undefined> => {
    const events: ApplyEvent[] = [];
    const ports = applyPorts(
      { ...modelService(IS), writer },
      { emit: (event) => void events.push(event), stop, cause: () => ({ by: "signal", signal: "SIGTERM" }) },
    );
    await applyPlan(planOf(WANT, IS), ports);
    return events.find(({ type }) => type === "apply-stopped");
  };
  const { writer } = modelService(IS);
  expect(await told(writer, AbortSignal.abort())).toMatchObject({
    failure: null,
    cause: { by: "signal", signal: "SIGTERM" },
  });
  const failing: LiveWriter = beginning({
    ...writer,
    updateRole: async () => {
      throw new RolecallError("conflict", "No.");
    },
  });
  expect(await told(failing, new AbortController().signal)).toMatchObject({
    failure: { code: "conflict" },
    cause: null,
  });
});

test("a password is set after the member's own change, with its roles and metadata, and told in no event", async () => {
  const till = {
    id: "u",
    email: "till@example.com",
    mfaOnLogin: false,
    type: "managed_user",
  };
  const is = live([liveRole("role_1", "A")], [liveMember("mem_1", "till@example.com", { user: till })]);
  const want = desired({
    roles: [role("A"), role("New")],
    members: [member("till@example.com", { roles: ["A", "New"], metadata: { x: 1 } })],
  });
  const plan = planOf(want, is);
  const update = plan.changes.find(({ kind }) => kind === "update");
  if (update?.resource !== "member" || update.kind !== "update") throw new Error("no update");
  const rotation = { ...update, before: update.after, fields: [], passwordEnv: "TILL" };
  const service = modelService(is);
  const journal = memoryJournal();
  const events: ApplyEvent[] = [];
  const ports = applyPorts(service, {
    journal,
    password: (name) => `secret of ${name}`,
    emit: (event) => void events.push(event),
  });
  const result = await applyPlan(plan, ports, [rotation]);
  expect(service.calls).toEqual(["create role New", "update member mem_1", "update member mem_1 password"]);
  expect(service.passwords.get("mem_1")).toBe("secret of TILL");
  expect(service.state().members[0]).toMatchObject({ roles: ["role_1", "role_new1"], metadata: { x: 1 } });
  expect(result.outcomes).toHaveLength(3);
  expect(journal.entries.filter(({ type }) => type === "intent").at(-1)).toMatchObject({
    kind: "update",
    phase: "set-passwords",
    password: true,
  });
  expect(JSON.stringify([events, journal.entries])).not.toContain("secret of");
});
