import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { daysInMonth, parseUntil, UNTIL_PATTERN, untilMistake } from "../../../src/kernel/values/dates.ts";

describe("an end", () => {
  test("that is a date comes when that day is over, in UTC", () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date("0000-01-01"), max: new Date("9999-12-30"), noInvalidDate: true }),
        (at) => {
          const text = at.toISOString().slice(0, 10);
          expect(parseUntil(text)).toEqual({ text, ends: Date.parse(text) + 86_400_000 });
        },
      ),
    );
  });

  test("that is a timestamp comes at that instant, in whatever zone it is written", () => {
    const zone = fc.tuple(
      fc.constantFrom("+", "-"),
      fc.integer({ min: 0, max: 23 }),
      fc.integer({ min: 0, max: 59 }),
    );
    fc.assert(
      fc.property(
        fc.date({ min: new Date("0001-01-01"), max: new Date("9998-12-31"), noInvalidDate: true }),
        fc.option(zone),
        (at, offset) => {
          const two = (number: number) => String(number).padStart(2, "0");
          const suffix = offset === null ? "Z" : `${offset[0]}${two(offset[1])}:${two(offset[2])}`;
          const text = at.toISOString().replace("Z", suffix);
          expect(parseUntil(text)).toEqual({ text, ends: Date.parse(text) });
        },
      ),
    );
  });

  test.each([
    ["2027-01-31T18:00:00Z", Date.UTC(2027, 0, 31, 18)],
    ["2027-01-31t18:00:00z", Date.UTC(2027, 0, 31, 18)],
    ["2027-01-31T18:00:00.5Z", Date.UTC(2027, 0, 31, 18, 0, 0, 500)],
    ["2027-01-31T18:00:00.123456789+00:30", Date.UTC(2027, 0, 31, 17, 30, 0, 123)],
    ["2028-02-29", Date.UTC(2028, 2, 1)],
    ["2000-02-29", Date.UTC(2000, 2, 1)],
    ["1999-12-31", Date.UTC(2000, 0, 1)],
    ["1969-12-31", 0],
  ])("%s is understood", (text, ends) => {
    expect(parseUntil(text)).toEqual({ text, ends });
  });

  test.each([
    ["2027-02-29", "day"],
    ["2100-02-29", "day"],
    ["2027-04-31", "day"],
    ["2027-00-01", "day"],
    ["2027-13-01", "day"],
    ["2027-01-00", "day"],
    ["2027-02-30T00:00:00Z", "day"],
    ["2027-01-31T18:00:00", "zone"],
    ["2027-01-31T24:00:00Z", "form"],
    ["2027-01-31T18:60:00Z", "form"],
    ["2027-01-31T18:00:60Z", "form"],
    ["2027-01-31T18:00Z", "form"],
    ["2027-01-31 18:00:00Z", "form"],
    ["2027-01-31T18:00:00+24:00", "form"],
    ["2027-1-31", "form"],
    ["31.1.2027", "form"],
    ["27-01-31", "form"],
    ["2027-01-31 ", "form"],
    ["２０２７-01-31", "form"],
    ["", "form"],
  ])("%s is rejected with a reason", (text, mistake) => {
    expect(parseUntil(text)).toBeNull();
    expect(untilMistake(text)).toBe(mistake);
  });

  test("has a pattern that accepts every valid one", () => {
    const digits = fc.stringMatching(
      /^\d{4}-[01]\d-[0-3]\d(T[012]\d:[0-6]\d:[0-6]\d(\.\d{1,3})?(Z|[+-][012]\d:[0-5]\d))?$/,
    );
    fc.assert(
      fc.property(digits, (text) => {
        expect(parseUntil(text) !== null && !new RegExp(UNTIL_PATTERN, "u").test(text)).toBe(false);
      }),
    );
  });

  test("knows how long months are", () => {
    for (let year = 1896; year < 2112; year++) {
      for (let month = 1; month <= 12; month++) {
        expect(daysInMonth(year, month)).toBe(new Date(Date.UTC(year, month, 0)).getUTCDate());
      }
    }
  });
});
