import { isSameJson } from "../../lib/json-text.ts";
import { quoteIfNeeded, shorten } from "../../lib/text.ts";
import type { JsonValue, Metadata } from "../../model/json.ts";
import { differs, type FieldKind, revertedWhole } from "./kind.ts";

/** User-defined properties, which are written as a whole. */
export const metadataKind: FieldKind<Metadata, "metadata"> = {
  name: "metadata",
  empty: {},
  normal: (properties) => properties,
  isSame: (a, b) => a === b || isSameJson(a, b),
  diff: (before, after) => ({ before, after }),
  changedParts: (before, after) =>
    keysOf(before, after).filter((key) => !isSameJson(propertyOf(before, key), propertyOf(after, key))),
  withParts: (before, after, parts) => {
    const properties = keysOf(before, after).flatMap((key) => {
      const value = propertyOf(parts.has(key) ? after : before, key);
      return value === undefined ? [] : [[key, value] as const];
    });
    return Object.fromEntries(properties);
  },
  inverted: ({ before, after }) => ({ before: after, after: before }),
  lines,
  changedLines: ({ before, after }) => {
    const [linesBefore, linesAfter] = [lines(before), lines(after)];
    return { removed: without(linesBefore, linesAfter), added: without(linesAfter, linesBefore) };
  },
  surprises: (field, planned, live) =>
    keysOf(planned, live).flatMap((key) => {
      const [plannedValue, liveValue] = [propertyOf(planned, key), propertyOf(live, key)];
      return isSameJson(plannedValue, liveValue)
        ? []
        : [differs(`${field} ${quoteIfNeeded(key)}`, textOf(plannedValue), textOf(liveValue))];
    }),
  sent: (properties) => properties,
  content: (properties) => properties,
  reverted: (before, after, live, changedSince) => {
    const revert = revertedWhole<JsonValue | undefined>(isSameJson);
    const properties = keysOf(before, after, live).flatMap((key) => {
      const of = (values: Metadata): JsonValue | undefined => propertyOf(values, key);
      const value = revert(of(before), of(after), of(live), () => changedSince(key));
      return value === undefined ? [] : [[key, value] as const];
    });
    return Object.fromEntries(properties);
  },
};

function keysOf(...values: readonly Metadata[]): readonly string[] {
  return [...new Set(values.flatMap(Object.keys))].sort();
}

function propertyOf(properties: Metadata, key: string): JsonValue | undefined {
  return Object.hasOwn(properties, key) ? properties[key] : undefined;
}

function textOf(value: JsonValue | undefined): string {
  return value === undefined ? "nothing" : shorten(JSON.stringify(value));
}

function without(lines: readonly string[], removed: readonly string[]): readonly string[] {
  const removedLines = new Set(removed);
  return lines.filter((line) => !removedLines.has(line));
}

function lines(properties: Metadata): readonly string[] {
  return leaves(properties)
    .map(([path, value]) => `${path}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .sort();
}

/** Returns the leaf values of metadata with their key paths, so that one deep change shows as one line. */
function leaves(
  value: { readonly [key: string]: JsonValue },
  path = "",
): readonly (readonly [string, JsonValue])[] {
  return Object.entries(value).flatMap(([key, inner]): readonly (readonly [string, JsonValue])[] => {
    // Quoted only inside a path, where a dot of its own would read as one more step.
    const step = path !== "" && /[."]/.test(key) ? JSON.stringify(key) : key;
    const here = path === "" ? step : `${path}.${step}`;
    return isRecord(inner) && Object.keys(inner).length > 0 ? leaves(inner, here) : [[here, inner]];
  });
}

function isRecord(value: JsonValue): value is { readonly [key: string]: JsonValue } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
