import { expect, test } from "vitest";
import { dateLines, type LaterView } from "../../../src/show/view/date-lines.ts";

const day = (merchant: string): LaterView => ({
  merchant,
  at: 0,
  moment: "2026-11-24T00:00:00.000Z",
  dates: [{ text: "2026-11-24", email: "ada@example.com", what: "suspended", roles: [] }],
  refusals: [],
  gains: [],
});

test("what a date brings at one merchant, and at several", () => {
  const linesOf = (...merchants: readonly string[]) =>
    dateLines(merchants.map(day), 10, (name) => name).lines;
  expect(linesOf("MC1")).toEqual(["on 2026-11-24: MC1 ada@example.com is suspended"]);
  expect(linesOf("MC1", "MC2")).toEqual(["on 2026-11-24: at 2 merchants, ada@example.com is suspended"]);
});

test("equal effects of a date have one line for all people, and with no limit a line each", () => {
  const gains = (merchant: string, count: number): LaterView => ({
    ...day(merchant),
    dates: Array.from({ length: count }, (_, index) => ({
      text: "2026-11-24",
      email: `${merchant}-${index}@example.com`,
      what: "begins",
      roles: ["Cashier"],
    })),
  });
  const linesOf = (days: readonly LaterView[], max = 10) => dateLines(days, max, (name) => name);
  expect(linesOf([gains("a", 3)]).lines).toHaveLength(3);
  expect(linesOf([gains("a", 4)]).lines).toEqual([
    "on 2026-11-24: 4 people gain Cashier at a: a-0@example.com, a-1@example.com, a-2@example.com and 1 more",
  ]);
  const two = [gains("a", 30), gains("b", 10), { ...gains("c", 9), at: 1 }];
  expect(linesOf(two)).toEqual({
    lines: [
      "on 2026-11-24: 40 people gain Cashier at 2 merchants: a-0@example.com, a-1@example.com, a-2@example.com and 37 more",
      "on 2026-11-24: 9 people gain Cashier at c: c-0@example.com, c-1@example.com, c-2@example.com and 6 more",
    ],
    more: 0,
    refused: [],
  });
  expect(linesOf(two, 1).more).toBe(9);
  expect(linesOf(two, Number.POSITIVE_INFINITY).lines).toHaveLength(49);
});
