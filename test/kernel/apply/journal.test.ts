import { expect, test } from "vitest";
import { applyPlan } from "../../../src/kernel/apply/apply-plan.ts";
import type { JournalEntry } from "../../../src/model/apply.ts";
import { RolecallError } from "../../../src/model/errors.ts";
import type { ApplyEvent } from "../../../src/model/events.ts";
import type { LiveWriter } from "../../../src/model/ports.ts";
import { applyPorts } from "../../support/apply-ports.ts";
import {
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
import { memoryJournal } from "../../support/memory-journal.ts";
import { beginning, modelService } from "../../support/model-service.ts";

const IS = live(
  [liveRole("role_1", "Cashier", { permissions: ["a"] })],
  [liveMember("mem_1", "ada@example.com"), liveMember("mem_2", "bob@example.com")],
);
const WANT = desired({
  roles: [role("Cashier", { permissions: ["b"] })],
  members: [member("ada@example.com")],
});

const unwritable = (): never => {
  throw new RolecallError("journal-unwritable", "The journal cannot be written.");
};

function brief(entry: JournalEntry): string {
  switch (entry.type) {
    case "intent":
      return `${entry.write} ${entry.part} ${entry.kind} ${entry.resource} ${entry.name} ${entry.id ?? "new"}`;
    case "outcome":
      return `${entry.write} ${entry.status} ${entry.id ?? "none"}`;
    case "end":
      return `end ${entry.status}`;
    default:
      return entry.type;
  }
}

test("each write is in the journal before it is sent, and its outcome afterwards", async () => {
  const service = modelService(IS);
  const journal = memoryJournal(({ type }) => {
    if (type === "intent" || type === "outcome") seen.push(`${type}: ${service.calls.length} sent`);
  });
  const seen: string[] = [];
  await applyPlan(planOf(WANT, IS), applyPorts(service, { journal }));
  expect(journal.entries.map(brief)).toEqual([
    "1 whole update role Cashier role_1",
    "1 done role_1",
    "2 whole delete member bob@example.com mem_2",
    "2 done mem_2",
    "end done",
  ]);
  expect(seen).toEqual(["intent: 0 sent", "outcome: 1 sent", "intent: 1 sent", "outcome: 2 sent"]);
});

test("an intent holds what was there before and what the write makes of it", async () => {
  const journal = memoryJournal();
  await applyPlan(planOf(WANT, IS), applyPorts(modelService(IS), { journal }));
  expect(journal.entries[0]).toMatchObject({
    phase: "update-roles",
    reason: "declared",
    before: { name: "Cashier", permissions: ["a"] },
    after: { name: "Cashier", permissions: ["b"] },
  });
  expect(journal.entries[2]).toMatchObject({ before: { email: "bob@example.com" }, after: null });
});

test("a new invitation in the place of an expired one is two writes, and both are recorded", async () => {
  const is = live([], [invited("mem_1", "ada@example.com", { status: "expired" })]);
  const journal = memoryJournal();
  await applyPlan(planOf(WANT, is), applyPorts(modelService(is), { journal }));
  expect(journal.entries.map(brief)).toEqual([
    "1 whole create role Cashier new",
    "1 done role_new1",
    "2 create replace member ada@example.com mem_1",
    "2 done mem_new2",
    "3 remove replace member ada@example.com mem_1",
    "3 done mem_1",
    "end done",
  ]);
});

test("a replaced role is three writes: set aside, created, removed", async () => {
  const is = live([liveRole("role_1", "A", { metadata: { owner: "x" } })]);
  const want = desired({
    sync: { ...SYNC, replaceRoles: true },
    roles: [role("A", { metadata: { owner: "y" } })],
  });
  const journal = memoryJournal();
  await applyPlan(planOf(want, is), applyPorts(modelService(is), { journal }));
  expect(journal.entries.filter(({ type }) => type === "intent")).toMatchObject([
    { part: "set-aside", id: "role_1", after: { name: "A (role_1, set aside by rolecall)" } },
    { part: "create", id: null, before: null, after: { name: "A", metadata: { owner: "y" } } },
    { part: "remove", id: "role_1", before: { name: "A", metadata: { owner: "x" } }, after: null },
  ]);
});

test("a change that needs no write leaves no intent", async () => {
  const service = modelService(IS);
  service.edit(({ members }) => void members.delete("mem_2"));
  const journal = memoryJournal();
  await applyPlan(planOf(WANT, IS), applyPorts(service, { journal }));
  expect(journal.entries.map(brief)).toEqual([
    "1 whole update role Cashier role_1",
    "1 done role_1",
    "end done",
  ]);
});

test("where an intent cannot be written nothing is sent, and the run stops", async () => {
  const service = modelService(IS);
  const journal = memoryJournal(({ type }) => {
    if (type === "intent") unwritable();
  });
  const result = await applyPlan(planOf(WANT, IS), applyPorts(service, { journal }));
  expect(service.calls).toEqual([]);
  expect(result.outcomes.map(({ status }) => status)).toEqual(["not-started", "not-started"]);
  expect(result).toMatchObject({ status: "stopped", writes: 0, unrecorded: [] });
  expect(result.journalFailure).toMatchObject({ code: "journal-unwritable" });
});

test("where an outcome cannot be written the run stops, and the change stays done", async () => {
  const service = modelService(IS);
  const events: ApplyEvent[] = [];
  const journal = memoryJournal(({ type }) => {
    if (type === "outcome") unwritable();
  });
  const ports = applyPorts(service, { journal, emit: (event) => void events.push(event) });
  const result = await applyPlan(planOf(WANT, IS), ports);
  expect(service.calls).toEqual(["update role role_1 permissions"]);
  expect(result.outcomes).toMatchObject([{ status: "done" }, { status: "not-started" }]);
  expect(result).toMatchObject({ writes: 1, journalFailure: { code: "journal-unwritable" } });
  expect(result.unrecorded).toEqual([result.outcomes[0]?.change]);
  expect(events.find(({ type }) => type === "apply-stopped")).toMatchObject({
    failure: { code: "journal-unwritable" },
  });
});

test("where an expired invitation was removed and that cannot be recorded, no new one is sent", async () => {
  const is = live([], [invited("mem_1", "ada@example.com", { status: "expired" })]);
  const service = modelService(is, "conflict");
  const journal = memoryJournal((entry) => {
    if (entry.type === "outcome" && entry.status === "done") unwritable();
  });
  const want = desired({ members: [member("ada@example.com")] });
  const result = await applyPlan(planOf(want, is), applyPorts(service, { journal }));
  expect(service.calls).toEqual(["create member ada@example.com", "delete member mem_1"]);
  expect(result.outcomes).toMatchObject([{ status: "unfinished", removed: true }]);
});

test("where the end cannot be written the apply is not called done", async () => {
  const journal = memoryJournal(({ type }) => {
    if (type === "end") unwritable();
  });
  const result = await applyPlan(planOf(WANT, IS), applyPorts(modelService(IS), { journal }));
  expect(result.outcomes.map(({ status }) => status)).toEqual(["done", "done"]);
  expect(result).toMatchObject({ status: "stopped", journalFailure: { code: "journal-unwritable" } });
});

test("the end says how many changes ended how, and why it stopped", async () => {
  const service = modelService(IS);
  const writer: LiveWriter = beginning({
    ...service.writer,
    updateRole: async () => {
      throw new RolecallError("timeout", "No answer.", {
        request: { method: "PATCH", path: "/", attempts: 1, uncertain: true },
      });
    },
  });
  const journal = memoryJournal();
  await applyPlan(planOf(WANT, IS), applyPorts({ ...service, writer }, { journal }));
  expect(journal.entries.at(-2)).toMatchObject({ status: "unknown", failure: { code: "timeout" } });
  expect(journal.entries.at(-1)).toEqual({
    type: "end",
    status: "stopped",
    cause: "No answer.",
    outcomes: { done: 0, failed: 0, unknown: 1, stale: 0, unfinished: 0, "not-started": 1 },
  });
});

test("no password is in the journal", async () => {
  const managed = { passwordEnv: "TILL_7_PASSWORD" };
  const want = desired({ members: [member("till@example.com", { managed })] });
  const journal = memoryJournal();
  const ports = applyPorts(modelService(live()), { journal, password: () => "s3cr3t-of-till" });
  await applyPlan(planOf(want, live()), ports);
  expect(journal.entries).toHaveLength(3);
  expect(JSON.stringify(journal.entries)).not.toContain("s3cr3t");
});
