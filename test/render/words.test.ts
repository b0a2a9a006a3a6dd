import fc from "fast-check";
import { expect, test } from "vitest";
import { counted, grouped } from "../../src/render/words.ts";

test("a count agrees with its noun", () => {
  expect([
    counted(1, "change"),
    counted(0, "change"),
    counted(12345, "change"),
    counted(2, "match", "matches"),
  ]).toEqual(["1 change", "0 changes", "12,345 changes", "2 matches"]);
});

test("counts are written with their digits in threes, as in English", () => {
  fc.assert(
    fc.property(fc.maxSafeNat(), (count) => {
      expect(grouped(count)).toBe(count.toLocaleString("en-US"));
    }),
  );
});
