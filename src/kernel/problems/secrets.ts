import type { Path, Problem } from "./problem.ts";

/** A range of text between two offsets, in UTF-16 units. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

// Directly after a letter or digit, only a text as long as a key: a permission such as `task_live_view` is not one.
// Matches greedily: hiding a bracket is better than showing the end of a key.
const OWN_FORM = /sk_(?:live|test)_(?=(?<![A-Za-z0-9]sk_(?:live|test)_)[\w-]|[A-Za-z0-9]{16})/;
// Keys of other forms have a prefix that says where they come from. Without a digit, it is a name.
const OTHER_FORM = /(?<=[A-Za-z0-9]_)sk_(?=(?=[A-Za-z]*\d)[A-Za-z0-9]{16})/;
const KEY = new RegExp(`(${OWN_FORM.source}|${OTHER_FORM.source})[^\\s"'\`,;\\]})>]*`, "gi");

/** Finds all literal API keys in a text. */
export function findKeys(text: string): readonly TextRange[] {
  return Array.from(text.matchAll(KEY), (match) => ({
    start: match.index,
    end: match.index + match[0].length,
  }));
}

/** Masks the API keys in a text, except for their prefixes. */
export function maskKeys(text: string): string {
  return text.replace(KEY, "$1****");
}

/** Masks ranges with asterisks, keeping length and lines, so that positions stay valid. */
export function maskRanges(text: string, stretches: readonly TextRange[]): string {
  let masked = "";
  let position = 0;
  for (const { start, end } of stretches.toSorted((a, b) => a.start - b.start)) {
    if (end > position) {
      const from = Math.max(start, position);
      masked += text.slice(position, from) + text.slice(from, end).replace(/[^\r\n]/g, "*");
      position = end;
    }
  }
  return masked + text.slice(position);
}

/** Reports all literal API keys in a file: in its text, and in values that spell one with escapes. */
export function keyProblems(text: string, value: unknown): readonly Problem[] {
  const written = findKeys(text).map(({ start, end }): Problem => {
    const location = { at: "text", start, end } as const;
    return { code: "literal-key", location, hidden: location };
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

/** Returns true if a value has an API key that the text does not show literally. */
function spells(text: string, value: string): boolean {
  return findKeys(value).some(({ start, end }) => !text.includes(value.slice(start, end)));
}

function spelled(at: "key" | "value", path: Path): Problem {
  const location = { at, path };
  return { code: "literal-key", location, hidden: location };
}
