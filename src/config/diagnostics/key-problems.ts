import type { Path, Problem } from "./problem.ts";
import { findKeys } from "./secrets.ts";

/** Every literal API key in a file: in its text, comments too, and in values that spell one with escapes. */
export function keyProblems(text: string, value: unknown): readonly Problem[] {
  const written = findKeys(text).map(({ start, end }): Problem => {
    const place = { at: "text", start, end } as const;
    return { code: "literal-key", place, hidden: place };
  });
  // Only an escape or a fold in double quotes makes a value differ from its text.
  return text.includes("\\") ? [...written, ...spelledKeys(text, value, [])] : written;
}

function spelledKeys(text: string, value: unknown, path: Path): readonly Problem[] {
  if (typeof value === "string") {
    return spells(text, value) ? [spelled("value", path)] : [];
  }
  if (typeof value !== "object" || value === null) {
    return [];
  }
  return Object.entries(value).flatMap(([key, item]) => {
    const inner = [...path, Array.isArray(value) ? Number(key) : key];
    const problems = spelledKeys(text, item, inner);
    return !Array.isArray(value) && spells(text, key) ? [spelled("key", inner), ...problems] : problems;
  });
}

/** Whether a value holds a key that its file's text does not show. */
function spells(text: string, value: string): boolean {
  return findKeys(value).some(({ start, end }) => !text.includes(value.slice(start, end)));
}

function spelled(at: "key" | "value", path: Path): Problem {
  const place = { at, path };
  return { code: "literal-key", place, hidden: place };
}
