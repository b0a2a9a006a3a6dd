import type { z } from "zod";

const KINDS: Readonly<Record<string, string>> = {
  array: 'a list ("- …")',
  object: 'a mapping ("key: …")',
  string: "text",
  boolean: "true or false",
  number: "a number",
  int: "a whole number",
};

/** Words what a schema has no words for of its own; undefined leaves them to the library. */
export function schemaWords(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case "invalid_type":
      if (issue.input === undefined) return "is needed";
      return `must be ${KINDS[issue.expected] ?? issue.expected}`;
    case "invalid_value":
      return `must be one of ${issue.values.join(", ")}`;
    case "invalid_union":
      return Array.isArray(issue["options"]) ? `must be one of ${issue["options"].join(", ")}` : undefined;
    case "too_small":
      return issue.origin === "number" || issue.origin === "int"
        ? `must be at least ${issue.minimum}`
        : undefined;
    case "too_big":
      return issue.origin === "number" || issue.origin === "int"
        ? `must be at most ${issue.maximum}`
        : undefined;
    default:
      return undefined;
  }
}
