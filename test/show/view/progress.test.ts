import { expect, test } from "vitest";
import type { Outcome } from "../../../src/model/apply.ts";
import { applyProgress, progressText, readingProgress, spanText } from "../../../src/show/view/progress.ts";
import { richPlan } from "../../support/rich-plan.ts";
import { waitEvent } from "../../support/wait-event.ts";

const { changes } = richPlan();

test("reading tells how many merchants and members are read, and how fast", () => {
  const progress = readingProgress(["MC1", "MC 2"], 0);
  expect(progress.view(0).jobs.map(({ state }) => state)).toEqual(["queued", "queued"]);
  for (let page = 1; page <= 20; page += 1) {
    const path = "/v0.1/merchants/MC%202/members?offset=0";
    progress.live({ type: "request", method: "GET", path, attempt: 1 }, page * 100);
    progress.live({ type: "response", method: "GET", path, status: 200, ms: 9 }, page * 100);
    progress.live({ type: "read", merchant: "MC 2", members: page * 25, total: 1000 }, page * 100);
  }
  const view = progress.view(2000);
  expect(view.jobs[1]).toMatchObject({ state: "active", done: 500, total: 1000 });
  expect(progressText(view)).toBe(
    "read 0 of 2 merchants; 500 members in 20 requests, 11 a second; about 7 s left",
  );
});

test("a wait counts down and is forgotten when it is over", () => {
  const progress = readingProgress(["MC1"], 0);
  progress.live(waitEvent(12_000, "429", 1000), 1000);
  progress.live(waitEvent(3_000, "429", 2000), 2000);
  const wait = { reason: "429", ms: 10_000, merchants: ["MC1"], addresses: [], isShared: true };
  expect(progress.view(3000).metrics.waits).toEqual([wait]);
  expect(progress.view(13_000).metrics.waits).toEqual([]);
});

const REQUEST = { type: "request", method: "GET", path: "/v0.1/merchants/MC1/members", attempt: 1 } as const;
const RESPONSE = { type: "response", method: "GET", path: REQUEST.path, status: 200, ms: 9 } as const;

test("there is no estimate while nothing gets on, and refusals are no progress", () => {
  const progress = readingProgress(["MC1", "MC2"], 0);
  progress.live(REQUEST, 0);
  progress.live({ type: "read", merchant: "MC1", members: 50, total: 100 }, 2500);
  progress.live(RESPONSE, 2500);
  progress.live(REQUEST, 2500);
  expect(progress.view(5000).leftMs).not.toBeNull();
  progress.live({ ...RESPONSE, status: 429 }, 6000);
  progress.live(REQUEST, 6000);
  expect(progress.view(7000).leftMs).toBeNull();
  progress.live(RESPONSE, 7000);
  expect(progress.view(7100).leftMs).not.toBeNull();
});

test("a wait holds back all merchants while no request is on the wire, but not that of an address", () => {
  const progress = readingProgress(["MC1", "MC2"], 0);
  progress.live(REQUEST, 0);
  progress.live(waitEvent(30_000, "fewer requests (429)", 100), 100);
  const refused = "fewer invitations of kim@example.com (429)";
  progress.live(waitEvent(20_000, refused, 100), 100);
  const shared = (now: number) => progress.view(now).metrics.waits.map(({ isShared }) => isShared);
  expect(shared(2000)).toEqual([false, false]);
  progress.live({ ...RESPONSE, status: 429 }, 2000);
  expect(shared(2500)).toEqual([false, false]);
  expect(shared(3000)).toEqual([true, false]);
  expect(progress.view(3000).leftMs).toBeNull();
  expect(progress.view(3000).metrics.waits[1]).toMatchObject({
    reason: "fewer invitations (429)",
    addresses: ["kim@example.com"],
  });
});

test("an apply counts what is done and what failed, knows what is under way, and how long it still takes", () => {
  const progress = applyProgress([{ merchant: "MC1", changes: changes.length }], 0);
  const merchant = "MC1";
  progress.apply({ type: "apply-started", merchant, changes: changes.length }, 0);
  progress.apply({ type: "phase-started", merchant, phase: "write-members", changes: changes.length }, 0);
  const failure = { code: "conflict", message: "no" } as const;
  for (const [index, change] of changes.slice(0, 6).entries()) {
    progress.apply({ type: "change-started", merchant, phase: "write-members", change }, index * 1000);
    if (index === 5) continue;
    const outcome: Outcome =
      index === 4
        ? { status: "failed", change, failure }
        : { status: "done", change, id: "x", adopted: false };
    progress.apply({ type: "change-ended", merchant, phase: "write-members", outcome }, index * 1000 + 500);
  }
  const view = progress.view(5000);
  expect(view.changes).toEqual({ total: changes.length, done: 4, failed: 1, unknown: 0, inFlight: 1 });
  expect(view.jobs.filter(({ state }) => state === "active")).toMatchObject([
    { name: expect.stringContaining(changes[5]?.name ?? ""), since: 5000 },
  ]);
  expect(view.jobs.filter(({ state }) => state === "failed")).toMatchObject([{ text: "no" }]);
  expect(progressText(view)).toMatch(/^4 of \d+ changes done, 1 failed, 1 a second; about \d+ s left$/);
});

test("an apply that reads again to verify tells how far that is", () => {
  const progress = applyProgress([{ merchant: "MC1", changes: 1 }], 0);
  progress.live({ type: "read", merchant: "MC1", members: 25, total: 50 }, 0);
  expect(progress.view(0).phase).toBe("applying");
  progress.apply(
    {
      type: "apply-ended",
      merchant: "MC1",
      result: { status: "done", outcomes: [], writes: 0, journalFailure: null, unrecorded: [] },
    },
    0,
  );
  progress.live({ type: "read", merchant: "MC1", members: 25, total: 50 }, 0);
  expect(progress.view(0)).toMatchObject({ phase: "verifying", jobs: [{ done: 25, total: 50 }] });
});

test("the time that an apply still takes includes the verification, which reads the merchants again", () => {
  const progress = applyProgress(
    ["MC1", "MC2"].map((merchant) => ({ merchant, changes: 10 })),
    0,
    8_000,
  );
  const plain = applyProgress(
    ["MC1", "MC2"].map((merchant) => ({ merchant, changes: 10 })),
    0,
  );
  const both = [progress, plain];
  for (const [index, change] of changes.slice(0, 5).entries()) {
    const outcome: Outcome = { status: "done", change, id: "x", adopted: false };
    for (const one of both) {
      const event = { merchant: "MC1", phase: "write-members" } as const;
      one.apply({ ...event, type: "change-started", change }, index * 1000);
      one.apply({ ...event, type: "change-ended", outcome }, index * 1000 + 500);
    }
  }
  const [left, withoutIt] = both.map((one) => one.view(5000).leftMs ?? 0);
  expect(left).toBe((withoutIt ?? 0) + 8000);
  const result = { status: "done", outcomes: [], writes: 0, journalFailure: null, unrecorded: [] } as const;
  for (const merchant of ["MC1", "MC2"]) progress.apply({ type: "apply-ended", merchant, result }, 9000);
  expect(progress.view(9000)).toMatchObject({ phase: "verifying", leftMs: 8000 });
  expect(progress.view(10_000).leftMs).toBe(7000);
});

test.each([
  [0, "0 s"],
  [1, "1 s"],
  [11_400, "12 s"],
  [119_000, "119 s"],
  [121_000, "3 min"],
])("%i ms are %s", (ms, text) => expect(spanText(ms)).toBe(text));
