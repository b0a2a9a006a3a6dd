import fc from "fast-check";
import { expect, test } from "vitest";
import { createInterner } from "../../src/service/reader.ts";

test("lists that say the same are one list", () => {
  const share = createInterner();
  const first = share(["a", "b"]);
  expect(share(["a", "b"])).toBe(first);
  expect(share(["a", "b", "c"])).not.toBe(first);
});

test("whatever the lists, each is given as it is", () => {
  // Few and odd texts, so that lists begin alike, and would be the same if they were written side by side.
  const text = fc.constantFrom("", "a", "b", "ab", "a\nb", "a,b", "__proto__");
  fc.assert(
    fc.property(fc.array(fc.array(text, { maxLength: 4 })), (lists) => {
      const share = createInterner();
      expect(lists.map(share)).toEqual(lists);
    }),
  );
});
