import type * as z from "zod/mini";
import type { Path, Problem } from "../diagnostics/problem.ts";

// In the order of the schema's forms, each by the key that gives it away.
const FORMS = [
  ["can", "only"],
  ["can", "at_most"],
  ["member", "cannot"],
] as const;

const KEYS: ReadonlySet<string> = new Set(FORMS.flat());

/** What is wrong with a check that has none of the three forms: its keys, or what the meant form says of it. */
export function checkProblems(
  value: unknown,
  path: Path,
  branches: readonly (readonly z.core.$ZodIssue[])[],
): readonly (Problem | z.core.$ZodIssue)[] {
  const keys = Object.keys(Object(value)).filter((key) => KEYS.has(key));
  const fitting = FORMS.map((form, index) => ({ index, fits: keys.every((key) => includes(form, key)) }));
  const candidates = fitting.filter(({ fits }) => fits);
  const strange = unknownKeys(branches);
  if (candidates.length === 1 || (candidates.length > 0 && strange.length > 0)) {
    // A misspelt key is said to be unknown by whichever form is looked at.
    const issues = branches[candidates[0]?.index ?? 0] ?? [];
    return strange.length === 0 ? issues : issues.filter((issue) => !isMissing(issue, value));
  }
  const form: Problem = { code: "check-form", keys, place: { at: "head", path } };
  return [...strange, form];
}

function includes(form: readonly string[], key: string): boolean {
  return form.includes(key);
}

/** What no form knows. */
function unknownKeys(branches: readonly (readonly z.core.$ZodIssue[])[]): readonly z.core.$ZodIssue[] {
  const issue = branches[0]?.find(({ code }) => code === "unrecognized_keys");
  if (issue?.code !== "unrecognized_keys") {
    return [];
  }
  const keys = issue.keys.filter((key) => !KEYS.has(key));
  return keys.length === 0 ? [] : [{ ...issue, keys }];
}

function isMissing({ code, path }: z.core.$ZodIssue, value: unknown): boolean {
  return code === "invalid_type" && path.length === 1 && !Object.hasOwn(Object(value), String(path[0]));
}
