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

/** Something that stands there for the second time, and what stood there first. */
export interface Repeat<T> {
  readonly text: string;
  readonly item: T;
  readonly first: T;
}

/** Every item after the first whose text is the same; one without a text repeats nothing. */
export function repeats<T>(items: readonly T[], textOf: (item: T) => unknown): readonly Repeat<T>[] {
  const seen = new Map<string, T>();
  const found: Repeat<T>[] = [];
  for (const item of items) {
    const text = textOf(item);
    if (typeof text !== "string") {
      continue;
    }
    const first = seen.get(text);
    if (first === undefined) {
      seen.set(text, item);
    } else {
      found.push({ text, item, first });
    }
  }
  return found;
}

/** Without the fields that are undefined: what is absent in the file is absent here. */
export function omitUndefined<T extends object>(record: T): Defined<T> {
  const there: Record<string, unknown> = {};
  for (const key of Object.keys(record)) {
    const value = (record as Readonly<Record<string, unknown>>)[key];
    if (value !== undefined) {
      there[key] = value;
    }
  }
  return there as Defined<T>;
}

/** The record that `present` gives. */
type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** What is written twice means the same as once. */
export function unique(items: readonly string[]): readonly string[] {
  return [...new Set(items)];
}
