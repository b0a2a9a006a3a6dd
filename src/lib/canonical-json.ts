import { byCodeUnit } from "./order.ts";

/**
 * Returns the one text of a JSON value: keys sorted, no white space. Two values are equal exactly if their texts are.
 * What JSON cannot hold counts as `null`.
 */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value !== "object") return JSON.stringify(value) ?? "null";
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  const entries = Object.entries(value).sort(([a], [b]) => byCodeUnit(a, b));
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonicalJson(item)}`).join(",")}}`;
}

/** Tells if two JSON values have the same canonical text, without writing it. */
export function isSameJson(a: unknown, b: unknown): boolean {
  if (a === null || b === null || typeof a !== "object" || typeof b !== "object") return a === b;
  if (Array.isArray(a) || Array.isArray(b)) {
    return (
      Array.isArray(a) &&
      Array.isArray(b) &&
      a.length === b.length &&
      a.every((item, at) => isSameJson(item, b[at]))
    );
  }
  const theirs = new Map<string, unknown>(Object.entries(b));
  const mine = Object.entries(a);
  return (
    mine.length === theirs.size &&
    mine.every(([key, item]) => theirs.has(key) && isSameJson(item, theirs.get(key)))
  );
}
