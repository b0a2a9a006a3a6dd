import { byCodeUnit } from "./text.ts";

/**
 * Returns the canonical text of a JSON value: keys sorted, no white space. Two values are equal exactly if their texts
 * are. Values that JSON cannot represent count as `null`.
 */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value !== "object") return JSON.stringify(value) ?? "null";
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  const entries = Object.entries(value).sort(([a], [b]) => byCodeUnit(a, b));
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonicalJson(item)}`).join(",")}}`;
}

/** Returns whether two JSON values have the same canonical text, without writing it. */
export function isSameJson(a: unknown, b: unknown): boolean {
  if (a === null || b === null || typeof a !== "object" || typeof b !== "object") return a === b;
  if (Array.isArray(a) || Array.isArray(b)) {
    return (
      Array.isArray(a) &&
      Array.isArray(b) &&
      a.length === b.length &&
      a.every((item, index) => isSameJson(item, b[index]))
    );
  }
  const theirs = new Map<string, unknown>(Object.entries(b));
  const mine = Object.entries(a);
  return (
    mine.length === theirs.size &&
    mine.every(([key, item]) => theirs.has(key) && isSameJson(item, theirs.get(key)))
  );
}

/** Matches controls beyond ASCII, line separators, and marks that are invisible or change the direction of text. */
const UNSAFE = /(?![\u200c\u200d])[\u007f-\u009f\p{Cf}\u2028\u2029]/gu;

/** Returns JSON in which every invisible character is escaped, so that it is safe to print to a terminal. */
export function visibleJson(value: unknown, indent = 0): string {
  return JSON.stringify(value, null, indent).replaceAll(
    UNSAFE,
    // A character beyond the basic plane takes two escapes.
    (mark) => mark.replaceAll(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`),
  );
}

/** Maximum nesting of JSON from the service. */
export const MAX_LEVELS = 100;

/** Returns whether a value is nested deeper than a number of levels. */
export function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1));
}
