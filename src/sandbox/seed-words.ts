import type { z } from "zod";

const KINDS: Readonly<Record<string, string>> = {
  array: 'a list ("- …")',
  object: 'a mapping ("key: …")',
  string: "text",
  boolean: "true or false",
};

/** Words what the schema of a seed has no words for of its own; undefined leaves them to the library. */
export function seedWords(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case "invalid_type":
      if (issue.input === undefined) return "is needed";
      return `must be ${KINDS[issue.expected] ?? issue.expected}`;
    case "invalid_value":
      return `must be one of ${issue.values.join(", ")}`;
    default:
      return undefined;
  }
}
