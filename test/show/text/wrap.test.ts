import { expect, test } from "vitest";
import { hangingLines, padTo, wrapList, wrapText } from "../../../src/show/text/wrap.ts";

test("a list is broken between its items, and inside one only where that is longer than a line", () => {
  expect(wrapList(["aaaa", "bbbb", "a longer item than fits", "c"], 10)).toEqual([
    "aaaa, bbbb,",
    "a longer",
    "item than",
    "fits, c",
  ]);
  expect(wrapList(["aaaa", "an-item-without-spaces", "c"], 10)).toEqual([
    "aaaa,",
    "an-item-without-spaces,",
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

test("a sentence goes on below its own beginning", () => {
  expect(hangingLines("one two three", 11, "* ", "  ")).toEqual(["* one two", "  three"]);
  expect(hangingLines("averyverylongword two", 11, "* ", "  ")).toEqual(["* averyverylongword", "  two"]);
  expect(hangingLines("one two", 11, "a/path:1:1: ", "  ")).toEqual(["a/path:1:1:", "  one two"]);
});
