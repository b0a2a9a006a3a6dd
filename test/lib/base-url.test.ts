import { expect, test } from "vitest";
import { baseUrlHint } from "../../src/lib/base-url.ts";

test.each([
  ["api.example.com", "Add the scheme: https://api.example.com"],
  ["localhost:4010", "Add the scheme: http://localhost:4010"],
  ["127.0.0.1:4010/", "Add the scheme: http://127.0.0.1:4010/"],
  ["api.example.com/v0.1/", "Add the scheme, and remove /v0.1, which rolecall adds: https://api.example.com"],
  ["https://api.example.com/v0.1", "Remove /v0.1 at the end: rolecall adds the API version."],
  ["ftp://api.example.com", "For example: https://api.example.com"],
  ["gateway:8443", "Add the scheme: https://gateway:8443"],
  ["nothing", "For example: https://api.example.com"],
  ["two words", "For example: https://api.example.com"],
])("the base URL %s gets the hint: %s", (text, hint) => {
  expect(baseUrlHint(text)).toBe(hint);
});
