import fc from "fast-check";
import stringWidth from "string-width";
import { expect, test } from "vitest";
import { applyProgress, readingProgress } from "../../../src/show/view/progress.ts";
import { boardLines } from "../../support/board-lines.ts";
import { runs } from "../../support/property-runs.ts";
import { richPlan } from "../../support/rich-plan.ts";
import { waitEvent } from "../../support/wait-event.ts";

const SIZE = { columns: 80, rows: 24 };

function reading(count: number) {
  const codes = Array.from({ length: count }, (_, index) => `MC${index}`);
  const progress = readingProgress(codes, 0);
  const request = { type: "request", method: "GET", attempt: 1 } as const;
  for (const merchant of codes.slice(0, Math.floor(count / 2))) {
    progress.live({ ...request, path: `/v0.1/merchants/${merchant}/members` }, 0);
    progress.live({ type: "read", merchant, members: 12, total: 12 }, 100);
    progress.read(merchant, null, 300);
  }
  progress.read(`MC${count - 1}`, "no\u001b[31m key", 300);
  progress.live({ ...request, path: `/v0.1/merchants/MC${count - 2}/members` }, 400);
  progress.live({ type: "read", merchant: `MC${count - 2}`, members: 250, total: 1000 }, 400);
  progress.live(waitEvent(12_000, "the service asks for fewer requests (429)", 1000), 1000);
  return progress.view(1000);
}

test("the reading board shows what is under way, then what ended last, failures, and a wait with its reason", () => {
  expect(boardLines(reading(4), SIZE)).toEqual([
    "Reading 4 merchants                                                       00:01",
    "█████████████████████░░░░░ 3/4 merchants   274 members · 0 requests/s · 1 wait",
    "✓ 2 read   ▶ 1 under way   ◦ 0 started   · 0 queued   ✗ 1 failed",
    "",
    "▶ MC2  ██░░░░░░░░   250/1,000  members                                    0.6 s",
    "✓ MC1  ██████████       12/12  members read                               0.3 s",
    "✓ MC0  ██████████       12/12  members read                               0.3 s",
    "",
    "✗ MC3  no\\u{1b}[31m key",
    "waiting 12 s: the service asks for fewer requests (429)",
  ]);
});

test("500 merchants fit the screen, and every one of them is counted", () => {
  const lines = boardLines(reading(500), SIZE);
  expect(lines.length).toBeLessThan(SIZE.rows);
  expect(lines[2]).toBe("✓ 250 read   ▶   1 under way   ◦   0 started   · 248 queued   ✗   1 failed");
});

function applying(merchants: number) {
  const plan = richPlan();
  const codes = Array.from({ length: merchants }, (_, index) => (index === 0 ? "商店-مرحبا" : `MC${index}`));
  const progress = applyProgress(
    codes.map((merchant) => ({ merchant, changes: plan.changes.length })),
    0,
  );
  for (const merchant of codes.slice(0, 3)) {
    progress.apply({ type: "apply-started", merchant, changes: plan.changes.length }, 0);
    progress.apply({ type: "phase-started", merchant, phase: "write-members", changes: 6 }, 0);
    for (const change of plan.changes)
      progress.apply({ type: "change-started", merchant, phase: "write-members", change: { ...change } }, 0);
  }
  progress.live(waitEvent(2000, "the service could not be reached"), 0);
  return progress;
}

test("the apply board of one merchant shows each change under way, and what is waited for", () => {
  const progress = applying(1);
  const path = `/v0.1/merchants/${encodeURIComponent("商店-مرحبا")}/members`;
  for (let sent = 0; sent < 4; sent += 1)
    progress.live({ type: "request", method: "GET", path, attempt: 1 }, 0);
  const lines = boardLines(progress.view(0), { ...SIZE, rows: 18 });
  expect(lines[2]).toMatch(/▶ +4 under way +◦ +\d+ started/);
  expect(lines.filter((text) => text.startsWith("▶ "))).toHaveLength(4);
  expect(lines.filter((text) => text.startsWith("◦ ")).length).toBeGreaterThan(1);
  expect(lines.at(-1)).toBe("waiting 2 s: the service could not be reached");
});

test("an address that is refused waits by name, while other changes of its merchant go on", () => {
  const progress = applying(1);
  const merchant = "商店-مرحبا";
  const invitation = progress.view(0).jobs.find(({ name }) => name.includes("@"));
  const address = invitation?.name.slice("+ ".length) ?? "";
  const path = `/v0.1/merchants/${encodeURIComponent(merchant)}/members`;
  progress.live({ type: "request", method: "GET", path, attempt: 1 }, 0);
  const wait = waitEvent(9_000, `the service asks for fewer invitations of ${address} (429)`, 0);
  progress.live({ ...wait, path } as typeof wait, 0);
  const lines = boardLines(progress.view(0), { columns: 120, rows: 60 });
  expect(lines.filter((text) => text.startsWith("◦") && text.includes(address))).toEqual([
    expect.stringMatching(/waits 9\.0 s$/),
  ]);
  expect(lines).toContain(`waiting 9 s: the service asks for fewer invitations (429) · ${address}`);
});

test("a wait of all merchants stands in place of the time left, and counts all of them", () => {
  const codes = Array.from({ length: 48 }, (_, index) => `MC${index}`);
  const progress = readingProgress(codes, 0);
  for (const merchant of codes.slice(0, 8)) {
    const path = `/v0.1/merchants/${merchant}/members`;
    progress.live({ type: "request", method: "GET", path, attempt: 1 }, 0);
    progress.live({ type: "response", method: "GET", path, status: 429, ms: 100 }, 100);
    if (merchant === "MC1") continue;
    const wait = waitEvent(30_000, "the service asks for fewer requests (429)", 100);
    progress.live({ ...wait, path } as typeof wait, 100);
  }
  const lines = boardLines(progress.view(6100), SIZE);
  expect(lines[0]).toMatch(/ waits 24 s · 00:06$/);
  expect(lines[2]).toBe("✓  0 read   ▶  0 under way   ◦  8 started   · 40 queued   ✗  0 failed");
  expect(lines.filter((text) => text.startsWith("◦ ") && text.endsWith("waits 24 s"))).toHaveLength(8);
  expect(lines.at(-1)).toBe("waiting 24 s: the service asks for fewer requests (429) · 48 merchants");
});

const CONCURRENCY = 10;

/** What happens to a merchant: a request, its response, a wait, or its end. */
const happenings = fc.array(
  fc.tuple(fc.nat(29), fc.constantFrom("request", "request", "response", "wait", "end")),
  { maxLength: 200 },
);

/** Follows what happens every 100 ms, as far as it can happen; `onWire` holds the merchant of each request on the wire. */
function follow(all: readonly (readonly [number, string])[]) {
  const progress = readingProgress(
    Array.from({ length: 30 }, (_, index) => `MC${index}`),
    0,
  );
  const onWire: string[] = [];
  const over = new Set<string>();
  for (const [at, [index, kind]] of all.entries()) {
    const merchant = `MC${index}`;
    const path = `/v0.1/merchants/${merchant}/members`;
    const now = at * 100;
    const wire = onWire.indexOf(merchant);
    if (over.has(merchant)) continue;
    if (kind === "request" && onWire.length < CONCURRENCY) {
      onWire.push(merchant);
      progress.live({ type: "request", method: "GET", path, attempt: 1 }, now);
    } else if (kind === "response" && wire >= 0) {
      onWire.splice(wire, 1);
      progress.live({ type: "response", method: "GET", path, status: 200, ms: 9 }, now);
    } else if (kind === "wait" && wire < 0) {
      const wait = waitEvent(3000, "the service asks for fewer requests (429)", now);
      progress.live({ ...wait, path } as typeof wait, now);
    } else if (kind === "end" && wire < 0) {
      over.add(merchant);
      progress.read(merchant, null, now);
    }
  }
  return { progress, onWire };
}

test("rows on the wire and those left out are as many as the head says, and no more than are allowed", () => {
  fc.assert(
    fc.property(happenings, fc.integer({ min: 8, max: 60 }), (all, rows) => {
      const { progress, onWire } = follow(all);
      const lines = boardLines(progress.view(all.length * 100), { columns: 80, rows });
      const number = (pattern: RegExp): number => Number(pattern.exec(lines.join("\n"))?.[1] ?? 0);
      const head = number(/▶ +(\d+) under way/);
      const shown = lines.filter((text) => text.startsWith("▶")).length;
      expect(shown + number(/and (\d+) more under way/)).toBe(head);
      expect(head).toBe(new Set(onWire).size);
      expect(head).toBeLessThanOrEqual(CONCURRENCY);
      // What comes next is shown only where nothing else is left out.
      if (lines.some((text) => / more (under way|waiting)/.test(text)))
        expect(lines.some((text) => text.startsWith("◦") && !text.includes("waits"))).toBe(false);
    }),
    { numRuns: runs(200) },
  );
});

test("failed is only what failed: what was stopped and what never began have numbers of their own", () => {
  const progress = applying(4);
  const failure = { code: "forbidden", message: "The key may not do that." } as const;
  const cause = { by: "signal", signal: "SIGINT" } as const;
  progress.apply({ type: "apply-stopped", merchant: "MC1", failure, cause: null }, 0);
  progress.apply({ type: "apply-stopped", merchant: "MC2", failure: null, cause }, 0);
  const lines = boardLines(progress.view(0), { ...SIZE, columns: 120 });
  expect(lines[2]).toBe("✓ 0 done   ▶ 0 under way   ◦ 1 started   · 1 queued   ✗ 1 failed   ■ 1 stopped");
});

test.each([20, 40, 60, 80, 120, 200, 250])("no line of a board is wider than %i columns", (columns) => {
  for (const rows of [8, 24, 60]) {
    const lines = [
      ...boardLines(reading(500), { columns, rows }),
      ...boardLines(applying(100).view(0), { columns, rows }),
    ];
    for (const line of lines) expect(stringWidth(line)).toBeLessThanOrEqual(columns);
  }
  expect(boardLines(reading(500), { columns, rows: 8 }).length).toBeLessThan(8);
  expect(boardLines(applying(100).view(0), { columns, rows: 8 }).length).toBeLessThan(8);
});
