import { expect, test } from "vitest";
import { containsAddress } from "../../src/runs/contains-address.ts";

test("a journal contains an address in any case and place, and not as a part of a longer one", () => {
  const contains = (value: unknown): boolean => containsAddress(JSON.stringify(value), "ben+x@example.com");
  for (const value of [
    { email: "Ben+X@Example.com" },
    { note: "asked by\nben+x@example.com." },
    "<ben+x@example.com>",
  ])
    expect(contains(value)).toBe(true);
  for (const value of [
    "reuben+x@example.com",
    "ben+x@example.com.au",
    "a.ben+x@example.com",
    "ben+xx@example.com",
  ])
    expect(contains(value)).toBe(false);
});
