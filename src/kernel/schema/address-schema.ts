import * as z from "zod/mini";
import type { FormatCode } from "../problems/problem.ts";
import { described, environmentVariable, MERCHANT, matching, optional } from "../values/text-schemas.ts";

/** The connection to the service. */
const api = described(
  z.strictObject({
    base_url: optional(
      z
        .url({ protocol: /^https?$/, error: "bad-base-url" satisfies FormatCode })
        .check(z.refine(isPlainUrl, "bad-base-url" satisfies FormatCode)),
      {
        title: "Base URL",
        description:
          "The base URL of the service. --base-url takes precedence; without either, ROLECALL_BASE_URL is used.",
        examples: ["https://api.example.com"],
      },
    ),
    key_env: optional(environmentVariable(), {
      title: "Variable with the API key",
      description:
        "The environment variable that holds this merchant's API key; never the key itself. If absent, ROLECALL_API_KEY_<MERCHANT>, else ROLECALL_API_KEY.",
      examples: ["RETAIL_API_KEY"],
    }),
  }),
  {
    title: "Service",
    description: "How to reach the service for this merchant.",
    examples: [{ base_url: "https://api.example.com", key_env: "RETAIL_API_KEY" }],
  },
);

/**
 * Returns whether a URL has nothing but origin and path: credentials do not belong in a file, a query would be lost,
 * and the API version is part of every request.
 */
function isPlainUrl(value: string): boolean {
  if (!URL.canParse(value)) {
    return true;
  }
  const { username, password, search, hash, pathname } = new URL(value);
  const isVersioned = /\/v0\.1\/*$/.test(pathname);
  return !isVersioned && [username, password, search, hash].every((part) => part === "");
}

/** The sections that say which account a file describes, and how to reach its service. */
export const address = {
  merchant: optional(matching(MERCHANT, "bad-merchant"), {
    title: "Merchant code",
    description: "The merchant account that this file describes. Absent only in included files.",
    examples: ["MC4F7K2P"],
  }),
  environment: optional(z.enum(["live", "test"]), {
    title: "Environment",
    description:
      "live for a real merchant account, test for a sandbox. It must match the API key's prefix (sk_live_ or sk_test_). In an included file, it also applies to all files that include it; a file that sets its own must set the same value.",
    examples: ["live", "test"],
  }),
  api: z.optional(api),
};

/** The schema of these sections alone. */
export const addressSchema = z.strictObject(address);
