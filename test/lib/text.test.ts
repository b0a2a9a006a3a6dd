import fc from "fast-check";
import { expect, test } from "vitest";
import { counted, grouped } from "../../src/lib/text.ts";

test("a count agrees with its noun", () => {
  expect([
    counted(1, "change"),
    counted(0, "change"),
    counted(12345, "change"),
    counted(2, "match", "matches"),
  ]).toEqual(["1 change", "0 changes", "12,345 changes", "2 matches"]);
});

test("a number stands in groups of three digits, as in English", () => {
  fc.assert(fc.property(fc.maxSafeInteger(), (n) => grouped(n) === n.toLocaleString("en-US")));
});
