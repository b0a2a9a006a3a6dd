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
