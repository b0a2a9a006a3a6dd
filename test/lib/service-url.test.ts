import { expect, test } from "vitest";
import { normalizeServiceUrl } from "../../src/lib/text.ts";

test.each([
  "https://api.example.com",
  "https://api.example.com/",
  "https://api.example.com///",
  "HTTPS://API.Example.com:443/",
  "https://api.example.com/#",
  "https://api.example.com/?",
  "https://api.example.com/?#",
  "https://api.example.com/v0/..",
])("one address is one service, however it is spelt: %s", (text) => {
  expect(normalizeServiceUrl(text)).toBe("https://api.example.com");
});

test.each(["https://api.example.com/shop", "https://api.example.com:8443", "http://api.example.com"])(
  "another address is another service: %s",
  (text) => {
    expect(normalizeServiceUrl(`${text}/`)).toBe(text);
    expect(normalizeServiceUrl(text)).not.toBe("https://api.example.com");
  },
);
