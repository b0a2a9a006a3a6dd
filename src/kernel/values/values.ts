import type { Kind, Path } from "../problems/problem.ts";

/** Returns the YAML kind of a plain value. */
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

/** Returns the value at a path, undefined if there is none. */
export function valueAt(root: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (value, segment) =>
      typeof value === "object" && value !== null && Object.hasOwn(value, segment)
        ? (value as Record<string | number, unknown>)[segment]
        : undefined,
    root,
  );
}

/** Returns a mapping, or an empty one for any other value. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return kindOf(value) === "mapping" && value !== undefined ? (value as Record<string, unknown>) : {};
}

/** Returns a list, or an empty one for any other value. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns text that is not blank, else null. */
export function textOf(value: unknown): string | null {
  return typeof value === "string" && value.trim() !== "" ? value : null;
}

/** Returns a whole number of 0 or more, else null. */
export function countOf(value: unknown): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

/** Compares two plain values, ignoring the order of keys. */
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

/** A repeated item and its first occurrence. */
export interface Repeat<T> {
  readonly text: string;
  readonly item: T;
  readonly first: T;
}

/** Returns every item whose text has occurred before; items without a text are skipped. */
export function repeats<T>(items: readonly T[], textOf: (item: T) => unknown): readonly Repeat<T>[] {
  const seen = new Map<string, T>();
  const repeats: Repeat<T>[] = [];
  for (const item of items) {
    const text = textOf(item);
    if (typeof text !== "string") {
      continue;
    }
    const first = seen.get(text);
    if (first === undefined) {
      seen.set(text, item);
    } else {
      repeats.push({ text, item, first });
    }
  }
  return repeats;
}

/** Returns the record without its undefined fields. */
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

/** The result of `omitUndefined`. */
type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** Returns the texts without duplicates. */
export function unique(items: readonly string[]): readonly string[] {
  return [...new Set(items)];
}
