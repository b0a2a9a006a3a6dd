import { expect, test } from "vitest";
import { parseDuration } from "../../../src/cli/args/service-options.ts";

test.each([
  ["90s", 90_000],
  ["5m", 300_000],
  ["1h", 3_600_000],
  ["24h", 86_400_000],
  ["45", 45_000],
  ["0", 0],
])("%s is a duration", (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});

test.each(["", "5 m", "-1", "1.5h", "1d", "25h", "m", "999999999999", "5ms"])("%j is none", (text) => {
  expect(() => parseDuration(text)).toThrow("It must be a duration such as 90s, 5m or 1h");
});
