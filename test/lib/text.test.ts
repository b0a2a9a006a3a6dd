import fc from "fast-check";
import stringWidth from "string-width";
import { expect, test } from "vitest";
import { cellWidth, counted, grouped, sortNaturally } from "../../src/lib/text.ts";

test("a count agrees with its noun", () => {
  expect([
    counted(1, "change"),
    counted(0, "change"),
    counted(12345, "change"),
    counted(2, "match", "matches"),
  ]).toEqual(["1 change", "0 changes", "12,345 changes", "2 matches"]);
});

test("names are in natural order: numbers by their value, whatever the case", () => {
  const names = ["MC10", "mc2", "MC2b", "MC1", "a10b2", "a10b10", "a9", "Zoe", "adam", ""];
  expect(sortNaturally(names, (name) => name)).toEqual([
    ...["", "a9", "a10b2", "a10b10", "adam", "MC1", "mc2", "MC2b", "MC10", "Zoe"],
  ]);
});

test("a number stands in groups of three digits, as in English", () => {
  fc.assert(fc.property(fc.maxSafeInteger(), (n) => grouped(n) === n.toLocaleString("en-US")));
});

test.each([
  ["ada@example.com", 15],
  ["→ Müller…", 9],
  ["商店", 4],
  ["한국", 4],
  ["e\u0301", 1],
  ["👍", 2],
  ["👍🏽", 2],
  ["☎️", 2],
  ["👩‍👩‍👧", 2],
  ["🇩🇪 🇫🇷", 5],
  ["\u001b[1mbold\u001b[22m \u001b[38;5;1m", 5],
])("%s takes %i cells", (text, cells) => {
  expect(cellWidth(text)).toBe(cells);
  expect(stringWidth(text)).toBe(cells);
});
