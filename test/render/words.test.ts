import { expect, test } from "vitest";
import { counted, wrapList, wrapText } from "../../src/render/words.ts";

test("a count agrees with its noun", () => {
  expect([
    counted(1, "change"),
    counted(0, "change"),
    counted(12345, "change"),
    counted(2, "match", "matches"),
  ]).toEqual(["1 change", "0 changes", "12,345 changes", "2 matches"]);
});

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
