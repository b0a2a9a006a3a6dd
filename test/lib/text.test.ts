import fc from "fast-check";
import picomatch from "picomatch";
import stringWidth from "string-width";
import { expect, test } from "vitest";
import { cellWidth, counted, grouped, matchesSimpleGlob, sortNaturally } from "../../src/lib/text.ts";

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

test("a simple glob agrees with the plan's globs, and any other is not handled", () => {
  const part = fc.constantFrom("a", "b", "A", " ", ".", "_", "@", "-", "*");
  const text = fc.array(fc.constantFrom("a", "b", "B", " ", ".", "_", "@", "-"), {
    minLength: 1,
    maxLength: 6,
  });
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 6 }), text, (parts, letters) => {
      const [glob, word] = [parts.join(""), letters.join("")];
      const options = { bash: true, dot: true, nonegate: true };
      const matches = picomatch(glob.toLowerCase(), options)(word.toLowerCase());
      expect(matchesSimpleGlob(glob, word)).toBe(matches && !glob.includes("**") && !word.startsWith("."));
    }),
    { numRuns: 5000 },
  );
  expect(matchesSimpleGlob("Legacy *", "legacy boss")).toBe(true);
  expect(
    ["a?", "[ab]", "{a,b}", "!a", "a/*", "a\\b"].filter((glob) => matchesSimpleGlob(glob, "ab")),
  ).toEqual([]);
});
