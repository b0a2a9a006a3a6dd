import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalJson, isSameJson } from "../../src/lib/json-text.ts";
import type { JsonValue } from "../../src/model/json.ts";
import { runs } from "../support/property-runs.ts";

const json = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<JsonValue>;

/** The same value with the keys of its mappings the other way round. */
function turned(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map((item: JsonValue) => turned(item));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, item]) => [key, turned(item as JsonValue)]),
  );
}

test("two values are the same exactly when their canonical texts are, whatever the order of keys", () => {
  fc.assert(
    fc.property(json, json, (a, b) => {
      expect(isSameJson(a, b)).toBe(canonicalJson(a) === canonicalJson(b));
      expect(isSameJson(a, turned(a))).toBe(true);
    }),
    { numRuns: runs(500) },
  );
});

test("metadata is not the same where a list took the place of a mapping, or a key has another name", () => {
  expect(isSameJson([], {})).toBe(false);
  expect(isSameJson({}, [])).toBe(false);
  expect(isSameJson({ a: null }, { b: null })).toBe(false);
  expect(isSameJson({ a: [1, 2] }, { a: [1] })).toBe(false);
  expect(isSameJson(null, {})).toBe(false);
  expect(isSameJson("1", 1)).toBe(false);
});
