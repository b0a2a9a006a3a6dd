import { expect, test } from "vitest";
import { safeJson } from "../../../src/show/machine/machine-formats.ts";

test.each([
  ["\ufeff", "\\ufeff"],
  ["\u{e0041}", "\\udb40\\udc41"],
  ["\u00ad", "\\u00ad"],
  ["\u200b", "\\u200b"],
  ["\u202e", "\\u202e"],
  ["\u2028", "\\u2028"],
  ["\u009b", "\\u009b"],
])("a mark that nobody sees is an escape in JSON: %j", (mark, escaped) => {
  const json = safeJson({ [`a${mark}`]: `b${mark}c` });
  expect(json).toBe(`{"a${escaped}":"b${escaped}c"}`);
  expect(JSON.parse(json)).toEqual({ [`a${mark}`]: `b${mark}c` });
});

test("scripts and emoji stay readable", () => {
  expect(safeJson("می‌خواهم 👩‍💻 ü")).toBe('"می‌خواهم 👩‍💻 ü"');
});

test("JSON that nothing could read is an error, found before it is made", () => {
  const permissions = Array.from({ length: 10_000 }, (_, n) => `a permission with the number ${n}`);
  const members = Array.from({ length: 10_000 }, (_, n) => ({ name: `u${n}@example.com`, permissions }));
  expect(() => safeJson({ members }, 2)).toThrow(
    expect.objectContaining({ code: "too-many-items", message: "The JSON would have more than 200 MB." }),
  );
});
