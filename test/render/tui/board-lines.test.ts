import stringWidth from "string-width";
import { expect, test } from "vitest";
import { PLAIN } from "../../../src/render/style.ts";
import { applyLines, readingLines } from "../../../src/render/tui/progress-lines.ts";
import { applyProgress } from "../../../src/render/view/apply-progress.ts";
import { readingProgress } from "../../../src/render/view/reading-progress.ts";
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
    progress.ended(merchant, null, 300);
  }
  progress.ended(`MC${count - 1}`, "no\u001b[31m key", 300);
  progress.live({ ...request, path: `/v0.1/merchants/MC${count - 2}/members` }, 400);
  progress.live({ type: "read", merchant: `MC${count - 2}`, members: 250, total: 1000 }, 400);
  progress.live(waitEvent(12_000, "the service asks for fewer requests (429)", 1000), 1000);
  return progress.view(1000);
}

test("the reading board shows what ended last, then what is under way, failures, and a wait with its reason", () => {
  expect(readingLines(reading(4), SIZE, PLAIN)).toEqual([
    "Reading 4 merchants                                                       00:01",
    "█████████████████████░░░░░ 3/4 merchants   274 members · 0 requests/s · 1 wait",
    "✓ 2 read   ▶ 1 under way   · 0 queued   ✗ 1 failed",
    "",
    "✓ MC0  ██████████          12  members read                               0.3 s",
    "✓ MC1  ██████████          12  members read                               0.3 s",
    "▶ MC2  ██░░░░░░░░   250/1,000  members                                    0.6 s",
    "",
    "✗ MC3  no\\u{1b}[31m key",
    "waiting 12 s: the service asks for fewer requests (429)",
  ]);
});

test("500 merchants fit the screen, and every one of them is counted", () => {
  const lines = readingLines(reading(500), SIZE, PLAIN);
  expect(lines.length).toBeLessThan(SIZE.rows);
  expect(lines[2]).toBe("✓ 250 read   ▶   1 under way   · 248 queued   ✗   1 failed");
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
  const lines = applyLines(applying(1).view(0), SIZE, PLAIN);
  expect(lines.filter((text) => text.startsWith("▶ ")).length).toBeGreaterThan(3);
  expect(lines.join("\n")).toMatch(/and \d+ more under way$/m);
  expect(lines.at(-1)).toBe("waiting 2 s: the service could not be reached");
});

test("failed is only what failed: what was stopped and what never began have numbers of their own", () => {
  const progress = applying(4);
  const failure = { code: "forbidden", message: "The key may not do that." } as const;
  const cause = { by: "signal", signal: "SIGINT" } as const;
  progress.apply({ type: "apply-stopped", merchant: "MC1", failure, cause: null }, 0);
  progress.apply({ type: "apply-stopped", merchant: "MC2", failure: null, cause }, 0);
  const lines = applyLines(progress.view(0), { ...SIZE, columns: 120 }, PLAIN);
  expect(lines[2]).toBe("✓ 0 done   ▶ 0 under way   · 2 queued   ✗ 1 failed   ■ 1 stopped");
});

test.each([20, 40, 60, 80, 120, 200, 250])("no line of a board is wider than %i columns", (columns) => {
  for (const rows of [8, 24, 60]) {
    const lines = [
      ...readingLines(reading(500), { columns, rows }, PLAIN),
      ...applyLines(applying(100).view(0), { columns, rows }, PLAIN),
    ];
    for (const line of lines) expect(stringWidth(line)).toBeLessThanOrEqual(columns);
  }
  expect(readingLines(reading(500), { columns, rows: 8 }, PLAIN).length).toBeLessThan(8);
  expect(applyLines(applying(100).view(0), { columns, rows: 8 }, PLAIN).length).toBeLessThan(8);
});
