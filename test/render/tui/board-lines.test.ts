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
  const progress = readingProgress(codes);
  for (const merchant of codes.slice(0, Math.floor(count / 2))) progress.ended(merchant, null);
  progress.ended(`MC${count - 1}`, "no\u001b[31m key");
  progress.live({ type: "read", merchant: `MC${count - 2}`, members: 250, total: 1000 }, 0);
  progress.live(waitEvent(12_000, "the service asks for fewer requests (429)"), 0);
  return progress.view(0);
}

test("the reading board shows trouble first, then what is under way, and a wait with its reason", () => {
  expect(readingLines(reading(4), SIZE, PLAIN)).toEqual([
    "Reading 4 merchants: 2 read, 1 failed · 250 of 1,000 members · 0 requests",
    "  ✗ MC3  failed: no\\u{1b}[31m key",
    "  … MC2  250 of 1,000 members",
    "  ✓ MC0  0 members read",
    "  ✓ MC1  0 members read",
    "  waiting 12 s: the service asks for fewer requests (429)",
  ]);
});

test("500 merchants fit the screen, and those that are not shown are counted", () => {
  const lines = readingLines(reading(500), SIZE, PLAIN);
  expect(lines.length).toBeLessThan(SIZE.rows);
  expect(lines).toContain("    and 488 merchants more: 238 waiting, 250 read");
});

function applying(merchants: number) {
  const plan = richPlan();
  const codes = Array.from({ length: merchants }, (_, index) => (index === 0 ? "商店-مرحبا" : `MC${index}`));
  const progress = applyProgress(codes.map((merchant) => ({ merchant, changes: plan.changes.length })));
  for (const merchant of codes.slice(0, 3)) {
    progress.apply({ type: "apply-started", merchant, changes: plan.changes.length }, 0);
    progress.apply({ type: "phase-started", merchant, phase: "write-members", changes: 6 }, 0);
    for (const change of plan.changes)
      progress.apply({ type: "change-started", merchant, phase: "write-members", change: { ...change } }, 0);
  }
  progress.live(waitEvent(2000, "the service could not be reached"), 0);
  return progress.view(0);
}

test("the apply board shows the phase, what is under way, and what is waited for", () => {
  const lines = applyLines(applying(1), SIZE, PLAIN).join("\n");
  expect(lines).toContain("writes members 0/6");
  expect(lines).toMatch(/more in progress$/m);
  expect(lines).toContain("  waiting 2 s: the service could not be reached");
});

test.each([60, 80, 120, 200, 250])("no line of a board is wider than %i columns", (columns) => {
  for (const rows of [8, 24, 60]) {
    const lines = [
      ...readingLines(reading(500), { columns, rows }, PLAIN),
      ...applyLines(applying(100), { columns, rows }, PLAIN),
    ];
    for (const line of lines) expect(stringWidth(line)).toBeLessThanOrEqual(columns);
  }
  expect(readingLines(reading(500), { columns, rows: 8 }, PLAIN).length).toBeLessThan(8);
  expect(applyLines(applying(100), { columns, rows: 8 }, PLAIN).length).toBeLessThan(8);
});
