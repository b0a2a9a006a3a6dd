import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { markRounded, unmark } from "../../src/lib/exact-numbers.ts";

function roundedIn(json: string): readonly string[] {
  const marked = markRounded(json);
  return marked === null ? [] : unmark(JSON.parse(marked)).rounded;
}

describe("a number in a response", () => {
  test.each([
    "9007199254740993",
    "-9007199254740993",
    "12345678901234567890",
    "9007199254740991.5",
    "0.1234567890123456789",
    "1e400",
    "1e-400",
    `1${"0".repeat(500)}`,
  ])("is reported if it would be rounded: %s", (number) => {
    expect(roundedIn(`{"a":${number},"b": [ ${number} ] ,"c":1}`)).toEqual(["a", "b"]);
  });

  test.each([
    "0",
    "-0",
    "0e400",
    "9007199254740991",
    "9007199254740992",
    "10000000000000000000000",
    "1.50000000000000000000",
    "15e-1",
    "1E+3",
    "0.1",
    "1.7976931348623157e308",
  ])("is not reported if it is exact: %s", (number) => {
    expect(roundedIn(`{"a":${number}}`)).toEqual([]);
  });

  test("in a text is a text", () => {
    const texts = { a: "9007199254740993", b: ', 9007199254740993 "', c: "\\", d: '\\", 9007199254740993' };
    expect(markRounded(JSON.stringify(texts))).toBeNull();
  });

  test("is reported exactly for the integers that JSON rounds; all else is unchanged", () => {
    const digits = fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n });
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.oneof(digits, fc.jsonValue())), (entries) => {
        const json = `{${Object.entries(entries)
          .map(([key, value]) => {
            return `${JSON.stringify(key)}:${typeof value === "bigint" ? value : JSON.stringify(value)}`;
          })
          .join()}}`;
        const kept = Object.entries(entries).flatMap(([key, value]) =>
          typeof value === "bigint" && BigInt(Number(value)) !== value ? [key] : [],
        );
        const marked = markRounded(json);
        const read = unmark(JSON.parse(marked ?? json));
        expect([...read.rounded].sort()).toEqual(kept.sort());
        expect(read.metadata).toEqual(JSON.parse(json));
      }),
      { seed: 11 },
    );
  });
});
