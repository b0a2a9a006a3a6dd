import type { JsonValue } from "../model/json.ts";

/** Whether two values are the same, whatever the order of their keys. */
export function sameJson(one: JsonValue, other: JsonValue): boolean {
  if (one === other) return true;
  if (one === null || other === null || typeof one !== "object" || typeof other !== "object") return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const [mine, theirs] = [Object.entries(one), new Map(Object.entries(other))];
  return (
    mine.length === theirs.size &&
    mine.every(([key, value]) => {
      const its = theirs.get(key);
      return its !== undefined && sameJson(value, its);
    })
  );
}
