import type { Kind, Path } from "./diagnostics/problem.ts";

/** The kind of a plain value, as YAML has it. */
export function kindOf(value: unknown): Kind {
  if (Array.isArray(value)) {
    return "list";
  }
  if (value === null) {
    return "null";
  }
  const type = typeof value;
  if (type === "number" || type === "boolean") {
    return type;
  }
  return type === "string" ? "text" : "mapping";
}

/** What stands at a path; undefined where nothing does. */
export function valueAt(root: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (value, segment) =>
      typeof value === "object" && value !== null && Object.hasOwn(value, segment)
        ? (value as Record<string | number, unknown>)[segment]
        : undefined,
    root,
  );
}

/** The keys of a mapping, or of anything else none. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return kindOf(value) === "mapping" && value !== undefined ? (value as Record<string, unknown>) : {};
}

/** The entries of a list, or of anything else none. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Several lists as one, which is not copied where there is but one. */
export function joinLists<T>(lists: readonly (readonly T[])[]): readonly T[] {
  const [first = [], ...others] = lists;
  return others.length === 0 ? first : lists.flat();
}

/** Text that says something, or null. */
export function textOf(value: unknown): string | null {
  return typeof value === "string" && value.trim() !== "" ? value : null;
}

/** A whole number from 0 up, or null. */
export function countOf(value: unknown): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

/** Whether two plain values mean the same, whatever the order of their keys. */
export function sameValue(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => sameValue(item, b[index]));
  }
  if (kindOf(a) === "mapping" && kindOf(b) === "mapping" && a !== undefined && b !== undefined) {
    const [left, right] = [fieldsOf(a), fieldsOf(b)];
    const keys = Object.keys(left);
    return (
      keys.length === Object.keys(right).length &&
      keys.every((key) => Object.hasOwn(right, key) && sameValue(left[key], right[key]))
    );
  }
  return Object.is(a, b);
}
