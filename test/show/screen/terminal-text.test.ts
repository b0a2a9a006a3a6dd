import fc from "fast-check";
import stringWidth from "string-width";
import { expect, test } from "vitest";
import { shown } from "../../../src/show/screen/second-screen.ts";
import { cutTo, line, padded, widthOf } from "../../../src/show/screen/terminal-text.ts";
import { runs } from "../../support/property-runs.ts";

test("what is too long is cut between characters, and says so", () => {
  expect(cutTo("ada@example.com", 8)).toBe("ada@exa…");
  expect(cutTo("商店商店", 6)).toBe("商店…");
  expect(cutTo("e\u0301e\u0301e\u0301", 2)).toBe("e\u0301…");
  // Some terminals draw a family of three in six cells.
  expect(cutTo("👩‍👩‍👧x👩‍👩‍👧", 4)).toBe("…");
  expect(cutTo("👩‍👩‍👧x👩‍👩‍👧", 8)).toBe("👩‍👩‍👧x…");
  expect(cutTo("anything", 0)).toBe("");
});

test("whatever the text, it is cut or filled to the cells it is given", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "grapheme", maxLength: 30 }),
      fc.integer({ min: 1, max: 40 }),
      (text, columns) => {
        const safe = shown(text);
        expect(stringWidth(cutTo(safe, columns))).toBeLessThanOrEqual(columns);
        expect(stringWidth(line([[safe], [safe]], columns))).toBeLessThanOrEqual(columns);
        expect(widthOf(padded(safe, columns))).toBe(columns);
      },
    ),
    { numRuns: runs(500) },
  );
});
