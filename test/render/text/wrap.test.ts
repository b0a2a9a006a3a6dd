import { expect, test } from "vitest";
import { padTo, wrapList, wrapText } from "../../../src/render/text/wrap.ts";

test("a list is broken between its items, never inside one", () => {
  expect(wrapList(["aaaa", "bbbb", "a longer item than fits", "c"], 10)).toEqual([
    "aaaa, bbbb,",
    "a longer item than fits,",
    "c",
  ]);
  expect(wrapList([], 10)).toEqual([]);
});

test("a text is broken at its spaces", () => {
  expect(wrapText("one two three", 7)).toEqual(["one two", "three"]);
});

test("columns stand below one another, also where characters are wide or sit on others", () => {
  expect(["Cashier", "店長", "Chef́"].map((name) => `${padTo(name, 8)}|`)).toEqual([
    "Cashier |",
    "店長    |",
    "Chef́    |",
  ]);
});

test("lines are broken by the cells that they take", () => {
  expect(wrapList(["店長", "店長", "店長"], 10)).toEqual(["店長, 店長,", "店長"]);
});
