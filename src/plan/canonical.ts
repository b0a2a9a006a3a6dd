import type { JsonValue } from "../model/json.ts";
import { byCodeUnit } from "./order.ts";

/** One text for one value: keys sorted, no white space; two values are the same exactly when their texts are. */
export function canonicalJson(value: JsonValue): string {
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (isList(value)) return `[${value.map(canonicalJson).join(",")}]`;
  const entries = Object.entries(value).sort(([a], [b]) => byCodeUnit(a, b));
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonicalJson(item)}`).join(",")}}`;
}

/** Whether two values have one text, without writing it. */
export function isSameJson(a: JsonValue, b: JsonValue): boolean {
  if (a === null || b === null || typeof a !== "object" || typeof b !== "object") return a === b;
  if (isList(a) || isList(b)) {
    return (
      isList(a) &&
      isList(b) &&
      a.length === b.length &&
      a.every((item, at) => isSameJson(item, b[at] ?? null))
    );
  }
  let more = 0;
  for (const key in b) if (Object.hasOwn(b, key)) more += 1;
  for (const key in a) {
    if (!Object.hasOwn(a, key)) continue;
    if (a[key] !== b[key] && !isSameJson(a[key] ?? null, b[key] ?? null)) return false;
    if (!Object.hasOwn(b, key)) return false;
    more -= 1;
  }
  return more === 0;
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}
