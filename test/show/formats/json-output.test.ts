import { expect, test } from "vitest";
import { eventJson } from "../../../src/show/machine/machine-formats.ts";

test("JSON output shows no control beyond ASCII and no mark that turns text around, and means the same", () => {
  const name = "a\u009b31m\u202eb\u2066c\u200f\u2028é";
  const line = eventJson(
    { type: "password-planned", merchant: "MC1", name, passwordEnv: "P" },
    "2026-06-01T12:00:00.000Z",
  );
  expect(line).toContain(String.raw`a\u009b31m\u202eb\u2066c\u200f\u2028é`);
  expect(JSON.parse(line).name).toBe(name);
});
